// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "config/edit_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "config/load_yaml.h"

namespace nvidb::config {
namespace {

using base::ErrorKind;
using base::fail;

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::size_t kNowhere = std::string_view::npos;

// Everything but the keys in `except` means what it meant.
bool has_same_entries(const YamlNode& before, const YamlNode& after,
                      const std::vector<std::string_view>& except) {
  const auto others = [&](const YamlNode& map) {
    std::vector<std::pair<std::string, std::uint64_t>> all;
    for (const YamlEntry& entry : map.entries) {
      if (std::find(except.begin(), except.end(), entry.key) != except.end()) continue;
      all.emplace_back(entry.key, entry.value.node->fingerprint);
    }
    return all;
  };
  return others(before) == others(after);
}

const YamlNode& section_of(const YamlNode& root, std::string_view key) {
  static const YamlNode kNothing;
  const YamlEntry* entry = root.find(key);
  return entry == nullptr ? kNothing : *entry->value.node;
}

int last_key_line(const YamlNode& root) {
  int last = 0;
  for (const YamlEntry& entry : root.entries) last = std::max(last, entry.key_line);
  return last;
}

}  // namespace

base::Result<Document> open_document(const std::string& text, const std::string& name) {
  Document document;
  document.mark = text.starts_with(kByteOrderMark) ? kByteOrderMark : "";
  document.text = text.substr(document.mark.size());
  document.name = name;
  auto loaded = parse_config({name, document.text, 0600});
  if (!loaded) return fail(loaded.error());
  document.config = std::move(loaded->config);
  auto root = parse_yaml(document.text, name);
  if (!root) return fail(root.error());
  document.root = std::move(*root);
  return document;
}

tl::unexpected<base::Error> refuse_edit(const Document& document, const std::string& by_hand) {
  return fail(ErrorKind::conflict,
              fmt::format("{} cannot be changed without touching more of it", document.name),
              by_hand);
}

std::optional<std::string> verified(const Document& document,
                                    const std::optional<std::string>& changed,
                                    const Wanted& wanted) {
  if (!changed) return {};
  const auto loaded = parse_config({document.name, *changed, 0600});
  const auto root = parse_yaml(*changed, document.name);
  if (!loaded || !root || loaded->config != wanted.config) return {};
  if (!has_same_entries(*document.root.node, *root->node, {wanted.section})) return {};
  const YamlNode& before = section_of(*document.root.node, wanted.section);
  const YamlNode& after = section_of(*root->node, wanted.section);
  if (!has_same_entries(before, after, wanted.changed)) return {};
  if (after.items.size() < wanted.kept_items.size()) return {};
  for (std::size_t i = 0; i < wanted.kept_items.size(); ++i) {
    const YamlNode& item = *before.items[wanted.kept_items[i]].node;
    if (after.items[i].node->fingerprint != item.fingerprint) return {};
  }
  return document.mark + *changed;
}

std::optional<std::size_t> find_colon(const TextLines& lines, const YamlEntry& entry) {
  const std::size_t at = lines.offset(entry.key_line, entry.key_column);
  const auto end = token_end(lines.text(), at, entry.key);
  if (!end) return {};
  const std::size_t colon = lines.text().find_first_not_of(' ', *end);
  if (colon == kNowhere || lines.text()[colon] != ':') return {};
  return colon;
}

bool replace_null(Splices& splices, const TextLines& lines, const YamlEntry& entry,
                  const std::string& value) {
  const auto colon = find_colon(lines, entry);
  if (!colon) return false;
  const std::string_view text = lines.text();
  const std::size_t word = std::min(text.find_first_not_of(" \t", *colon + 1), text.size());
  std::size_t end = *colon + 1;
  for (const std::string_view null : {"null", "Null", "NULL", "~"}) {
    if (text.substr(word, null.size()) == null) end = word + null.size();
  }
  splices.replace(*colon + 1, end, value.empty() ? "" : " " + value);
  return true;
}

int end_line(const TextLines& lines, int from) {
  for (int line = std::max(from, 1); line <= lines.count(); ++line) {
    const std::string_view text = lines.line(line);
    if (text == "..." || text.starts_with("... ")) return line;
  }
  return lines.count() + 1;
}

bool append_section(Splices& splices, const TextLines& lines, const YamlNode& root,
                    const std::string& key, const std::vector<std::string>& below) {
  if (root.kind == YamlKind::map && root.flow) return false;
  const int column = root.entries.empty() ? 0 : root.entries.front().key_column;
  const std::string indent(static_cast<std::size_t>(column), ' ');
  const int last = end_line(lines, last_key_line(root)) - 1;
  std::vector<std::string> all;
  if (last > 0 && !lines.is_blank(last)) all.emplace_back();
  all.push_back(indent + key + ":");
  for (const std::string& line : below) all.push_back(indent + line);
  splices.insert_lines_after(last, all);
  return true;
}

}  // namespace nvidb::config
