// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// The driver's library, loaded while running: every function it has, and null for what it lacks.
//
// The only place that opens a library. Each symbol is looked up by itself, the suffixed name first:
// the plain export is an older function with other structures. Only init, shutdown, count and
// handle must be there.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "agent/nvml_abi.h"
#include "base/result.h"

namespace nvidb::agent {

// Which structure the process lists of one kind are made of.
enum class ProcessRecord { v1_16_bytes, v2_24_bytes, wide_32_bytes };

struct ProcessListCall {
  nvml::ProcessListFn* call = nullptr;
  ProcessRecord record = ProcessRecord::v2_24_bytes;
};

class NvmlLibrary {
 public:
  // Loads the first of `paths` that opens and has what must be there. Errors: not_found where no
  // path leads to a file, else unsupported with the loader's words for the first file that could
  // not be used.
  static base::Result<std::shared_ptr<const NvmlLibrary>> open(std::span<const std::string> paths);
  // Unloads it. REQUIRES: no thread is inside one of its functions.
  ~NvmlLibrary();
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  // The file that was loaded, whole path, links not followed.
  const std::string& path() const { return path_; }
  // From the file's own name, `libnvidia-ml.so.535.54.03`: right even where the driver refuses to
  // talk.
  std::optional<std::string> file_version() const;
  // It is our simulator.
  bool simulated() const { return simulated_; }

  // Never null.
  nvml::CallFn* init = nullptr;
  nvml::CallFn* shutdown = nullptr;
  nvml::SystemU32Fn* count = nullptr;
  nvml::HandleByIndexFn* handle_by_index = nullptr;

  // Null where this library lacks them.
  nvml::SystemTextFn* driver_version = nullptr;
  nvml::SystemTextFn* nvml_version = nullptr;
  nvml::SystemIntFn* cuda_version = nullptr;
  nvml::TextFn* name = nullptr;
  nvml::TextFn* uuid = nullptr;
  nvml::PciInfoFn* pci_info = nullptr;
  nvml::U32Fn* architecture = nullptr;
  nvml::U32Fn* pcie_gen_max_of_card = nullptr;
  nvml::U32Fn* pcie_gen_max_of_link = nullptr;
  nvml::U32Fn* pcie_width_max = nullptr;
  nvml::UtilizationFn* utilization = nullptr;
  nvml::TwoU32Fn* encoder_utilization = nullptr;
  nvml::TwoU32Fn* decoder_utilization = nullptr;
  nvml::MemoryV2Fn* memory_v2 = nullptr;
  nvml::MemoryFn* memory_v1 = nullptr;
  nvml::U32ByKindFn* temperature = nullptr;
  nvml::TemperatureV1Fn* temperature_v = nullptr;
  nvml::U32Fn* fan_speed = nullptr;
  nvml::U32Fn* power_usage = nullptr;
  nvml::U32Fn* power_limit_enforced = nullptr;
  nvml::U32Fn* power_limit = nullptr;
  nvml::IntFn* performance_state = nullptr;
  nvml::U32ByKindFn* clock = nullptr;
  nvml::U64Fn* clock_reasons = nullptr;
  nvml::U32Fn* pcie_gen = nullptr;
  nvml::U32Fn* pcie_width = nullptr;
  nvml::U32ByKindFn* pcie_throughput = nullptr;
  nvml::EccErrorsFn* ecc_errors = nullptr;
  nvml::TwoU32Fn* mig_mode = nullptr;
  nvml::U32Fn* mig_count_max = nullptr;
  nvml::ChildHandleFn* mig_handle = nullptr;
  ProcessListCall compute_processes, graphics_processes, mps_processes;

  // Only our simulator has it.
  nvml::SimProcessFactsFn* sim_process_facts = nullptr;

 private:
  NvmlLibrary() = default;
  bool resolve(std::string& missing);
  void resolve_process_lists();

  void* loaded_ = nullptr;
  std::string path_;
  bool simulated_ = false;
};

}  // namespace nvidb::agent
