// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Changes to the text of config.yml that leave every other byte as it is. Private to the room.
// Pure.
//
// yaml-cpp's emitter drops comments, so the text itself is cut and pasted at the places the parser
// names. What comes out is parsed again and must mean exactly what was wanted; anything else
// (anchors that are used elsewhere, exotic layouts) is refused with what to write by hand.
//
// Errors of all three: invalid where `text` does not load; conflict where it cannot be changed
// safely.
#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"

namespace nvidb::config {

// Writes those values of the `view` block that differ from what the file says now.
base::Result<std::string> set_view(const std::string& text, const std::string& name,
                                   const ViewSettings& view);

// New items at the end of `servers`. Also invalid: a server that would not load; conflict: an
// identity is there.
base::Result<std::string> append_servers(const std::string& text, const std::string& name,
                                         const std::vector<ServerConfig>& servers);

// Without the items of these identities. Comment lines above an item stay. Also not_found.
base::Result<std::string> cut_servers(const std::string& text, const std::string& name,
                                      const std::vector<std::string>& identities);

}  // namespace nvidb::config
