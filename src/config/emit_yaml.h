// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Settings -> YAML words and lines. Private to the room. Pure.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config.h"

namespace nvidb::config {

// A key and its value, ready to stand after `key: ` in a block or in {}.
using YamlPair = std::pair<std::string, std::string>;

// Plain where every YAML reader takes it for the same text, else in double quotes (`yes`, `123`,
// `a: b`, `#x`).
std::string emit_text(std::string_view text);

// Every key of the view with its value, in the order of the documentation.
std::vector<YamlPair> emit_view(const ViewSettings& view);

// The keys of a list item: hostname, port and username always, the others where they are not the
// default. `show_password` false writes a placeholder, for messages.
std::vector<YamlPair> emit_server(const ServerConfig& server, bool show_password);

// Lines of a list item: the first after `dash`, the others indented as far.
std::vector<std::string> item_lines(const std::vector<YamlPair>& pairs, const std::string& dash);

}  // namespace nvidb::config
