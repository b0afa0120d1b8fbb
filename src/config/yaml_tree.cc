// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "config/yaml_tree.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <istream>
#include <map>
#include <streambuf>
#include <unordered_set>

#include "base/text.h"
#include "config/text_lines.h"

namespace nvidb::config {
namespace {

using base::ErrorKind;
using base::fail;

constexpr std::size_t kMaxMergedEntries = 10'000;

// Leaves the parser from inside one of its callbacks; caught in parse_yaml.
struct Stop {
  int line;
  std::string message;
};

class Hash {
 public:
  void add(std::string_view bytes) {
    add(bytes.size());
    for (const char byte : bytes) mix(static_cast<unsigned char>(byte));
  }
  void add(std::uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) mix((number >> shift) & 0xff);
  }
  std::uint64_t value() const { return value_; }

 private:
  void mix(std::uint64_t byte) { value_ = (value_ ^ byte) * 0x100000001b3u; }  // FNV-1a
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

bool is_known_tag(const std::string& tag) {
  constexpr std::string_view kCore = "tag:yaml.org,2002:";
  if (tag.empty() || tag == "?" || tag == "!") return true;
  if (!tag.starts_with(kCore)) return false;
  const std::string_view name = std::string_view(tag).substr(kCore.size());
  return name == "str" || name == "int" || name == "float" || name == "bool" || name == "null" ||
         name == "seq" || name == "map";
}

bool is_null_word(const std::string& text) {
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::string_view text) : lines_(text) {}

  YamlUse take_root() { return std::move(root_); }
  int documents() const { return documents_; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) {
      throw Stop{line_of(mark), "a second document ('---', or text behind the end of the first)"};
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    auto node = start(mark, anchor, YamlKind::null);
    finish(*node);
    place({node, line_of(mark), mark.column, false});
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    count_value(mark);
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) throw Stop{line_of(mark), "an alias names no anchor"};
    if (!found->second->closed) throw Stop{line_of(mark), "an alias stands inside its own anchor"};
    place({found->second, line_of(mark), mark.column, true});
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check_tag(mark, tag);
    check_quote(mark);
    const bool null = tag == "tag:yaml.org,2002:null" || (tag == "?" && is_null_word(value));
    auto node = start(mark, anchor, null ? YamlKind::null : YamlKind::scalar);
    if (!null) node->text = value;
    node->quoted = tag == "!" || tag == "tag:yaml.org,2002:str";
    finish(*node);
    place({node, line_of(mark), mark.column, false});
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    open(mark, tag, anchor, style, YamlKind::sequence);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    open(mark, tag, anchor, style, YamlKind::map);
  }
  void OnMapEnd() override {
    merge(*open_.back().node);
    close();
  }

 private:
  struct Open {
    std::shared_ptr<YamlNode> node;
    YamlUse use;
    bool has_key = false;  // of a map: the key was read, its value is next
    YamlEntry entry;
    std::unordered_set<std::string> keys;
  };

  static int line_of(const YAML::Mark& mark) { return std::max(mark.line, 0) + 1; }

  static void check_tag(const YAML::Mark& mark, const std::string& tag) {
    if (!is_known_tag(tag)) throw Stop{line_of(mark), "tags ('!...') are not allowed"};
  }

  // yaml-cpp takes a quote that is open at the end of the file for closed, so one forgotten quote
  // could swallow half a list of servers.
  void check_quote(const YAML::Mark& mark) {
    const std::string_view text = lines_.text();
    std::size_t at = lines_.offset(line_of(mark), std::max(mark.column, 0));
    while (at < text.size() && (text[at] == '&' || text[at] == '!')) {
      at = std::min(text.find_first_of(" \t\r\n", at), text.size());
      at = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
    }
    if (at >= text.size() || (text[at] != '"' && text[at] != '\'')) return;
    if (quoted_end(text, at) == std::string_view::npos)
      throw Stop{line_of(mark), "broken YAML: a quote is not closed"};
  }

  void count_value(const YAML::Mark& mark) {
    if (++values_ > kMaxYamlValues) {
      throw Stop{line_of(mark), fmt::format("more than {} values", kMaxYamlValues)};
    }
  }

