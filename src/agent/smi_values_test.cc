// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "agent/smi_values.h"

#include <gtest/gtest.h>

namespace nvidb::agent {
namespace {

constexpr const char* kNoValues[] = {"N/A",
                                     "[N/A]",
                                     "[Not Supported]",
                                     "Not Supported",
                                     "[Insufficient Permissions]",
                                     "[Unknown Error]",
                                     "Unknown Error",
                                     "[GPU is lost]",
                                     "GPU is lost",
                                     "ERR!",
                                     "Requested functionality has been deprecated",
                                     "Not available in WDDM driver model",
                                     "[GPU requires reset]"};

TEST(SmiValues, TextInsteadOfValue_IsAbsentAsTextNumberAndSize) {
  for (const char* text : kNoValues) {
    EXPECT_NE(smi_token(text), SmiToken::none) << text;
    EXPECT_EQ(smi_text(text), std::nullopt) << text;
    EXPECT_EQ(smi_number(text, "W", 0, 100), std::nullopt) << text;
    EXPECT_EQ(smi_mb(text), std::nullopt) << text;
    EXPECT_EQ(smi_program_name(text), std::nullopt) << text;
  }
}

TEST(SmiValues, Number_NeedsItsOwnUnitAndItsRange) {
  EXPECT_EQ(smi_number("26.78 W", "W", 0, 100), 26.78);
  EXPECT_EQ(smi_number("\n 26.78 W ", "W", 0, 100), 26.78);
  EXPECT_EQ(smi_integer("16x", "x", 1, 64), 16);
  EXPECT_EQ(smi_integer("-7 C", "C", -50, 200), -7);
  EXPECT_EQ(smi_integer("4", "", 1, 15), 4);
  for (const char* text : {"", " ", "W", "26.78", "26.78 mW", "26.78 W W", "nan W", "inf W",
                           "101 W", "-1 W", "1e999 W", "0x10 W"}) {
    EXPECT_EQ(smi_number(text, "W", 0, 100), std::nullopt) << text;
  }
  for (const char* text : {"16.5x", "65x", "0x", "99999999999999999999x", "x16"}) {
    EXPECT_EQ(smi_integer(text, "x", 1, 64), std::nullopt) << text;
  }
}

TEST(SmiValues, Memory_IsMiBAndNeverASentinel) {
  EXPECT_EQ(smi_mb("1998 MiB"), 1998);
  EXPECT_EQ(smi_mb("1998 MB"), 1998);
  EXPECT_EQ(smi_mb("0 MiB"), 0);
  EXPECT_EQ(smi_mb("17592186044415 MiB"), std::nullopt);
  EXPECT_EQ(smi_mb("-1 MiB"), std::nullopt);
  EXPECT_EQ(smi_mb("1998"), std::nullopt);
}

TEST(SmiValues, LongText_IsCutBetweenCharacters) {
  std::string text(kMaxSmiTextBytes - 1, 'a');
  text += "\xC3\xA9 and more";
  const auto cut = smi_text(text);
  ASSERT_TRUE(cut);
  EXPECT_LE(cut->size(), kMaxSmiTextBytes);
  EXPECT_EQ(cut->substr(0, kMaxSmiTextBytes - 1), std::string(kMaxSmiTextBytes - 1, 'a'));
}

TEST(SmiValues, BytesThatAreNoUtf8_AreReplaced) {
  EXPECT_EQ(smi_text("caf\xE9"), "caf\xEF\xBF\xBD");
  const auto bad = smi_text(std::string(1000, '\xFF'));
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->size(), kMaxSmiTextBytes / 3 * 3);
}

TEST(SmiValues, ProgramName_IsTheFileNameWithoutArguments) {
  EXPECT_EQ(smi_program_name("python"), "python");
  EXPECT_EQ(smi_program_name("/usr/lib/xorg/Xorg"), "Xorg");
  EXPECT_EQ(smi_program_name("/opt/b/browser --type=gpu --dir=/home/x"), "browser");
  EXPECT_EQ(smi_program_name("python /home/x/train.py"), "python");
  EXPECT_EQ(smi_program_name("C:\\Program Files\\Big Game.exe"), "Big Game.exe");
  EXPECT_EQ(smi_program_name("/odd/"), "/odd/");
  EXPECT_EQ(smi_program_name(""), std::nullopt);
}

}  // namespace
}  // namespace nvidb::agent
