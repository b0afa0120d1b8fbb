// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "agent/nvml_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <climits>
#include <cstdlib>
#include <initializer_list>
#include <string_view>

#include "agent/nvml_words.h"

namespace nvidb::agent {
namespace {

using base::ErrorKind;
using base::fail;

// The first of `names` that the library has.
template <typename Fn>
Fn* find(void* loaded, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (void* symbol = ::dlsym(loaded, name)) return reinterpret_cast<Fn*>(symbol);
  }
  return nullptr;
}

std::string loaded_path(void* loaded, const std::string& asked) {
  link_map* map = nullptr;
  if (::dlinfo(loaded, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr || map->l_name == nullptr ||
      *map->l_name == '\0') {
    return asked;
  }
  return map->l_name;
}

// The loader has no error codes, only text; a file that is not there is the one case that is no
// trouble.
bool says_no_such_file(std::string_view words) {
  return words.find("No such file or directory") != std::string_view::npos;
}

ProcessListCall find_process_list(void* loaded, const std::string& name, bool v3_is_wide) {
  auto* v3 = find<nvml::ProcessListFn>(loaded, {(name + "_v3").c_str()});
  auto* v2 = find<nvml::ProcessListFn>(loaded, {(name + "_v2").c_str()});
  if (v3 != nullptr && !v3_is_wide) return {v3, ProcessRecord::v2_24_bytes};
  if (v2 != nullptr) return {v2, ProcessRecord::v2_24_bytes};
  if (v3 != nullptr) return {v3, ProcessRecord::wide_32_bytes};
  return {find<nvml::ProcessListFn>(loaded, {name.c_str()}), ProcessRecord::v1_16_bytes};
}

}  // namespace

base::Result<std::shared_ptr<const NvmlLibrary>> NvmlLibrary::open(
    std::span<const std::string> paths) {
  std::string unusable;
  for (const std::string& path : paths) {
    void* loaded = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (loaded == nullptr) {
      const char* words = ::dlerror();
      if (words != nullptr && !says_no_such_file(words) && unusable.empty()) unusable = words;
      continue;
    }
    std::shared_ptr<NvmlLibrary> library(new NvmlLibrary());
    library->loaded_ = loaded;
    library->path_ = loaded_path(loaded, path);
    std::string missing;
    if (library->resolve(missing)) return std::shared_ptr<const NvmlLibrary>(std::move(library));
    if (unusable.empty()) unusable = fmt::format("{} has no {}", library->path_, missing);
  }
  if (!unusable.empty()) return fail(ErrorKind::unsupported, "cannot use NVML: " + unusable);
  return fail(ErrorKind::not_found, "no NVML library");
}

NvmlLibrary::~NvmlLibrary() {
  if (loaded_ != nullptr) ::dlclose(loaded_);
}

std::optional<std::string> NvmlLibrary::file_version() const {
  char resolved[PATH_MAX];
  const std::string path = ::realpath(path_.c_str(), resolved) != nullptr ? resolved : path_;
  constexpr std::string_view kMark = ".so.";
  const std::size_t mark = path.rfind(kMark);
  if (mark == std::string::npos) return std::nullopt;
  return find_version(std::string_view(path).substr(mark + kMark.size()));
}

bool NvmlLibrary::resolve(std::string& missing) {
  void* const so = loaded_;
  init = find<nvml::CallFn>(so, {"nvmlInit_v2", "nvmlInit"});
  shutdown = find<nvml::CallFn>(so, {"nvmlShutdown"});
  // A pair: the old count skips cards we may not open, and the old handles are numbered by it.
  count = find<nvml::SystemU32Fn>(so, {"nvmlDeviceGetCount_v2"});
  handle_by_index = find<nvml::HandleByIndexFn>(so, {"nvmlDeviceGetHandleByIndex_v2"});
  if (count == nullptr || handle_by_index == nullptr) {
    count = find<nvml::SystemU32Fn>(so, {"nvmlDeviceGetCount"});
    handle_by_index = find<nvml::HandleByIndexFn>(so, {"nvmlDeviceGetHandleByIndex"});
  }
  missing = init == nullptr              ? "nvmlInit"
            : shutdown == nullptr        ? "nvmlShutdown"
            : count == nullptr           ? "nvmlDeviceGetCount"
            : handle_by_index == nullptr ? "nvmlDeviceGetHandleByIndex"
                                         : "";
  if (!missing.empty()) return false;

  using namespace nvml;
  driver_version = find<SystemTextFn>(so, {"nvmlSystemGetDriverVersion"});
  nvml_version = find<SystemTextFn>(so, {"nvmlSystemGetNVMLVersion"});
  // The plain one first here: _v2 asks libcuda, which is slow to load and often absent.
  cuda_version = find<SystemIntFn>(
      so, {"nvmlSystemGetCudaDriverVersion", "nvmlSystemGetCudaDriverVersion_v2"});
  name = find<TextFn>(so, {"nvmlDeviceGetName"});
  uuid = find<TextFn>(so, {"nvmlDeviceGetUUID"});
  pci_info = find<PciInfoFn>(so, {"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2"});
  architecture = find<U32Fn>(so, {"nvmlDeviceGetArchitecture"});
  pcie_gen_max_of_card = find<U32Fn>(so, {"nvmlDeviceGetGpuMaxPcieLinkGeneration"});
  pcie_gen_max_of_link = find<U32Fn>(so, {"nvmlDeviceGetMaxPcieLinkGeneration"});
  pcie_width_max = find<U32Fn>(so, {"nvmlDeviceGetMaxPcieLinkWidth"});
  utilization = find<UtilizationFn>(so, {"nvmlDeviceGetUtilizationRates"});
  encoder_utilization = find<TwoU32Fn>(so, {"nvmlDeviceGetEncoderUtilization"});
  decoder_utilization = find<TwoU32Fn>(so, {"nvmlDeviceGetDecoderUtilization"});
  memory_v2 = find<MemoryV2Fn>(so, {"nvmlDeviceGetMemoryInfo_v2"});
  memory_v1 = find<MemoryFn>(so, {"nvmlDeviceGetMemoryInfo"});
  temperature = find<U32ByKindFn>(so, {"nvmlDeviceGetTemperature"});
  temperature_v = find<TemperatureV1Fn>(so, {"nvmlDeviceGetTemperatureV"});
  fan_speed = find<U32Fn>(so, {"nvmlDeviceGetFanSpeed"});
  power_usage = find<U32Fn>(so, {"nvmlDeviceGetPowerUsage"});
  power_limit_enforced = find<U32Fn>(so, {"nvmlDeviceGetEnforcedPowerLimit"});
  power_limit = find<U32Fn>(so, {"nvmlDeviceGetPowerManagementLimit"});
  performance_state = find<IntFn>(so, {"nvmlDeviceGetPerformanceState"});
  clock = find<U32ByKindFn>(so, {"nvmlDeviceGetClockInfo"});
  clock_reasons = find<U64Fn>(
      so, {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
  pcie_gen = find<U32Fn>(so, {"nvmlDeviceGetCurrPcieLinkGeneration"});
  pcie_width = find<U32Fn>(so, {"nvmlDeviceGetCurrPcieLinkWidth"});
  pcie_throughput = find<U32ByKindFn>(so, {"nvmlDeviceGetPcieThroughput"});
  ecc_errors = find<EccErrorsFn>(so, {"nvmlDeviceGetTotalEccErrors"});
  mig_mode = find<TwoU32Fn>(so, {"nvmlDeviceGetMigMode"});
  mig_count_max = find<U32Fn>(so, {"nvmlDeviceGetMaxMigDeviceCount"});
  mig_handle = find<ChildHandleFn>(so, {"nvmlDeviceGetMigDeviceHandleByIndex"});
  resolve_process_lists();
  simulated_ = ::dlsym(so, "nvidb_sim_version") != nullptr;
  if (simulated_) sim_process_facts = find<SimProcessFactsFn>(so, {"nvidb_sim_process_facts"});
  return true;
}

void NvmlLibrary::resolve_process_lists() {
  // Early 535 libraries are the ones with this pair of symbols and without the third; their _v3
  // records are wider.
  const bool v3_is_wide = ::dlsym(loaded_, "nvmlDeviceGetConfComputeMemSizeInfo") != nullptr &&
                          ::dlsym(loaded_, "nvmlDeviceGetRunningProcessDetailList") == nullptr;
  compute_processes =
      find_process_list(loaded_, "nvmlDeviceGetComputeRunningProcesses", v3_is_wide);
  graphics_processes =
      find_process_list(loaded_, "nvmlDeviceGetGraphicsRunningProcesses", v3_is_wide);
  mps_processes = find_process_list(loaded_, "nvmlDeviceGetMPSComputeRunningProcesses", v3_is_wide);
}

}  // namespace nvidb::agent
