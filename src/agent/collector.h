// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// The thread that reads the machine: an inventory, then a sample each interval, handed to a
// callback.
//
// It alone talks to the driver, so a call that never returns stops the samples and nothing else.
// Its owner may then leave the process with _exit(); stop() says whether that is needed.
#include <cstdint>
#include <functional>
#include <memory>

#include "agent/gpu_source.h"
#include "base/clock.h"
#include "model/agent_message.h"

namespace nvidb::agent {

class Collector {
 public:
  static constexpr std::int64_t kPrimeMs =
      100;  // between the two looks at /proc that the first sample compares

  struct Options {
    GpuSource::Options source;
    std::int64_t interval_ms = 1000;
    bool once = false;  // end after the first sample
  };
  // Takes a Notice, Inventory or Sample; called from the collector's thread, may block. False:
  // nobody listens any more, so the collector ends.
  using Emit = std::function<bool(const model::AgentMessage&)>;
  // Called from the collector's thread as its last deed.
  using OnEnd = std::function<void()>;

  // Starts the thread. `clock` outlives it.
  Collector(Options options, const base::Clock& clock, Emit emit, OnEnd on_end);
  ~Collector();  // stop(0)

  // The next sample is due this long after the start of the last one.
  void set_interval(std::int64_t interval_ms);
  void want_processes(bool want);

  // Asks the thread to end and waits for it, at most `wait_ms`. False where it is still there,
  // inside the driver or emit; what the callbacks use must then live on. Idempotent.
  bool stop(std::int64_t wait_ms);

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;  // the thread holds it too
};

// When the sample after the one that was due at `due_ms` and ended at `now_ms` is due: whole
// intervals after `due_ms`, and after `now_ms`. What was missed during a long reading is skipped,
// not made up for. Pure.
std::int64_t next_due_ms(std::int64_t due_ms, std::int64_t interval_ms, std::int64_t now_ms);

}  // namespace nvidb::agent
