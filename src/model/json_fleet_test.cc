// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/version.h"
#include "model/json.h"
#include "support/golden.h"

namespace nvidb::model {
namespace {

using namespace std::string_literals;
using nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kNow = 1'796'119'200'000;  // 2026-12-01T10:00:00 UTC

Gpu busy_card() {
  Gpu gpu;
  gpu.facts = {0,
               "GPU-11111111-2222-3333-4444-555555555555",
               "NVIDIA GeForce RTX 3090 Ti",
               "00000000:01:00.0",
               "Ampere",
               4,
               16};
  GpuReading& reading = gpu.reading;
  reading.util_percent = 87;
  reading.mem_util_percent = 41.5;
  reading.mem_used_mb = 18'000;
  reading.mem_total_mb = 24'564;
  reading.mem_reserved_mb = 302;
  reading.temperature_c = 71;
  reading.fan_percent = 65;
  reading.power_w = 412.37;
  reading.power_limit_w = 450;
  reading.performance_state = "P2";
  reading.sm_clock_mhz = 1860;
  reading.mem_clock_mhz = 10'251;
  reading.encoder_util_percent = 0;
  reading.decoder_util_percent = 0;
  reading.pcie_gen = 4;
  reading.pcie_width = 4;
  reading.pcie_rx_kb_s = 1'677'722;
  reading.pcie_tx_kb_s = 12'000;
  reading.ecc_uncorrected = 0;
  reading.throttle_reasons = {"sw_power_cap", "hw_slowdown"};
  reading.mig = false;

  ProcessSample training;
  training.pid = 4242;
  training.mem_mb = 17'000;
  training.name = "python3";
  training.command = "python3 train.py --name \"größer\"\n\x1b[2J";
  training.user = "alice";
  training.cpu_percent = 103.25;
  training.host_mem_percent = 6.1;
  training.rss_mb = 3900;
  training.elapsed_s = 86'461;
  training.state = "R";
  training.threads = 48;
  training.start_ticks = 99;
  ProcessSample foreign;
  foreign.pid = 4300;
  foreign.type = ProcessType::both;
  reading.processes = {training, foreign};
  return gpu;
}

Gpu lost_card() {
  Gpu gpu;
  gpu.facts.index = 1;
  gpu.reading.index = 1;
  gpu.reading.error = "GPU is lost";
  return gpu;
}

// One local node with a busy and a lost card, one server that could not be reached.
FleetSnapshot small_fleet() {
  Node local;
  local.name = "tower";
  local.address = "localhost";
  local.local = true;
  local.state = NodeState::up;
  local.simulated = true;
  local.source = GpuSource::nvml;
  local.collector = CollectorKind::native;
  local.driver_version = "550.54.15";
  local.cuda_version = "12.4";
  local.host_facts = {"tower", "Debian GNU/Linux 12 (bookworm)", 32, "boot"};
  local.host = {23.4, 3.07, 20'480, 65'536, 0, 8192, 987'654};
  local.sampled_at_ms = kNow - 1999;
  local.sample_ms = 47;
  local.gpus = {busy_card(), lost_card()};

  Node server;
  server.name = "gpu-node";
  server.address = "10.0.0.7";
  server.port = 2222;
  server.username = "bob";
  server.state = NodeState::down;
  server.error = "connection refused by 10.0.0.7 port 2222";
  return FleetSnapshot{7, {local, server}};
}

std::vector<std::string> keys_of(const ordered_json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

TEST(FleetJson, SmallFleet_MatchesGolden) {
  std::string document = fleet_json(small_fleet(), kNow);
  // The version changes with every release, the document should not.
  const std::string version = std::string("\"version\": \"") + base::version() + '"';
  const std::size_t at = document.find(version);
  ASSERT_NE(at, std::string::npos);
  document.replace(at, version.size(), "\"version\": \"X.Y.Z\"");
  test::expect_golden("json/once.json", document);
}

TEST(FleetJson, IsWhatAJsonLibraryWouldPrint) {
  const std::string document = fleet_json(small_fleet(), kNow);
  const ordered_json parsed = ordered_json::parse(document, nullptr, false);
  ASSERT_FALSE(parsed.is_discarded());
  // The library spells DEL and C1 unescaped; none is in this fleet.
  EXPECT_EQ(parsed.dump(2) + "\n", document);
}

TEST(FleetJson, KeysAndTheirOrder_AreThoseOfTheContract) {
  const ordered_json document = ordered_json::parse(fleet_json(small_fleet(), kNow));
  EXPECT_THAT(keys_of(document),
              ElementsAre("schema", "version", "generated_at", "simulated", "nodes", "users"));
  for (const ordered_json& node : document["nodes"]) {
    EXPECT_THAT(keys_of(node),
                ElementsAre("name", "address", "port", "username", "local", "state", "age_s",
                            "error", "source", "collector", "driver_version", "cuda_version",
                            "sampled_at", "sample_ms", "host", "gpus", "users"));
    EXPECT_THAT(keys_of(node["host"]),
                ElementsAre("os", "cpu_percent", "cpu_cores", "load1", "mem_used_mb",
                            "mem_total_mb", "swap_used_mb", "swap_total_mb", "uptime_s"));
    for (const ordered_json& gpu : node["gpus"]) {
      EXPECT_THAT(keys_of(gpu), testing::ElementsAreArray({"index",
                                                           "uuid",
                                                           "name",
                                                           "pci_bus_id",
                                                           "architecture",
                                                           "util_percent",
                                                           "mem_util_percent",
                                                           "mem_used_mb",
                                                           "mem_total_mb",
                                                           "mem_reserved_mb",
                                                           "mem_used_percent",
                                                           "temperature_c",
                                                           "fan_percent",
                                                           "power_w",
                                                           "power_limit_w",
                                                           "performance_state",
                                                           "sm_clock_mhz",
                                                           "mem_clock_mhz",
                                                           "encoder_util_percent",
                                                           "decoder_util_percent",
                                                           "pcie",
                                                           "ecc_uncorrected",
                                                           "throttle_reasons",
                                                           "mig",
                                                           "error",
                                                           "processes"}));
      EXPECT_THAT(keys_of(gpu["pcie"]),
                  ElementsAre("gen", "width", "gen_max", "width_max", "rx_kb_s", "tx_kb_s",
                              "rx_percent", "tx_percent"));
      for (const ordered_json& process : gpu["processes"]) {
        EXPECT_THAT(keys_of(process),
                    testing::ElementsAreArray({"pid", "type", "name", "command", "user", "mem_mb",
                                               "mem_percent", "cpu_percent", "host_mem_percent",
                                               "rss_mb", "elapsed_s", "state", "threads"}));
      }
    }
  }
}

TEST(FleetJson, Unknown_IsNull) {
  FleetSnapshot fleet;
  fleet.nodes.resize(1);
  fleet.nodes[0].edit().gpus.resize(1);
  fleet.nodes[0].edit().gpus[0].reading.processes.resize(1);
  const ordered_json node = ordered_json::parse(fleet_json(fleet, kNow))["nodes"][0];

  for (const char* key : {"port", "username", "age_s", "error", "collector", "driver_version",
                          "cuda_version", "sampled_at", "sample_ms"}) {
    EXPECT_TRUE(node[key].is_null()) << key;
  }
  for (const auto& [key, value] : node["host"].items()) EXPECT_TRUE(value.is_null()) << key;
  for (const auto& [key, value] : node["gpus"][0].items()) {
    if (key == "index" || key == "pcie" || key == "throttle_reasons" || key == "processes")
      continue;
    EXPECT_TRUE(value.is_null()) << key;
  }
  for (const auto& [key, value] : node["gpus"][0]["pcie"].items()) {
    EXPECT_TRUE(value.is_null()) << key;
  }
  for (const auto& [key, value] : node["gpus"][0]["processes"][0].items()) {
    if (key == "pid" || key == "type") continue;
    EXPECT_TRUE(value.is_null()) << key;
  }
}

TEST(FleetJson, EveryState_HasItsWord) {
  FleetSnapshot fleet;
  for (const NodeState state : {NodeState::connecting, NodeState::up, NodeState::stale,
                                NodeState::down, NodeState::auth, NodeState::hostkey}) {
    Node node;
    node.state = state;
    fleet.nodes.push_back(node);
  }
  std::vector<std::string> words;
  const ordered_json document = ordered_json::parse(fleet_json(fleet, kNow));
  for (const ordered_json& node : document["nodes"]) words.push_back(node["state"]);
  EXPECT_THAT(words, ElementsAre("connecting", "up", "stale", "down", "auth", "hostkey"));
}

TEST(FleetJson, Age_IsWholeSecondsAndNeverNegative) {
  const auto age = [](std::int64_t sampled_at_ms) {
    FleetSnapshot fleet;
    fleet.nodes.resize(1);
    fleet.nodes[0].edit().sampled_at_ms = sampled_at_ms;
    return ordered_json::parse(fleet_json(fleet, kNow))["nodes"][0]["age_s"].get<int>();
  };
  EXPECT_EQ(age(kNow), 0);
  EXPECT_EQ(age(kNow - 999), 0);
  EXPECT_EQ(age(kNow - 61'000), 61);
  EXPECT_EQ(age(kNow + 5000), 0);
}

TEST(FleetJson, NoNodes_IsStillADocument) {
  const ordered_json document = ordered_json::parse(fleet_json({}, kNow));
  EXPECT_EQ(document["nodes"], ordered_json::array());
  EXPECT_EQ(document["users"], ordered_json::array());
  EXPECT_EQ(document["simulated"], false);
}

TEST(FleetJson, HostileText_ReachesNoTerminal) {
  FleetSnapshot fleet;
  fleet.nodes.resize(1);
  fleet.nodes[0].edit().error = "a\x1b]0;x\x07\x7f\u009b2J\xff\r\n\0z"s;
  const std::string document = fleet_json(fleet, kNow);

  for (const char c : document) {
    const auto byte = static_cast<unsigned char>(c);
    ASSERT_TRUE(byte == '\n' || (byte >= 0x20 && byte != 0x7f)) << int{byte};
  }
  EXPECT_THAT(document, Not(HasSubstr("\u009b")));
  EXPECT_THAT(document, HasSubstr(R"(\u001b]0;x\u0007\u007f\u009b2J)"));
  EXPECT_EQ(ordered_json::parse(document)["nodes"][0]["error"].get<std::string>(),
            "a\x1b]0;x\x07\x7f\u009b2J\uFFFD\r\n\0z"s);
}

TEST(FleetCsv, SmallFleet_OneRowACard) {
  EXPECT_EQ(
      fleet_csv(small_fleet()),
      "node,index,uuid,name,pci_bus_id,architecture,util_percent,mem_util_percent,mem_used_mb,"
      "mem_total_mb,mem_reserved_mb,mem_used_percent,temperature_c,fan_percent,power_w,"
      "power_limit_w,performance_state,sm_clock_mhz,mem_clock_mhz,encoder_util_percent,"
      "decoder_util_percent,pcie.gen,pcie.width,pcie.gen_max,pcie.width_max,pcie.rx_kb_s,"
      "pcie.tx_kb_s,pcie.rx_percent,pcie.tx_percent,ecc_uncorrected,throttle_reasons,mig,error,"
      "processes\n"
      "tower,0,GPU-11111111-2222-3333-4444-555555555555,NVIDIA GeForce RTX 3090 Ti,"
      "00000000:01:00.0,Ampere,87,41.5,18000,24564,302,73.3,71,65,412.37,450,P2,1860,10251,0,0,"
      "4,4,4,16,1677722,12000,21.8,0.2,0,sw_power_cap hw_slowdown,false,,2\n"
      "tower,1,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,GPU is lost,0\n");
}

TEST(FleetCsv, CommasQuotesAndControls_AreMadeSafe) {
  FleetSnapshot fleet;
  fleet.nodes.resize(1);
  fleet.nodes[0].edit().name = "a,\"b\"";
  fleet.nodes[0].edit().gpus.resize(1);
  fleet.nodes[0].edit().gpus[0].facts.name = "x\ny\x1b[2J";

  const std::string table = fleet_csv(fleet);

  EXPECT_THAT(table, HasSubstr("\n\"a,\"\"b\"\"\",0,,x\\ny\\x1b[2J,"));
}

TEST(ErrorJson, IsOneDocument) {
  EXPECT_EQ(error_json("no \"such\" host"),
            "{\n  \"ok\": false,\n  \"error\": \"no \\\"such\\\" host\"\n}\n");
}

}  // namespace
}  // namespace nvidb::model
