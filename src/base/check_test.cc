// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "base/check.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "base/result.h"

namespace nvidb::base {
namespace {

TEST(CheckDeathTest, FalseCondition_RunsTheHookOnceAndNamesPlaceAndCondition) {
  const auto die = [] {
    set_check_hook([] { std::fputs("hook ran\n", stderr); });
    CHECK(1 + 1 == 3);
  };
  EXPECT_DEATH(die(), "hook ran\nnvidb: CHECK failed at .*check_test.cc:[0-9]+: 1 \\+ 1 == 3");
}

TEST(Check, TrueCondition_IsNothing) {
  CHECK(1 + 1 == 2);
}

TEST(Result, ErrorText_HasTheHintInParentheses) {
  EXPECT_EQ(to_text(Error{ErrorKind::io, "no space left", ""}), "no space left");
  EXPECT_EQ(to_text(Error{ErrorKind::io, "no space left", "free some"}),
            "no space left (free some)");
}

TEST(Result, HoldsAValueOrAnError) {
  const auto half = [](int n) -> Result<int> {
    if (n % 2 != 0) return fail(ErrorKind::invalid, "odd");
    return n / 2;
  };
  EXPECT_EQ(half(4).value(), 2);
  EXPECT_EQ(half(3).error(), (Error{ErrorKind::invalid, "odd", ""}));
}

}  // namespace
}  // namespace nvidb::base
