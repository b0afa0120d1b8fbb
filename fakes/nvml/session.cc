// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "session.h"

#include <unistd.h>

#include <cstdlib>
#include <ctime>

namespace nvidb::sim {
namespace {

constexpr std::uint64_t kHandleMark = 0x4E56;  // the upper 16 bits of our handles
constexpr std::uint64_t kMigBits = 8, kCardBits = 16, kGenerationBits = 20;
constexpr std::uint32_t kMostGrown = 1 << 16;

std::uint64_t mask(std::uint64_t bits) {
  return (std::uint64_t{1} << bits) - 1;
}

std::int64_t steady_ms() {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

double wall_s() {
  timespec now = {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

std::string scenario_path() {
  const char* path = std::getenv("NVIDB_FAKE_NVML");
  return path == nullptr ? "" : path;
}

}  // namespace

void wait_ms(std::int64_t duration_ms) {
  if (duration_ms <= 0) return;
  timespec rest = {.tv_sec = duration_ms / 1000, .tv_nsec = duration_ms % 1000 * 1'000'000};
  while (::nanosleep(&rest, &rest) != 0) {
  }
}

Session& Session::instance() {
  // Never destroyed: at exit another thread may still be inside a call. The library is never
  // unloaded either (linked with nodelete), so this pointer stays.
  static Session* session = new Session();
  return *session;
}

std::shared_ptr<const Scenario> Session::look(bool now) {
  // The variable counts when the first user comes, so that a test program can play one scenario
  // after the other.
  if (!file_ || (users_ == 0 && file_->path() != scenario_path())) {
    file_ = std::make_unique<ScenarioFile>(scenario_path());
  }
  auto scenario = file_->look(steady_ms(), now);
  if (const auto complaint = file_->take_complaint()) {
    const std::string line = "simulated NVML: " + *complaint + "\n";
    if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return scenario;
  }
  return scenario;
}

std::shared_ptr<const Scenario> Session::scenario(bool now) {
  const std::lock_guard lock(mutex_);
  return look(now);
}

double Session::now_s(const Scenario& scenario) const {
  return scenario.time_s.value_or(wall_s());
}

nvml::Return Session::init() {
  const std::lock_guard lock(mutex_);
  const auto scenario = look(users_ == 0);
  if (!scenario) return nvml::kUnknown;
  if (scenario->init_code != nvml::kSuccess) return scenario->init_code;
  if (users_++ == 0) {
    ++generation_;
    attached_.clear();
    counters_.clear();
    grown_.clear();
  }
  return nvml::kSuccess;
}

nvml::Return Session::shutdown() {
  const std::lock_guard lock(mutex_);
  if (users_ == 0) return nvml::kUninitialized;
  --users_;
  return nvml::kSuccess;
}

bool Session::initialised() {
  const std::lock_guard lock(mutex_);
  return users_ > 0;
}

nvml::Device Session::handle_of(std::size_t card, std::optional<std::size_t> mig) {
  const std::lock_guard lock(mutex_);
  std::uint64_t bits = kHandleMark;
  bits = bits << kGenerationBits | (generation_ & mask(kGenerationBits));
  bits = bits << kCardBits | card;
  bits = bits << kMigBits | (mig ? *mig + 1 : 0);
  // A number that nothing may be read through, as the driver's handles are to us.
  return reinterpret_cast<nvml::Device>(bits << 4);
}

std::optional<Target> Session::resolve(nvml::Device handle) {
  const std::lock_guard lock(mutex_);
  auto bits = reinterpret_cast<std::uint64_t>(handle);
  if ((bits & mask(4)) != 0) return std::nullopt;
  bits >>= 4;
  const auto take = [&](std::uint64_t count) {
    const std::uint64_t part = bits & mask(count);
    bits >>= count;
    return part;
  };
  const std::uint64_t mig = take(kMigBits);
  const std::uint64_t card = take(kCardBits);
  const std::uint64_t generation = take(kGenerationBits);
  if (bits != kHandleMark || generation != (generation_ & mask(kGenerationBits))) {
    return std::nullopt;
  }
  Target target;
  target.scenario = look(false);
  if (!target.scenario || card >= target.scenario->cards.size()) return std::nullopt;
  target.index = card;
  target.card = &target.scenario->cards[card];
  target.at_s = now_s(*target.scenario);
  if (mig > 0) {
    if (mig > target.card->mig_devices.size() || !target.card->mig_devices[mig - 1]) {
      return std::nullopt;
    }
    target.mig = &*target.card->mig_devices[mig - 1];
  }
  return target;
}

bool Session::first_attach(std::size_t card) {
  const std::lock_guard lock(mutex_);
  return attached_.insert(card).second;
}

std::vector<ListedProcess> Session::processes(const Target& target) {
  if (target.mig != nullptr) return list_processes(*target.mig, target.at_s);
  std::vector<ListedProcess> listed = list_processes(*target.card, target.at_s);
  const Scenario& scenario = *target.scenario;
  if (!scenario.env_rule) return listed;
  const std::lock_guard lock(mutex_);
  for (const EnvProcess& process : environments_.processes(*scenario.env_rule, steady_ms())) {
    if (!sees_card(process.cards, target.index, scenario.cards)) continue;
    listed.push_back({.pid = process.pid, .mem_mb = process.mem_mb});
  }
  return listed;
}

std::uint64_t Session::count_up(const Target& target, Counter counter, double rate_per_s) {
  const std::lock_guard lock(mutex_);
  Growing& growing = counters_[target.index][static_cast<std::size_t>(counter)];
  if (growing.started && target.at_s > growing.at_s && rate_per_s > 0) {
    growing.total += rate_per_s * (target.at_s - growing.at_s);
  }
  growing.started = true;
  growing.at_s = target.at_s;
  return static_cast<std::uint64_t>(growing.total);
}

std::uint32_t Session::grown(std::size_t card) {
  const std::lock_guard lock(mutex_);
  const auto entry = grown_.find(card);
  return entry == grown_.end() ? 0 : entry->second;
}

void Session::grow(std::size_t card, std::uint32_t records) {
  const std::lock_guard lock(mutex_);
  std::uint32_t& grown = grown_[card];
  if (grown < kMostGrown) grown += records;
}

}  // namespace nvidb::sim
