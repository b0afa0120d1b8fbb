// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors

// The library as a reader sees it: handles, buffers, versions, faults, steering.
#include <gmock/gmock.h>
#include <poll.h>
#include <signal.h>
#include <sys/time.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "library_test_support.h"
#include "sim_abi.h"

namespace nvidb::sim {
namespace {

using ExportsTest = LibraryTest;
using FactsFn = decltype(nvidb_sim_process_facts);

// For what only time brings; the limit is for a library that never does it.
bool wait_until(const std::function<bool()>& condition) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    ::poll(nullptr, 0, 5);
  }
  return true;
}

TEST_F(ExportsTest, NoScenario_IsOneCard) {
  ASSERT_EQ(call<nvml::CallFn>("nvmlInit_v2"), nvml::kSuccess);
  EXPECT_EQ(count(), 1u);
  EXPECT_EQ(text("nvmlDeviceGetName", card(0)), "NVIDIA GeForce RTX 3090 Ti");
  EXPECT_EQ(call<int()>("nvidb_sim_version"), NVIDB_SIM_VERSION);
}

TEST_F(ExportsTest, OnlyOurNames_AreExported) {
  EXPECT_FALSE(has("_ZN5nvidb3sim7Session8instanceEv"));
  EXPECT_FALSE(has("_ZN5nvidb3sim8value_atERKNS0_5CurveEd"));
}

TEST_F(ExportsTest, BeforeInitAndAfterShutdown_IsUninitialized) {
  std::uint32_t number = 0;
  EXPECT_EQ(call<nvml::SystemU32Fn>("nvmlDeviceGetCount_v2", &number), nvml::kUninitialized);
  EXPECT_EQ(call<nvml::CallFn>("nvmlShutdown"), nvml::kUninitialized);
  ASSERT_EQ(play("{}"), nvml::kSuccess);
  ASSERT_EQ(play("{}"), nvml::kSuccess);
  EXPECT_EQ(call<nvml::CallFn>("nvmlShutdown"), nvml::kSuccess);
  EXPECT_EQ(count(), 1u);  // one user is left
  EXPECT_EQ(call<nvml::CallFn>("nvmlShutdown"), nvml::kSuccess);
  EXPECT_EQ(call<nvml::SystemU32Fn>("nvmlDeviceGetCount_v2", &number), nvml::kUninitialized);
}

TEST_F(ExportsTest, InitCode_IsAnsweredUntilTheScenarioChanges) {
  EXPECT_EQ(play(R"({"init_code":18})"), nvml::kVersionMismatch);
  EXPECT_EQ(play(R"({"init_code":999})"), nvml::kUnknown);
  EXPECT_EQ(play("{}"), nvml::kSuccess);
}

TEST_F(ExportsTest, BrokenScenarioFromTheStart_IsAnUnknownError) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(play("{"), nvml::kUnknown);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("scenario.json"));
}

TEST_F(ExportsTest, ForeignAndStaleHandles_AreInvalid) {
  ASSERT_EQ(play("{}"), nvml::kSuccess);
  const nvml::Device old = card(0);
  int somewhere = 0;
  const auto foreign = reinterpret_cast<nvml::Device>(&somewhere);
  EXPECT_EQ(number("nvmlDeviceGetPowerUsage", foreign), -nvml::kInvalidArgument);
  EXPECT_EQ(number("nvmlDeviceGetPowerUsage", nullptr), -nvml::kInvalidArgument);
  call<nvml::CallFn>("nvmlShutdown");
  ASSERT_EQ(play("{}"), nvml::kSuccess);
  EXPECT_EQ(number("nvmlDeviceGetPowerUsage", old), -nvml::kInvalidArgument);
  EXPECT_EQ(number("nvmlDeviceGetPowerUsage", card(0)), 21000);
}

