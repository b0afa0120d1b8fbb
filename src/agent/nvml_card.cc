// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "agent/nvml_card.h"

#include <fmt/format.h>

#include <utility>

#include "agent/nvml_words.h"

namespace nvidb::agent {
namespace {

constexpr std::int64_t kLowestC = -50, kHighestC = 200;
constexpr std::int64_t kMostMilliwatts = 100'000'000;
constexpr std::int64_t kMostFanPercent = 255;
constexpr std::int64_t kMostMhz = 20'000;
constexpr std::int64_t kMostGen = 15, kMostLanes = 64;
constexpr std::uint64_t kMostErrors = std::uint64_t{1}
                                      << 53;  // what JSON readers hold without loss
constexpr int kMostPerformanceState = 15;

}  // namespace

NvmlCard::NvmlCard(const NvmlLibrary& library, int index, nvml::Device handle,
                   nvml::Return open_code)
    : library_(library), handle_(handle), open_code_(open_code) {
  facts_.index = index;
  if (handle_ != nullptr) read_facts();
}

template <typename Fn, typename... Args>
bool NvmlCard::ask(Fn* function, Args... args) {
  if (function == nullptr || fatal_ != nvml::kSuccess) return false;
  const nvml::Return code = function(handle_, args...);
  if (is_card_gone(code) || is_driver_gone_by_card(code)) fatal_ = code;
  if (code == nvml::kSuccess) did_answer_ = true;
  if (code != nvml::kNotSupported && code != nvml::kFunctionNotFound) refusal_ = code;
  return code == nvml::kSuccess;
}

std::optional<std::int64_t> NvmlCard::ask_number(nvml::U32Fn* function, std::int64_t lowest,
                                                 std::int64_t highest) {
  std::uint32_t value = 0;
  if (!ask(function, &value)) return std::nullopt;
  return sane(value, lowest, highest);
}

std::optional<double> NvmlCard::ask_watts(nvml::U32Fn* function) {
  const auto milliwatts = ask_number(function, 0, kMostMilliwatts);
  if (!milliwatts) return std::nullopt;
  return static_cast<double>(*milliwatts) / 1000;
}

std::optional<std::string> NvmlCard::ask_uuid() {
  if (handle_ == nullptr) return std::nullopt;
  fatal_ = nvml::kSuccess;
  char text[nvml::kUuidBytes] = {};
  if (!ask(library_.uuid, text, nvml::kUuidBytes)) return std::nullopt;
  return driver_text(text);
}

void NvmlCard::read_facts() {
  facts_.uuid = ask_uuid();
  char name[nvml::kNameBytes] = {};
  if (ask(library_.name, name, nvml::kNameBytes)) facts_.name = driver_text(name);
  nvml::PciInfo pci = {};
  if (ask(library_.pci_info, &pci)) {
    facts_.pci_bus_id = driver_text(pci.bus_id);
    if (!facts_.pci_bus_id) facts_.pci_bus_id = driver_text(pci.bus_id_legacy);
  }
  std::uint32_t architecture = nvml::kNotAvailable32;
  if (ask(library_.architecture, &architecture)) {
    facts_.architecture = architecture_name(architecture);
  }
  // What the card can do wherever it is plugged in; older libraries only know what this slot
  // allows.
  facts_.pcie_gen_max = ask_number(library_.pcie_gen_max_of_card, 1, kMostGen);
  if (!facts_.pcie_gen_max) {
    facts_.pcie_gen_max = ask_number(library_.pcie_gen_max_of_link, 1, kMostGen);
  }
  facts_.pcie_width_max = ask_number(library_.pcie_width_max, 1, kMostLanes);
}

model::GpuReading NvmlCard::read(std::int64_t steady_ms) {
  fatal_ = handle_ == nullptr ? open_code_ : nvml::kSuccess;
  did_answer_ = false;
  refusal_ = nvml::kSuccess;
  model::GpuReading reading;
  reading.index = facts_.index;
  if (!slow_.at_ms || steady_ms - *slow_.at_ms >= kSlowMs) read_slow(steady_ms);
  read_activity(reading);
  read_memory(reading);
  reading.power_w = ask_watts(library_.power_usage);
  reading.pcie_gen = ask_number(library_.pcie_gen, 1, kMostGen);
  reading.pcie_width = ask_number(library_.pcie_width, 1, kMostLanes);
  std::uint64_t reasons = 0;
  if (ask(library_.clock_reasons, &reasons)) reading.throttle_reasons = throttle_words(reasons);
  // A card that answers nothing at all is no healthy card of which nothing is known.
  const nvml::Return trouble = fatal_ != nvml::kSuccess ? fatal_
                               : did_answer_            ? nvml::kSuccess
                                                        : refusal_;
  if (trouble != nvml::kSuccess) {
    slow_ = {};
    model::GpuReading gone;
    gone.index = facts_.index;
    gone.error = code_words(trouble);
    return gone;
  }
  reading.temperature_c = slow_.temperature_c;
  reading.fan_percent = slow_.fan_percent;
  reading.power_limit_w = slow_.power_limit_w;
  reading.performance_state = slow_.performance_state;
  reading.ecc_uncorrected = slow_.ecc_uncorrected;
  reading.mig = slow_.mig;
  return reading;
}

void NvmlCard::read_slow(std::int64_t steady_ms) {
  slow_ = {.at_ms = steady_ms};
  slow_.temperature_c = ask_temperature();
  // Above 100 is possible: the driver counts in parts of a quiet maximum.
  slow_.fan_percent = ask_number(library_.fan_speed, 0, kMostFanPercent);
  slow_.power_limit_w = ask_watts(library_.power_limit_enforced);
  if (!slow_.power_limit_w) slow_.power_limit_w = ask_watts(library_.power_limit);
  int state = nvml::kPerformanceStateUnknown;
  if (ask(library_.performance_state, &state) && state >= 0 && state <= kMostPerformanceState) {
    slow_.performance_state = fmt::format("P{}", state);
  }
  std::uint64_t errors = 0;
  if (ask(library_.ecc_errors, nvml::kMemoryErrorUncorrected, nvml::kEccVolatile, &errors) &&
      errors < kMostErrors) {
    slow_.ecc_uncorrected = static_cast<std::int64_t>(errors);
  }
  std::uint32_t now = nvml::kMigDisabled, after_reset = nvml::kMigDisabled;
  if (ask(library_.mig_mode, &now, &after_reset)) slow_.mig = now == nvml::kMigEnabled;
}

std::optional<std::int64_t> NvmlCard::ask_temperature() {
  std::uint32_t celsius = 0;
  if (ask(library_.temperature, nvml::kSensorGpu, &celsius)) {
    return sane(static_cast<std::int32_t>(celsius), kLowestC, kHighestC);
  }
  nvml::TemperatureV1 versioned = {.version = nvml::struct_version<nvml::TemperatureV1>(1),
                                   .sensor = nvml::kSensorGpu,
                                   .celsius = 0};
  if (!ask(library_.temperature_v, &versioned)) return std::nullopt;
  return sane(versioned.celsius, kLowestC, kHighestC);
}

void NvmlCard::read_activity(model::GpuReading& reading) {
  // The parent of MIG devices has no utilisation of its own, whatever a driver may answer.
  if (!mig()) {
    nvml::Utilization utilization = {};
    if (ask(library_.utilization, &utilization)) {
      reading.util_percent = sane_percent(utilization.gpu);
      reading.mem_util_percent = sane_percent(utilization.memory);
    }
    std::uint32_t percent = 0, period_us = 0;
    if (ask(library_.encoder_utilization, &percent, &period_us)) {
      reading.encoder_util_percent = sane_percent(percent);
    }
    if (ask(library_.decoder_utilization, &percent, &period_us)) {
      reading.decoder_util_percent = sane_percent(percent);
    }
  }
  std::uint32_t mhz = 0;
  if (ask(library_.clock, nvml::kClockSm, &mhz)) reading.sm_clock_mhz = sane(mhz, 0, kMostMhz);
  if (ask(library_.clock, nvml::kClockMemory, &mhz)) reading.mem_clock_mhz = sane(mhz, 0, kMostMhz);
}

void NvmlCard::read_memory(model::GpuReading& reading) {
  // A total of 0 is how machines whose memory is the system's answer: unknown, and nothing to
  // divide by.
  const auto take = [&](std::uint64_t total, std::uint64_t used) {
    reading.mem_total_mb = sane_mb(total);
    if (reading.mem_total_mb == 0) reading.mem_total_mb.reset();
    if (!reading.mem_total_mb) return false;
    reading.mem_used_mb = sane_mb(used);
    if (used > total) reading.mem_used_mb.reset();
    return true;
  };
  nvml::MemoryV2 now = {};
  now.version = nvml::struct_version<nvml::MemoryV2>(2);
  if (ask(library_.memory_v2, &now) && take(now.total, now.used)) {
    reading.mem_reserved_mb = sane_mb(now.reserved);
    return;
  }
  nvml::Memory old = {};
  if (ask(library_.memory_v1, &old)) take(old.total, old.used);
}

}  // namespace nvidb::agent
