// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "screen/diff.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "support/random_frame.h"
#include "support/tiny_vt.h"

namespace nvidb::screen {
namespace {

constexpr Palette k256{ColorDepth::palette256, Background::dark};
constexpr Palette kPlain{ColorDepth::none, Background::dark};

Frame line(int width, std::string_view text, Style style = {}) {
  Frame frame(width, 1);
  frame.put(0, 0, text, style);
  return frame;
}

TEST(Diff, EqualFrames_AreNoBytes) {
  const Frame frame = line(9, "日本 ok", {Ink::good});
  EXPECT_EQ(diff(frame, frame, k256), "");
  EXPECT_EQ(diff(Frame(0, 0), Frame(0, 0), k256), "");
  EXPECT_EQ(diff(Frame(3, 0), Frame(3, 0), k256), "");
}

TEST(Diff, BlanksThatDifferInInk_AreTheSame) {
  EXPECT_EQ(diff(line(4, "  ", {Ink::alarm, true}), line(4, "  ", {Ink::good}), k256), "");
  EXPECT_NE(diff(line(4, "  ", {Ink::alarm, false, true}), line(4, "  "), k256), "");
}

TEST(Diff, StylesThatThisTerminalCannotShow_AreTheSame) {
  const Frame a = line(4, "ab", {Ink::alarm, false, false, Paper::good});
  EXPECT_EQ(diff(a, line(4, "ab"), kPlain), "");
  EXPECT_NE(diff(a, line(4, "ab"), k256), "");
}

TEST(Diff, OneCell_IsAMoveAResetAndTheCell) {
  EXPECT_EQ(diff(line(9, "87%"), line(9, "88%"), k256), "\x1b[1;2H\x1b[0m8");
  EXPECT_EQ(diff(line(9, "a"), line(9, "b"), k256), "\x1b[H\x1b[0mb");
  Frame before(4, 3), after(4, 3);
  after.put(0, 2, "x", {Ink::warn});
  EXPECT_EQ(diff(before, after, k256), "\x1b[3H\x1b[0;38;5;172mx");
}

TEST(Diff, SmallGap_IsWrittenOverAndALargeOneIsJumped) {
  EXPECT_EQ(diff(line(20, "a-b"), line(20, "x-y"), k256), "\x1b[H\x1b[0mx-y");
  EXPECT_EQ(diff(line(20, "a--------b"), line(20, "x--------y"), k256), "\x1b[H\x1b[0mx\x1b[8Cy");
}

TEST(Diff, GapOfAnotherStyle_IsJumped) {
  Frame before = line(20, "a b"), after = line(20, "x y");
  before.put(1, 0, "-", {Ink::good});
  after.put(1, 0, "-", {Ink::good});
  EXPECT_EQ(diff(before, after, k256), "\x1b[H\x1b[0mx\x1b[Cy");
}

TEST(Diff, ManyBlanksToTheEnd_AreErased) {
  EXPECT_EQ(diff(line(20, "ab and more"), line(20, "ab"), k256), "\x1b[1;4H\x1b[0m\x1b[K");
  EXPECT_EQ(diff(line(20, "abcd"), line(20, "ab"), k256), "\x1b[1;3H\x1b[0m  ");
}

TEST(Diff, BlanksOnPaper_AreNotErased) {
  const Frame after = line(8, "        ", {Ink::plain, false, false, Paper::selected});
  EXPECT_EQ(diff(Frame(8, 1), after, k256), "\x1b[H\x1b[0;38;5;253;48;5;237m        ");
}

TEST(Diff, EitherHalfOfAWideGrapheme_RedrawsAllOfIt) {
  EXPECT_EQ(diff(line(6, "ab日"), line(6, "a日"), kPlain), "\x1b[1;2H\x1b[0m日 ");
  EXPECT_EQ(diff(line(6, "a日"), line(6, "a x"), kPlain), "\x1b[1;2H\x1b[0m x");
  EXPECT_EQ(diff(line(6, "a日"), line(6, "a日", {Ink::plain, true}), kPlain), "\x1b[H\x1b[0;1ma日");
}

TEST(Diff, AfterADoubtfulWidth_ComesAnAbsoluteMove) {
  EXPECT_EQ(diff(line(6, "abc"), line(6, "e\u0301xy"), kPlain), "\x1b[H\x1b[0me\u0301\x1b[2Gxy");
}

TEST(Diff, LastColumn_IsLeftByAnAbsoluteMove) {
  Frame before(3, 2), after(3, 2);
  after.put(0, 0, "abc");
  after.put(0, 1, "def");
  EXPECT_EQ(diff(before, after, kPlain), "\x1b[H\x1b[0mabc\x1b[2Hdef");
}

TEST(Repaint, AnyScreen_IsClearedInTheTerminalsOwnColoursFirst) {
  EXPECT_EQ(repaint(line(3, "a"), kPlain), "\x1b[0m\x1b[H\x1b[2J\x1b[H\x1b[0ma");
  EXPECT_EQ(repaint(Frame(0, 0), kPlain), "\x1b[0m\x1b[H\x1b[2J");
}

TEST(DiffProperty, RandomFrames_AreShownAsTheyAre) {
  for (std::uint32_t seed = 0; seed < 600; ++seed) {
    std::mt19937 random(seed);
    test::RandomFrame any([&](std::uint32_t limit) { return random() % limit; });
    const Palette palette = any.palette();
    Frame frame(static_cast<int>(random() % 30), static_cast<int>(random() % 5));
    any.change(frame, 20);
    test::TinyVt vt(frame.width(), frame.height());
    vt.feed(repaint(frame, palette));
    for (int step = 0; step < 4; ++step) {
      ASSERT_FALSE(vt.trouble()) << *vt.trouble() << ", seed " << seed << " step " << step;
      ASSERT_EQ(vt.difference(frame, palette), "") << "seed " << seed << " step " << step;
      Frame next = frame;
      any.change(next, step == 2 ? 30 : 4);
      const std::string bytes = diff(frame, next, palette);
      ASSERT_LE(bytes.size(), repaint(next, palette).size() + 200);
      vt.feed(bytes);
      frame = next;
    }
  }
}

// What the property above can find is only as good as the terminal that it looks at.
TEST(TinyVt, WhatTerminalsDisagreeOn_IsATrouble) {
  for (const char* bytes :
       {"\x1b[Habcde\x1b[C", "\x1b[HabcdeX", "\x1b[He\u0301x", "\x1b[H\n", "\x1b[H\x1b[7m\x1b[K",
        "\x1b[1;5H日", "\x1b[2H", "\x1b[He\u0301\x1b[K", "\x1b]0;x\a", "\x1b[4m", "x"}) {
    test::TinyVt vt(5, 1);
    vt.feed(bytes);
    EXPECT_TRUE(vt.trouble()) << bytes;
  }
}

TEST(TinyVt, AnyDifference_IsSeen) {
  test::TinyVt vt(4, 1);
  vt.feed("\x1b[H\x1b[0mab");
  EXPECT_EQ(vt.difference(line(4, "ab"), k256), "");
  EXPECT_EQ(vt.difference(line(4, "ab", {Ink::plain, false, false, Paper::good}), kPlain), "");
  EXPECT_NE(vt.difference(line(4, "ac"), k256), "");
  EXPECT_NE(vt.difference(line(4, "ab", {Ink::good}), k256), "");
  EXPECT_NE(vt.difference(line(4, "ab", {Ink::plain, true}), k256), "");
  EXPECT_NE(vt.difference(line(4, "ab  ", {Ink::plain, false, false, Paper::good}), k256), "");
}

}  // namespace
}  // namespace nvidb::screen
