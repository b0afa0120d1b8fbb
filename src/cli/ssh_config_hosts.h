// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// The hosts of an OpenSSH configuration as servers: names from the file, values from ssh itself.
#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"

namespace nvidb::cli {

struct SkippedHost {
  std::string name, reason;
};

struct SshHosts {
  std::vector<config::ServerConfig> servers;  // new ones, in the file's order
  std::vector<SkippedHost> skipped;           // the others; one reason each
  std::vector<std::string> warnings;
  bool all_failed = false;   // ssh gave usable values for no host at all
  bool interrupted = false;  // SIGINT or SIGTERM came first
};

// Hosts named in `path`. `is_default`: ssh reads that file by itself; else it is told to. `known`
// are the servers there already. Runs a loop of its own, at most half a minute. Errors: those of
// reading `path`, not_found (no ssh).
base::Result<SshHosts> find_ssh_hosts(const std::string& path, bool is_default,
                                      const std::vector<std::string>& ssh_program,
                                      const std::vector<config::ServerConfig>& known);

}  // namespace nvidb::cli
