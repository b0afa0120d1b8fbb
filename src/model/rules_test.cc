// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "model/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nvidb::model {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

GpuReading reading(std::optional<double> util, std::optional<std::int64_t> used,
                   std::optional<std::int64_t> total) {
  GpuReading gpu;
  gpu.util_percent = util;
  gpu.mem_used_mb = used;
  gpu.mem_total_mb = total;
  return gpu;
}

ProcessSample process(std::int64_t pid, std::optional<std::string> user,
                      std::optional<std::int64_t> mem_mb) {
  ProcessSample process;
  process.pid = pid;
  process.user = std::move(user);
  process.mem_mb = mem_mb;
  return process;
}

Node node_of(std::vector<GpuReading> readings) {
  Node node;
  for (GpuReading& reading : readings) node.gpus.push_back({{}, std::move(reading)});
  return node;
}

TEST(Levels, BothSidesOfEachThreshold) {
  EXPECT_EQ(util_level(4.9), Level::idle);
  EXPECT_EQ(util_level(5), Level::normal);
  EXPECT_EQ(util_level(49.9), Level::normal);
  EXPECT_EQ(util_level(50), Level::warn);
  EXPECT_EQ(util_level(79.9), Level::warn);
  EXPECT_EQ(util_level(80), Level::alarm);

  EXPECT_EQ(temperature_level(64), Level::normal);
  EXPECT_EQ(temperature_level(65), Level::warn);
  EXPECT_EQ(temperature_level(79), Level::warn);
  EXPECT_EQ(temperature_level(80), Level::alarm);

  EXPECT_EQ(mem_level(74.9), Level::normal);
  EXPECT_EQ(mem_level(75), Level::warn);
  EXPECT_EQ(mem_level(89.9), Level::warn);
  EXPECT_EQ(mem_level(90), Level::alarm);

  EXPECT_EQ(pcie_level(39.9), Level::normal);
  EXPECT_EQ(pcie_level(40), Level::warn);
  EXPECT_EQ(pcie_level(69.9), Level::warn);
  EXPECT_EQ(pcie_level(70), Level::alarm);
}

TEST(MemUsedPercent, UnknownOrZeroTotal_IsAbsent) {
  EXPECT_EQ(mem_used_percent(reading(0, 512, 2048)), 25);
  EXPECT_EQ(mem_used_percent(reading(0, 3000, 2048)), 100);
  EXPECT_EQ(mem_used_percent(reading(0, {}, 2048)), std::nullopt);
  EXPECT_EQ(mem_used_percent(reading(0, 512, {})), std::nullopt);
  EXPECT_EQ(mem_used_percent(reading(0, 0, 0)), std::nullopt);
}

TEST(MemPercent, IsShareOfTheCard) {
  EXPECT_EQ(mem_percent(process(1, "a", 1024), reading(0, 2000, 4096)), 25);
  EXPECT_EQ(mem_percent(process(1, "a", {}), reading(0, 2000, 4096)), std::nullopt);
  EXPECT_EQ(mem_percent(process(1, "a", 1024), reading(0, {}, {})), std::nullopt);
}

TEST(Available, EdgesOfUtilisationAndMemory) {
  EXPECT_TRUE(is_available(reading(4.99, 99, 1000)));
  EXPECT_FALSE(is_available(reading(5, 99, 1000)));
  EXPECT_FALSE(is_available(reading(4.99, 100, 1000)));
}

TEST(Available, UnknownMemoryIsForgiven_UnknownUtilisationAndErrorAreNot) {
  EXPECT_TRUE(is_available(reading(0, {}, {})));
  EXPECT_TRUE(is_available(reading(0, 900, {})));
  EXPECT_FALSE(is_available(reading({}, 0, 1000)));
  GpuReading lost = reading(0, 0, 1000);
  lost.error = "GPU is lost";
  EXPECT_FALSE(is_available(lost));
}

TEST(Busy, FromFiftyPercent) {
  EXPECT_FALSE(is_busy(reading(49.9, {}, {})));
  EXPECT_TRUE(is_busy(reading(50, {}, {})));
  EXPECT_FALSE(is_busy(reading({}, 1000, 1000)));
  GpuReading lost = reading(100, {}, {});
  lost.error = "GPU is lost";
  EXPECT_FALSE(is_busy(lost));
}

