// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "engine/card_values.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace nvidb::sim {
namespace {

constexpr double kIdleC = 32, kBusyC = 76;
constexpr double kFanStartC = 50, kFanIdlePercent = 30;
constexpr double kShareOfLimit = 0.93;  // power at full load
constexpr double kAtLimit = 0.985;      // from here the power cap holds the clocks down
constexpr double kBusyRxKbPerS = 180'000, kBusyTxKbPerS = 60'000;
constexpr double kReasonIdle = 0x1, kReasonPowerCap = 0x4;

std::optional<double> when(bool supported, double number) {
  return supported ? std::optional(number) : std::nullopt;
}

bool is_alive(std::uint32_t pid) {
  return ::access(("/proc/" + std::to_string(pid)).c_str(), F_OK) == 0;
}

void append(std::vector<ListedProcess>& listed, const std::vector<Process>& processes, double at_s,
            const MigDevice* device) {
  for (const Process& process : processes) {
    if (process.while_alive && !is_alive(process.pid)) continue;
    ListedProcess entry{.pid = process.pid,
                        .type = process.type,
                        .gpu_instance = process.gpu_instance,
                        .compute_instance = process.compute_instance};
    if (process.mem_mb) {
      entry.mem_mb = std::llround(std::clamp(value_at(*process.mem_mb, at_s), 0.0, 1e12));
    }
    if (device != nullptr) {
      entry.gpu_instance = entry.gpu_instance.value_or(device->gpu_instance);
      entry.compute_instance = entry.compute_instance.value_or(device->compute_instance);
    }
    listed.push_back(entry);
  }
}

const ProcessFacts* find_facts(const std::vector<Process>& processes, std::uint32_t pid) {
  for (const Process& process : processes) {
    if (process.pid == pid && process.facts) return &*process.facts;
  }
  return nullptr;
}

}  // namespace

std::optional<double> CardValues::value(const Setting& setting,
                                        std::optional<double> preset) const {
  switch (setting.kind) {
    case Setting::Kind::by_preset:
      return preset;
    case Setting::Kind::not_supported:
      return std::nullopt;
    case Setting::Kind::given:
      return value_at(setting.curve, at_s_);
  }
  return std::nullopt;
}

std::optional<double> CardValues::percent(const Setting& setting,
                                          std::optional<double> preset) const {
  auto number = value(setting, preset);
  if (number && setting.curve.shape != Shape::constant) number = std::clamp(*number, 0.0, 100.0);
  return number;
}

double CardValues::load() const {
  return std::clamp(percent(card_.util_percent, 0.0).value_or(0) / 100, 0.0, 1.0);
}

// A MIG parent has no utilisation of its own.
std::optional<double> CardValues::util_percent() const {
  return percent(card_.util_percent, when(!card_.mig.value_or(false), 0));
}

std::optional<double> CardValues::mem_util_percent() const {
  return percent(card_.mem_util_percent, when(!card_.mig.value_or(false), 55 * load()));
}

std::optional<double> CardValues::encoder_util_percent() const {
  return percent(card_.encoder_util_percent, when(!card_.mig.value_or(false), 0));
}

std::optional<double> CardValues::decoder_util_percent() const {
  return percent(card_.decoder_util_percent, when(!card_.mig.value_or(false), 0));
}

std::optional<double> CardValues::temperature_c() const {
  return value(card_.temperature_c, std::lerp(kIdleC, kBusyC, load()));
}

std::optional<double> CardValues::mem_temperature_c() const {
  return value(card_.mem_temperature_c,
               when(card_.preset->has_mem_temperature, temperature_c().value_or(kIdleC) + 6));
}

std::optional<double> CardValues::fan_percent() const {
  const double above_c = std::max(0.0, temperature_c().value_or(kIdleC) - kFanStartC);
  return percent(card_.fan_percent,
                 when(card_.preset->has_fan, std::min(100.0, kFanIdlePercent + 1.6 * above_c)));
}

std::optional<double> CardValues::power_limit_w() const {
  return value(card_.power_limit_w,
               when(card_.preset->has_power_limit, card_.preset->power_limit_w));
}

std::optional<double> CardValues::power_w() const {
  const double limit_w = power_limit_w().value_or(card_.preset->power_limit_w);
  const double busy_w = std::max(card_.preset->power_idle_w, limit_w * kShareOfLimit);
  return value(card_.power_w, std::lerp(card_.preset->power_idle_w, busy_w, load()));
}

