// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Time as a value. Pure rooms take `now` as a parameter; only edges ask a Clock.
#include <cstdint>
#include <string>

namespace nvidb::base {

// The seam for tests: a fake clock stands still until told.
class Clock {
 public:
  virtual ~Clock() = default;
  // Milliseconds since 1970-01-01 UTC; may step either way.
  virtual std::int64_t wall_ms() const = 0;
  // Milliseconds of a clock that never steps back; its zero means nothing.
  virtual std::int64_t steady_ms() const = 0;
};

// The machine's own clocks; lives for ever, safe from any thread.
const Clock& system_clock();

// `2026-12-01T10:00:00+00:00`: UTC, whole seconds, as all JSON of ours writes times.
std::string format_utc(std::int64_t wall_ms);

// `10:52:58` in the machine's time zone, for people.
std::string format_local_time(std::int64_t wall_ms);

}  // namespace nvidb::base
