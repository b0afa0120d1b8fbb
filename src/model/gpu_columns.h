// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// One card as people and programs get it: the keys of the JSON document and the columns of the CSV,
// named once.
//
// A face has column(key, optional value) for integers, decimals, texts and flags, column(key,
// words), and open(key) / close() around the columns of a nested object.
#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>

#include "model/gpu.h"
#include "model/rules.h"

namespace nvidb::model {

// Computed shares are no more exact than this.
inline std::optional<double> to_tenths(std::optional<double> percent) {
  if (percent) percent = std::round(*percent * 10) / 10;
  return percent;
}

// All but the processes, which JSON lists and CSV counts.
void gpu_columns(auto& face, const Gpu& gpu) {
  const GpuFacts& facts = gpu.facts;
  const GpuReading& reading = gpu.reading;
  face.column("index", std::optional<std::int64_t>(facts.index));
  face.column("uuid", facts.uuid);
  face.column("name", facts.name);
  face.column("pci_bus_id", facts.pci_bus_id);
  face.column("architecture", facts.architecture);
  face.column("util_percent", reading.util_percent);
  face.column("mem_util_percent", reading.mem_util_percent);
  face.column("mem_used_mb", reading.mem_used_mb);
  face.column("mem_total_mb", reading.mem_total_mb);
  face.column("mem_reserved_mb", reading.mem_reserved_mb);
  face.column("mem_used_percent", to_tenths(mem_used_percent(reading)));
  face.column("temperature_c", reading.temperature_c);
  face.column("fan_percent", reading.fan_percent);
  face.column("power_w", reading.power_w);
  face.column("power_limit_w", reading.power_limit_w);
  face.column("performance_state", reading.performance_state);
  face.column("sm_clock_mhz", reading.sm_clock_mhz);
  face.column("mem_clock_mhz", reading.mem_clock_mhz);
  face.column("encoder_util_percent", reading.encoder_util_percent);
  face.column("decoder_util_percent", reading.decoder_util_percent);
  face.open("pcie");
  face.column("gen", reading.pcie_gen);
  face.column("width", reading.pcie_width);
  face.column("gen_max", facts.pcie_gen_max);
  face.column("width_max", facts.pcie_width_max);
  face.column("rx_kb_s", reading.pcie_rx_kb_s);
  face.column("tx_kb_s", reading.pcie_tx_kb_s);
  face.column("rx_percent", to_tenths(pcie_percent(reading.pcie_rx_kb_s, reading)));
  face.column("tx_percent", to_tenths(pcie_percent(reading.pcie_tx_kb_s, reading)));
  face.close();
  face.column("ecc_uncorrected", reading.ecc_uncorrected);
  face.column("throttle_reasons", reading.throttle_reasons);
  face.column("mig", reading.mig);
  face.column("error", reading.error);
}

}  // namespace nvidb::model