std::optional<double> CardValues::performance_state() const {
  return value(card_.performance_state,
               idle() ? card_.preset->state_idle : card_.preset->state_busy);
}

std::optional<double> CardValues::sm_clock_mhz() const {
  return value(card_.sm_clock_mhz, idle()
                                       ? card_.preset->sm_clock_idle_mhz
                                       : card_.preset->sm_clock_mhz - 15 * std::floor(6 * load()));
}

std::optional<double> CardValues::mem_clock_mhz() const {
  return value(card_.mem_clock_mhz,
               when(card_.preset->mem_clock_mhz > 0,
                    idle() ? card_.preset->mem_clock_idle_mhz : card_.preset->mem_clock_mhz));
}

std::optional<double> CardValues::throttle_mask() const {
  double mask = 0;
  if (idle()) mask = kReasonIdle;
  const auto limit_w = power_limit_w();
  if (limit_w && power_w().value_or(0) >= *limit_w * kAtLimit) mask = kReasonPowerCap;
  return value(card_.throttle_mask, mask);
}

std::optional<double> CardValues::ecc_uncorrected() const {
  return value(card_.ecc_uncorrected, when(card_.preset->has_ecc, 0));
}

std::optional<double> CardValues::ecc_corrected() const {
  return value(card_.ecc_corrected, when(card_.preset->has_ecc, 0));
}

std::optional<double> CardValues::pcie_gen_max() const {
  return value(card_.pcie_gen_max, card_.preset->pcie_gen_max);
}

std::optional<double> CardValues::pcie_gen() const {
  const bool asleep = card_.preset->link_sleeps && idle();
  return value(card_.pcie_gen, asleep ? std::optional(1.0) : pcie_gen_max());
}

std::optional<double> CardValues::pcie_width_max() const {
  return value(card_.pcie_width_max, card_.preset->pcie_width_max);
}

std::optional<double> CardValues::pcie_width() const {
  return value(card_.pcie_width, pcie_width_max());
}

std::optional<double> CardValues::pcie_rx_kb_s() const {
  return value(card_.pcie_rx_kb_s, kBusyRxKbPerS * load());
}

std::optional<double> CardValues::pcie_tx_kb_s() const {
  return value(card_.pcie_tx_kb_s, kBusyTxKbPerS * load());
}

std::optional<CardValues::Memory> CardValues::memory(
    std::span<const ListedProcess> processes) const {
  const Preset& preset = *card_.preset;
  double held_mb = static_cast<double>(preset.mem_base_mb);
  for (const ListedProcess& process : processes) {
    held_mb += static_cast<double>(process.mem_mb.value_or(0));
  }
  const auto total = value(card_.mem_total_mb,
                           when(preset.mem_total_mb > 0, static_cast<double>(preset.mem_total_mb)));
  const auto used = value(card_.mem_used_mb, held_mb);
  if (!total || !used) return std::nullopt;
  const auto whole = [](double mb) { return std::llround(std::clamp(mb, 0.0, 1e12)); };
  Memory memory;
  memory.total_mb = whole(*total);
  memory.reserved_mb =
      whole(value(card_.mem_reserved_mb, static_cast<double>(preset.mem_reserved_mb)).value_or(0));
  memory.used_mb = whole(*used);
  memory.free_mb = std::max<std::int64_t>(0, memory.total_mb - memory.reserved_mb - memory.used_mb);
  return memory;
}

std::vector<ListedProcess> list_processes(const Card& card, double at_s) {
  std::vector<ListedProcess> listed;
  append(listed, card.processes, at_s, nullptr);
  for (const auto& device : card.mig_devices) {
    if (device) append(listed, device->processes, at_s, &*device);
  }
  return listed;
}

std::vector<ListedProcess> list_processes(const MigDevice& device, double at_s) {
  std::vector<ListedProcess> listed;
  append(listed, device.processes, at_s, &device);
  return listed;
}

const ProcessFacts* find_facts(const Scenario& scenario, std::uint32_t pid) {
  for (const Card& card : scenario.cards) {
    if (const ProcessFacts* facts = find_facts(card.processes, pid)) return facts;
    for (const auto& device : card.mig_devices) {
      if (!device) continue;
      if (const ProcessFacts* facts = find_facts(device->processes, pid)) return facts;
    }
  }
  return nullptr;
}

}  // namespace nvidb::sim