TEST_F(ExportsTest, RunningProgram_SeesTheNewScenario) {
  ASSERT_EQ(play(R"({"gpus":[{"temperature_c":40},{}]})"), nvml::kSuccess);
  const nvml::Device first = card(0), second = card(1);
  std::uint32_t celsius = 0;
  call<nvml::U32ByKindFn>("nvmlDeviceGetTemperature", first, nvml::kSensorGpu, &celsius);
  EXPECT_EQ(celsius, 40u);
  write(R"({"gpus":[{"temperature_c":71}]})");
  EXPECT_TRUE(wait_until([&] {
    call<nvml::U32ByKindFn>("nvmlDeviceGetTemperature", first, nvml::kSensorGpu, &celsius);
    return celsius == 71;
  }));
  EXPECT_EQ(number("nvmlDeviceGetPowerUsage", second), -nvml::kInvalidArgument);  // it is gone
}

TEST_F(ExportsTest, CardLostWhileRunning_SaysSoOnItsOldHandle) {
  ASSERT_EQ(play(R"({"check_ms":0,"gpus":[{},{}]})"), nvml::kSuccess);
  const nvml::Device first = card(0), second = card(1);
  write(R"({"check_ms":0,"gpus":[{"lost":true},{}]})");
  EXPECT_EQ(number("nvmlDeviceGetPowerUsage", first), -nvml::kGpuIsLost);
  EXPECT_EQ(text("nvmlDeviceGetUUID", first), "code 15");
  EXPECT_EQ(number("nvmlDeviceGetPowerUsage", second), 21000);
  nvml::Device again = nullptr;
  EXPECT_EQ(call<nvml::HandleByIndexFn>("nvmlDeviceGetHandleByIndex_v2", 0u, &again),
            nvml::kGpuIsLost);
}

TEST_F(ExportsTest, NoPermission_IsCountedByTheNewCountAlone) {
  ASSERT_EQ(play(R"({"gpus":[{"no_permission":true},{"model":"H200"}]})"), nvml::kSuccess);
  EXPECT_EQ(count(), 2u);
  std::uint32_t old_count = 0;
  EXPECT_EQ(call<nvml::SystemU32Fn>("nvmlDeviceGetCount", &old_count), nvml::kSuccess);
  EXPECT_EQ(old_count, 1u);
  nvml::Device device = nullptr;
  EXPECT_EQ(call<nvml::HandleByIndexFn>("nvmlDeviceGetHandleByIndex_v2", 0u, &device),
            nvml::kNoPermission);
  ASSERT_EQ(call<nvml::HandleByIndexFn>("nvmlDeviceGetHandleByIndex", 0u, &device), nvml::kSuccess);
  EXPECT_EQ(text("nvmlDeviceGetName", device), "NVIDIA H200");
}

TEST_F(ExportsTest, HandlesByUuidAndBusId_AreThatCard) {
  ASSERT_EQ(play(R"({"gpus":[{},{"uuid":"GPU-x","pci_bus_id":"0000000F:01:00.0"}]})"),
            nvml::kSuccess);
  nvml::Device device = nullptr;
  EXPECT_EQ(call<nvml::HandleByTextFn>("nvmlDeviceGetHandleByUUID", "GPU-x", &device),
            nvml::kSuccess);
  EXPECT_EQ(device, card(1));
  EXPECT_EQ(
      call<nvml::HandleByTextFn>("nvmlDeviceGetHandleByPciBusId_v2", "0000000F:01:00.0", &device),
      nvml::kSuccess);
  EXPECT_EQ(device, card(1));
  EXPECT_EQ(call<nvml::HandleByTextFn>("nvmlDeviceGetHandleByUUID", "GPU-y", &device),
            nvml::kNotFound);
}

