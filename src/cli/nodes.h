// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Which machines a command watches, and how each is reached.
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/arguments.h"
#include "config/config.h"
#include "config/paths.h"
#include "fleet/fleet.h"
#include "io/askpass.h"
#include "io/loop.h"

namespace nvidb::cli {

// Settings, and what to tell the user about them (on stderr, once).
struct Settings {
  config::Paths paths;
  config::LoadedConfig loaded;
};
// Reads config.yml. Errors: those of find_paths() and load_config().
base::Result<Settings> load_settings();
// Each on a line of its own: `nvidb: warning: ...`.
void print_warnings(const std::vector<std::string>& warnings);

// A server as ssh is to be told.
io::SshTarget ssh_target(const config::ServerConfig& server);

// The words of NVIDB_SSH_COMMAND, else `ssh`. Errors: invalid.
base::Result<std::vector<std::string>> ssh_program();

// The nodes, and what has to live as long as they are watched.
struct Watched {
  std::vector<fleet::NodeSpec> nodes;
  std::vector<std::unique_ptr<io::AskpassServer>> secrets;
};

// This machine, watched by a collector that is this program itself; with demo over the simulator.
// Errors: not_found (demo's files).
base::Result<fleet::NodeSpec> local_node(bool demo);

// `servers` of the configuration. Asks on the terminal for passwords that are needed and not
// stored; a server whose password cannot be had says so in its row. Errors: those of ssh_program().
base::Result<Watched> watched_servers(io::Loop& loop, const Settings& settings,
                                      const std::vector<config::ServerConfig>& servers,
                                      std::int64_t interval_ms);

}  // namespace nvidb::cli
