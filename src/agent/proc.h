// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// The machine and its processes as /proc tells them. Private to agent/.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "model/gpu.h"
#include "model/host.h"

namespace nvidb::agent {

class ProcReader {
 public:
  // `root` is /proc, or a tree that looks like it. Nothing is read yet. `clock` measures the time
  // between two calls and outlives this.
  explicit ProcReader(std::string root, const base::Clock& clock = base::system_clock());
  ~ProcReader();

  // The name of the system comes from etc/os-release (else usr/lib/os-release) beside `root`, so
  // from /etc for /proc.
  model::HostFacts facts() const;

  // cpu_percent is the share since the call before; absent at the first.
  model::HostReading read_host();

  // The /proc members of each pid, in the order of `pids` (unique, any order); a pid that is not
  // there has none of them. Each pid is read once however many cards list it. cpu_percent is the
  // share since the call before that had the same process (pid and start time), else absent. What
  // does not change (user, command line) is read once a process and kept until it is no longer
  // asked for, or until the kernel's name of it changes, as exec makes it. Command lines are cut at
  // model::kMaxCommandBytes. `type` and `mem_mb` are left as they are by default.
  std::vector<model::ProcessSample> read_processes(std::span<const std::int64_t> pids);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Sends `signal` to the process that has this pid and this start time (field 22 of stat), through a
// pidfd so that a pid reused in between is never hit. Errors: not_found `no such process` (also
// when the start time differs), refused or io with the system's own text; invalid for pid <= 1 and
// for signals other than 2, 9 and 15. Needs Linux 5.3.
base::Result<void> signal_process(const std::string& proc_root, std::int64_t pid,
                                  std::int64_t start_ticks, int signal);

}  // namespace nvidb::agent
