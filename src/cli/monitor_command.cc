// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
//
// Bare `nvidb`: the full-screen monitor, once it is there.
#include "cli/commands.h"
#include "cli/output.h"

namespace nvidb::cli {

int run_monitor(const CommonArguments& common, const MonitorArguments&) {
  return print_error(
      {base::ErrorKind::unsupported, "this version has no full-screen monitor yet",
       common.demo
           ? "print the simulated GPUs with: nvidb --demo --once"
           : "print every GPU with: nvidb --once, or simulated ones with: nvidb --demo --once"},
      false);
}

}  // namespace nvidb::cli
