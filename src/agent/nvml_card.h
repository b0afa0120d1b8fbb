// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// One card as NVML tells it: facts once, fast fields each time, slow fields every few seconds.
//
// docs/nvml.md says which call feeds which field. Every function may be missing or fail: that field
// is then absent.
#include <cstdint>
#include <memory>
#include <optional>

#include "agent/nvml_abi.h"
#include "agent/nvml_library.h"
#include "model/gpu.h"

namespace nvidb::agent {

class NvmlCard {
 public:
  static constexpr std::int64_t kSlowMs =
      3000;  // temperature, fan, limit, P-state, ECC and MIG are at most this old

  // A card that could not be opened has no handle and `open_code` says why. `library` outlives
  // this.
  NvmlCard(const NvmlLibrary& library, int index, nvml::Device handle, nvml::Return open_code);

  nvml::Device handle() const { return handle_; }
  const model::GpuFacts& facts() const { return facts_; }
  // For a card that cannot be asked (any more): what an earlier look at the same card found.
  void set_facts(model::GpuFacts facts) { facts_ = std::move(facts); }

  // The uuid as the driver says it now; absent where it does not.
  std::optional<std::string> ask_uuid();

  // Everything but PCIe traffic and processes. Where the card has gone, `error` and index alone.
  model::GpuReading read(std::int64_t steady_ms);
  // The code that took the card or the driver away during the last read; kSuccess for none.
  nvml::Return fatal() const { return fatal_; }
  bool mig() const { return slow_.mig.value_or(false); }

 private:
  struct Slow {
    std::optional<std::int64_t> at_ms, temperature_c, fan_percent, ecc_uncorrected;
    std::optional<double> power_limit_w;
    std::optional<std::string> performance_state;
    std::optional<bool> mig;
  };

  template <typename Fn, typename... Args>
  bool ask(Fn* function, Args... args);
  std::optional<std::int64_t> ask_number(nvml::U32Fn* function, std::int64_t lowest,
                                         std::int64_t highest);
  std::optional<double> ask_watts(nvml::U32Fn* function);
  void read_facts();
  void read_slow(std::int64_t steady_ms);
  void read_memory(model::GpuReading& reading);
  void read_activity(model::GpuReading& reading);
  std::optional<std::int64_t> ask_temperature();

  const NvmlLibrary& library_;
  nvml::Device handle_;
  nvml::Return open_code_;
  nvml::Return fatal_ = nvml::kSuccess;
  bool did_answer_ = false;                // any call of this reading
  nvml::Return refusal_ = nvml::kSuccess;  // the last that was not "not supported"
  model::GpuFacts facts_;
  Slow slow_;
};

}  // namespace nvidb::agent
