// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "base/nearest.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace nvidb::base {
namespace {

constexpr std::array<std::string_view, 4> kKnown = {"info", "--once", "username", "hostname"};

TEST(Nearest, SmallSlips_AreFound) {
  EXPECT_EQ(nearest("inof", kKnown), "info");
  EXPECT_EQ(nearest("--onec", kKnown), "--once");
  EXPECT_EQ(nearest("usernam", kKnown), "username");
  EXPECT_EQ(nearest("hostnames", kKnown), "hostname");
}

TEST(Nearest, OtherWords_AreNot) {
  EXPECT_EQ(nearest("frobnicate", kKnown), "");
  EXPECT_EQ(nearest("", kKnown), "");
  EXPECT_EQ(nearest(std::string(100000, 'x'), kKnown), "");
}

}  // namespace
}  // namespace nvidb::base
