// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "base/clock.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <limits>

namespace nvidb::base {
namespace {

TEST(FormatUtc, WholeSecondsWithOffset) {
  EXPECT_EQ(format_utc(0), "1970-01-01T00:00:00+00:00");
  EXPECT_EQ(format_utc(1796119200000), "2026-12-01T10:00:00+00:00");
  EXPECT_EQ(format_utc(1796119200999), "2026-12-01T10:00:00+00:00");
  EXPECT_EQ(format_utc(951782400000), "2000-02-29T00:00:00+00:00");
}

TEST(FormatUtc, BeforeTheEpochRoundsDown_NotTowardsZero) {
  EXPECT_EQ(format_utc(-1), "1969-12-31T23:59:59+00:00");
}

TEST(FormatUtc, AbsurdTimes_StayFourDigitYears) {
  EXPECT_EQ(format_utc(std::numeric_limits<std::int64_t>::max()), "9999-12-31T23:59:59+00:00");
  EXPECT_EQ(format_utc(std::numeric_limits<std::int64_t>::min()), "0001-01-01T00:00:00+00:00");
}

TEST(FormatLocalTime, IsInTheMachinesZone) {
  const char* before = std::getenv("TZ");
  const std::string kept = before ? before : "";
  setenv("TZ", "XXX-2", 1);  // two hours east of UTC
  tzset();
  EXPECT_EQ(format_local_time(1796119200000), "12:00:00");
  before ? setenv("TZ", kept.c_str(), 1) : unsetenv("TZ");
  tzset();
}

TEST(SystemClock, IsInThisCenturyAndSteadyNeverStepsBack) {
  EXPECT_GT(system_clock().wall_ms(), 1700000000000);
  const std::int64_t first = system_clock().steady_ms();
  EXPECT_GE(system_clock().steady_ms(), first);
}

}  // namespace
}  // namespace nvidb::base