TEST_F(ExportsTest, WrongStructVersion_IsAMismatch) {
  ASSERT_EQ(play("{}"), nvml::kSuccess);
  nvml::MemoryV2 memory = {};
  EXPECT_EQ(call<nvml::MemoryV2Fn>("nvmlDeviceGetMemoryInfo_v2", card(0), &memory),
            nvml::kArgumentVersionMismatch);
  memory.version = nvml::struct_version<nvml::MemoryV2>(2);
  EXPECT_EQ(call<nvml::MemoryV2Fn>("nvmlDeviceGetMemoryInfo_v2", card(0), &memory), nvml::kSuccess);
  nvml::TemperatureV1 temperature = {};
  EXPECT_EQ(call<nvml::TemperatureV1Fn>("nvmlDeviceGetTemperatureV", card(0), &temperature),
            nvml::kArgumentVersionMismatch);
  nvml::ProcessDetailList list = {};
  EXPECT_EQ(
      call<nvml::ProcessDetailListFn>("nvmlDeviceGetRunningProcessDetailList", card(0), &list),
      nvml::kArgumentVersionMismatch);
}

TEST_F(ExportsTest, OldAndNewMemory_DifferByReserved) {
  ASSERT_EQ(play(R"({"gpus":[{"mem_total_mb":1000,"mem_reserved_mb":100,"mem_used_mb":300}]})"),
            nvml::kSuccess);
  nvml::Memory old = {};
  nvml::MemoryV2 now = {};
  now.version = nvml::struct_version<nvml::MemoryV2>(2);
  ASSERT_EQ(call<nvml::MemoryFn>("nvmlDeviceGetMemoryInfo", card(0), &old), nvml::kSuccess);
  ASSERT_EQ(call<nvml::MemoryV2Fn>("nvmlDeviceGetMemoryInfo_v2", card(0), &now), nvml::kSuccess);
  EXPECT_EQ(old.used >> 20, 400u);
  EXPECT_EQ(now.used >> 20, 300u);
  EXPECT_EQ(now.reserved >> 20, 100u);
  EXPECT_EQ(now.free >> 20, 600u);
  EXPECT_EQ(old.free, now.free);
}

TEST_F(ExportsTest, SmallBuffer_IsInsufficient) {
  ASSERT_EQ(play(R"({"driver_version":"570.1"})"), nvml::kSuccess);
  char buffer[6] = {};
  EXPECT_EQ(call<nvml::SystemTextFn>("nvmlSystemGetDriverVersion", buffer, 5u),
            nvml::kInsufficientSize);
  EXPECT_EQ(call<nvml::SystemTextFn>("nvmlSystemGetDriverVersion", buffer, 6u), nvml::kSuccess);
  EXPECT_STREQ(buffer, "570.1");
  EXPECT_EQ(call<nvml::SystemTextFn>("nvmlSystemGetDriverVersion", nullptr, 6u),
            nvml::kInvalidArgument);
}

TEST_F(ExportsTest, StringFill_LeavesNoNul) {
  ASSERT_EQ(play(R"({"gpus":[{"name":"AB","string_fill":true}]})"), nvml::kSuccess);
  std::vector<char> buffer(nvml::kNameBytes);
  ASSERT_EQ(call<nvml::TextFn>("nvmlDeviceGetName", card(0), buffer.data(), nvml::kNameBytes),
            nvml::kSuccess);
  EXPECT_EQ(std::string(buffer.begin(), buffer.end()), "AB" + std::string(94, '#'));
  nvml::PciInfo pci = {};
  ASSERT_EQ(call<nvml::PciInfoFn>("nvmlDeviceGetPciInfo_v3", card(0), &pci), nvml::kSuccess);
  EXPECT_EQ(std::string_view(pci.bus_id, sizeof pci.bus_id).find('\0'), std::string::npos);
}

TEST_F(ExportsTest, Codes_ReplaceTheTruth) {
  ASSERT_EQ(play(R"({"codes":{"nvmlSystemGetDriverVersion":17,"nvmlDeviceGetFanSpeed":26},
      "gpus":[{"codes":{"nvmlDeviceGetPowerUsage":999}},{}]})"),
            nvml::kSuccess);
  char buffer[80];
  EXPECT_EQ(call<nvml::SystemTextFn>("nvmlSystemGetDriverVersion", buffer, 80u), 17);
  EXPECT_EQ(number("nvmlDeviceGetPowerUsage", card(0)), -999);
  EXPECT_EQ(number("nvmlDeviceGetPowerUsage", card(1)), 21000);
  EXPECT_EQ(number("nvmlDeviceGetFanSpeed", card(1)), -26);
}

