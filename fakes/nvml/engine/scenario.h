// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// A scenario as plain data: the cards of the simulated machine, their processes, and what goes
// wrong. README.md beside the library documents the file that it is read from.
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/curve.h"
#include "engine/presets.h"

namespace nvidb::sim {

inline constexpr int kGpuIsLost = 15;

// What /proc would say of a process that is not there. Absent is unknown.
struct ProcessFacts {
  std::string user, name, command;
  std::optional<Curve> cpu_percent, host_mem_percent, rss_mb, elapsed_s, threads, start_ticks;
  char state = 0;
};

enum class ProcessType { compute, graphics, both, mps };

struct Process {
  std::uint32_t pid = 0;
  ProcessType type = ProcessType::compute;
  std::optional<Curve> mem_mb;  // absent: the driver hides it
  std::optional<std::uint32_t> gpu_instance, compute_instance;
  bool while_alive = false;  // listed only while this machine has the pid
  std::optional<ProcessFacts> facts;
};

struct MigDevice {
  std::string name, uuid;
  std::uint32_t gpu_instance = 0, compute_instance = 0;
  std::int64_t mem_total_mb = 0;
  std::vector<Process> processes;
};

struct Card {
  const Preset* preset = nullptr;  // never null once parsed
  // Absent: the driver does not say.
  std::optional<std::string> name, uuid, pci_bus_id, serial;
  std::optional<std::uint32_t> architecture;
  Setting mem_total_mb, mem_used_mb, mem_reserved_mb;
  Setting util_percent, mem_util_percent, encoder_util_percent, decoder_util_percent;
  Setting temperature_c, mem_temperature_c, fan_percent, power_w, power_limit_w;
  Setting performance_state, sm_clock_mhz, mem_clock_mhz, throttle_mask;
  Setting ecc_uncorrected, ecc_corrected;
  Setting pcie_gen, pcie_width, pcie_gen_max, pcie_width_max, pcie_rx_kb_s, pcie_tx_kb_s;
  std::optional<bool> mig;                            // absent: cannot
  std::vector<std::optional<MigDevice>> mig_devices;  // by MIG index, holes are absent
  std::vector<Process> processes;

  bool lost = false;
  bool no_permission = false;
  bool string_fill = false;  // texts fill their buffer, without a NUL
  std::optional<std::int64_t> attach_delay_ms;
  std::map<std::string, int, std::less<>> codes;  // by function
};

// Every process of this machine that has the variable `env` is one of ours.
struct EnvRule {
  std::string env = "FAKE_VRAM_MB";
  std::string cards_env = "CUDA_VISIBLE_DEVICES";

  bool operator==(const EnvRule&) const = default;
};

// By function name, see find_fault().
struct Faults {
  std::set<std::string, std::less<>> block, crash;
  std::map<std::string, std::int64_t, std::less<>> block_ms;
  std::map<std::string, int, std::less<>> codes;
};

struct Scenario {
  std::string driver_version = "570.124.04";
  std::string nvml_version = "12.570.124.04";
  std::string cuda_version = "12.8";
  std::vector<Card> cards;
  std::optional<EnvRule> env_rule;
  Faults faults;
  int init_code = 0;
  std::int64_t init_delay_ms = 0, attach_delay_ms = 0, pcie_call_ms = 0;
  std::string noise;             // printed to stdout
  int record_bytes = 24;         // of the _v3 process lists: 24 or 32
  std::uint32_t grow_lists = 0;  // records by which a list outgrows what its size call said
  bool string_fill = false;      // of the system's texts
  std::optional<double> time_s;  // the curves stand still at this moment
  std::int64_t check_ms = 50;    // how often the file is looked at
};

// What one call shall suffer, in this order.
struct Fault {
  bool crash = false;
  bool block = false;
  std::int64_t block_ms = 0;
  int code = 0;  // answered instead of the truth where not 0
};

// A name matches itself and, given without `_vN`, every version. `*` in codes is every call on a
// card.
Fault find_fault(const Faults& faults, std::string_view function, bool on_card);

// The code a card answers instead of the truth; 0 for none. A lost card says 15 to everything.
int card_code(const Card& card, std::string_view function);

}  // namespace nvidb::sim
