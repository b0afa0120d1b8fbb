// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// posix_spawn with pipes. Private to io/.
#include "base/result.h"
#include "io/child.h"
#include "io/fd.h"

namespace nvidb::io {

struct Spawned {
  int pid = 0;
  Fd in;        // to its stdin; invalid where stdin is /dev/null
  Fd out, err;  // from its stdout and stderr
};
enum class Group { own, same };
enum class Stdin { pipe, dev_null };

// Our ends are close-on-exec and not inherited by other children; all signals have their default
// action in the child, none is blocked. Errors: not_found, io.
base::Result<Spawned> spawn(const ChildSpec& spec, Group group, Stdin stdin_kind);

// From what waitpid() filled in.
ExitStatus exit_status(int wait_status);

}  // namespace nvidb::io