  std::shared_ptr<YamlNode> start(const YAML::Mark& mark, YAML::anchor_t anchor, YamlKind kind) {
    count_value(mark);
    auto node = std::make_shared<YamlNode>();
    node->kind = kind;
    if (anchor != 0) anchors_[anchor] = node;
    return node;
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            YAML::EmitterStyle::value style, YamlKind kind) {
    check_tag(mark, tag);
    if (open_.size() >= kMaxYamlDepth) {
      throw Stop{line_of(mark), fmt::format("more than {} levels", kMaxYamlDepth)};
    }
    if (!open_.empty() && open_.back().node->kind == YamlKind::map && !open_.back().has_key) {
      throw Stop{line_of(mark), "a key must be a word, not a list or a mapping"};
    }
    auto node = start(mark, anchor, kind);
    node->flow = style == YAML::EmitterStyle::Flow;
    open_.push_back({node, {node, line_of(mark), mark.column, false}, false, {}, {}});
  }

  void close() {
    const YamlUse use = std::move(open_.back().use);
    finish(*open_.back().node);
    open_.pop_back();
    place(use);
  }

  static void finish(YamlNode& node) {
    Hash hash;
    hash.add(static_cast<std::uint64_t>(node.kind));
    hash.add(node.quoted ? 1 : 0);
    hash.add(node.text);
    for (const YamlUse& item : node.items) hash.add(item.node->fingerprint);
    for (const YamlEntry& entry : node.entries) {
      hash.add(entry.key);
      hash.add(entry.value.node->fingerprint);
    }
    node.fingerprint = hash.value();
    node.closed = true;
  }

  // Hands a complete value to the list or map that is open, or makes it the root.
  void place(const YamlUse& use) {
    if (open_.empty()) {
      root_ = use;
      return;
    }
    Open& parent = open_.back();
    if (parent.node->kind == YamlKind::sequence) {
      parent.node->items.push_back(use);
    } else if (parent.has_key) {
      parent.entry.value = use;
      parent.node->entries.push_back(std::move(parent.entry));
      parent.entry = {};
      parent.has_key = false;
    } else {
      take_key(parent, use);
    }
  }

  static void take_key(Open& parent, const YamlUse& use) {
    if (use.node->kind != YamlKind::scalar) throw Stop{use.line, "a key is empty"};
    parent.entry.key = use.node->text;
    parent.entry.key_line = use.line;
    parent.entry.key_column = use.column;
    parent.has_key = true;
    if (!parent.keys.insert(use.node->text).second) {
      int first_line = 0;
      for (const YamlEntry& entry : parent.node->entries) {
        if (entry.key == use.node->text) first_line = entry.key_line;
      }
      throw Stop{use.line, fmt::format("the key '{}' is given twice (first in line {})",
                                       shown_key(use.node->text), first_line)};
    }
  }

  // Up to a colon: `password:word`, its space forgotten, is a key that holds a secret.
  static std::string shown_key(const std::string& key) {
    return base::cut(base::printable(key.substr(0, key.find(':'))), 40);
  }

  // `<<: *defaults` or `<<: [*a, *b]`: their entries where the map has no own; earlier ones win.
  void merge(YamlNode& map) {
    const auto merges = [](const YamlEntry& entry) { return entry.key == "<<"; };
    const auto found = std::find_if(map.entries.begin(), map.entries.end(), merges);
    if (found == map.entries.end()) return;
    const YamlEntry entry = *found;
    map.entries.erase(found);
    std::unordered_set<std::string> taken;
    for (const YamlEntry& own : map.entries) taken.insert(own.key);
    const YamlNode& value = *entry.value.node;
    if (value.kind == YamlKind::sequence) {
      for (const YamlUse& item : value.items) merge_from(map, *item.node, entry.key_line, taken);
    } else {
      merge_from(map, value, entry.key_line, taken);
    }
  }

  void merge_from(YamlNode& map, const YamlNode& source, int line,
                  std::unordered_set<std::string>& taken) {
    if (source.kind != YamlKind::map)
      throw Stop{line, "'<<' takes a mapping or a list of mappings"};
    for (const YamlEntry& entry : source.entries) {
      if (++merged_ > kMaxMergedEntries) throw Stop{line, "too many values merged by '<<'"};
      if (!taken.insert(entry.key).second) continue;
      map.entries.push_back(entry);
      map.entries.back().merged = true;
    }
  }

