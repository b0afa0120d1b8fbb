// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// One card and the processes on it, as one sample tells it.
//
// Members carry the names of the JSON keys (docs/json.md). Absent means unknown or not supported;
// never 0, -1, "". Text members are whatever the driver or /proc said, made valid UTF-8 by the
// agent; views pass them through base::printable() before showing them.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nvidb::model {

// What a process uses the card for. Source: the lists NVML keeps (compute and MPS, graphics).
enum class ProcessType { compute, graphics, both };

// `C`, `G`, `CG`.
const char* to_string(ProcessType type);

struct ProcessSample {
  std::int64_t pid = 0;  // as the driver counts: the host's pid namespace
  ProcessType type = ProcessType::compute;
  // On this card; absent where the driver does not tell (WSL, MIG).
  std::optional<std::int64_t> mem_mb;

  // From /proc; all absent for a pid that is not in this pid namespace.
  std::optional<std::string> name;     // file name of argv[0], or the kernel's comm
  std::optional<std::string> command;  // whole command line, arguments joined by spaces
  std::optional<std::string> user;     // login name, or the uid in decimal where it has none
  std::optional<double> cpu_percent;   // between two samples, 100 per core
  std::optional<double> host_mem_percent;
  std::optional<std::int64_t> rss_mb;
  std::optional<std::int64_t> elapsed_s;
  std::optional<std::string> state;  // the kernel's letter: R S D Z T t I
  std::optional<std::int64_t> threads;
  // Field 22 of /proc/PID/stat: with the pid, this process and no other.
  std::optional<std::int64_t> start_ticks;

  bool operator==(const ProcessSample&) const = default;
};

// What does not change while the card stays the same; sent once.
struct GpuFacts {
  int index = 0;                            // NVML's, all cards counted
  std::optional<std::string> uuid;          // absent if never read (card lost before)
  std::optional<std::string> name;          // `NVIDIA GeForce RTX 3090 Ti`
  std::optional<std::string> pci_bus_id;    // `00000000:01:00.0`
  std::optional<std::string> architecture;  // `Ampere`
  // The widest link the card itself supports.
  std::optional<std::int64_t> pcie_gen_max, pcie_width_max;

  bool operator==(const GpuFacts&) const = default;
};

// What each sample brings anew.
struct GpuReading {
  int index = 0;
  std::optional<std::string> error;  // `GPU is lost`: the other members are then absent

  std::optional<double> util_percent;
  std::optional<double> mem_util_percent;  // activity of the memory controller, not occupancy
  std::optional<std::int64_t> mem_used_mb, mem_total_mb, mem_reserved_mb;
  std::optional<std::int64_t> temperature_c;
  std::optional<std::int64_t> fan_percent;
  std::optional<double> power_w, power_limit_w;
  std::optional<std::string> performance_state;  // `P0` .. `P15`
  std::optional<std::int64_t> sm_clock_mhz, mem_clock_mhz;
  std::optional<double> encoder_util_percent, decoder_util_percent;
  std::optional<std::int64_t> pcie_gen, pcie_width;        // of the live link
  std::optional<std::int64_t> pcie_rx_kb_s, pcie_tx_kb_s;  // 1 KB is 1024 bytes
  std::optional<std::int64_t> ecc_uncorrected;             // volatile, since the driver was loaded
  std::vector<std::string> throttle_reasons;  // docs/nvml.md has the words; empty is none
  std::optional<bool> mig;                    // absent on cards that cannot
  std::vector<ProcessSample> processes;       // one row a pid, by memory, largest first, then pid

  bool operator==(const GpuReading&) const = default;
};

struct Gpu {
  GpuFacts facts;
  GpuReading reading;

  bool operator==(const Gpu&) const = default;
};

}  // namespace nvidb::model
