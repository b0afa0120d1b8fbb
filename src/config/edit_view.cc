// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors

// set_view() of edit_yaml.h.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "config/edit_document.h"
#include "config/edit_yaml.h"
#include "config/emit_yaml.h"

namespace nvidb::config {
namespace {

using base::fail;

constexpr std::size_t kNowhere = std::string_view::npos;

using Changes = std::vector<YamlPair>;

// One value of the view block: replaced where it stands. False where that is not possible.
bool replace_value(Splices& splices, const TextLines& lines, const YamlEntry& entry,
                   const std::string& value) {
  const YamlNode& node = *entry.value.node;
  if (node.kind == YamlKind::null && !entry.value.is_alias)
    return replace_null(splices, lines, entry, value);
  const std::size_t at = lines.offset(entry.value.line, entry.value.column);
  const auto end = token_end(lines.text(), at, node.text);
  if (!end) return false;
  splices.replace(at, *end, value);
  return true;
}

// New keys of a block mapping go below the last one-line value, so that comments above the first
// key stay its own.
bool insert_keys(Splices& splices, const TextLines& lines, const YamlNode& view,
                 const Changes& missing) {
  const YamlEntry* anchor = nullptr;
  for (const YamlEntry& entry : view.entries) {
    if (entry.merged) continue;
    const YamlUse& value = entry.value;
    const bool is_word = value.node->kind == YamlKind::scalar || value.is_alias;
    const bool one_line = is_word && token_end(lines.text(), lines.offset(value.line, value.column),
                                               value.node->text);
    if (one_line || value.node->kind == YamlKind::null) anchor = &entry;
  }
  if (anchor == nullptr) return false;
  const std::string_view before =
      lines.line(anchor->key_line).substr(0, static_cast<std::size_t>(anchor->key_column));
  if (before.find_first_not_of(' ') != kNowhere) return false;
  std::vector<std::string> added;
  for (const auto& [key, value] : missing)
    added.push_back(fmt::format("{}{}: {}", before, key, value));
  const bool is_null = anchor->value.node->kind == YamlKind::null && !anchor->value.is_alias;
  splices.insert_lines_after(is_null ? anchor->key_line : anchor->value.line, added);
  return true;
}

bool insert_flow_keys(Splices& splices, const TextLines& lines, const YamlUse& view,
                      const Changes& missing) {
  const std::size_t open = lines.offset(view.line, view.column);
  if (open >= lines.text().size() || lines.text()[open] != '{') return false;
  std::string added;
  for (const auto& [key, value] : missing) {
    added += fmt::format("{}{}: {}", added.empty() ? "" : ", ", key, value);
  }
  splices.insert(open + 1, added + (view.node->entries.empty() ? "" : ", "));
  return true;
}

std::vector<std::string> view_lines(const Changes& changes) {
  return item_lines(changes, "  ");
}

// The splices for `changes`; false where the layout of the file does not allow it.
bool change_view(Splices& splices, const TextLines& lines, const YamlNode& root,
                 const Changes& changes) {
  const YamlEntry* section = root.find("view");
  if (section == nullptr) return append_section(splices, lines, root, "view", view_lines(changes));
  if (section->merged || section->value.is_alias) return false;
  const YamlNode& view = *section->value.node;
  if (view.kind == YamlKind::null) {
    std::vector<std::string> below = view_lines(changes);
    for (std::string& line : below)
      line.insert(0, static_cast<std::size_t>(section->key_column), ' ');
    splices.insert_lines_after(section->key_line, below);
    return replace_null(splices, lines, *section, "");
  }
  Changes missing;
  for (const YamlPair& change : changes) {
    const YamlEntry* entry = view.find(change.first);
    if (entry == nullptr || entry->merged) {
      missing.push_back(change);
    } else if (!replace_value(splices, lines, *entry, change.second)) {
      return false;
    }
  }
  if (missing.empty()) return true;
  return view.flow ? insert_flow_keys(splices, lines, section->value, missing)
                   : insert_keys(splices, lines, view, missing);
}

}  // namespace

base::Result<std::string> set_view(const std::string& text, const std::string& name,
                                   const ViewSettings& view) {
  const auto document = open_document(text, name);
  if (!document) return fail(document.error());
  const std::vector<YamlPair> now = emit_view(document->config.view);
  Changes changes;
  for (const YamlPair& pair : emit_view(view)) {
    if (std::find(now.begin(), now.end(), pair) == now.end()) changes.push_back(pair);
  }
  if (changes.empty()) return text;
  const TextLines lines(document->text);
  Splices splices(lines);
  Wanted wanted{"view", {}, {}, document->config};
  for (const YamlPair& change : changes) wanted.changed.push_back(change.first);
  wanted.config.view = view;
  if (change_view(splices, lines, *document->root.node, changes)) {
    if (auto changed = verified(*document, splices.apply(), wanted)) return *changed;
  }
  std::string hint = "set this in it by hand:\nview:";
  for (const std::string& line : view_lines(changes)) hint += "\n" + line;
  return refuse_edit(*document, hint);
}

}  // namespace nvidb::config