  const TextLines lines_;
  YamlUse root_;
  int documents_ = 0;
  std::size_t values_ = 0, merged_ = 0;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, std::shared_ptr<YamlNode>> anchors_;
};

// An istream over bytes that are somebody else's, without a copy.
class ViewBuffer : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // only read from
    setg(begin, begin, begin + text.size());
  }
};

// What yaml-cpp would take for something else: it ends a file at byte 4 and guesses UTF-16 and
// UTF-32.
base::Result<void> check_bytes(std::string_view text, const std::string& name) {
  if (text.size() > kMaxYamlBytes) {
    return fail(ErrorKind::invalid, fmt::format("{} is larger than {} bytes", name, kMaxYamlBytes));
  }
  int line = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '\n') ++line;
    const bool lone_return = byte == '\r' && (i + 1 == text.size() || text[i + 1] != '\n');
    if ((byte < 0x20 && byte != '\n' && byte != '\r' && byte != '\t') || byte == 0x7f ||
        lone_return) {
      return fail(
          ErrorKind::invalid,
          fmt::format("{}:{}: a control character (0x{:02x}) is not allowed", name, line, byte),
          "the file must be UTF-8 text");
    }
  }
  if (base::valid_utf8(text) == text) return {};
  line = 1;
  for (std::size_t start = 0; start < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view one = text.substr(start, end - start);
    if (base::valid_utf8(one) != one) break;
    start = end + 1;
  }
  return fail(ErrorKind::invalid, fmt::format("{}:{}: not UTF-8 text", name, line));
}

std::string_view line_text(std::string_view text, int line) {
  std::size_t start = 0;
  for (int i = 1; i < line && start != std::string_view::npos; ++i) {
    start = text.find('\n', start);
    if (start != std::string_view::npos) ++start;
  }
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find('\n', start) - start);
}

// yaml-cpp's words without what may follow them: a name or character of the file. Some marks point
// one line too far, which is why the hints look at the line itself.
base::Error syntax_error(std::string_view text, const std::string& name, int line,
                         std::string message) {
  message = message.substr(0, message.find(':'));
  std::string hint;
  const std::string_view wrong = line_text(text, line);
  const std::string_view indent = wrong.substr(0, wrong.find_first_not_of(" \t"));
  if (indent.find('\t') != std::string_view::npos) {
    hint = "indent with spaces, not with tabs";
  } else if (message.find("anchor") != std::string::npos ||
             message.find("alias") != std::string::npos) {
    hint = "a value that begins with * or & needs quotes";
  } else if (message == "unknown token") {
    hint = "a value that begins with @, `, % or another special character needs quotes";
  }
  return {ErrorKind::invalid, fmt::format("{}:{}: broken YAML: {}", name, line, message), hint};
}

}  // namespace

const YamlEntry* YamlNode::find(std::string_view key) const {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const YamlEntry& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &*found;
}

base::Result<YamlUse> parse_yaml(std::string_view text, const std::string& name) {
  if (const auto good = check_bytes(text, name); !good) return fail(good.error());
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  const std::size_t mark_bytes = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  // Without the mark, columns of the first line are offsets as in every other line.
  const std::string_view body = text.substr(mark_bytes);
  ViewBuffer buffer(body);
  std::istream stream(&buffer);
  TreeBuilder builder(body);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Stop& stop) {
    return fail(ErrorKind::invalid, fmt::format("{}:{}: {}", name, stop.line, stop.message));
  } catch (const YAML::Exception& error) {
    return fail(syntax_error(text, name, std::max(error.mark.line, 0) + 1, error.msg));
  } catch (const std::exception&) {
    return fail(ErrorKind::invalid, fmt::format("{}:1: broken YAML", name));
  }
  YamlUse root = builder.take_root();
  if (!root.node) root = {std::make_shared<YamlNode>(), 1, 0, false};
  return root;
}

}  // namespace nvidb::config
