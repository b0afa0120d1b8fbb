// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "engine/parse_scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "engine/card_values.h"

namespace nvidb::sim {
namespace {

using testing::HasSubstr;

Scenario parse(std::string_view text) {
  auto scenario = parse_scenario(text);
  EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().message);
  return scenario ? *scenario : Scenario{};
}

std::string error_of(std::string_view text) {
  const auto scenario = parse_scenario(text);
  return scenario ? "no error" : scenario.error().message;
}

TEST(ParseScenario, EmptyObject_IsOneDefaultCard) {
  const Scenario scenario = parse("{}");
  ASSERT_EQ(scenario.cards.size(), 1u);
  EXPECT_EQ(scenario.cards[0].name, "NVIDIA GeForce RTX 3090 Ti");
  EXPECT_EQ(scenario.driver_version, "570.124.04");
}

TEST(ParseScenario, NoCards_IsAMachineWithoutCards) {
  EXPECT_TRUE(parse(R"({"gpus":[]})").cards.empty());
}

TEST(ParseScenario, EveryModel_IsACard) {
  for (const Preset& preset : presets()) {
    const Scenario scenario =
        parse(R"({"gpus":[{"model":")" + std::string(preset.model) + R"("}]})");
    ASSERT_EQ(scenario.cards.size(), 1u);
    EXPECT_EQ(scenario.cards[0].name, preset.name);
    EXPECT_EQ(scenario.cards[0].architecture, preset.architecture);
    EXPECT_EQ(scenario.cards[0].mig.has_value(), preset.can_mig);
  }
}

TEST(ParseScenario, Count_MakesCardsOfTheirOwn) {
  const Scenario scenario = parse(R"({"gpus":[{"model":"H200","count":512,"pid_step":2,
      "util_percent":{"base":50,"swing":50,"period_s":100,"shape":"saw"},"phase_step_s":10,
      "processes":[{"pid":100,"mem_mb":1}]}]})");
  ASSERT_EQ(scenario.cards.size(), 512u);
  std::set<std::string> uuids, bus_ids;
  for (const Card& card : scenario.cards) {
    uuids.insert(card.uuid.value());
    bus_ids.insert(card.pci_bus_id.value());
  }
  EXPECT_EQ(uuids.size(), 512u);
  EXPECT_EQ(bus_ids.size(), 512u);
  EXPECT_EQ(scenario.cards[3].processes[0].pid, 106u);
  EXPECT_DOUBLE_EQ(CardValues(scenario.cards[3], 0).util_percent().value(), 30);
}

TEST(ParseScenario, CopiesOfACardWithoutUuid_HaveNone) {
  const Scenario scenario = parse(R"({"gpus":[{"uuid":null,"count":2}]})");
  EXPECT_FALSE(scenario.cards.at(0).uuid);
  EXPECT_FALSE(scenario.cards.at(1).uuid);
}

