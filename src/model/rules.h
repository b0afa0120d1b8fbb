// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// The thresholds and sums that every view shares. Pure; the one home of each number.
#include <cstdint>
#include <optional>
#include <vector>

#include "model/fleet.h"
#include "model/gpu.h"

namespace nvidb::model {

// How loud a value is shown.
enum class Level { idle, normal, warn, alarm };

// Utilisation: >= 80 alarm, >= 50 warn, >= 5 normal, else idle. Source: spec, "The monitor screen".
Level util_level(double percent);
// Temperature: >= 80 alarm, >= 65 warn, else normal.
Level temperature_level(std::int64_t celsius);
// VRAM occupancy: >= 90 alarm, >= 75 warn, else normal.
Level mem_level(double percent);
// Share of the PCIe link: >= 70 alarm, >= 40 warn, else normal.
Level pcie_level(double percent);

// used / total in percent, 0 to 100; absent where either is unknown or total is 0.
std::optional<double> mem_used_percent(const GpuReading& gpu);
// A process's memory as share of the card's total.
std::optional<double> mem_percent(const ProcessSample& process, const GpuReading& gpu);

// Utilisation < 5 % and VRAM < 10 %. Unknown VRAM (unified memory) does not count against it;
// unknown utilisation or an error does. Source: user's text.
bool is_available(const GpuReading& gpu);
// Utilisation >= 50 %. Source: user's text.
bool is_busy(const GpuReading& gpu);

// What a link carries in one direction, KB/s (1024 bytes); absent for an unknown generation or
// width. Per lane: gen1 250 MB/s, 2 500, 3 984.6, 4 1969.2, 5 3938.5, 6 7563, 7 15125 (MB = 10^6
// bytes).
std::optional<double> pcie_ceiling_kb_s(std::optional<std::int64_t> gen,
                                        std::optional<std::int64_t> width);
// Share of the live link that a rate takes, 0 to 100.
std::optional<double> pcie_percent(std::optional<std::int64_t> kb_s, const GpuReading& gpu);

// VRAM by user, largest first, then by name. Processes without a user or memory do not count.
std::vector<UserVram> users_of(const Node& node);
std::vector<UserVram> users_of(const FleetSnapshot& fleet);

// Sums for a summary line. Cards with an error count in gpus and nowhere else.
struct Totals {
  std::int64_t gpus = 0, available = 0, busy = 0;
  std::optional<double> util_percent;                     // average of those that tell
  std::optional<std::int64_t> mem_used_mb, mem_total_mb;  // sums of the cards that tell both
};
Totals totals_of(const Node& node);
Totals totals_of(const FleetSnapshot& fleet);

}  // namespace nvidb::model
