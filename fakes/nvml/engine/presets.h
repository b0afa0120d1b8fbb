// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// What is known of a card by its model name, so that scenarios stay short.
#include <cstdint>
#include <span>
#include <string_view>

namespace nvidb::sim {

// Facts, and how the other numbers follow the load. Memory total 0 is a card without memory of its
// own.
struct Preset {
  std::string_view model;  // as scenarios name it
  std::string_view name;   // as the driver does
  std::int64_t mem_total_mb, mem_reserved_mb, mem_base_mb;
  std::uint32_t architecture, brand;
  int compute_major, compute_minor;
  double power_idle_w, power_limit_w;
  double pcie_gen_max, pcie_width_max;
  double sm_clock_idle_mhz, sm_clock_mhz, mem_clock_idle_mhz, mem_clock_mhz;
  double state_idle, state_busy;  // P-states
  bool has_fan, has_ecc, can_mig, mig_on, has_power_limit, has_mem_temperature;
  bool link_sleeps;  // gen 1 while idle
  std::uint32_t pci_domain;
};

std::span<const Preset> presets();

// Null where there is no such model.
const Preset* find_preset(std::string_view model);

}  // namespace nvidb::sim
