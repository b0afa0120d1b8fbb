// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Where nvidb keeps its files, and the environment variables that say so. The only place that reads
// the environment.
#include <optional>
#include <string>

#include "base/result.h"

namespace nvidb::config {

struct Paths {
  std::string home;        // $NVIDB_HOME, else ~/.nvidb
  std::string config_yml;  // home/config.yml
  std::string queue_yml;   // $NVIDB_QUEUE_CONFIG, else home/queue.yml
  std::string queue_db;    // $NVIDB_QUEUE_DB, else home/queue.db
  std::string gpu_log_db;  // home/gpu_log.db
};
// Errors: invalid where neither $NVIDB_HOME, $HOME nor the password database names a home.
base::Result<Paths> find_paths();

// The value of an environment variable; absent where it is unset or empty.
std::optional<std::string> env(const char* name);

// `~` or `~/x` with the user's home in place of `~`; everything else as it is.
std::string expand_home(const std::string& path);

// What `--demo` needs: the simulator's library and its scenario, looked for beside the running
// program (build tree or PREFIX/lib/nvidb). Errors: not_found, naming where it looked.
struct DemoFiles {
  std::string nvml_path, scenario_path;
};
base::Result<DemoFiles> find_demo_files();

// The running program itself, for starting it anew.
std::string self_path();

}  // namespace nvidb::config
