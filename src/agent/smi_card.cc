// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "agent/smi_card.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <map>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "agent/nvml_words.h"
#include "agent/smi_values.h"
#include "model/agent_message.h"

namespace nvidb::agent {
namespace {

using model::GpuReading;
using model::ProcessSample;
using model::ProcessType;

constexpr double kMostWatts = 100'000;
constexpr std::int64_t kMostClockMhz = 100'000;
constexpr std::int64_t kMostRateKbS = std::int64_t{1} << 40;
constexpr std::int64_t kMostFanPercent = 255;  // the driver may say more than 100
constexpr std::int64_t kMostPid = std::numeric_limits<std::int32_t>::max();

// The end of an element's name in either block of reasons.
constexpr std::pair<std::string_view, std::uint64_t> kReasons[] = {
    {"gpu_idle", nvml::kReasonGpuIdle},
    {"applications_clocks_setting", nvml::kReasonApplicationsClocks},
    {"sw_power_cap", nvml::kReasonSwPowerCap},
    {"hw_slowdown", nvml::kReasonHwSlowdown},
    {"sync_boost", nvml::kReasonSyncBoost},
    {"sw_thermal_slowdown", nvml::kReasonSwThermal},
    {"hw_thermal_slowdown", nvml::kReasonHwThermal},
    {"hw_power_brake_slowdown", nvml::kReasonHwPowerBrake},
    {"display_clocks_setting", nvml::kReasonDisplayClocks},
};

std::string_view text_of(const pugi::xml_node& parent, const char* name) {
  return parent.child(name).child_value();
}

std::optional<double> percent(const pugi::xml_node& parent, const char* name) {
  return smi_number(text_of(parent, name), "%", 0, 100);
}

std::optional<std::int64_t> clock_mhz(const pugi::xml_node& clocks, const char* name) {
  return smi_integer(text_of(clocks, name), "MHz", 0, kMostClockMhz);
}

std::optional<double> watts(const pugi::xml_node& power, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const auto value = smi_number(text_of(power, name), "W", 0, kMostWatts)) return value;
  }
  return std::nullopt;
}

void read_memory(const pugi::xml_node& gpu, GpuReading& reading) {
  const pugi::xml_node memory = gpu.child("fb_memory_usage");
  reading.mem_total_mb = smi_mb(text_of(memory, "total"));
  // Cards that share the machine's memory say 0; then the other figures mean nothing either.
  if (reading.mem_total_mb == 0) {
    reading.mem_total_mb.reset();
    return;
  }
  reading.mem_used_mb = smi_mb(text_of(memory, "used"));
  reading.mem_reserved_mb = smi_mb(text_of(memory, "reserved"));
}

void read_power(const pugi::xml_node& gpu, GpuReading& reading) {
  // module_power_readings is a whole board with its CPU and never this card.
  for (const char* block : {"gpu_power_readings", "power_readings"}) {
    const pugi::xml_node power = gpu.child(block);
    if (!reading.power_w) {
      reading.power_w = watts(power, {"power_draw", "average_power_draw", "instant_power_draw"});
    }
    if (!reading.power_limit_w) {
      reading.power_limit_w =
          watts(power, {"enforced_power_limit", "current_power_limit", "power_limit"});
    }
  }
}

void read_utilization(const pugi::xml_node& gpu, GpuReading& reading) {
  const pugi::xml_node utilization = gpu.child("utilization");
  reading.util_percent = percent(utilization, "gpu_util");
  reading.mem_util_percent = percent(utilization, "memory_util");
  reading.encoder_util_percent = percent(utilization, "encoder_util");
  reading.decoder_util_percent = percent(utilization, "decoder_util");
}

void read_clocks(const pugi::xml_node& gpu, GpuReading& reading) {
  const pugi::xml_node clocks = gpu.child("clocks");
  reading.sm_clock_mhz = clock_mhz(clocks, "sm_clock");
  if (!reading.sm_clock_mhz) reading.sm_clock_mhz = clock_mhz(clocks, "graphics_clock");
  reading.mem_clock_mhz = clock_mhz(clocks, "mem_clock");

  const std::string_view state = text_of(gpu, "performance_state");
  if (state.starts_with('P') && smi_integer(state.substr(1), "", 0, 15)) {
    reading.performance_state = std::string(state);
  }
}

