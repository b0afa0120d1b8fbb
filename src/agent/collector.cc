// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "agent/collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace nvidb::agent {

struct Collector::Shared {
  Shared(Options wanted, const base::Clock& time, Emit emit_message, OnEnd end)
      : options(std::move(wanted)),
        clock(time),
        emit(std::move(emit_message)),
        on_end(std::move(end)),
        interval_ms(options.interval_ms) {}

  const Options options;
  const base::Clock& clock;
  const Emit emit;
  const OnEnd on_end;

  std::mutex mutex;
  std::condition_variable changed;
  // Under the mutex:
  std::int64_t interval_ms;
  bool want_processes = true;
  bool stopping = false;
  bool ended = false;

  void run();
  void collect();
  bool wait_until(std::int64_t steady_ms);
  bool wait_for_next(std::int64_t& due_ms);
};

Collector::Collector(Options options, const base::Clock& clock, Emit emit, OnEnd on_end)
    : shared_(
          std::make_shared<Shared>(std::move(options), clock, std::move(emit), std::move(on_end))) {
  // Detached: a thread that the driver never lets go cannot be joined.
  std::thread([shared = shared_] { shared->run(); }).detach();
}

Collector::~Collector() {
  stop(0);
}

void Collector::set_interval(std::int64_t interval_ms) {
  const std::lock_guard lock(shared_->mutex);
  shared_->interval_ms = interval_ms;
  shared_->changed.notify_all();
}

void Collector::want_processes(bool want) {
  const std::lock_guard lock(shared_->mutex);
  shared_->want_processes = want;
}

bool Collector::stop(std::int64_t wait_ms) {
  std::unique_lock lock(shared_->mutex);
  shared_->stopping = true;
  shared_->changed.notify_all();
  return shared_->changed.wait_for(lock, std::chrono::milliseconds(wait_ms),
                                   [&] { return shared_->ended; });
}

void Collector::Shared::run() {
  collect();
  on_end();
  const std::lock_guard lock(mutex);
  ended = true;
  changed.notify_all();
}

void Collector::Shared::collect() {
  ProcReader proc(options.source.proc_root);
  proc.read_host();
  std::int64_t primed_ms = clock.steady_ms();
  GpuSource source(options.source, proc, clock, [this](std::size_t cards) {
    emit(model::Notice{fmt::format("waking {} GPU{}", cards, cards == 1 ? "" : "s")});
  });
  source.refresh(options.interval_ms);
  source.prime(true);
  if (!source.inventory().gpus.empty()) primed_ms = clock.steady_ms();

  model::Inventory sent = source.inventory();
  if (!emit(sent) || !wait_until(primed_ms + kPrimeMs)) return;
  std::int64_t due_ms = clock.steady_ms();
  for (std::int64_t seq = 1;; ++seq) {
    std::unique_lock lock(mutex);
    if (stopping) return;
    const bool processes = want_processes;
    const std::int64_t interval = interval_ms;
    lock.unlock();

    const std::int64_t began_ms = clock.steady_ms();
    model::Sample sample;
    sample.seq = seq;
    sample.at_ms = clock.wall_ms();
    if (seq > 1) source.refresh(interval);
    sample.gpus = source.read(processes, interval);
    sample.host = proc.read_host();
    sample.read_ms = clock.steady_ms() - began_ms;
    if (source.inventory() != sent) {
      sent = source.inventory();
      if (!emit(sent)) return;
    }
    if (!emit(std::move(sample)) || options.once) return;

    if (!wait_for_next(due_ms)) return;
  }
}

// False where the collector is to end.
bool Collector::Shared::wait_until(std::int64_t steady_ms) {
  std::unique_lock lock(mutex);
  const std::int64_t wait_ms = std::max<std::int64_t>(0, steady_ms - clock.steady_ms());
  changed.wait_for(lock, std::chrono::milliseconds(wait_ms), [&] { return stopping; });
  return !stopping;
}

// Waits for the sample after the one that was due at `due_ms` and makes that the new `due_ms`. An
// order to change the interval moves it meanwhile. False where the collector is to end.
bool Collector::Shared::wait_for_next(std::int64_t& due_ms) {
  const std::int64_t ended_ms = clock.steady_ms();
  std::unique_lock lock(mutex);
  while (!stopping) {
    const std::int64_t next_ms = next_due_ms(due_ms, interval_ms, ended_ms);
    const std::int64_t left_ms = next_ms - clock.steady_ms();
    if (left_ms <= 0) {
      due_ms = next_ms;
      return true;
    }
    changed.wait_for(lock, std::chrono::milliseconds(left_ms));
  }
  return false;
}

std::int64_t next_due_ms(std::int64_t due_ms, std::int64_t interval_ms, std::int64_t now_ms) {
  if (now_ms < due_ms + interval_ms) return due_ms + interval_ms;
  return due_ms + ((now_ms - due_ms) / interval_ms + 1) * interval_ms;
}

}  // namespace nvidb::agent
