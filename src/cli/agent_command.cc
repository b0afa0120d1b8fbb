// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
//
// `nvidb agent`: this machine's collector, for another nvidb or a script to read.
#include "agent/agent_main.h"
#include "cli/commands.h"
#include "config/paths.h"

namespace nvidb::cli {

int run_agent(const CommonArguments&, const AgentArguments& arguments) {
  agent::AgentOptions options;
  options.interval_ms = arguments.interval_ms;
  options.once = arguments.once;
  if (const auto path = config::env("NVIDB_NVML")) options.nvml_paths = {*path};
  return agent::agent_main(options);
}

}  // namespace nvidb::cli