void read_pcie(const pugi::xml_node& gpu, model::Gpu& card) {
  const pugi::xml_node pci = gpu.child("pci");
  const pugi::xml_node link = pci.child("pci_gpu_link_info");
  const pugi::xml_node gen = link.child("pcie_gen");
  const pugi::xml_node width = link.child("link_widths");
  const auto generation = [&](const char* name) {
    return smi_integer(text_of(gen, name), "", 1, 15);
  };
  const auto lanes = [&](const char* name) {
    return smi_integer(text_of(width, name), "x", 1, 64);
  };
  // What the card could do comes before what this machine lets it do.
  card.facts.pcie_gen_max = generation("max_device_link_gen");
  if (!card.facts.pcie_gen_max) card.facts.pcie_gen_max = generation("max_link_gen");
  card.facts.pcie_width_max = lanes("max_link_width");
  card.reading.pcie_gen = generation("current_link_gen");
  if (!card.reading.pcie_gen) card.reading.pcie_gen = generation("device_current_link_gen");
  card.reading.pcie_width = lanes("current_link_width");
  card.reading.pcie_rx_kb_s = smi_integer(text_of(pci, "rx_util"), "KB/s", 0, kMostRateKbS);
  card.reading.pcie_tx_kb_s = smi_integer(text_of(pci, "tx_util"), "KB/s", 0, kMostRateKbS);
}

// Uncorrected errors since the driver was loaded. Before Turing there is one total; later drivers
// count by place and the newest ones split the count in SRAM by the way it was found.
std::optional<std::int64_t> ecc_uncorrected(const pugi::xml_node& gpu) {
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  const pugi::xml_node errors = gpu.child("ecc_errors").child("volatile");
  std::optional<std::int64_t> sum;
  for (const char* name : {"sram_uncorrectable", "sram_uncorrectable_parity",
                           "sram_uncorrectable_secded", "dram_uncorrectable"}) {
    if (const auto count = smi_integer(text_of(errors, name), "", 0, kMost)) {
      sum = sum.value_or(0) + *count;
    }
  }
  if (sum) return sum;
  return smi_integer(text_of(errors.child("double_bit"), "total"), "", 0, kMost);
}

std::vector<std::string> throttle_reasons(const pugi::xml_node& gpu) {
  std::uint64_t bits = 0;
  for (const auto& [block, prefix] :
       {std::pair("clocks_event_reasons", "clocks_event_reason_"),
        std::pair("clocks_throttle_reasons", "clocks_throttle_reason_")}) {
    const pugi::xml_node reasons = gpu.child(block);
    for (const auto& [ending, bit] : kReasons) {
      const std::string name = std::string(prefix).append(ending);
      if (text_of(reasons, name.c_str()) == "Active") bits |= bit;
    }
  }
  return throttle_words(bits);
}

std::optional<bool> mig(const pugi::xml_node& gpu) {
  const std::string_view mode = text_of(gpu.child("mig_mode"), "current_mig");
  if (mode == "Enabled") return true;
  if (mode == "Disabled") return false;
  return std::nullopt;
}

// `M+C` is a compute process behind MPS; compute_processes of old drivers have no type at all.
ProcessType process_type(std::string_view text) {
  if (text == "G") return ProcessType::graphics;
  if (text == "C+G" || text == "M+C+G") return ProcessType::both;
  return ProcessType::compute;
}

void merge(ProcessSample& into, ProcessSample other) {
  if (into.type != other.type) into.type = ProcessType::both;
  into.mem_mb = std::max(into.mem_mb, other.mem_mb);  // absent is less than any
  if (!into.name) into.name = std::move(other.name);
}

