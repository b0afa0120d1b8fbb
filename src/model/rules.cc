// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "model/rules.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>

namespace nvidb::model {
namespace {

constexpr double kAvailableUtilPercent = 5;
constexpr double kAvailableMemPercent = 10;
constexpr double kBusyUtilPercent = 50;

// MB (10^6 bytes) a second on one lane, one direction, by generation from 1. Source: spec, "What is
// collected".
constexpr std::array kLaneMbS = {250.0, 500.0, 984.6, 1969.2, 3938.5, 7563.0, 15125.0};
constexpr double kMbInKb = 1e6 / 1024;
constexpr std::int64_t kMaxLanes = 64;

std::optional<double> share(std::optional<std::int64_t> part, std::optional<std::int64_t> whole) {
  if (!part || !whole || *whole <= 0) return std::nullopt;
  const double percent = 100.0 * static_cast<double>(*part) / static_cast<double>(*whole);
  return std::clamp(percent, 0.0, 100.0);
}

using VramByUser = std::map<std::string, std::int64_t>;

void add_users(const Node& node, VramByUser& sums) {
  for (const Gpu& gpu : node.gpus) {
    for (const ProcessSample& process : gpu.reading.processes) {
      if (process.user && process.mem_mb) sums[*process.user] += *process.mem_mb;
    }
  }
}

std::vector<UserVram> by_size(const VramByUser& sums) {
  std::vector<UserVram> users;
  users.reserve(sums.size());
  for (const auto& [user, mem_mb] : sums) users.push_back({user, mem_mb});
  // Stable, so that equals stay in the order of the map: by name.
  std::ranges::stable_sort(users, std::ranges::greater{}, &UserVram::mem_mb);
  return users;
}

struct Summing {
  Totals totals;
  double util_sum = 0;
  std::int64_t util_count = 0;

  void add(const Node& node) {
    for (const Gpu& gpu : node.gpus) add(gpu.reading);
  }

  void add(const GpuReading& gpu) {
    ++totals.gpus;
    if (gpu.error) return;
    if (is_available(gpu)) ++totals.available;
    if (is_busy(gpu)) ++totals.busy;
    if (gpu.util_percent) {
      util_sum += *gpu.util_percent;
      ++util_count;
    }
    if (gpu.mem_used_mb && gpu.mem_total_mb) {
      totals.mem_used_mb = totals.mem_used_mb.value_or(0) + *gpu.mem_used_mb;
      totals.mem_total_mb = totals.mem_total_mb.value_or(0) + *gpu.mem_total_mb;
    }
  }

  Totals result() {
    if (util_count > 0) totals.util_percent = util_sum / static_cast<double>(util_count);
    return totals;
  }
};

}  // namespace

Level util_level(double percent) {
  if (percent >= 80) return Level::alarm;
  if (percent >= kBusyUtilPercent) return Level::warn;
  if (percent >= kAvailableUtilPercent) return Level::normal;
  return Level::idle;
}

Level temperature_level(std::int64_t celsius) {
  if (celsius >= 80) return Level::alarm;
  if (celsius >= 65) return Level::warn;
  return Level::normal;
}

Level mem_level(double percent) {
  if (percent >= 90) return Level::alarm;
  if (percent >= 75) return Level::warn;
  return Level::normal;
}

Level pcie_level(double percent) {
  if (percent >= 70) return Level::alarm;
  if (percent >= 40) return Level::warn;
  return Level::normal;
}

std::optional<double> mem_used_percent(const GpuReading& gpu) {
  return share(gpu.mem_used_mb, gpu.mem_total_mb);
}

std::optional<double> mem_percent(const ProcessSample& process, const GpuReading& gpu) {
  return share(process.mem_mb, gpu.mem_total_mb);
}

bool is_available(const GpuReading& gpu) {
  if (gpu.error || !gpu.util_percent) return false;
  const std::optional<double> mem = mem_used_percent(gpu);
  return *gpu.util_percent < kAvailableUtilPercent && (!mem || *mem < kAvailableMemPercent);
}

bool is_busy(const GpuReading& gpu) {
  return !gpu.error && gpu.util_percent && *gpu.util_percent >= kBusyUtilPercent;
}

std::optional<double> pcie_ceiling_kb_s(std::optional<std::int64_t> gen,
                                        std::optional<std::int64_t> width) {
  if (!gen || !width) return std::nullopt;
  if (*gen < 1 || *gen > std::ssize(kLaneMbS) || *width < 1 || *width > kMaxLanes) {
    return std::nullopt;
  }
  const double lane_mb_s = kLaneMbS[static_cast<std::size_t>(*gen - 1)];
  return lane_mb_s * kMbInKb * static_cast<double>(*width);
}

std::optional<double> pcie_percent(std::optional<std::int64_t> kb_s, const GpuReading& gpu) {
  const std::optional<double> ceiling = pcie_ceiling_kb_s(gpu.pcie_gen, gpu.pcie_width);
  if (!kb_s || !ceiling) return std::nullopt;
  return std::clamp(100.0 * static_cast<double>(*kb_s) / *ceiling, 0.0, 100.0);
}

std::vector<UserVram> users_of(const Node& node) {
  VramByUser sums;
  add_users(node, sums);
  return by_size(sums);
}

std::vector<UserVram> users_of(const FleetSnapshot& fleet) {
  VramByUser sums;
  for (const Node& node : fleet.nodes) add_users(node, sums);
  return by_size(sums);
}

Totals totals_of(const Node& node) {
  Summing sum;
  sum.add(node);
  return sum.result();
}

Totals totals_of(const FleetSnapshot& fleet) {
  Summing sum;
  for (const Node& node : fleet.nodes) sum.add(node);
  return sum.result();
}

}  // namespace nvidb::model
