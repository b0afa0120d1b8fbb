// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// PCIe traffic of all cards at once, measured beside the rest of a sample.
//
// NVML counts bytes over a window of 20 ms for each direction and sleeps meanwhile: 8 cards in turn
// would take 320 ms. So each card and direction has a thread of its own that waits for kick(), asks
// the driver once and stores the answer; 8 cards take 20 ms together, and those run while the
// reader reads everything else. Above kMaxWorkers threads share. A thread that misses a deadline is
// not waited for again until it has answered, so a call that blocks for ever costs one deadline,
// once; its thread is then left behind rather than joined.
//
// One thread (the reader's) calls everything here.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "agent/nvml_abi.h"
#include "base/clock.h"

namespace nvidb::agent {

class PcieSampler {
 public:
  static constexpr std::size_t kMaxWorkers = 64;

  struct Traffic {
    std::optional<std::int64_t> rx_kb_s, tx_kb_s;
  };
  // nvmlDeviceGetPcieThroughput, or a fake of it. Called from the sampler's threads.
  using Ask = std::function<nvml::Return(nvml::Device, int counter, std::uint32_t* kb_s)>;

  // Threads start with the first kick. `clock` outlives even abandoned threads.
  PcieSampler(Ask ask, std::vector<nvml::Device> cards, const base::Clock& clock);
  ~PcieSampler();  // stop()

  // Starts one measurement of every card. Those whose last one is not over yet are left alone. A
  // direction that answered NOT_SUPPORTED or has no such function is never asked again.
  void kick();
  // Waits until every thread has answered the last kick, late ones apart, at most `wait_ms`.
  void wait(std::int64_t wait_ms);
  // The card's last values; absent where never measured, failed at last, or measured more than
  // `max_age_ms` ago. REQUIRES: card is an index into the constructor's list.
  Traffic traffic(std::size_t card, std::int64_t max_age_ms) const;

  // Ends the threads, waiting `wait_ms` for those inside the driver. False where one is still
  // there: the driver's library must then stay loaded. Idempotent.
  bool stop(std::int64_t wait_ms = 50);

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;  // the threads hold it too
};

}  // namespace nvidb::agent
