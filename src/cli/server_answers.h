// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// What has to be known about a new server: a table of questions, whose answers come as options or
// from a person.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"

namespace nvidb::cli {

// Option names of `nvidb add` without the dashes, and what was written behind them.
using GivenAnswers = std::map<std::string, std::string>;

// A server from the given answers and defaults alone. Errors: invalid, beginning with the option's
// name; `--host` missing is one too.
base::Result<config::ServerConfig> server_from(const GivenAnswers& given);

// The same, asking a person for what is not given; an answer is checked at once and asked for again
// while it is wrong. `servers` are those there already. Absent: the person left. Errors: as above,
// and conflict as refuse_duplicate().
base::Result<std::optional<config::ServerConfig>> ask_for_server(
    const GivenAnswers& given, const std::vector<config::ServerConfig>& servers);

// Errors: conflict where one of `servers` has the same host, port and user, or the same name.
base::Result<void> refuse_duplicate(const config::ServerConfig& server,
                                    const std::vector<config::ServerConfig>& servers);

// `all` (absent), `none` (empty) or indices by commas. Errors: invalid. Pure.
base::Result<std::optional<std::vector<int>>> parse_gpus(std::string_view text);

}  // namespace nvidb::cli
