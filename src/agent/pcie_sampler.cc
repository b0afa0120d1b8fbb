// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "agent/pcie_sampler.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace nvidb::agent {
namespace {

// What one direction of one card said last.
struct Direction {
  nvml::Device card = nullptr;
  int counter = nvml::kPcieRx;
  bool unsupported = false;
  std::optional<std::int64_t> kb_s;
  std::int64_t at_ms = 0;
};

struct Worker {
  std::uint64_t done_round = 0;  // the last kick it has answered
  bool late = false;             // missed a deadline and has not answered since
};

constexpr std::uint32_t kMostKbPerS = 1u << 30;  // 1 TiB/s; no link is that fast

bool never_again(nvml::Return code) {
  return code == nvml::kNotSupported || code == nvml::kFunctionNotFound;
}

}  // namespace

// All under the mutex but `ask`, and `card` and `counter` of the directions, which never change.
struct PcieSampler::Shared {
  Shared(Ask ask_driver, const base::Clock& time) : ask(std::move(ask_driver)), clock(time) {}

  Ask ask;
  const base::Clock& clock;
  std::mutex mutex;
  std::condition_variable kicked, answered;
  std::vector<Direction> directions;  // rx and tx of card 0, of card 1, ...
  std::vector<Worker> workers;        // worker w has the directions w, w + workers, ...
  std::uint64_t round = 0;
  std::size_t running = 0;  // threads
  bool started = false;
  bool stopping = false;

  void start();
  void work(std::size_t worker);
  bool ask_one(std::unique_lock<std::mutex>& lock, Direction& direction);
};

PcieSampler::PcieSampler(Ask ask, std::vector<nvml::Device> cards, const base::Clock& clock)
    : shared_(std::make_shared<Shared>(std::move(ask), clock)) {
  for (nvml::Device card : cards) {
    // A card without a handle cannot be asked.
    shared_->directions.push_back({.card = card, .counter = nvml::kPcieRx, .unsupported = !card});
    shared_->directions.push_back({.card = card, .counter = nvml::kPcieTx, .unsupported = !card});
  }
}

PcieSampler::~PcieSampler() {
  stop();
}

void PcieSampler::kick() {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->stopping) return;
  if (!shared_->started) {
    shared_->started = true;
    const std::size_t count = std::min(shared_->directions.size(), kMaxWorkers);
    shared_->workers.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      try {
        // Detached: a thread that the driver never lets go cannot be joined.
        std::thread([shared = shared_, i] { shared->work(i); }).detach();
        ++shared_->running;
      } catch (const std::system_error&) {
        shared_->workers[i].late = true;  // no thread to be had: its directions stay unknown
      }
    }
  }
  ++shared_->round;
  shared_->kicked.notify_all();
}

void PcieSampler::wait(std::int64_t wait_ms) {
  std::unique_lock lock(shared_->mutex);
  const std::uint64_t round = shared_->round;
  const auto all_answered = [&] {
    return std::all_of(shared_->workers.begin(), shared_->workers.end(), [&](const Worker& worker) {
      return worker.late || worker.done_round >= round;
    });
  };
  shared_->answered.wait_for(lock, std::chrono::milliseconds(wait_ms), all_answered);
  for (Worker& worker : shared_->workers) worker.late = worker.late || worker.done_round < round;
}

PcieSampler::Traffic PcieSampler::traffic(std::size_t card, std::int64_t max_age_ms) const {
  const std::lock_guard lock(shared_->mutex);
  const std::int64_t oldest_ms = shared_->clock.steady_ms() - max_age_ms;
  const auto value = [&](const Direction& direction) {
    return direction.at_ms >= oldest_ms ? direction.kb_s : std::nullopt;
  };
  return {value(shared_->directions[2 * card]), value(shared_->directions[2 * card + 1])};
}

bool PcieSampler::stop(std::int64_t wait_ms) {
  std::unique_lock lock(shared_->mutex);
  shared_->stopping = true;
  shared_->kicked.notify_all();
  return shared_->answered.wait_for(lock, std::chrono::milliseconds(wait_ms),
                                    [&] { return shared_->running == 0; });
}

void PcieSampler::Shared::work(std::size_t worker) {
  std::unique_lock lock(mutex);
  while (true) {
    kicked.wait(lock, [&] { return stopping || workers[worker].done_round < round; });
    if (stopping) break;
    const std::uint64_t answering = round;
    bool any = false;
    for (std::size_t i = worker; i < directions.size() && !stopping; i += workers.size()) {
      any = ask_one(lock, directions[i]) || any;
    }
    workers[worker].done_round = answering;
    workers[worker].late = false;
    answered.notify_all();
    // Nothing left to ask for: as if every later kick were answered.
    if (!any) workers[worker].done_round = ~std::uint64_t{0};
  }
  --running;
  answered.notify_all();
}

// False where there was nothing to ask.
bool PcieSampler::Shared::ask_one(std::unique_lock<std::mutex>& lock, Direction& direction) {
  if (direction.unsupported) return false;
  lock.unlock();
  std::uint32_t kb_s = 0;
  const nvml::Return code = ask(direction.card, direction.counter, &kb_s);
  const std::int64_t now_ms = clock.steady_ms();
  lock.lock();
  direction.unsupported = never_again(code);
  direction.kb_s.reset();
  if (code == nvml::kSuccess && kb_s <= kMostKbPerS) direction.kb_s = kb_s;
  direction.at_ms = now_ms;
  return true;
}

}  // namespace nvidb::agent
