// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "base/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace nvidb::base {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ParseSize, NumberWithOrWithoutUnit_IsMib) {
  const struct {
    const char* text;
    std::int64_t mb;
  } cases[] = {
      {"0", 0},         {"300", 300},
      {"512m", 512},    {"512M", 512},
      {"512mb", 512},   {"512MiB", 512},
      {"20G", 20480},   {"20gb", 20480},
      {"20GiB", 20480}, {"20 GB", 20480},
      {"1t", 1048576},  {"1.5 TiB", 1572864},
      {"1.5g", 1536},   {"0.5g", 512},
      {"007", 7},       {"1.25G", 1280},
      {"0.1m", 1},      {"0.0001t", 105},
      {"99.01", 100},   {"1048576t", 1099511627776},
      {"1.0000", 1},    {"1099511627776", 1099511627776},
  };
  for (const auto& c : cases) {
    const auto size = parse_size_mb(c.text);
    ASSERT_TRUE(size) << c.text;
    EXPECT_EQ(*size, c.mb) << c.text;
  }
}

TEST(ParseSize, AnythingElse_IsInvalidAndSaysWhat) {
  for (const char* text : {"",
                           " ",
                           "g",
                           "1e5",
                           "-1",
                           "+1",
                           "20GiBs",
                           "20 G B",
                           "0x10",
                           ".5g",
                           "5.",
                           "5.g",
                           "1..5",
                           "1,5g",
                           "20 ",
                           " 20",
                           "20\t",
                           "20\tG",
                           "20k",
                           "20b",
                           "inf",
                           "nan",
                           "1.5.2g",
                           "20g20",
                           "1099511627777",
                           "1048577t",
                           "99999999999999999999999999999999t",
                           "20\xc3\xa9"}) {
    const auto size = parse_size_mb(text);
    ASSERT_FALSE(size) << text;
    EXPECT_EQ(size.error().kind, ErrorKind::invalid) << text;
    EXPECT_THAT(size.error().message, HasSubstr("'")) << text;
  }
}

TEST(ParseSize, EndlessOrHostileText_IsQuotedShortAndPrintable) {
  const auto endless = parse_size_mb(std::string(1 << 16, '9'));
  ASSERT_FALSE(endless);
  EXPECT_LT(endless.error().message.size(), 120u);
  const auto hostile = parse_size_mb("20\x1b[31mG");
  ASSERT_FALSE(hostile);
  EXPECT_THAT(hostile.error().message, HasSubstr("20\\x1b[31mG"));
}

TEST(ParseSize, NulInside_IsInvalid) {
  EXPECT_FALSE(parse_size_mb(std::string_view("20G\0", 4)));
}

TEST(ParsePositiveNumber, DecimalNumber_IsTaken) {
  EXPECT_EQ(parse_positive_number("10", "--interval").value(), 10);
  EXPECT_EQ(parse_positive_number("0.5", "--interval").value(), 0.5);
  EXPECT_EQ(parse_positive_number("0", "--interval").value(), 0);
}

TEST(ParsePositiveNumber, AnythingElse_NamesTheThing) {
  for (const char* text :
       {"", " ", "1e5", "-1", "+1", "0x10", ".5", "5.", "1 ", " 1", "1s", "nan", "inf", "1,5"}) {
    const auto number = parse_positive_number(text, "--interval");
    ASSERT_FALSE(number) << text;
    EXPECT_EQ(number.error().kind, ErrorKind::invalid);
    EXPECT_THAT(number.error().message, HasSubstr("--interval"));
  }
}

TEST(FormatSize, EdgesOfEachForm) {
  const struct {
    std::int64_t mb;
    const char* text;
  } cases[] = {
      {-5, "0M"},
      {0, "0M"},
      {18, "18M"},
      {1023, "1023M"},
      {1024, "1.0G"},
      {20480, "20.0G"},
      {36761, "35.9G"},
      {102348, "99.9G"},
      {102349, "100G"},
      {102400, "100G"},
      {146637, "143G"},
      {1048063, "1023G"},
      {1048064, "1.0T"},
      {1048576, "1.0T"},
      {1468006, "1.4T"},
      {1073741824, "1.0P"},
      {std::numeric_limits<std::int64_t>::max(), "1048576P"},
  };
  for (const auto& c : cases) EXPECT_EQ(format_size(c.mb), c.text) << c.mb;
}

TEST(FormatDuration, DaysOnlyWhereThereAreDays) {
  EXPECT_EQ(format_duration(-1), "00:00:00");
  EXPECT_EQ(format_duration(0), "00:00:00");
  EXPECT_EQ(format_duration(7914), "02:11:54");
  EXPECT_EQ(format_duration(86399), "23:59:59");
  EXPECT_EQ(format_duration(86400), "1-00:00:00");
  EXPECT_EQ(format_duration(781212), "9-01:00:12");
}

TEST(FormatRate, ThreeDigitsWhateverTheUnit) {
  const struct {
    double kb_s;
    const char* text;
  } cases[] = {
      {-1, "0KB/s"},
      {0, "0KB/s"},
      {0.4, "0KB/s"},
      {500, "500KB/s"},
      {999.4, "999KB/s"},
      {999.5, "0.98MB/s"},
      {1024, "1.00MB/s"},
      {11981, "11.7MB/s"},
      {519168, "507MB/s"},
      {1677722, "1.60GB/s"},
      {10224, "9.98MB/s"},
      {10236, "10.0MB/s"},
      {102399, "100MB/s"},
      {7876.8e6 / 1024, "7.34GB/s"},
      {std::numeric_limits<double>::quiet_NaN(), "0KB/s"},
  };
  for (const auto& c : cases) EXPECT_EQ(format_rate(c.kb_s), c.text) << c.kb_s;
  EXPECT_THAT(format_rate(std::numeric_limits<double>::infinity()), Not(HasSubstr("inf")));
}

TEST(FormatBytes, LikeSizesOfFiles) {
  const struct {
    std::int64_t bytes;
    const char* text;
  } cases[] = {
      {-1, "0B"},     {0, "0B"},         {812, "812B"},        {1023, "1023B"},  {1024, "1.0K"},
      {4096, "4.0K"}, {1258291, "1.2M"}, {3650722202, "3.4G"}, {102400, "100K"}, {1048575, "1.0M"},
  };
  for (const auto& c : cases) EXPECT_EQ(format_bytes(c.bytes), c.text) << c.bytes;
}

}  // namespace
}  // namespace nvidb::base