TEST(ParseScenario, EveryKey_ArrivesWhereItBelongs) {
  const Scenario scenario = parse(R"({"driver_version":"535.54.03","cuda_version":"12.2",
      "nvml_version":"12.535","init_code":18,"init_delay_ms":5,"attach_delay_ms":7,
      "pcie_call_ms":20,
      "block":["nvmlInit_v2"],"crash":["nvmlDeviceGetName"],"block_ms":{"nvmlDeviceGetUUID":9},
      "codes":{"nvmlDeviceGetCount_v2":4},"noise":"hm","record_bytes":32,"grow_lists":3,
      "string_fill":true,"time_s":12.5,"check_ms":0,
      "env_rule":{"env":"MEM","cards_env":"CARDS"},
      "gpus":[{"lost":true},{"no_permission":true,"attach_delay_ms":11,
        "codes":{"nvmlDeviceGetTemperature":3},"name_bytes":"41ff42","serial":null,
        "pcie":{"gen":3,"width":null},"mig":[null,{"gpu_instance":4}],
        "processes":[{"pid":1,"type":"MPS","mem_mb":null,"while_alive":true,
          "facts":{"user":"u","state":"R","threads":3}}]}]})");
  EXPECT_EQ(scenario.init_code, 18);
  EXPECT_EQ(scenario.pcie_call_ms, 20);
  EXPECT_EQ(scenario.record_bytes, 32);
  EXPECT_EQ(scenario.grow_lists, 3u);
  EXPECT_EQ(scenario.check_ms, 0);
  EXPECT_DOUBLE_EQ(scenario.time_s.value(), 12.5);
  EXPECT_EQ(scenario.env_rule->env, "MEM");
  EXPECT_TRUE(find_fault(scenario.faults, "nvmlInit_v2", false).block);
  ASSERT_EQ(scenario.cards.size(), 2u);
  EXPECT_TRUE(scenario.cards[0].lost);
  const Card& card = scenario.cards[1];
  EXPECT_EQ(card.name,
            "A\xff"
            "B");
  EXPECT_FALSE(card.serial);
  EXPECT_EQ(card.attach_delay_ms, 11);
  EXPECT_EQ(card.pcie_width.kind, Setting::Kind::not_supported);
  ASSERT_EQ(card.mig_devices.size(), 2u);
  EXPECT_FALSE(card.mig_devices[0]);
  EXPECT_EQ(card.mig_devices[1]->gpu_instance, 4u);
  EXPECT_FALSE(card.processes.at(0).mem_mb);
  EXPECT_TRUE(card.processes[0].while_alive);
  EXPECT_EQ(card.processes[0].facts->state, 'R');
}

TEST(ParseScenario, Mistakes_AreNamedWithTheirPlace) {
  const std::pair<const char*, const char*> kCases[] = {
      {"", "parse error"},
      {"[]", "is not an object"},
      {R"({"gpu":[]})", "gpu is not a known key"},
      {R"({"gpus":{}})", "gpus is not a list"},
      {R"({"gpus":[{"model":"RTX 9999"}]})", "gpus[0].model is not one of RTX 3090 Ti, RTX A6000"},
      {R"({"gpus":[{},{"util_precent":3}]})", "gpus[1].util_precent is not a known key"},
      {R"({"gpus":[{"util_percent":"3"}]})", "gpus[0].util_percent is neither a number nor"},
      {R"({"gpus":[{"util_percent":{"bass":3}}]})", "gpus[0].util_percent.bass is not a known key"},
      {R"({"gpus":[{"util_percent":{"period_s":0}}]})", "gpus[0].util_percent.period_s"},
      {R"({"gpus":[{"util_percent":{"shape":"round"}}]})", "is not one of sine"},
      {R"({"gpus":[{"pcie":{"lanes":3}}]})", "gpus[0].pcie.lanes is not a known key"},
      {R"({"gpus":[{"processes":[{}]}]})", "gpus[0].processes[0].pid is missing"},
      {R"({"gpus":[{"processes":[{"pid":18446744073709551615}]}]})", "pid is not a whole number"},
      {R"({"gpus":[{"processes":[{"pid":-1}]}]})", "pid is not a whole number"},
      {R"({"gpus":[{"processes":[{"pid":1,"type":"X"}]}]})", "type is not one of"},
      {R"({"gpus":[{"name_bytes":"4"}]})", "gpus[0].name_bytes"},
      {R"({"gpus":[{"count":2000}]})", "gpus[0].count"},
      {R"({"gpus":[{"count":1024},{}]})", "more than 1024 cards"},
      {R"({"record_bytes":28})", "record_bytes is neither 24 nor 32"},
      {R"({"block":"nvmlInit_v2"})", "block is not a list"},
      {R"({"codes":{"nvmlInit_v2":"x"}})", "codes.nvmlInit_v2"},
      {R"({"env_rule":{"env":""}})", "env_rule.env is empty"},
  };
  for (const auto& [text, words] : kCases) EXPECT_THAT(error_of(text), HasSubstr(words)) << text;
}

TEST(ParseScenario, Comments_AreFree) {
  EXPECT_EQ(parse(R"({"comment":"x","gpus":[{"comment":"y"}]})").cards.size(), 1u);
}

}  // namespace
}  // namespace nvidb::sim
