// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "cli/prompt.h"

#include <gmock/gmock.h>

namespace nvidb::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Choice, NumbersAndRanges_ArePositionsInOrder) {
  EXPECT_THAT(parse_choice("1,3-5", 6).value(), ElementsAre(0, 2, 3, 4));
  EXPECT_THAT(parse_choice("5 , 2", 6).value(), ElementsAre(1, 4));
  EXPECT_THAT(parse_choice("6-6", 6).value(), ElementsAre(5));
}

TEST(Choice, SaidTwice_IsChosenOnce) {
  EXPECT_THAT(parse_choice("2,1-3,2", 3).value(), ElementsAre(0, 1, 2));
}

TEST(Choice, All_IsEveryPosition) {
  EXPECT_THAT(parse_choice("a", 2).value(), ElementsAre(0, 1));
  EXPECT_THAT(parse_choice("All", 2).value(), ElementsAre(0, 1));
  EXPECT_THAT(parse_choice("a", 0).value(), IsEmpty());
}

TEST(Choice, Nothing_IsNone) {
  EXPECT_THAT(parse_choice("", 3).value(), IsEmpty());
  EXPECT_THAT(parse_choice(" , ,", 3).value(), IsEmpty());
}

TEST(Choice, OutsideTheListOrNoNumber_IsRefusedByWord) {
  for (const char* text : {"0", "4", "2-4", "3-2", "-1", "1-", "x", "1.5", "1--2", "99999999999999",
                           "1-99999999999999999999", "+1"}) {
    const auto chosen = parse_choice(text, 3);
    ASSERT_FALSE(chosen) << text;
    EXPECT_EQ(chosen.error().kind, base::ErrorKind::invalid);
    EXPECT_THAT(chosen.error().message, HasSubstr(text));
  }
}

TEST(Choice, HostileWord_IsShownPrintable) {
  EXPECT_EQ(parse_choice("\x1b[2J", 3).error().message,
            "'\\x1b[2J' is not a number or a range from 1 to 3");
}

}  // namespace
}  // namespace nvidb::cli