TEST_F(ExportsTest, NegativeTemperature_SurvivesTheOldCall) {
  ASSERT_EQ(play(R"({"gpus":[{"temperature_c":-5}]})"), nvml::kSuccess);
  nvml::TemperatureV1 temperature = {.version = nvml::struct_version<nvml::TemperatureV1>(1),
                                     .sensor = nvml::kSensorGpu,
                                     .celsius = 0};
  ASSERT_EQ(call<nvml::TemperatureV1Fn>("nvmlDeviceGetTemperatureV", card(0), &temperature),
            nvml::kSuccess);
  EXPECT_EQ(temperature.celsius, -5);
  std::uint32_t celsius = 0;
  ASSERT_EQ(call<nvml::U32ByKindFn>("nvmlDeviceGetTemperature", card(0), 0, &celsius),
            nvml::kSuccess);
  EXPECT_EQ(static_cast<std::int32_t>(celsius), -5);
}

TEST_F(ExportsTest, Throttle_HasBothNames) {
  ASSERT_EQ(play(R"({"gpus":[{"throttle_mask":65}]})"), nvml::kSuccess);
  for (const char* name :
       {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"}) {
    std::uint64_t mask = 0;
    EXPECT_EQ(call<nvml::U64Fn>(name, card(0), &mask), nvml::kSuccess);
    EXPECT_EQ(mask, 65u);
  }
}

TEST_F(ExportsTest, FieldValues_AnswerEachForItself) {
  ASSERT_EQ(play(R"({"gpus":[{"power_w":100}]})"), nvml::kSuccess);
  std::array<nvml::FieldValue, 3> fields = {};
  fields[0].field = 185;
  fields[1].field = 186;
  fields[2].field = 9999;
  ASSERT_EQ(call<nvml::FieldValuesFn>("nvmlDeviceGetFieldValues", card(0), 3, fields.data()),
            nvml::kSuccess);
  EXPECT_EQ(fields[0].value.as_u32, 100'000u);
  EXPECT_EQ(fields[1].value.as_u32, 104'000u);
  EXPECT_EQ(fields[2].code, nvml::kNotSupported);
}

TEST_F(ExportsTest, PcieByteCounter_WrapsAtThirtyTwoBits) {
  const auto bytes = [&] {
    nvml::FieldValue field = {};
    field.field = 198;
    call<nvml::FieldValuesFn>("nvmlDeviceGetFieldValues", card(0), 1, &field);
    return field.value.as_u64;
  };
  const std::string at = R"({"check_ms":0,"gpus":[{"pcie":{"rx_kb_s":1024}}],"time_s":)";
  ASSERT_EQ(play(at + "1000}"), nvml::kSuccess);
  const std::uint64_t first = bytes();
  write(at + "1010}");
  EXPECT_EQ(bytes() - first, 10u << 20);
  write(at + "1100}");
  EXPECT_LT(bytes(), first);
  EXPECT_EQ((bytes() - first) & 0xFFFFFFFF, 100u << 20);
}

TEST_F(ExportsTest, Facts_AreThoseOfTheScenario) {
  write(R"({"gpus":[{"processes":[{"pid":77,"facts":{"user":"alice","name":"python3",
      "command":"python3 x.py","cpu_percent":12.5,"rss_mb":300,"threads":4,"state":"R"}},
      {"pid":78}]}]})");
  nvidb_sim_facts facts = {};
  ASSERT_EQ(call<FactsFn>("nvidb_sim_process_facts", 77u, &facts), NVIDB_SIM_FOUND);
  EXPECT_STREQ(facts.user, "alice");
  EXPECT_STREQ(facts.command, "python3 x.py");
  EXPECT_DOUBLE_EQ(facts.cpu_percent, 12.5);
  EXPECT_LT(facts.host_mem_percent, 0);
  EXPECT_EQ(facts.rss_mb, 300);
  EXPECT_LT(facts.elapsed_s, 0);
  EXPECT_EQ(facts.state, 'R');
  EXPECT_EQ(call<FactsFn>("nvidb_sim_process_facts", 78u, &facts), NVIDB_SIM_NOT_FOUND);
  EXPECT_EQ(call<FactsFn>("nvidb_sim_process_facts", 79u, &facts), NVIDB_SIM_NOT_FOUND);
}