std::vector<ProcessSample> read_card_processes(const pugi::xml_node& gpu) {
  std::map<std::int64_t, ProcessSample> by_pid;
  for (const char* block : {"processes", "compute_processes"}) {
    for (const pugi::xml_node info : gpu.child(block).children("process_info")) {
      if (by_pid.size() >= model::kMaxProcesses) break;
      const auto pid = smi_integer(text_of(info, "pid"), "", 1, kMostPid);
      if (!pid) continue;
      ProcessSample process;
      process.pid = *pid;
      process.type = process_type(text_of(info, "type"));
      process.mem_mb = smi_mb(text_of(info, "used_memory"));
      process.name = smi_program_name(text_of(info, "process_name"));
      const auto [place, fresh] = by_pid.try_emplace(*pid, process);
      if (!fresh) merge(place->second, std::move(process));
    }
  }
  std::vector<ProcessSample> processes;
  processes.reserve(by_pid.size());
  for (auto& [pid, process] : by_pid) processes.push_back(std::move(process));
  // They are in the order of pid already.
  std::stable_sort(processes.begin(), processes.end(),
                   [](const auto& a, const auto& b) { return a.mem_mb > b.mem_mb; });
  return processes;
}

// What all of a dead card's values say instead of a value, if this is one. A card answers ERR! to a
// single question while it is well, so that counts only where it told nothing of importance.
std::optional<std::string> card_error(const pugi::xml_node& gpu, const GpuReading& reading) {
  struct Finder : pugi::xml_tree_walker {
    SmiToken worst = SmiToken::none;
    bool for_each(pugi::xml_node& node) override {
      if (node.type() == pugi::node_pcdata) worst = std::max(worst, smi_token(node.value()));
      return worst != SmiToken::lost;
    }
  } finder;
  pugi::xml_node(gpu).traverse(finder);
  const bool tells =
      reading.mem_total_mb || reading.temperature_c || reading.util_percent || reading.power_w;
  if (finder.worst == SmiToken::lost) return code_words(nvml::kGpuIsLost);
  if (tells) return std::nullopt;
  if (finder.worst == SmiToken::reset) return code_words(nvml::kResetRequired);
  if (finder.worst == SmiToken::trouble) return "nvidia-smi reads nothing from this GPU";
  return std::nullopt;
}

model::GpuFacts read_facts(const pugi::xml_node& gpu, int index) {
  model::GpuFacts facts;
  facts.index = index;
  facts.uuid = smi_text(text_of(gpu, "uuid"));
  facts.name = smi_text(text_of(gpu, "product_name"));
  facts.pci_bus_id = smi_text(text_of(gpu.child("pci"), "pci_bus_id"));
  if (!facts.pci_bus_id) facts.pci_bus_id = smi_text(gpu.attribute("id").value());
  facts.architecture = smi_text(text_of(gpu, "product_architecture"));
  if (facts.architecture == "Ada Lovelace") facts.architecture = "Ada";  // as NVML's reader says
  return facts;
}

}  // namespace

model::Gpu read_smi_card(const pugi::xml_node& gpu, int index) {
  model::Gpu card;
  card.facts = read_facts(gpu, index);
  GpuReading& reading = card.reading;
  reading.index = index;
  read_memory(gpu, reading);
  read_power(gpu, reading);
  read_utilization(gpu, reading);
  read_clocks(gpu, reading);
  read_pcie(gpu, card);
  reading.temperature_c = smi_integer(text_of(gpu.child("temperature"), "gpu_temp"), "C", -50, 200);
  reading.fan_percent = smi_integer(text_of(gpu, "fan_speed"), "%", 0, kMostFanPercent);
  reading.ecc_uncorrected = ecc_uncorrected(gpu);
  reading.throttle_reasons = throttle_reasons(gpu);
  reading.mig = mig(gpu);
  reading.processes = read_card_processes(gpu);

  if (auto error = card_error(gpu, reading)) {
    reading = GpuReading{};
    reading.index = index;
    reading.error = std::move(error);
  }
  return card;
}

}  // namespace nvidb::agent
