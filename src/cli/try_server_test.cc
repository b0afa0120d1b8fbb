// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "cli/try_server.h"

#include <gmock/gmock.h>

namespace nvidb::cli {
namespace {

using model::CollectorKind;
using testing::HasSubstr;
using testing::Not;

TEST(Found, NoiseAroundTheAnswer_IsSkipped) {
  const auto found = parse_found(
      "Welcome!\r\nno newline\nnvidb-on: Linux gpu1\r\nnvidb-has: nvidia-smi\n\n"
      "nvidb1 {\"type\":\"want\",\"script\":\"python\"}\nbye");
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, (Found{"Linux gpu1", CollectorKind::python, true}));
}

TEST(Found, BrokenPython_IsShell) {
  const auto found = parse_found(
      "nvidb-on: Linux a\nnvidb1 {\"type\":\"want\",\"script\":\"python\"}\n"
      "nvidb1 {\"type\":\"want\",\"script\":\"shell\"}\n");
  EXPECT_EQ(found->collector, CollectorKind::shell);
  EXPECT_THAT(to_text(*found), HasSubstr("maybe no GPUs"));
}

TEST(Found, Hello_IsNative) {
  const auto found = parse_found("nvidb-on: Linux a\nnvidb1 {\"type\":\"hello\"}\n");
  EXPECT_EQ(found->collector, CollectorKind::native);
}

TEST(Found, NoCollector_SaysSo) {
  const auto found = parse_found("nvidb-on: SunOS a\n");
  EXPECT_EQ(found->collector, std::nullopt);
  EXPECT_THAT(to_text(*found), HasSubstr("no collector"));
}

TEST(Found, LoginWithoutCommands_IsAnError) {
  for (const char* text : {"", "This account is currently not available.\n", "x nvidb-on: Linux\n"})
    EXPECT_FALSE(parse_found(text)) << text;
}

TEST(Found, HostileSystemName_IsPrintable) {
  const auto found = parse_found("nvidb-on: Linux \x1b]0;x\x07\n");
  EXPECT_THAT(to_text(*found), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace nvidb::cli
