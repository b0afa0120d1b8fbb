// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// What the simulated driver remembers between calls: the scenario, how often it was initialised,
// which cards were opened, counters that only grow. One for the process; every function may be
// called from any thread.
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/nvml_abi.h"
#include "engine/card_values.h"
#include "engine/env_rule.h"
#include "engine/scenario_file.h"

namespace nvidb::sim {

namespace nvml = agent::nvml;

// The card or MIG device that a call is about, at this moment.
struct Target {
  std::shared_ptr<const Scenario> scenario;  // keeps `card` and `mig` alive
  std::size_t index = 0;
  const Card* card = nullptr;
  const MigDevice* mig = nullptr;  // null for the card itself
  double at_s = 0;

  CardValues values() const { return CardValues(*card, at_s); }
};

enum class Counter { pcie_tx_bytes, pcie_rx_bytes, energy_mj };
inline constexpr std::size_t kCounters = 3;

class Session {
 public:
  static Session& instance();

  // The scenario. Null where its file was never good. `now`: looks at the file whenever it was last
  // looked at.
  std::shared_ptr<const Scenario> scenario(bool now = false);
  double now_s(const Scenario& scenario) const;

  nvml::Return init();
  nvml::Return shutdown();
  bool initialised();

  // The handle of a card, or of its MIG device; valid until the last shutdown.
  nvml::Device handle_of(std::size_t card, std::optional<std::size_t> mig = std::nullopt);
  // Absent where the handle is none of ours, of an earlier init, or of a card that is no more.
  std::optional<Target> resolve(nvml::Device handle);
  // True the first time since init that this card is opened.
  bool first_attach(std::size_t card);

  // The processes of a card or MIG device with those of the environment rule.
  std::vector<ListedProcess> processes(const Target& target);

  // `rate_per_s` summed over the time between calls since init. Begins shortly below 2^32, so that
  // what wraps there wraps soon.
  std::uint64_t count_up(const Target& target, Counter counter, double rate_per_s);

  // How many records the process lists of a card have outgrown their announced size by.
  std::uint32_t grown(std::size_t card);
  void grow(std::size_t card, std::uint32_t records);

 private:
  Session() = default;

  struct Growing {
    double at_s = 0, total = 4294967296.0 - 64.0 * 1024 * 1024;
    bool started = false;
  };

  std::shared_ptr<const Scenario> look(bool now);  // under the mutex

  std::mutex mutex_;
  std::unique_ptr<ScenarioFile> file_;
  EnvScanner environments_;
  std::uint64_t users_ = 0;       // inits without a shutdown
  std::uint64_t generation_ = 0;  // of handles: one for each first init
  std::set<std::size_t> attached_;
  std::map<std::size_t, std::array<Growing, kCounters>> counters_;
  std::map<std::size_t, std::uint32_t> grown_;
};

// Sleeps; 0 is no sleep at all.
void wait_ms(std::int64_t duration_ms);

}  // namespace nvidb::sim
