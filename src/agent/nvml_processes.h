// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Who uses a card, as the driver's three lists tell it: compute, graphics and MPS, merged by pid.
#include <cstdint>
#include <optional>
#include <vector>

#include "agent/nvml_abi.h"
#include "agent/nvml_library.h"

namespace nvidb::agent {

struct CardProcess {
  std::int64_t pid = 0;
  bool compute = false, graphics = false;
  std::optional<std::int64_t> mem_mb;

  bool operator==(const CardProcess&) const = default;
};

class ProcessLists {
 public:
  // `library` outlives this.
  explicit ProcessLists(const NvmlLibrary& library) : library_(library) {}

  // Adds the processes of `device` (a card or a MIG device) to `processes`. A pid is there once,
  // with the larger memory where two lists name it. A list that fails or that the driver lacks adds
  // nothing; the result is then the last failure's code.
  nvml::Return add(nvml::Device device, std::vector<CardProcess>& processes);

 private:
  nvml::Return add_list(const ProcessListCall& list, nvml::Device device, bool graphics,
                        std::vector<CardProcess>& processes);

  const NvmlLibrary& library_;
  std::uint32_t capacity_ = 32;  // records; grows with the longest list seen
  std::vector<std::uint64_t>
      records_;  // room for the widest record, whatever the driver is thought to write
};

// By memory, largest first and unknown last, then by pid.
void sort_by_memory(std::vector<CardProcess>& processes);

}  // namespace nvidb::agent
