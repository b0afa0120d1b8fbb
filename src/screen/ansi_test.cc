// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "screen/ansi.h"

#include <gtest/gtest.h>

namespace nvidb::screen {
namespace {

TEST(ToText, WithoutColour_IsTextWithTrailingBlanksRemoved) {
  Frame frame(6, 3);
  frame.put(1, 0, "ab", {Ink::alarm, true, true});
  frame.put(0, 2, "日");
  EXPECT_EQ(to_text(frame, ColorDepth::none), " ab\n\n日");
  EXPECT_EQ(to_text(Frame(0, 0), ColorDepth::none), "");
}

TEST(ToText, Styles_AreRunsWithAResetBeforeTheNewline) {
  Frame frame(8, 2);
  frame.put(0, 0, "a");
  frame.put(1, 0, "bc", {Ink::accent});
  frame.put(3, 0, "d", {Ink::plain, true});
  frame.put(0, 1, "e", {Ink::dim});
  EXPECT_EQ(to_text(frame, ColorDepth::basic16),
            "a\x1b[0;36mbc\x1b[0;1md\x1b[0m\n\x1b[0;90me\x1b[0m");
}

TEST(ToText, BlanksBetweenTwoOfOneInk_DoNotInterrupt) {
  Frame frame(5, 1);
  frame.put(0, 0, "a", {Ink::good});
  frame.put(2, 0, "b", {Ink::good});
  EXPECT_EQ(to_text(frame, ColorDepth::basic16), "\x1b[0;32ma b\x1b[0m");
}

TEST(ToText, ReverseBlanks_AreSeen) {
  Frame frame(4, 1);
  frame.put(0, 0, "a ", {Ink::plain, false, true});
  frame.put(3, 0, "b");
  EXPECT_EQ(to_text(frame, ColorDepth::basic16), "\x1b[0;7ma \x1b[0m b");
  EXPECT_EQ(to_text(frame, ColorDepth::none), "a  b");
}

TEST(ToText, Depth_ChoosesTheKindOfColour) {
  Frame frame(1, 1);
  frame.put(0, 0, "x", {Ink::warn});
  EXPECT_EQ(to_text(frame, ColorDepth::basic16), "\x1b[0;33mx\x1b[0m");
  EXPECT_EQ(to_text(frame, ColorDepth::palette256), "\x1b[0;38;5;172mx\x1b[0m");
  EXPECT_EQ(to_text(frame, ColorDepth::true_color), "\x1b[0;38;2;207;142;36mx\x1b[0m");
}

TEST(ToText, Papers_AreSeenUnderBlanksToo) {
  Frame frame(5, 1);
  frame.put(0, 0, "ab");
  frame.set_paper({1, 0, 2, 1}, Paper::good);
  EXPECT_EQ(to_text(frame, ColorDepth::basic16), "a\x1b[0;30;42mb \x1b[0m");
  EXPECT_EQ(to_text(frame, ColorDepth::none), "ab");
}

constexpr Style on(Paper paper, Ink ink = Ink::plain) {
  return {ink, false, false, paper};
}

TEST(Sgr, WithoutColours_OnlyBoldAndReverseAreLeft) {
  const Palette palette{ColorDepth::none, Background::light};
  EXPECT_EQ(sgr({}, palette), "\x1b[0m");
  EXPECT_EQ(sgr({Ink::alarm, true, false, Paper::alarm}, palette), "\x1b[0;1m");
  EXPECT_EQ(sgr({Ink::alarm, false, true}, palette), "\x1b[0;7m");
  EXPECT_EQ(sgr(on(Paper::selected, Ink::good), palette), "\x1b[0;7m");
}

TEST(Sgr, SixteenColours_HaveNoGreysAndBlackOnTheOthers) {
  const Palette palette{ColorDepth::basic16, Background::dark};
  EXPECT_EQ(sgr(on(Paper::selected, Ink::good), palette), "\x1b[0;7m");
  EXPECT_EQ(sgr(on(Paper::good), palette), "\x1b[0;30;42m");
  EXPECT_EQ(sgr(on(Paper::warn, Ink::alarm), palette), "\x1b[0;30;43m");
  EXPECT_EQ(sgr({Ink::plain, true, false, Paper::alarm}, palette), "\x1b[0;30;41m");
}

TEST(Sgr, Papers_DependOnTheBackground) {
  const Palette dark{ColorDepth::palette256, Background::dark};
  const Palette light{ColorDepth::palette256, Background::light};
  EXPECT_EQ(sgr(on(Paper::selected, Ink::dim), dark), "\x1b[0;38;5;244;48;5;237m");
  EXPECT_EQ(sgr(on(Paper::selected, Ink::dim), light), "\x1b[0;38;5;244;48;5;254m");
  EXPECT_EQ(sgr({Ink::accent, true}, dark), sgr({Ink::accent, true}, light));
  EXPECT_EQ(sgr(on(Paper::alarm, Ink::warn), {ColorDepth::true_color, Background::dark}),
            "\x1b[0;38;2;207;142;36;48;2;104;28;28m");
}

TEST(Sgr, PlainOnPaper_IsReadableWhateverTheTerminalsOwnInk) {
  EXPECT_EQ(sgr(on(Paper::good), {ColorDepth::palette256, Background::dark}),
            "\x1b[0;38;5;253;48;5;22m");
  EXPECT_EQ(sgr(on(Paper::good), {ColorDepth::palette256, Background::light}),
            "\x1b[0;38;5;235;48;5;194m");
}

}  // namespace
}  // namespace nvidb::screen
