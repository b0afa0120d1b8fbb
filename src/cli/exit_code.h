// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// What the program's exit codes mean. Source: spec, "Rules for every command".
#include "base/result.h"

namespace nvidb::cli {

enum ExitCode : int {
  kDone = 0,
  kFailed = 1,         // the thing asked for failed
  kUsage = 2,          // the words were wrong
  kInterrupted = 130,  // Ctrl-C
};

}  // namespace nvidb::cli
