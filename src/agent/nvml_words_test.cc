// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "agent/nvml_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace nvidb::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(CodeWords, KnownCode_SaysWhatHappened) {
  EXPECT_EQ(code_words(nvml::kGpuIsLost), "GPU is lost");
  EXPECT_EQ(code_words(nvml::kNoPermission), "no permission");
}

TEST(CodeWords, NumberNobodyKnows_IsNamed) {
  EXPECT_EQ(code_words(77), "NVML error 77");
}

TEST(CodeWords, DriverGone_DependsOnWhoWasAsked) {
  for (const int code : {1, 9, 15, 18, 28, 999}) EXPECT_TRUE(is_driver_gone(code)) << code;
  for (const int code : {1, 9, 18}) EXPECT_TRUE(is_driver_gone_by_card(code)) << code;
  for (const int code : {0, 3, 4, 15, 16, 28, 999}) {
    EXPECT_FALSE(is_driver_gone_by_card(code)) << code;
  }
  EXPECT_FALSE(is_driver_gone(nvml::kTimeout));
}

TEST(InitFailure, VersionsDiffer_BothAreNamed) {
  EXPECT_EQ(init_failure_words(nvml::kVersionMismatch, "535.54.03", "550.90.07"),
            "the NVIDIA driver and its library differ (driver 535.54.03, library 550.90.07): "
            "reboot, or reload the driver");
}

TEST(InitFailure, VersionsUnknown_StillSaysWhatToDo) {
  EXPECT_EQ(init_failure_words(nvml::kVersionMismatch, std::nullopt, std::nullopt),
            "the NVIDIA driver and its library differ: reboot, or reload the driver");
}

TEST(InitFailure, EveryCode_HasWordsOfItsOwn) {
  EXPECT_THAT(init_failure_words(nvml::kUnknown, {}, {}), HasSubstr("container"));
  EXPECT_THAT(init_failure_words(nvml::kDriverNotLoaded, {}, {}), HasSubstr("not loaded"));
  EXPECT_THAT(init_failure_words(1234, {}, {}), HasSubstr("NVML error 1234"));
}

TEST(Architecture, NewerThanThisProgram_IsAbsent) {
  EXPECT_EQ(architecture_name(7), "Ampere");
  EXPECT_EQ(architecture_name(99), std::nullopt);
  EXPECT_EQ(architecture_name(nvml::kNotAvailable32), std::nullopt);
}

TEST(Throttle, IdleCard_IsNotHeldDown) {
  EXPECT_THAT(throttle_words(nvml::kReasonGpuIdle), IsEmpty());
}

TEST(Throttle, SeveralBits_AreListedLowestFirst) {
  EXPECT_THAT(throttle_words(0x1 | 0x20 | 0x4 | 0x80),
              ElementsAre("sw_power_cap", "sw_thermal", "hw_power_brake"));
}

TEST(Throttle, UnknownBits_AreKeptAsANumber) {
  EXPECT_THAT(throttle_words(0x8 | 0x3000), ElementsAre("hw_slowdown", "other_0x3000"));
}

TEST(DriverText, BufferWithoutNul_EndsWithTheBuffer) {
  const char full[4] = {'a', 'b', 'c', 'd'};
  EXPECT_EQ(driver_text(full), "abcd");
}

TEST(DriverText, OddBytes_BecomeValid) {
  const char odd[8] = "GPU\xff!";
  EXPECT_EQ(driver_text(odd), "GPU\xEF\xBF\xBD!");
}

TEST(DriverText, EmptyBuffer_IsAbsent) {
  const char empty[8] = "";
  EXPECT_EQ(driver_text(empty), std::nullopt);
}

TEST(FindVersion, DriverFile_SkipsTheMachineName) {
  EXPECT_EQ(find_version("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun  6 "
                         "22:20:39 UTC 2023\nGCC version:  gcc version 12.2.0\n"),
            "535.54.03");
  EXPECT_EQ(find_version("NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.65.06  R"),
            "580.65.06");
}

TEST(FindVersion, NothingLikeOne_IsAbsent) {
  for (const std::string_view text : {"", "1", "libnvidia", "x86_64", "7 8"}) {
    EXPECT_EQ(find_version(text), std::nullopt) << text;
  }
}

TEST(CudaVersion, NumberOfTheDriver_BecomesMajorMinor) {
  EXPECT_EQ(cuda_version_text(12040), "12.4");
  EXPECT_EQ(cuda_version_text(13000), "13.0");
  EXPECT_EQ(cuda_version_text(0), std::nullopt);
  EXPECT_EQ(cuda_version_text(-12040), std::nullopt);
}

TEST(Sane, Percent_RoundingIsForgivenNonsenseIsNot) {
  EXPECT_EQ(sane_percent(0), 0.0);
  EXPECT_EQ(sane_percent(100), 100.0);
  EXPECT_EQ(sane_percent(101), 100.0);
  EXPECT_EQ(sane_percent(200), std::nullopt);
  EXPECT_EQ(sane_percent(nvml::kNotAvailable32), std::nullopt);
}

TEST(Sane, Memory_AllOnesIsUnknown) {
  EXPECT_EQ(sane_mb(std::uint64_t{24} << 30), 24576);
  EXPECT_EQ(sane_mb((std::uint64_t{1} << 20) - 1), 0);
  EXPECT_EQ(sane_mb(nvml::kNotAvailable64), std::nullopt);
  EXPECT_EQ(sane_mb(9223372036854775794u), std::nullopt);
}

}  // namespace
}  // namespace nvidb::agent