TEST_F(ExportsTest, Noise_GoesToStdout) {
  testing::internal::CaptureStdout();
  ASSERT_EQ(play(R"({"noise":"driver says hello"})"), nvml::kSuccess);
  nvml::Utilization utilization = {};
  call<nvml::UtilizationFn>("nvmlDeviceGetUtilizationRates", card(0), &utilization);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "driver says hello\ndriver says hello\n");
}

TEST_F(ExportsTest, Crash_Aborts) {
  ASSERT_EQ(play(R"({"crash":["nvmlDeviceGetUUID"]})"), nvml::kSuccess);
  EXPECT_EXIT(text("nvmlDeviceGetUUID", card(0)), testing::KilledBySignal(SIGABRT), "");
}

// Runs `ask` in a child with an alarm clock: what ends it is the clock where `ask` does not return.
[[noreturn]] void ask_with_alarm(const std::function<void()>& ask) {
  const itimerval alarm = {.it_interval = {}, .it_value = {.tv_sec = 0, .tv_usec = 300'000}};
  ::setitimer(ITIMER_REAL, &alarm, nullptr);
  ask();
  std::_Exit(0);
}

TEST_F(ExportsTest, BlockedCall_NeverReturns) {
  ASSERT_EQ(play(R"({"block":["nvmlDeviceGetFanSpeed"],"block_ms":{"nvmlDeviceGetUUID":600000}})"),
            nvml::kSuccess);
  const nvml::Device device = card(0);
  EXPECT_EXIT(ask_with_alarm([&] { number("nvmlDeviceGetFanSpeed", device); }),
              testing::KilledBySignal(SIGALRM), "");
  EXPECT_EXIT(ask_with_alarm([&] { text("nvmlDeviceGetUUID", device); }),
              testing::KilledBySignal(SIGALRM), "");
  EXPECT_EXIT(ask_with_alarm([&] { number("nvmlDeviceGetPowerUsage", device); }),
              testing::ExitedWithCode(0), "");
}

TEST_F(ExportsTest, SlowAttach_IsPaidByTheFirstHandleOfACardAlone) {
  ASSERT_EQ(play(R"({"check_ms":0,"gpus":[{},{}]})"), nvml::kSuccess);
  card(0);
  write(R"({"check_ms":0,"attach_delay_ms":600000,"gpus":[{},{},{"attach_delay_ms":0}]})");
  EXPECT_EXIT(ask_with_alarm([&] { card(0); }), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(ask_with_alarm([&] { card(1); }), testing::KilledBySignal(SIGALRM), "");
  EXPECT_EXIT(ask_with_alarm([&] { card(2); }), testing::ExitedWithCode(0), "");
}

TEST_F(ExportsTest, SeveralThreads_AskAtOnce) {
  ASSERT_EQ(play(R"({"check_ms":0,"gpus":[{"model":"H200","count":8}]})"), nvml::kSuccess);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (std::uint32_t i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const nvml::Device device = card(i);
      for (int k = 0; k < 50; ++k) {
        if (number("nvmlDeviceGetPowerUsage", device) != 76000) ++wrong;
        if (list_size("nvmlDeviceGetComputeRunningProcesses_v3", device) != 0) ++wrong;
        if (k % 10 == 0) call<nvml::CallFn>("nvmlInit_v2");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace nvidb::sim
