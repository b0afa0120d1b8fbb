// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// One sample of every node: what `--once` and `info` start from.
#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "fleet/fleet.h"
#include "model/fleet.h"

namespace nvidb::cli {

// This machine, watched by a collector that is this program itself; with demo over the simulator.
// Errors: not_found (demo's files).
base::Result<fleet::NodeSpec> local_node(bool demo);

struct Collected {
  std::shared_ptr<const model::FleetSnapshot> fleet;
  bool interrupted = false;  // SIGINT or SIGTERM came first
};
// Runs a loop of its own until every node has a sample or has failed. Never longer than the
// options' deadlines.
Collected collect_once(std::vector<fleet::NodeSpec> nodes, fleet::FleetOptions options);

}  // namespace nvidb::cli
