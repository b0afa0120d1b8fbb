// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// `nvidb agent`: the collector. Speaks docs/agent-protocol.md on stdin and stdout until stdin ends.
//
// NVML is loaded here and nowhere else, in a process of its own: a driver that hangs or crashes
// takes only this child with it. One thread asks the driver, one (the main one) listens to stdin,
// so that the end of stdin, `quit` and signals to processes work while a driver call blocks; it
// ends within 2 s of stdin closing whatever the driver does.
#include <cstdint>
#include <string>
#include <vector>

namespace nvidb::agent {

struct AgentOptions {
  std::int64_t interval_ms = 1000;
  bool once = false;                // one sample, then exit 0
  std::string proc_root = "/proc";  // seam for tests
  std::vector<std::string>
      nvml_paths;  // tried in order; empty: NVIDB_NVML's value came from config as one path,
                   // else libnvidia-ml.so.1, /usr/lib/wsl/lib/libnvidia-ml.so.1
  std::int64_t smi_deadline_ms = 25000;  // for one nvidia-smi
};

// Returns the exit code: 0 stdin ended, quit, or once done; 1 stdout cannot be written.
int agent_main(const AgentOptions& options);

}  // namespace nvidb::agent
