// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Configured servers as JSON and as a table. A stored password is told of, never shown.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/output.h"
#include "config/config.h"

namespace nvidb::cli {

// name hostname port username nickname auth identityfile proxyjump gpus password_stored; null where
// the configuration says nothing.
nlohmann::ordered_json server_json(const config::ServerConfig& server);
nlohmann::ordered_json servers_json(const std::vector<config::ServerConfig>& servers);

// One document for stdout.
std::string to_document(const nlohmann::ordered_json& json);

// A row a server under a header: NAME ADDRESS PORT USER AUTH PROXYJUMP GPUS, with detail also
// IDENTITYFILE and PASSWORD. Not wider than the terminal. "" where there are none.
std::string servers_table(const std::vector<config::ServerConfig>& servers, bool detail,
                          const Terminal& terminal);

// `user@host`, with `:port` where it is not 22 and `via JUMP` where there is one.
std::string how_reached(const config::ServerConfig& server);

// One sentence a server whose password is stored.
std::vector<std::string> password_warnings(const std::vector<config::ServerConfig>& servers,
                                           const std::string& path);

}  // namespace nvidb::cli
