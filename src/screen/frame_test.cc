// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "screen/frame.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>

#include "base/text.h"

namespace nvidb::screen {
namespace {

// The texts of a row, `_` for the second half of a wide grapheme.
std::string row(const Frame& frame, int y = 0) {
  std::string out;
  for (int x = 0; x < frame.width(); ++x) {
    out += frame.at(x, y).text.empty() ? "_" : frame.at(x, y).text;
  }
  return out;
}

TEST(Frame, New_IsBlank) {
  const Frame frame(3, 2);
  EXPECT_EQ(row(frame, 0), "   ");
  EXPECT_EQ(row(frame, 1), "   ");
  EXPECT_EQ(Frame(0, 0).width(), 0);
}

TEST(Frame, Put_WritesTextAndStyleAndTellsTheNextColumn) {
  Frame frame(6, 1);
  EXPECT_EQ(frame.put(1, 0, "ab", {Ink::warn, true}), 3);
  EXPECT_EQ(row(frame), " ab   ");
  EXPECT_EQ(frame.at(1, 0).style, (Style{Ink::warn, true}));
  EXPECT_EQ(frame.at(3, 0).style, Style{});
}

TEST(Frame, PutOverAnEdge_IsClipped) {
  Frame frame(4, 1);
  EXPECT_EQ(frame.put(2, 0, "abc"), 4);
  EXPECT_EQ(row(frame), "  ab");
  EXPECT_EQ(frame.put(-2, 0, "xyz"), 1);
  EXPECT_EQ(row(frame), "z ab");
  frame.put(0, 1, "below");
  frame.put(0, -1, "above");
  frame.put(9, 0, "right");
  EXPECT_EQ(row(frame), "z ab");
}

TEST(Frame, WideGraphemeAtAnEdge_IsABlank) {
  Frame frame(3, 1);
  frame.put(0, 0, "...");
  EXPECT_EQ(frame.put(2, 0, "日"), 3);
  EXPECT_EQ(row(frame), ".. ");
  frame.put(-1, 0, "日");
  EXPECT_EQ(row(frame), " . ");
}

TEST(Frame, OverwritingHalfOfAWideGrapheme_BlanksTheOtherHalf) {
  Frame frame(6, 1);
  frame.put(0, 0, "日本語");
  EXPECT_EQ(row(frame), "日_本_語_");
  frame.put(1, 0, "x");
  EXPECT_EQ(row(frame), " x本_語_");
  frame.put(2, 0, "y");
  EXPECT_EQ(row(frame), " xy 語_");
  frame.put(3, 0, "한");
  EXPECT_EQ(row(frame), " xy한_ ");
}

TEST(Frame, HostileText_IsEscapedAndMarksNeedACharacter) {
  Frame frame(8, 1);
  frame.put(0, 0, "\u0301a\u0301\x1b[m");
  EXPECT_EQ(row(frame), "a\u0301\\x1b[m ");
}

TEST(Frame, PlainText_GivesWhatTheSlowWayGives) {
  EXPECT_EQ(Frame(3, 1).put(5, 0, "abc"), 5);
  EXPECT_EQ(Frame(3, 1).put(-9, 0, "abc"), -6);
  Frame frame(6, 1);
  frame.put(0, 0, "日本語");
  EXPECT_EQ(frame.put(1, 0, "ab"), 3);
  EXPECT_EQ(row(frame), " ab 語_");
  EXPECT_EQ(frame.put(-2, 0, "....x~"), 4);
  EXPECT_EQ(row(frame), "..x~語_");
  EXPECT_EQ(frame.put(4, 0, ""), 4);
  EXPECT_EQ(frame.put(6, 0, ""), 6);
}

TEST(Frame, MarkAfterPlainText_BelongsToItsLastCharacter) {
  Frame frame(6, 1);
  EXPECT_EQ(frame.put(0, 0, "abe\u0301c日"), 6);
  EXPECT_EQ(row(frame), "abe\u0301c日_");
  EXPECT_EQ(frame.put(4, 0, "ab\u0301\u0301"), 6);
  EXPECT_EQ(frame.at(5, 0).text, "b\u0301\u0301");
  // The character that has the mark is beyond the edge.
  EXPECT_EQ(frame.put(4, 0, "xyz\u0301"), 6);
  EXPECT_EQ(frame.at(5, 0).text, "y");
}

TEST(Frame, SetPaper_KeepsTextAndInkAndIsClipped) {
  Frame frame(4, 2);
  frame.put(0, 0, "a日", {Ink::good, true});
  frame.set_paper({-1, 0, 3, 9}, Paper::selected);
  EXPECT_EQ(row(frame), "a日_ ");
  EXPECT_EQ(frame.at(1, 0).style, (Style{Ink::good, true, false, Paper::selected}));
  EXPECT_EQ(frame.at(0, 1).style.paper, Paper::selected);
  EXPECT_EQ(frame.at(2, 0).style.paper, Paper::none);
}

TEST(Frame, Clear_BlanksTheAreaAndCutsWideGraphemes) {
  Frame frame(6, 2);
  frame.put(0, 0, "日本語", {Ink::warn});
  frame.put(0, 1, "abcdef");
  frame.clear({1, 0, 2, 1});
  EXPECT_EQ(row(frame), "    語_");
  EXPECT_EQ(frame.at(1, 0).style, Style{});
  EXPECT_EQ(row(frame, 1), "abcdef");
}

TEST(Frame, AreasWithoutCells_ChangeNothing) {
  constexpr int kMost = std::numeric_limits<int>::max(), kLeast = std::numeric_limits<int>::min();
  Frame frame(4, 1);
  frame.put(0, 0, "日本");
  const Frame before = frame;
  for (const Rect& area : {Rect{1, 0, 0, 1}, Rect{1, 0, 1, 0}, Rect{3, 0, -2, 1}, Rect{9, 0, 1, 1},
                           Rect{0, -1, 4, 1}, Rect{kMost, kMost, kMost, kMost},
                           Rect{kLeast, kLeast, kMost, kMost}, Rect{0, 0, kLeast, 1}}) {
    frame.clear(area);
    frame.set_paper(area, Paper::alarm);
    EXPECT_EQ(frame, before) << area.x << "," << area.y << " " << area.width;
  }
  frame.clear({kLeast / 2, 0, kMost, 1});
  EXPECT_EQ(row(frame), "    ");
}

TEST(Frame, Grow_AddsBlankRowsAndNeverShrinks) {
  Frame frame(2, 1);
  frame.put(0, 0, "ab");
  frame.grow(2);
  EXPECT_EQ(frame.height(), 2);
  EXPECT_EQ(row(frame, 0), "ab");
  EXPECT_EQ(row(frame, 1), "  ");
  frame.grow(1);
  EXPECT_EQ(frame.height(), 2);
}

TEST(FrameProperty, RandomPuts_KeepEveryRowExactlyAsWideAsTheFrame) {
  std::mt19937 random(7);
  const char* texts[] = {"日本語", "a", "e\u0301", "😀x", "abc", "\u0301", "\U0001f1e9\U0001f1ea",
                         "한\n"};
  for (int round = 0; round < 500; ++round) {
    const int width = static_cast<int>(random() % 8);
    Frame frame(width, 1);
    for (int i = 0; i < 8; ++i)
      frame.put(static_cast<int>(random() % 12) - 2, 0, texts[random() % 8]);
    int columns = 0;
    for (int x = 0; x < width; ++x) {
      const int cell_width = base::display_width(frame.at(x, 0).text);
      columns += cell_width;
      const bool second = x > 0 && base::display_width(frame.at(x - 1, 0).text) == 2;
      ASSERT_EQ(frame.at(x, 0).text.empty(), second);
    }
    ASSERT_EQ(columns, width);
  }
}

}  // namespace
}  // namespace nvidb::screen
