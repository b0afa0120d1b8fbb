// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "io/lines.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nvidb::io {
namespace {

struct Got {
  std::vector<std::string> lines;
  int too_long = 0;
};

// Feeds `text` in pieces of `piece` bytes.
Got split(std::string_view text, std::size_t piece, std::size_t max_bytes) {
  Got got;
  LineSplitter splitter(max_bytes);
  for (std::size_t at = 0; at < text.size(); at += piece) {
    splitter.feed(
        text.substr(at, piece), [&](std::string_view line) { got.lines.emplace_back(line); },
        [&] { ++got.too_long; });
  }
  return got;
}

TEST(LineSplitter, AnyCutOfTheBytes_GivesTheSameLines) {
  const std::string text = "one\n\ntwo\r\nthree \xff\n\nfour, not ended";
  const std::vector<std::string> expected = {"one", "", "two", "three \xff", ""};
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    EXPECT_EQ(split(text, piece, 100).lines, expected) << piece;
  }
}

TEST(LineSplitter, OverlongLine_IsDroppedWholeAndReportedOnce) {
  const std::string text = "ok\n" + std::string(50, 'x') + "\nafter\n";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    const Got got = split(text, piece, 10);
    EXPECT_EQ(got.lines, (std::vector<std::string>{"ok", "after"})) << piece;
    EXPECT_EQ(got.too_long, 1) << piece;
  }
}

TEST(LineSplitter, LineOfExactlyTheLimit_Fits) {
  EXPECT_EQ(split("123456789\n", 3, 10).lines, std::vector<std::string>{"123456789"});
  EXPECT_EQ(split("1234567890\n", 3, 10).too_long, 1);
}

TEST(LineSplitter, EndlessLine_KeepsNothing) {
  LineSplitter splitter(1000);
  int too_long = 0;
  for (int i = 0; i < 100; ++i) {
    splitter.feed(
        std::string(1000, 'x'), [](std::string_view) { FAIL(); }, [&] { ++too_long; });
    EXPECT_LE(splitter.rest().size(), 1000u);
  }
  EXPECT_EQ(too_long, 1);
}

}  // namespace
}  // namespace nvidb::io