TEST(PcieCeiling, EachGeneration) {
  const std::pair<int, double> kLaneMbS[] = {{1, 250},    {2, 500},  {3, 984.6},  {4, 1969.2},
                                             {5, 3938.5}, {6, 7563}, {7, 15125.0}};
  for (const auto& [gen, mb_s] : kLaneMbS) {
    const std::optional<double> kb_s = pcie_ceiling_kb_s(gen, 16);
    ASSERT_TRUE(kb_s) << gen;
    EXPECT_NEAR(*kb_s * 1024, mb_s * 1e6 * 16, 1) << gen;
  }
}

TEST(PcieCeiling, Gen4x4_Is7Point34GiB) {
  EXPECT_NEAR(pcie_ceiling_kb_s(4, 4).value() / 1024 / 1024, 7.34, 0.005);
}

TEST(PcieCeiling, UnknownLink_IsAbsent) {
  EXPECT_EQ(pcie_ceiling_kb_s({}, 16), std::nullopt);
  EXPECT_EQ(pcie_ceiling_kb_s(4, {}), std::nullopt);
  EXPECT_EQ(pcie_ceiling_kb_s(0, 16), std::nullopt);
  EXPECT_EQ(pcie_ceiling_kb_s(8, 16), std::nullopt);
  EXPECT_EQ(pcie_ceiling_kb_s(4, 0), std::nullopt);
  EXPECT_EQ(pcie_ceiling_kb_s(4, 65), std::nullopt);
}

TEST(PciePercent, IsShareOfTheLiveLink) {
  GpuReading gpu;
  EXPECT_EQ(pcie_percent(1000, gpu), std::nullopt);
  gpu.pcie_gen = 1;
  gpu.pcie_width = 1;
  EXPECT_EQ(pcie_percent({}, gpu), std::nullopt);
  EXPECT_EQ(pcie_percent(0, gpu), 0);
  EXPECT_NEAR(pcie_percent(122'070, gpu).value(), 50, 0.01);
  EXPECT_EQ(pcie_percent(1'000'000, gpu), 100);
}

TEST(Users, SumOverCardsAndNodes_LargestFirstThenName) {
  GpuReading first, second, third;
  first.processes = {process(1, "bo", 100), process(2, "al", 50), process(3, {}, 900)};
  second.processes = {process(1, "bo", 10), process(4, "cy", {}), process(5, "zoe", 50)};
  third.processes = {process(1, "al", 70)};
  FleetSnapshot fleet;
  fleet.nodes = {node_of({first, second}), node_of({third})};

  EXPECT_THAT(users_of(fleet.nodes[0]),
              ElementsAre(UserVram{"bo", 110}, UserVram{"al", 50}, UserVram{"zoe", 50}));
  EXPECT_THAT(users_of(fleet),
              ElementsAre(UserVram{"al", 120}, UserVram{"bo", 110}, UserVram{"zoe", 50}));
  EXPECT_THAT(users_of(Node{}), IsEmpty());
}

TEST(Totals, LostCardCountsOnlyAsACard) {
  GpuReading lost = reading(90, 1000, 1000);
  lost.error = "GPU is lost";
  const Node node = node_of({reading(0, 0, 1000), reading(60, 500, 1000), lost});

  const Totals totals = totals_of(node);

  EXPECT_EQ(totals.gpus, 3);
  EXPECT_EQ(totals.available, 1);
  EXPECT_EQ(totals.busy, 1);
  EXPECT_EQ(totals.util_percent, 30);
  EXPECT_EQ(totals.mem_used_mb, 500);
  EXPECT_EQ(totals.mem_total_mb, 2000);
}

TEST(Totals, AbsentDataIsLeftOut) {
  const Totals totals = totals_of(node_of({reading({}, 500, {}), reading({}, {}, 1000)}));
  EXPECT_EQ(totals.gpus, 2);
  EXPECT_EQ(totals.util_percent, std::nullopt);
  EXPECT_EQ(totals.mem_used_mb, std::nullopt);
  EXPECT_EQ(totals.mem_total_mb, std::nullopt);
}

TEST(Totals, FleetWeighsEachCardAlike) {
  FleetSnapshot fleet;
  fleet.nodes = {node_of({reading(90, 1, 10)}), node_of({reading(0, 2, 10), reading({}, 3, 10)}),
                 node_of({reading(0, {}, {})}), Node{}};

  const Totals totals = totals_of(fleet);

  EXPECT_EQ(totals.gpus, 4);
  EXPECT_EQ(totals.util_percent, 30);
  EXPECT_EQ(totals.mem_used_mb, 6);
  EXPECT_EQ(totals.mem_total_mb, 30);
}

}  // namespace
}  // namespace nvidb::model
