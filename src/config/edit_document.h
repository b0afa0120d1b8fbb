// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// A settings file while its text is being changed. Private to the room. Pure.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "config/text_lines.h"
#include "config/yaml_tree.h"

namespace nvidb::config {

// The file before the change. `text` has no byte order mark.
struct Document {
  std::string mark, text, name;
  YamlUse root;
  Config config;
};

// Errors: invalid where it does not load.
base::Result<Document> open_document(const std::string& text, const std::string& name);

// What the changed text has to mean.
struct Wanted {
  std::string_view section;               // the one top-level key that may differ
  std::vector<std::string_view> changed;  // keys of the section that may differ, if it is a mapping
  std::vector<std::size_t>
      kept_items;  // what its first items were before, by position, if it is a list
  Config config;
};

// Parses the changed text and compares; the whole safety of editing text rests on this. Absent
// where `changed` is absent or means anything else than wanted; else the text with its byte order
// mark.
std::optional<std::string> verified(const Document& document,
                                    const std::optional<std::string>& changed,
                                    const Wanted& wanted);

// The error for what verified() or the layout forbids; `by_hand` is the hint.
tl::unexpected<base::Error> refuse_edit(const Document& document, const std::string& by_hand);

// The colon after a key. Absent where the key is written in an unusual way.
std::optional<std::size_t> find_colon(const TextLines& lines, const YamlEntry& entry);

// Gives `key:` or `key: ~` the value; "" only takes the null word away. False where the layout
// forbids it.
bool replace_null(Splices& splices, const TextLines& lines, const YamlEntry& entry,
                  const std::string& value);

// The line of `...` that ends the document, or one behind the last line.
int end_line(const TextLines& lines, int from);

// A new section at the end of the file. False where the file is one mapping in braces.
bool append_section(Splices& splices, const TextLines& lines, const YamlNode& root,
                    const std::string& key, const std::vector<std::string>& below);

}  // namespace nvidb::config
