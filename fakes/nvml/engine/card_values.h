// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// One card's numbers at one moment: what the scenario gives, else what the preset makes of the
// load. Absent is what the driver does not support. Pure, but for processes that are listed only
// while they are alive.
#include <cstdint>
#include <optional>
#include <span>

#include "engine/scenario.h"

namespace nvidb::sim {

// A process as a list of the driver holds it.
struct ListedProcess {
  std::uint32_t pid = 0;
  ProcessType type = ProcessType::compute;
  std::optional<std::int64_t> mem_mb;
  std::optional<std::uint32_t> gpu_instance, compute_instance;
};

class CardValues {
 public:
  // REQUIRES: `card` outlives this.
  CardValues(const Card& card, double at_s) : card_(card), at_s_(at_s) {}

  // Percents given as curves stay within 0..100; constants are taken as they are, so that a
  // scenario can play a driver that lies.
  std::optional<double> util_percent() const;
  std::optional<double> mem_util_percent() const;
  std::optional<double> encoder_util_percent() const;
  std::optional<double> decoder_util_percent() const;
  std::optional<double> temperature_c() const;
  std::optional<double> mem_temperature_c() const;
  std::optional<double> fan_percent() const;
  std::optional<double> power_w() const;
  std::optional<double> power_limit_w() const;
  std::optional<double> performance_state() const;
  std::optional<double> sm_clock_mhz() const;
  std::optional<double> mem_clock_mhz() const;
  std::optional<double> throttle_mask() const;
  std::optional<double> ecc_uncorrected() const;
  std::optional<double> ecc_corrected() const;
  std::optional<double> pcie_gen() const;
  std::optional<double> pcie_width() const;
  std::optional<double> pcie_gen_max() const;
  std::optional<double> pcie_width_max() const;
  std::optional<double> pcie_rx_kb_s() const;
  std::optional<double> pcie_tx_kb_s() const;

  struct Memory {
    std::int64_t total_mb = 0, reserved_mb = 0, free_mb = 0;
    std::int64_t used_mb = 0;  // without reserved
  };
  // Where the scenario does not say what is used: a little, and what `processes` hold.
  std::optional<Memory> memory(std::span<const ListedProcess> processes) const;

 private:
  std::optional<double> value(const Setting& setting, std::optional<double> preset) const;
  std::optional<double> percent(const Setting& setting, std::optional<double> preset) const;
  double load() const;  // 0..1
  bool idle() const { return load() < 0.01; }

  const Card& card_;
  double at_s_;
};

// The scenario's processes of a card, those of its MIG devices too, as the card's lists hold them.
std::vector<ListedProcess> list_processes(const Card& card, double at_s);
std::vector<ListedProcess> list_processes(const MigDevice& device, double at_s);

// Of the first process with this pid that has facts; null where none has.
const ProcessFacts* find_facts(const Scenario& scenario, std::uint32_t pid);

}  // namespace nvidb::sim
