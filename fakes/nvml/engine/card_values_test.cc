// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "engine/card_values.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/parse_scenario.h"

namespace nvidb::sim {
namespace {

Scenario card(const std::string& fields) {
  auto scenario = parse_scenario("{\"gpus\":[{" + fields + "}]}");
  EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().message);
  return scenario ? *scenario : default_scenario();
}

TEST(CardValues, IdleCard_LooksIdle) {
  const Scenario scenario = default_scenario();
  const CardValues values(scenario.cards[0], 0);
  EXPECT_EQ(values.util_percent(), 0);
  EXPECT_EQ(values.performance_state(), 8);
  EXPECT_EQ(values.pcie_gen(), 1);
  EXPECT_EQ(values.pcie_gen_max(), 4);
  EXPECT_EQ(values.power_w(), 21);
  EXPECT_EQ(values.throttle_mask(), 1);
}

TEST(CardValues, BusyCard_FollowsItsLoad) {
  const Scenario scenario = card(R"("util_percent":100)");
  const CardValues values(scenario.cards[0], 0);
  EXPECT_EQ(values.performance_state(), 2);
  EXPECT_EQ(values.pcie_gen(), 4);
  EXPECT_NEAR(values.power_w().value(), 450 * 0.93, 0.01);
  EXPECT_EQ(values.temperature_c(), 76);
  EXPECT_GT(values.fan_percent().value(), 60);
  EXPECT_EQ(values.throttle_mask(), 0);
}

TEST(CardValues, Null_IsNotSupported) {
  const Scenario scenario =
      card(R"("util_percent":null,"power_limit_w":null,"pcie":{"rx_kb_s":null})");
  const CardValues values(scenario.cards[0], 0);
  EXPECT_FALSE(values.util_percent());
  EXPECT_FALSE(values.power_limit_w());
  EXPECT_FALSE(values.pcie_rx_kb_s());
  EXPECT_TRUE(values.power_w());
}

TEST(CardValues, PercentCurves_AreClampedAndConstantsAreNot) {
  const Scenario curve = card(R"("util_percent":{"base":90,"swing":50,"shape":"square"})");
  EXPECT_EQ(CardValues(curve.cards[0], 0).util_percent(), 100);
  const Scenario liar = card(R"("util_percent":4294967295)");
  EXPECT_EQ(CardValues(liar.cards[0], 0).util_percent(), 4294967295.0);
}

TEST(CardValues, MigParent_HasNoUtilisation) {
  const Scenario scenario = card(R"("model":"A100 MIG")");
  const CardValues values(scenario.cards[0], 0);
  EXPECT_FALSE(values.util_percent());
  EXPECT_FALSE(values.mem_util_percent());
  EXPECT_FALSE(values.encoder_util_percent());
  EXPECT_TRUE(values.temperature_c());
}

TEST(CardValues, Memory_IsTheBaseAndWhatProcessesHold) {
  const Scenario scenario = card(
      R"("processes":[{"pid":1,"mem_mb":1000},{"pid":2,"mem_mb":null},{"pid":3,"mem_mb":24}])");
  const auto listed = list_processes(scenario.cards[0], 0);
  ASSERT_EQ(listed.size(), 3u);
  EXPECT_FALSE(listed[1].mem_mb);
  const auto memory = CardValues(scenario.cards[0], 0).memory(listed);
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->total_mb, 24564);
  EXPECT_EQ(memory->used_mb, 18 + 1024);
  EXPECT_EQ(memory->free_mb, 24564 - 314 - 18 - 1024);
}

TEST(CardValues, MoreUsedThanThere_LeavesNothingFree) {
  const Scenario scenario = card(R"("mem_used_mb":99999)");
  EXPECT_EQ(CardValues(scenario.cards[0], 0).memory({})->free_mb, 0);
}

TEST(CardValues, UnifiedMemory_IsNotSupportedAndZeroIsZero) {
  const Scenario unified = card(R"("model":"GB10")");
  EXPECT_FALSE(CardValues(unified.cards[0], 0).memory({}));
  const Scenario zero = card(R"("model":"GB10","mem_total_mb":0)");
  EXPECT_EQ(CardValues(zero.cards[0], 0).memory({})->total_mb, 0);
}

TEST(CardValues, MigDevices_AddTheirProcessesToTheParent) {
  const Scenario scenario = card(R"("model":"A100 MIG","mig":[
      {"gpu_instance":2,"compute_instance":1,"processes":[{"pid":5,"mem_mb":7}]}],
      "processes":[{"pid":6}])");
  const auto listed = list_processes(scenario.cards[0], 0);
  ASSERT_EQ(listed.size(), 2u);
  EXPECT_FALSE(listed[0].gpu_instance);
  EXPECT_EQ(listed[1].gpu_instance, 2u);
  EXPECT_EQ(listed[1].compute_instance, 1u);
}

TEST(CardValues, WhileAlive_ListsOnlyLivingProcesses) {
  const Scenario scenario = card(R"("processes":[{"pid":4194999,"while_alive":true},
      {"pid":)" + std::to_string(::getpid()) +
                                 R"(,"while_alive":true},{"pid":4194998}])");
  const auto listed = list_processes(scenario.cards[0], 0);
  ASSERT_EQ(listed.size(), 2u);
  EXPECT_EQ(listed[0].pid, static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(listed[1].pid, 4194998u);
}

TEST(Facts, OnlyProcessesThatHaveSome_AreFound) {
  const Scenario scenario = card(R"("processes":[{"pid":1},{"pid":2,"facts":{"user":"alice"}}])");
  EXPECT_EQ(find_facts(scenario, 1), nullptr);
  ASSERT_NE(find_facts(scenario, 2), nullptr);
  EXPECT_EQ(find_facts(scenario, 2)->user, "alice");
}

TEST(Faults, NamesWithoutVersion_MeanEveryVersion) {
  const Faults faults{.block = {"nvmlInit"},
                      .crash = {"nvmlDeviceGetCount_v2"},
                      .block_ms = {},
                      .codes = {{"*", 15}}};
  EXPECT_TRUE(find_fault(faults, "nvmlInit_v2", false).block);
  EXPECT_TRUE(find_fault(faults, "nvmlInit", false).block);
  EXPECT_TRUE(find_fault(faults, "nvmlDeviceGetCount_v2", false).crash);
  EXPECT_FALSE(find_fault(faults, "nvmlDeviceGetCount", false).crash);
}

TEST(Faults, Star_IsEveryCallOnACard) {
  const Faults faults{
      .block = {}, .crash = {}, .block_ms = {}, .codes = {{"*", 15}, {"nvmlDeviceGetName", 3}}};
  EXPECT_EQ(find_fault(faults, "nvmlDeviceGetUUID", true).code, 15);
  EXPECT_EQ(find_fault(faults, "nvmlDeviceGetName", true).code, 3);
  EXPECT_EQ(find_fault(faults, "nvmlDeviceGetCount_v2", false).code, 0);
}

TEST(Faults, LostCard_SaysSoToEverything) {
  const Scenario scenario = card(R"("lost":true,"codes":{"nvmlDeviceGetName":3})");
  EXPECT_EQ(card_code(scenario.cards[0], "nvmlDeviceGetName"), kGpuIsLost);
}

}  // namespace
}  // namespace nvidb::sim
