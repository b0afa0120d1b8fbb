// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// What a node is, after each thing that happened to its feed. Pure; private to fleet/.
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "model/agent_message.h"
#include "model/fleet.h"

namespace nvidb::fleet {

// The node as it is shown, and what has to be remembered to make it.
struct FoldState {
  model::Node node;
  std::optional<std::string> gpu_error;  // of the last inventory
};

// One message of the collector. Errors: protocol, where the feed cannot go on (another protocol
// version, a sample before hello or inventory); the state is then unchanged.
base::Result<void> on_message(FoldState& state, const model::AgentMessage& message,
                              std::int64_t now_ms);

// The feed ended or a deadline passed. The last values stay; a node that had some is stale, any
// other down; `cause` auth or hostkey says that the user has to act, and stays what it is.
void on_failure(FoldState& state, const base::Error& error,
                model::NodeState cause = model::NodeState::down);

// A new try begins: connecting, or stale while there are last values. The error of the last try
// stays until there is something newer to say.
void on_restart(FoldState& state);

}  // namespace nvidb::fleet
