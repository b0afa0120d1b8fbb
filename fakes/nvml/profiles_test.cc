// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors

// Each shipped profile through the library.
#include <gmock/gmock.h>

#include <set>
#include <vector>

#include "engine/parse_scenario.h"
#include "library_test_support.h"
#include "sim_abi.h"

namespace nvidb::sim {
namespace {

using ProfilesTest = LibraryTest;

constexpr const char* kCompute = "nvmlDeviceGetComputeRunningProcesses_v3";
constexpr const char* kUtil = "nvmlDeviceGetUtilizationRates";

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(ProfilesTest, EveryProfile_IsCopiedAndGood) {
  int profiles = 0;
  const std::string folder = std::string(NVIDB_SOURCE_DIR) + "/fakes/nvml/profiles";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    ++profiles;
    const auto scenario = parse_scenario(read(entry.path()));
    EXPECT_TRUE(scenario) << entry.path() << ": " << scenario.error().message;
    EXPECT_EQ(read(entry.path()),
              read(kLibraryFolder + "/profiles/" + entry.path().filename().string()));
  }
  EXPECT_GE(profiles, 9);
}

TEST_F(ProfilesTest, Rtx3090Ti) {
  ASSERT_EQ(play_profile("rtx3090ti"), nvml::kSuccess);
  EXPECT_EQ(text("nvmlDeviceGetName", card(0)), "NVIDIA GeForce RTX 3090 Ti");
  EXPECT_EQ(number("nvmlDeviceGetEnforcedPowerLimit", card(0)), 450'000);
  EXPECT_EQ(number("nvmlDeviceGetMaxPcieLinkWidth", card(0)), 16);
  std::uint64_t errors = 0;
  EXPECT_EQ(call<nvml::EccErrorsFn>("nvmlDeviceGetTotalEccErrors", card(0), 1, 0, &errors),
            nvml::kNotSupported);
  EXPECT_EQ(list_size("nvmlDeviceGetGraphicsRunningProcesses_v3", card(0)), 1);
}

TEST_F(ProfilesTest, A6000x5) {
  ASSERT_EQ(play_profile("a6000x5"), nvml::kSuccess);
  EXPECT_EQ(count(), 5u);
  std::uint64_t errors = 1;
  EXPECT_EQ(call<nvml::EccErrorsFn>("nvmlDeviceGetTotalEccErrors", card(0), 1, 0, &errors),
            nvml::kSuccess);
  EXPECT_EQ(errors, 0u);
}

TEST_F(ProfilesTest, H200x8) {
  ASSERT_EQ(play_profile("h200x8"), nvml::kSuccess);
  std::int64_t processes = 0;
  for (std::uint32_t i = 0; i < count(); ++i) processes += list_size(kCompute, card(i));
  EXPECT_EQ(count(), 8u);
  EXPECT_EQ(processes, 32);
  EXPECT_EQ(number("nvmlDeviceGetFanSpeed", card(0)), -nvml::kNotSupported);
  EXPECT_EQ(number("nvmlDeviceGetArchitecture", card(0)), 9);
}

TEST_F(ProfilesTest, MigA100) {
  ASSERT_EQ(play_profile("mig_a100"), nvml::kSuccess);
  nvml::Utilization utilization = {};
  EXPECT_EQ(call<nvml::UtilizationFn>(kUtil, card(0), &utilization), nvml::kNotSupported);
  EXPECT_EQ(call<nvml::UtilizationFn>(kUtil, card(1), &utilization), nvml::kSuccess);
  std::uint32_t now = 0, pending = 0;
  EXPECT_EQ(call<nvml::TwoU32Fn>("nvmlDeviceGetMigMode", card(0), &now, &pending), nvml::kSuccess);
  EXPECT_EQ(now, nvml::kMigEnabled);
  nvml::Device part = nullptr;
  ASSERT_EQ(call<nvml::ChildHandleFn>("nvmlDeviceGetMigDeviceHandleByIndex", card(0), 2u, &part),
            nvml::kSuccess);
  EXPECT_THAT(text("nvmlDeviceGetUUID", part), testing::StartsWith("MIG-"));
  EXPECT_EQ(number("nvmlDeviceGetGpuInstanceId", part), 9);
  EXPECT_EQ(call<nvml::UtilizationFn>(kUtil, part, &utilization), nvml::kNotSupported);
  nvml::Memory memory = {};
  EXPECT_EQ(call<nvml::MemoryFn>("nvmlDeviceGetMemoryInfo", part, &memory), nvml::kSuccess);
  EXPECT_EQ(memory.total >> 20, 9728u);
}

TEST_F(ProfilesTest, Gb10) {
  ASSERT_EQ(play_profile("gb10"), nvml::kSuccess);
  nvml::Memory memory = {};
  EXPECT_EQ(call<nvml::MemoryFn>("nvmlDeviceGetMemoryInfo", card(0), &memory), nvml::kNotSupported);
  nvml::PciInfo pci = {};
  ASSERT_EQ(call<nvml::PciInfoFn>("nvmlDeviceGetPciInfo_v3", card(0), &pci), nvml::kSuccess);
  EXPECT_STREQ(pci.bus_id, "000f:01:00.0");
  EXPECT_STREQ(pci.bus_id_legacy, "000F:01:00.0");
  EXPECT_EQ(pci.domain, 0xFu);
  EXPECT_EQ(pci.bus, 1u);
  EXPECT_EQ(list_size(kCompute, card(0)), 1);
}

TEST_F(ProfilesTest, WslBlind) {
  ASSERT_EQ(play_profile("wsl_blind"), nvml::kSuccess);
  std::vector<nvml::ProcessInfoV2> room(8);
  std::uint32_t count = 8;
  ASSERT_EQ(call<nvml::ProcessListFn>(kCompute, card(0), &count, static_cast<void*>(room.data())),
            nvml::kSuccess);
  ASSERT_EQ(count, 2u);
  for (std::uint32_t i = 0; i < count; ++i) {
    EXPECT_EQ(room[i].used_bytes, nvml::kNotAvailable64);
  }
}

TEST_F(ProfilesTest, Faulty) {
  ASSERT_EQ(play_profile("faulty"), nvml::kSuccess);
  EXPECT_EQ(count(), 4u);
  const auto open = [&](std::uint32_t index) {
    nvml::Device device = nullptr;
    return call<nvml::HandleByIndexFn>("nvmlDeviceGetHandleByIndex_v2", index, &device);
  };
  EXPECT_EQ(open(0), nvml::kSuccess);
  EXPECT_EQ(open(1), nvml::kGpuIsLost);
  EXPECT_EQ(open(2), nvml::kNoPermission);
  EXPECT_EQ(open(3), nvml::kSuccess);
  EXPECT_EQ(open(4), nvml::kInvalidArgument);
  EXPECT_EQ(number("nvmlDeviceGetPowerUsage", card(3)), -nvml::kUnknown);
}

TEST_F(ProfilesTest, Demo_IsLivelyAndMeansNobodysProcess) {
  ASSERT_EQ(play_profile("demo"), nvml::kSuccess);
  ASSERT_EQ(count(), 8u);
  std::set<std::string> names, users;
  std::int64_t processes = 0;
  for (std::uint32_t i = 0; i < 8; ++i) {
    names.insert(text("nvmlDeviceGetName", card(i)));
    for (const char* list : {kCompute, "nvmlDeviceGetGraphicsRunningProcesses_v3"}) {
      std::vector<nvml::ProcessInfoV2> room(16);
      std::uint32_t found = 16;
      call<nvml::ProcessListFn>(list, card(i), &found, static_cast<void*>(room.data()));
      for (std::uint32_t k = 0; k < found; ++k) {
        EXPECT_GT(room[k].pid, 4'194'304u);  // the most that Linux hands out
        nvidb_sim_facts facts = {};
        EXPECT_EQ(
            call<decltype(nvidb_sim_process_facts)>("nvidb_sim_process_facts", room[k].pid, &facts),
            NVIDB_SIM_FOUND);
        users.insert(facts.user);
        ++processes;
      }
    }
  }
  EXPECT_EQ(names.size(), 2u);
  EXPECT_GE(users.size(), 3u);
  EXPECT_GE(processes, 12);
}

TEST_F(ProfilesTest, Big512) {
  ASSERT_EQ(play_profile("big512"), nvml::kSuccess);
  EXPECT_EQ(count(), 512u);
  EXPECT_EQ(list_size(kCompute, card(511)), 1);
}

}  // namespace
}  // namespace nvidb::sim
