// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// One sample of every node: what `--once` and `info` start from.
#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "cli/nodes.h"
#include "fleet/fleet.h"
#include "model/fleet.h"

namespace nvidb::cli {

struct Collected {
  std::shared_ptr<const model::FleetSnapshot> fleet;
  bool interrupted = false;  // SIGINT or SIGTERM came first
};
// Watches this machine, and with `remote` the configured servers, on a loop of its own until every
// node has a sample or has failed. Never longer than the options' deadlines. On a terminal, a line
// on stderr tells what is waited for, and passwords are asked for. Errors: those of local_node()
// and watched_servers().
base::Result<Collected> collect_once(const Settings& settings, bool remote, bool demo,
                                     fleet::FleetOptions options);

}  // namespace nvidb::cli
