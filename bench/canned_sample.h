// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// One node with 8 busy cards and 32 processes, as its collector tells it.
#include <fmt/format.h>

#include "model/agent_message.h"

namespace nvidb::bench {

inline constexpr int kCards = 8;
inline constexpr int kProcessesOnACard = 4;

inline model::Inventory inventory() {
  model::Inventory result;
  result.source = model::GpuSource::nvml;
  for (int i = 0; i < kCards; ++i) {
    result.gpus.push_back({.index = i,
                           .uuid = fmt::format("GPU-0000000{}-1111-2222-3333-444444444444", i),
                           .name = "NVIDIA H200",
                           .pci_bus_id = fmt::format("00000000:0{}:00.0", i),
                           .architecture = "Hopper",
                           .pcie_gen_max = 5,
                           .pcie_width_max = 16});
  }
  return result;
}

inline model::GpuReading reading(int index) {
  model::GpuReading gpu;
  gpu.index = index;
  gpu.util_percent = 87;
  gpu.mem_util_percent = 41;
  gpu.mem_used_mb = 120000;
  gpu.mem_total_mb = 143771;
  gpu.mem_reserved_mb = 600;
  gpu.temperature_c = 61;
  gpu.power_w = 651.25;
  gpu.power_limit_w = 700;
  gpu.performance_state = "P0";
  gpu.sm_clock_mhz = 1980;
  gpu.mem_clock_mhz = 3201;
  gpu.encoder_util_percent = gpu.decoder_util_percent = 0;
  gpu.pcie_gen = 5;
  gpu.pcie_width = 16;
  gpu.pcie_rx_kb_s = 1234567;
  gpu.pcie_tx_kb_s = 765432;
  gpu.ecc_uncorrected = 0;
  gpu.throttle_reasons = {"sw_power_cap"};
  gpu.mig = false;
  for (int i = 0; i < kProcessesOnACard; ++i) {
    model::ProcessSample process;
    process.pid = 100000 + index * 100 + i;
    process.mem_mb = 30000;
    process.name = "python3";
    process.command =
        "python3 train.py --config configs/big.yml --epochs 300 --data /data/imagenet --resume "
        "last.ckpt";
    process.user = "alice";
    process.cpu_percent = 412.5;
    process.host_mem_percent = 3.1;
    process.rss_mb = 23961;
    process.elapsed_s = 7914;
    process.state = "R";
    process.threads = 24;
    process.start_ticks = 123456789;
    gpu.processes.push_back(process);
  }
  return gpu;
}

inline model::Sample sample() {
  model::Sample result;
  result.seq = 1;
  result.at_ms = 1'764'583'200'000;
  result.read_ms = 21;
  result.host = {12.5, 8.25, 200000, 2000000, 0, 8192, 864000};
  for (int i = 0; i < kCards; ++i) result.gpus.push_back(reading(i));
  return result;
}

}  // namespace nvidb::bench
