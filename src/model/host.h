// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// The machine around the cards.
#include <cstdint>
#include <optional>
#include <string>

namespace nvidb::model {

// Sent once, in the hello.
struct HostFacts {
  std::optional<std::string> hostname;
  std::optional<std::string> os;  // `Debian GNU/Linux 12 (bookworm)`
  std::optional<std::int64_t> cpu_cores;
  std::optional<std::string> boot_id;  // changes with every boot

  bool operator==(const HostFacts&) const = default;
};

// With every sample.
struct HostReading {
  std::optional<double> cpu_percent;  // busy share of all cores between two samples, 0 to 100
  std::optional<double> load1;
  std::optional<std::int64_t> mem_used_mb, mem_total_mb;  // used = total - available
  std::optional<std::int64_t> swap_used_mb, swap_total_mb;
  std::optional<std::int64_t> uptime_s;

  bool operator==(const HostReading&) const = default;
};

}  // namespace nvidb::model
