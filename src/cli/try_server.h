// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Logging in to a server once, to see whether nvidb could and what it would find there.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "model/agent_message.h"

namespace nvidb::cli {

struct Found {
  std::string system;                             // `Linux gpu-node`, printable
  std::optional<model::CollectorKind> collector;  // the one that starts there; absent: none does
  bool has_nvidia_smi = false;

  bool operator==(const Found&) const = default;
};

// Starts a collector there and ends it at once, with the user's ssh. On a terminal ssh itself asks
// about an unknown host key, for a passphrase or a password; nothing of that reaches nvidb. Errors:
// those of judge_ssh_failure(), timeout, not_found (no ssh), protocol (a login that runs no
// commands).
base::Result<Found> try_server(const config::ServerConfig& server,
                               const std::vector<std::string>& ssh_program, bool on_terminal);

// What the command printed, whatever start-up files printed around it. Errors: protocol. Pure.
base::Result<Found> parse_found(std::string_view text);

// One sentence: which collector will be used, and what is missing.
std::string to_text(const Found& found);

}  // namespace nvidb::cli
