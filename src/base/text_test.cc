// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "base/text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "base/width_table.h"

namespace nvidb::base {
namespace {

using namespace std::string_literals;

TEST(Printable, HarmlessText_IsUnchanged) {
  for (const char* text :
       {"", "RTX 3090 Ti", "naïve", "日本語", "😀", "e\u0301", "a\\x1b", "한글"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, WhatMustNotReachATerminal_IsShownOrDropped) {
  const struct {
    std::string text, shown;
  } cases[] = {
      {"a\nb\rc\td", "a\\nb\\rc\\td"},
      {"\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"},
      {"\0\a\x7f"s, "\\x00\\x07\\x7f"},
      {"\xc2\x9b"
       "31m",
       "\\x9b31m"},                        // CSI in its UTF-8 form
      {"\xc2\x85\xc2\x9d", "\\x85\\x9d"},  // NEL, OSC
      {"\x9b", "\\x9b"},                   // CSI as a bare byte
      {"\xc0\x9b", "\\xc0\\x9b"},          // overlong ESC
      {"\xe0\x80\x9b", "\\xe0\\x80\\x9b"},
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},  // surrogate
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
      {"\xff\xfe", "\\xff\\xfe"},
      {"\xe6\x97", "\\xe6\\x97"},  // broken off
      {"\xe6\x97z", "\\xe6\\x97z"},
      {"a\u202eb\u2066c\u200ed", "abcd"},                      // bidi controls
      {"a\u2028b\u2029c", "abc"},                              // line separators
      {"\U0001f468\u200d\U0001f469", "\U0001f468\U0001f469"},  // zero-width joiner
      {"so\u00adft\ufeff\u200b", "soft"},
      {"\U000e0041", ""},                    // tag letters
      {"\ue000\U0010fffd", "\ufffd\ufffd"},  // private use
      {"\u0378\uffff", "\ufffd\ufffd"},      // unassigned, noncharacter
  };
  for (const auto& c : cases) EXPECT_EQ(printable(c.text), c.shown) << c.shown;
}

TEST(ValidUtf8, EachInvalidSequence_IsOneReplacement) {
  const struct {
    std::string text, valid;
  } cases[] = {
      {"a\n\x1b", "a\n\x1b"},
      {"caf\xe9", "caf\ufffd"},
      {"\xe6\x97"
       "a",
       "\ufffd"
       "a"},
      {"\xf0\x9f\x98", "\ufffd"},
      {"\xed\xa0\x80", "\ufffd\ufffd\ufffd"},
      {"\x80\xc0\xaf", "\ufffd\ufffd\ufffd"},
      {"\u200d\ue000", "\u200d\ue000"},
  };
  for (const auto& c : cases) EXPECT_EQ(valid_utf8(c.text), c.valid);
}

TEST(CodePointWidth, IsWhatTmuxTakes) {
  const struct {
    char32_t code_point;
    int width;
  } cases[] = {
      {0x00, -1},   {0x1b, -1},   {0x7f, -1},     {0x9b, -1},       {U' ', 1},    {U'~', 1},
      {0xa0, 1},    {0xe9, 1},    {0xad, 0},      {0x301, 0},       {0x3b1, 1},   {0x5d0, 1},
      {0x1100, 2},  {0x1160, 0},  {0x11ff, 0},    {0xac00, 2},      {0x200d, 0},  {0xfe0f, 0},
      {0x2026, 1},  {0x25b0, 1},  {0x25cf, 1},    {0x2764, 1},      {0x231a, 2},  {0x3000, 2},
      {0x3042, 2},  {0x4e00, 2},  {0xff01, 2},    {0xff71, 1},      {0xfffd, 1},  {0xe000, -1},
      {0x378, -1},  {0xd800, -1}, {0xffff, -1},   {0x1f600, 2},     {0x1f1e9, 1}, {0x1f3fb, 2},
      {0x20000, 2}, {0xe0100, 0}, {0x110000, -1}, {0xffffffff, -1},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(code_point_width(c.code_point), c.width) << std::hex << std::uint32_t{c.code_point};
  }
}

TEST(WidthTable, RangesAscendWithoutOverlap) {
  char32_t last = 0x7f;
  for (const WidthRange& range : width_ranges()) {
    EXPECT_LT(last, range.first);
    EXPECT_LE(range.first, range.last);
    last = range.last;
  }
}

TEST(FirstGrapheme, MarksAndFlagsStayTogether) {
  const struct {
    const char* text;
    const char* first;
    int width;
  } cases[] = {
      {"abc", "a", 1},
      {"e\u0301x", "e\u0301", 1},
      {"日本", "日", 2},
      {"\u2764\ufe0fx", "\u2764\ufe0f", 1},
      {"\U0001f1e9\U0001f1ea\U0001f1eb", "\U0001f1e9\U0001f1ea", 2},  // a flag
      {"\U0001f1e9x", "\U0001f1e9", 1},                               // half a flag
      {"\U0001f44d\U0001f3fd", "\U0001f44d", 2},                      // skin tone: two more columns
      {"\u1112\u1161\u11ab", "\u1112\u1161\u11ab", 2},                // Hangul in jamo
      {"\u0301x", "\u0301", 0},
  };
  for (const auto& c : cases) {
    const Grapheme grapheme = first_grapheme(c.text);
    EXPECT_EQ(grapheme.bytes, c.first) << c.text;
    EXPECT_EQ(grapheme.width, c.width) << c.text;
  }
}

TEST(FirstGrapheme, EndlessMarks_AreSplit) {
  std::string tower = "a";
  for (int i = 0; i < 1000; ++i) tower += "\u0301";
  EXPECT_LE(first_grapheme(tower).bytes.size(), 32u);
  EXPECT_EQ(display_width(tower), 1);
}

TEST(Cut, LastColumnShowsThatSomethingIsMissing) {
  const struct {
    const char* text;
    int width;
    const char* shown;
  } cases[] = {
      {"abc", 5, "abc"},
      {"abc", 3, "abc"},
      {"abc", 2, "a…"},
      {"abc", 1, "…"},
      {"abc", 0, ""},
      {"abc", -4, ""},
      {"", 3, ""},
      {"日本語", 6, "日本語"},
      {"日本語", 5, "日本…"},
      {"日本語", 4, "日…"},
      {"日本語", 2, "…"},
      {"日", 1, "…"},
      {"e\u0301e\u0301", 2, "e\u0301e\u0301"},
      {"ae\u0301b", 2, "a…"},
  };
  for (const auto& c : cases) EXPECT_EQ(cut(c.text, c.width), c.shown) << c.text << c.width;
  EXPECT_EQ(cut("abc", 2, true), "a~");
}

TEST(Pad, FillsToTheColumn) {
  EXPECT_EQ(pad_right("日本", 6), "日本  ");
  EXPECT_EQ(pad_left("日本", 6), "  日本");
  EXPECT_EQ(pad_left("日本語", 4), " 日…");
  EXPECT_EQ(pad_right("日本語", 4), "日… ");
  EXPECT_EQ(pad_right("abc", 2, true), "a~");
  EXPECT_EQ(pad_right("", -1), "");
}

// Random bytes, half of them pieces that are awkward on purpose.
std::string random_text(std::mt19937& random) {
  static const std::vector<std::string> kPieces{"\x1b[2J",
                                                "\xc2\x9b",
                                                "\u202e",
                                                "日",
                                                "\u0301",
                                                "\U0001f1e9",
                                                "\U0001f44d\U0001f3fd",
                                                "\u200d",
                                                "\xed\xa0\x80",
                                                "\xf0\x9f",
                                                "\ue000",
                                                "\u1112\u1161",
                                                "\n",
                                                "ab",
                                                "\ufffd",
                                                "\xe6\x97"};
  std::string text;
  for (int n = static_cast<int>(random() % 24); n > 0; --n) {
    text += random() % 2 ? std::string(1, static_cast<char>(random()))
                         : kPieces[random() % kPieces.size()];
  }
  return text;
}

TEST(TextProperty, RandomBytes_ArePrintableAndNeverWiderThanAsked) {
  std::mt19937 random(20261201);
  for (int round = 0; round < 2000; ++round) {
    const std::string text = random_text(random);
    const std::string shown = printable(text);
    ASSERT_EQ(valid_utf8(shown), shown);
    ASSERT_EQ(printable(shown), shown);
    ASSERT_EQ(printable(valid_utf8(text)), printable(printable(valid_utf8(text))));
    ASSERT_TRUE(std::none_of(shown.begin(), shown.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    }));
    ASSERT_EQ(shown.find("\xc2\x9b"), std::string::npos);
    const int width = static_cast<int>(random() % 30);
    for (const bool ascii : {false, true}) {
      const std::string piece = cut(shown, width, ascii);
      ASSERT_LE(display_width(piece), width);
      ASSERT_EQ(valid_utf8(piece), piece);
      ASSERT_EQ(display_width(shown) <= width, piece == shown);
      ASSERT_EQ(display_width(pad_left(shown, width, ascii)), width);
      ASSERT_EQ(display_width(pad_right(shown, width, ascii)), width);
    }
  }
}

}  // namespace
}  // namespace nvidb::base
