// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors

// append_servers() and cut_servers() of edit_yaml.h.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "config/edit_document.h"
#include "config/edit_yaml.h"
#include "config/emit_yaml.h"
#include "config/load_yaml.h"

namespace nvidb::config {
namespace {

using base::ErrorKind;
using base::fail;

constexpr std::size_t kNowhere = std::string_view::npos;

// Where an item of a block list stands: its dash and its last line.
struct Place {
  int line = 0, column = 0;  // of the dash
  int last_line = 0;
  int content_column = 0;  // of what follows the dash in its line
};

// The dash before an item: in the same line, or in a line of its own above.
std::optional<Place> find_dash(const TextLines& lines, const YamlUse& item) {
  int number = item.line;
  std::string_view before = lines.line(number).substr(0, static_cast<std::size_t>(item.column));
  int content_column = item.column;
  if (before.find_first_not_of(" \t") == kNowhere) {
    do {
      if (--number < 1) return {};
    } while (lines.is_blank(number) || lines.is_comment(number));
    before = lines.line(number);
    before = before.substr(0, before.find(" #"));
    content_column = -1;
  }
  const std::size_t dash = before.find_first_not_of(' ');
  if (dash == kNowhere || before[dash] != '-') return {};
  if (before.find_first_not_of(" \t", dash + 1) != kNowhere) return {};
  return Place{number, static_cast<int>(dash), 0,
               content_column < 0 ? static_cast<int>(dash) + 2 : content_column};
}

// The last line of words above `boundary`, and the comments right below it that stand deeper than
// the dash. Other comments belong to whatever follows.
int last_line_of(const TextLines& lines, const Place& place, int boundary) {
  int last = boundary - 1;
  while (last > place.line && (lines.is_blank(last) || lines.is_comment(last))) --last;
  for (int line = last + 1; line < boundary; ++line) {
    if (lines.is_blank(line)) continue;
    if (!lines.is_comment(line) || lines.indent(line) <= place.column) break;
    last = line;
  }
  return last;
}

// All items, in order; absent where one stands in an unusual way.
std::optional<std::vector<Place>> find_places(const TextLines& lines, const YamlNode& root,
                                              const YamlEntry& section) {
  int boundary = end_line(lines, section.key_line);
  for (const YamlEntry& entry : root.entries) {
    if (!entry.merged && entry.key_line > section.key_line)
      boundary = std::min(boundary, entry.key_line);
  }
  std::vector<Place> places;
  for (const YamlUse& item : section.value.node->items) {
    const auto place = find_dash(lines, item);
    if (!place || (!places.empty() && place->line <= places.back().line)) return {};
    places.push_back(*place);
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    places[i].last_line =
        last_line_of(lines, places[i], i + 1 < places.size() ? places[i + 1].line : boundary);
  }
  return places;
}

std::vector<std::string> block_items(const std::vector<ServerConfig>& servers, int dash_column,
                                     int content_column) {
  const auto indent = static_cast<std::size_t>(dash_column);
  const auto gap = static_cast<std::size_t>(std::max(content_column - dash_column - 1, 1));
  const std::string dash = std::string(indent, ' ') + '-' + std::string(gap, ' ');
  std::vector<std::string> lines;
  for (const ServerConfig& server : servers) {
    const auto item = item_lines(emit_server(server, true), dash);
    lines.insert(lines.end(), item.begin(), item.end());
  }
  return lines;
}

std::string flow_item(const ServerConfig& server) {
  std::string item;
  for (const auto& [key, value] : emit_server(server, true)) {
    item += fmt::format("{}{}: {}", item.empty() ? "{" : ", ", key, value);
  }
  return item + "}";
}

bool append_flow(Splices& splices, const TextLines& lines, const YamlUse& list,
                 const std::vector<ServerConfig>& servers) {
  const std::size_t open = lines.offset(list.line, list.column);
  if (open >= lines.text().size() || lines.text()[open] != '[') return false;
  const auto flow = scan_flow_list(lines.text(), open);
  if (!flow || flow->items.size() != list.node->items.size()) return false;
  std::string added;
  for (const ServerConfig& server : servers)
    added += (added.empty() ? "" : ", ") + flow_item(server);
  if (flow->items.empty()) return false;
  const bool ends_in_comma = flow->commas.size() == flow->items.size();
  splices.insert(ends_in_comma ? flow->commas.back() + 1 : flow->items.back().end,
                 (ends_in_comma ? " " : ", ") + added);
  return true;
}

// `servers: []` becomes a block list below the key.
bool fill_empty_list(Splices& splices, const TextLines& lines, const YamlEntry& section,
                     const std::vector<ServerConfig>& servers) {
  const int dash_column = section.key_column + 2;
  if (section.value.node->kind == YamlKind::null) {
    if (!replace_null(splices, lines, section, "")) return false;
  } else {
    const std::size_t open = lines.offset(section.value.line, section.value.column);
    const auto colon = find_colon(lines, section);
    const std::size_t close = lines.text().find(']', open);
    if (!colon || section.value.line != section.key_line || close == kNowhere) return false;
    if (lines.text().substr(open, close - open).find_first_not_of("[ ") != kNowhere) return false;
    splices.replace(*colon + 1, close + 1, "");
  }
  splices.insert_lines_after(section.key_line, block_items(servers, dash_column, dash_column + 2));
  return true;
}

bool change_servers(Splices& splices, const TextLines& lines, const YamlNode& root,
                    const std::vector<ServerConfig>& servers) {
  const YamlEntry* section = root.find("servers");
  if (section == nullptr)
    return append_section(splices, lines, root, "servers", block_items(servers, 2, 4));
  if (section->merged || section->value.is_alias || root.flow) return false;
  const YamlNode& list = *section->value.node;
  if (list.items.empty()) return fill_empty_list(splices, lines, *section, servers);
  if (list.flow) return append_flow(splices, lines, section->value, servers);
  const auto places = find_places(lines, root, *section);
  if (!places) return false;
  const Place& last = places->back();
  splices.insert_lines_after(last.last_line,
                             block_items(servers, last.column, last.content_column));
  return true;
}

std::string by_hand(const std::vector<ServerConfig>& servers) {
  std::string text = "add this to it by hand:\nservers:";
  for (const ServerConfig& server : servers) {
    for (const std::string& line : item_lines(emit_server(server, false), "  - "))
      text += "\n" + line;
  }
  return text;
}

// Servers as text mean what they are; a wrong one is refused with the words of the loader.
base::Result<void> check_servers(const std::vector<ServerConfig>& servers) {
  for (const ServerConfig& server : servers) {
    std::string text = "servers:\n";
    for (const std::string& line : item_lines(emit_server(server, true), "- ")) text += line + "\n";
    const auto loaded = parse_config({"the new server", text, 0600});
    if (!loaded) return fail(loaded.error());
    if (loaded->config.servers != std::vector<ServerConfig>{server}) {
      return fail(ErrorKind::invalid,
                  fmt::format("the server '{}' cannot be written as YAML", identity(server)));
    }
  }
  return {};
}

// With the comma on one side; comments on either side stay.
bool cut_flow(Splices& splices, const TextLines& lines, const YamlUse& list,
              const std::vector<bool>& cut) {
  const std::size_t open = lines.offset(list.line, list.column);
  if (open >= lines.text().size() || lines.text()[open] != '[') return false;
  const auto flow = scan_flow_list(lines.text(), open);
  if (!flow || flow->items.size() != cut.size()) return false;
  const auto is_blank = [&](std::size_t begin, std::size_t end) {
    return lines.text().substr(begin, end - begin).find_first_not_of(" \t\r\n") == kNowhere;
  };
  bool has_kept = false;
  for (std::size_t i = 0; i < cut.size(); ++i) {
    const FlowList::Item& item = flow->items[i];
    if (!cut[i]) {
      has_kept = true;
    } else if (has_kept && is_blank(flow->commas[i - 1] + 1, item.begin)) {
      splices.replace(flow->commas[i - 1], item.end, "");
    } else if (i >= flow->commas.size()) {
      splices.replace(item.begin, item.end, "");
    } else if (i + 1 < cut.size() && is_blank(flow->commas[i] + 1, flow->items[i + 1].begin)) {
      splices.replace(item.begin, flow->items[i + 1].begin, "");
    } else {
      splices.replace(item.begin, flow->commas[i] + 1, "");
    }
  }
  return true;
}

bool cut_items(Splices& splices, const TextLines& lines, const YamlNode& root,
               const std::vector<bool>& cut) {
  const YamlEntry* section = root.find("servers");
  if (section == nullptr || section->merged || section->value.is_alias) return false;
  if (section->value.node->flow) return cut_flow(splices, lines, section->value, cut);
  const auto places = find_places(lines, root, *section);
  if (!places) return false;
  for (std::size_t i = 0; i < cut.size(); ++i) {
    if (cut[i]) splices.remove_lines((*places)[i].line, (*places)[i].last_line);
  }
  if (std::find(cut.begin(), cut.end(), false) != cut.end()) return true;
  const auto colon = find_colon(lines, *section);
  if (colon) splices.insert(*colon + 1, " []");
  return colon.has_value();
}

}  // namespace

base::Result<std::string> append_servers(const std::string& text, const std::string& name,
                                         const std::vector<ServerConfig>& servers) {
  const auto document = open_document(text, name);
  if (!document) return fail(document.error());
  if (servers.empty()) return text;
  if (const auto good = check_servers(servers); !good) return fail(good.error());
  std::set<std::string> taken;
  for (const ServerConfig& server : document->config.servers) taken.insert(identity(server));
  for (const ServerConfig& server : servers) {
    if (taken.insert(identity(server)).second) continue;
    return fail(ErrorKind::conflict,
                fmt::format("{} has a server '{}' already", name, identity(server)),
                "choose another nickname");
  }
  const TextLines lines(document->text);
  Splices splices(lines);
  Wanted wanted{"servers", {}, {}, document->config};
  for (std::size_t i = 0; i < document->config.servers.size(); ++i) wanted.kept_items.push_back(i);
  wanted.config.servers.insert(wanted.config.servers.end(), servers.begin(), servers.end());
  if (change_servers(splices, lines, *document->root.node, servers)) {
    if (auto changed = verified(*document, splices.apply(), wanted)) return *changed;
  }
  return refuse_edit(*document, by_hand(servers));
}

base::Result<std::string> cut_servers(const std::string& text, const std::string& name,
                                      const std::vector<std::string>& identities) {
  const auto document = open_document(text, name);
  if (!document) return fail(document.error());
  std::set<std::string> unknown(identities.begin(), identities.end());
  if (unknown.empty()) return text;
  const std::set<std::string> named = unknown;
  Wanted wanted{"servers", {}, {}, document->config};
  wanted.config.servers.clear();
  std::vector<bool> cut;
  for (const ServerConfig& server : document->config.servers) {
    cut.push_back(named.count(identity(server)) > 0);
    unknown.erase(identity(server));
    if (cut.back()) continue;
    wanted.kept_items.push_back(cut.size() - 1);
    wanted.config.servers.push_back(server);
  }
  if (!unknown.empty()) {
    return fail(ErrorKind::not_found, fmt::format("{} has no server '{}'", name, *unknown.begin()));
  }
  const TextLines lines(document->text);
  Splices splices(lines);
  if (cut_items(splices, lines, *document->root.node, cut)) {
    if (auto changed = verified(*document, splices.apply(), wanted)) return *changed;
  }
  std::string hint = "remove these items from its servers by hand:";
  for (const std::string& one : named) hint += "\n  " + one;
  return refuse_edit(*document, hint);
}

}  // namespace nvidb::config
