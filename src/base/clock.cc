// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "base/clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>

namespace nvidb::base {
namespace {

class SystemClock : public Clock {
 public:
  std::int64_t wall_ms() const override { return count_ms(std::chrono::system_clock::now()); }
  std::int64_t steady_ms() const override { return count_ms(std::chrono::steady_clock::now()); }

 private:
  static std::int64_t count_ms(auto point) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(point.time_since_epoch()).count();
  }
};

// Years 1 to 9999: what ISO 8601 writes with four digits. A time from a file may be anything.
constexpr std::int64_t kFirstSecond = -62'135'596'800;
constexpr std::int64_t kFinalSecond = 253'402'300'799;

std::time_t whole_seconds(std::int64_t wall_ms) {
  const std::int64_t floor_s = wall_ms / 1000 - (wall_ms % 1000 < 0 ? 1 : 0);
  return std::clamp(floor_s, kFirstSecond, kFinalSecond);
}

}  // namespace

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

std::string format_utc(std::int64_t wall_ms) {
  const std::time_t seconds = whole_seconds(wall_ms);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}+00:00", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string format_local_time(std::int64_t wall_ms) {
  const std::time_t seconds = whole_seconds(wall_ms);
  std::tm parts{};
  localtime_r(&seconds, &parts);
  return fmt::format("{:02}:{:02}:{:02}", parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace nvidb::base
