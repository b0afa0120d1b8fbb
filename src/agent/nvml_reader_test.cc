// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "agent/nvml_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <string>

#include "agent/sim_test_support.h"

namespace nvidb::agent {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class NvmlReaderTest : public SimTest {
 protected:
  using Readings = std::vector<model::GpuReading>;

  void start(const std::string& path = sim_path()) {
    auto started = try_start(path);
    ASSERT_TRUE(started) << code_or_zero(started);
    reader_ = std::move(*started);
  }
  tl::expected<std::unique_ptr<NvmlReader>, nvml::Return> try_start(
      const std::string& path = sim_path()) {
    return NvmlReader::start(open(path), clock_, [this](std::size_t cards) { woken_ = cards; });
  }
  template <typename Expected>
  static nvml::Return code_or_zero(const Expected& expected) {
    return expected ? 0 : expected.error();
  }

  Readings read() {
    auto readings = reader_->read(true, 1000);
    EXPECT_TRUE(readings) << code_or_zero(readings);
    return readings ? std::move(*readings) : Readings{};
  }
  model::GpuReading read_one() {
    Readings readings = read();
    EXPECT_THAT(readings, SizeIs(1));
    return readings.empty() ? model::GpuReading{} : readings.front();
  }

  // A card with these keys, read once.
  model::GpuReading one_card(const std::string& keys, const std::string& path = sim_path()) {
    set_scenario(R"({"gpus": [{"model": "RTX 3090 Ti")" + (keys.empty() ? "" : ", " + keys) +
                 "}]}");
    start(path);
    return read_one();
  }

  // The simulator notices a new scenario a little later.
  void read_until(const std::function<bool(const Readings&)>& as_wanted) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!as_wanted(read())) {
      ASSERT_LT(std::chrono::steady_clock::now(), limit) << "the scenario was not noticed";
      ::poll(nullptr, 0, 5);
    }
  }

  std::size_t woken_ = 0;
  std::unique_ptr<NvmlReader> reader_;
};

TEST_F(NvmlReaderTest, HealthyCard_EveryFieldIsRead) {
  const model::GpuReading gpu = one_card(
      R"("util_percent": 87, "mem_util_percent": 41, "mem_used_mb": 10240, "mem_total_mb": 24564,
         "mem_reserved_mb": 314, "encoder_util_percent": 3, "decoder_util_percent": 4,
         "temperature_c": 71, "fan_percent": 55, "power_w": 350.5, "power_limit_w": 450,
         "performance_state": 2, "sm_clock_mhz": 1860, "mem_clock_mhz": 10501,
         "ecc_uncorrected": 7, "throttle_mask": 4,
         "pcie": {"gen": 4, "width": 8, "rx_kb_s": 1000, "tx_kb_s": 2000})");
  EXPECT_EQ(gpu.error, std::nullopt);
  EXPECT_EQ(gpu.util_percent, 87);
  EXPECT_EQ(gpu.mem_util_percent, 41);
  EXPECT_EQ(gpu.mem_used_mb, 10240);
  EXPECT_EQ(gpu.mem_total_mb, 24564);
  EXPECT_EQ(gpu.mem_reserved_mb, 314);
  EXPECT_EQ(gpu.encoder_util_percent, 3);
  EXPECT_EQ(gpu.decoder_util_percent, 4);
  EXPECT_EQ(gpu.temperature_c, 71);
  EXPECT_EQ(gpu.fan_percent, 55);
  EXPECT_EQ(gpu.power_w, 350.5);
  EXPECT_EQ(gpu.power_limit_w, 450);
  EXPECT_EQ(gpu.performance_state, "P2");
  EXPECT_EQ(gpu.sm_clock_mhz, 1860);
  EXPECT_EQ(gpu.mem_clock_mhz, 10501);
  EXPECT_EQ(gpu.ecc_uncorrected, 7);
  EXPECT_THAT(gpu.throttle_reasons, ElementsAre("sw_power_cap"));
  EXPECT_EQ(gpu.pcie_gen, 4);
  EXPECT_EQ(gpu.pcie_width, 8);
  EXPECT_EQ(gpu.pcie_rx_kb_s, 1000);
  EXPECT_EQ(gpu.pcie_tx_kb_s, 2000);
}

TEST_F(NvmlReaderTest, Inventory_TellsWhatDoesNotChange) {
  set_scenario(R"({"driver_version": "550.90.07", "cuda_version": "12.4", "gpus": [
      {"model": "RTX 3090 Ti", "uuid": "GPU-a", "pci_bus_id": "00000000:01:00.0", "count": 2}]})");
  start();
  const model::Inventory& inventory = reader_->inventory();
  EXPECT_EQ(inventory.source, model::GpuSource::nvml);
  EXPECT_TRUE(inventory.simulated);
  EXPECT_EQ(inventory.error, std::nullopt);
  EXPECT_EQ(inventory.driver_version, "550.90.07");
  EXPECT_EQ(inventory.cuda_version, "12.4");
  EXPECT_EQ(inventory.nvml_path, sim_path());
  EXPECT_EQ(woken_, 2u);
  ASSERT_THAT(inventory.gpus, SizeIs(2));
  EXPECT_EQ(inventory.gpus[0], (model::GpuFacts{.index = 0,
                                                .uuid = "GPU-a",
                                                .name = "NVIDIA GeForce RTX 3090 Ti",
                                                .pci_bus_id = "00000000:01:00.0",
                                                .architecture = "Ampere",
                                                .pcie_gen_max = 4,
                                                .pcie_width_max = 16}));
  EXPECT_EQ(inventory.gpus[1].index, 1);
}

TEST_F(NvmlReaderTest, NoCards_NoRowsAndNothingIsWoken) {
  set_scenario(R"({"gpus": []})");
  start();
  EXPECT_THAT(read(), IsEmpty());
  EXPECT_EQ(reader_->inventory().source, model::GpuSource::nvml);
  EXPECT_EQ(woken_, 0u);
}

TEST_F(NvmlReaderTest, NothingSupported_RowWithNothingInIt) {
  set_scenario(R"({"gpus": [{"model": "RTX 3090 Ti"}], "codes": {"*": 3}})");
  start();
  model::GpuReading nothing;
  EXPECT_EQ(read_one(), nothing);
  EXPECT_EQ(reader_->inventory().gpus[0], model::GpuFacts{});
}

TEST_F(NvmlReaderTest, OldLibraryWithHardlyAnyFunction_RowWithNothingInIt) {
  set_scenario(R"({"gpus": [{"model": "RTX 3090 Ti", "processes": [{"pid": 9, "mem_mb": 1}]}]})");
  start(sim_without({"nvmlDeviceGetUtilizationRates",
                     "nvmlDeviceGetMemoryInfo",
                     "nvmlDeviceGetMemoryInfo_v2",
                     "nvmlDeviceGetTemperature",
                     "nvmlDeviceGetTemperatureV",
                     "nvmlDeviceGetFanSpeed",
                     "nvmlDeviceGetPowerUsage",
                     "nvmlDeviceGetEnforcedPowerLimit",
                     "nvmlDeviceGetPowerManagementLimit",
                     "nvmlDeviceGetPerformanceState",
                     "nvmlDeviceGetClockInfo",
                     "nvmlDeviceGetCurrentClocksEventReasons",
                     "nvmlDeviceGetCurrentClocksThrottleReasons",
                     "nvmlDeviceGetPcieThroughput",
                     "nvmlDeviceGetCurrPcieLinkGeneration",
                     "nvmlDeviceGetCurrPcieLinkWidth",
                     "nvmlDeviceGetEncoderUtilization",
                     "nvmlDeviceGetDecoderUtilization",
                     "nvmlDeviceGetTotalEccErrors",
                     "nvmlDeviceGetMigMode",
                     "nvmlDeviceGetComputeRunningProcesses_v3",
                     "nvmlDeviceGetComputeRunningProcesses_v2",
                     "nvmlDeviceGetComputeRunningProcesses",
                     "nvmlDeviceGetName"}));
  EXPECT_EQ(read_one(), model::GpuReading{});
  EXPECT_EQ(reader_->inventory().gpus[0].name, std::nullopt);
  EXPECT_NE(reader_->inventory().gpus[0].uuid, std::nullopt);
}

TEST_F(NvmlReaderTest, OldNamesOnly_AreUsed) {
  const model::GpuReading gpu = one_card(
      R"("throttle_mask": 64, "power_limit_w": 300)",
      sim_without({"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetEnforcedPowerLimit"}));
  EXPECT_THAT(gpu.throttle_reasons, ElementsAre("hw_thermal"));
  EXPECT_EQ(gpu.power_limit_w, 300);
}

TEST_F(NvmlReaderTest, AbsurdNumbers_AreAbsent) {
  const model::GpuReading gpu = one_card(
      R"("util_percent": 200, "mem_util_percent": 4294967295, "temperature_c": 300,
         "power_w": 1000000, "sm_clock_mhz": 30000, "performance_state": 32, "fan_percent": 300,
         "mem_used_mb": 99999, "pcie": {"gen": 0, "width": 255})");
  EXPECT_EQ(gpu.util_percent, std::nullopt);
  EXPECT_EQ(gpu.mem_util_percent, std::nullopt);
  EXPECT_EQ(gpu.temperature_c, std::nullopt);
  EXPECT_EQ(gpu.power_w, std::nullopt);
  EXPECT_EQ(gpu.sm_clock_mhz, std::nullopt);
  EXPECT_EQ(gpu.performance_state, std::nullopt);
  EXPECT_EQ(gpu.fan_percent, std::nullopt);
  EXPECT_EQ(gpu.mem_used_mb, std::nullopt);
  EXPECT_EQ(gpu.mem_total_mb, 24564);
  EXPECT_EQ(gpu.pcie_gen, std::nullopt);
  EXPECT_EQ(gpu.pcie_width, std::nullopt);
}

TEST_F(NvmlReaderTest, IdleCard_IsNotThrottled) {
  EXPECT_THAT(one_card(R"("throttle_mask": 1)").throttle_reasons, IsEmpty());
}

TEST_F(NvmlReaderTest, MemoryV2Missing_V1IsUsed) {
  const model::GpuReading gpu =
      one_card(R"("mem_used_mb": 1000, "mem_reserved_mb": 314, "mem_total_mb": 24564)",
               sim_without({"nvmlDeviceGetMemoryInfo_v2"}));
  EXPECT_EQ(gpu.mem_total_mb, 24564);
  EXPECT_EQ(gpu.mem_used_mb, 1314);  // the old call counts the reserved part as used
  EXPECT_EQ(gpu.mem_reserved_mb, std::nullopt);
}

TEST_F(NvmlReaderTest, MemoryV2Fails_V1IsUsed) {
  const model::GpuReading gpu = one_card(R"("codes": {"nvmlDeviceGetMemoryInfo_v2": 25})");
  EXPECT_EQ(gpu.mem_total_mb, 24564);
  EXPECT_EQ(gpu.mem_reserved_mb, std::nullopt);
}

TEST_F(NvmlReaderTest, UnifiedMemory_IsUnknownAndProcessesKeepTheirs) {
  set_scenario(R"({"gpus": [{"model": "GB10", "processes": [{"pid": 77, "mem_mb": 512}]}]})");
  start();
  const model::GpuReading gpu = read_one();
  EXPECT_EQ(gpu.mem_total_mb, std::nullopt);
  EXPECT_EQ(gpu.mem_used_mb, std::nullopt);
  EXPECT_EQ(gpu.mem_reserved_mb, std::nullopt);
  ASSERT_THAT(gpu.processes, SizeIs(1));
  EXPECT_EQ(gpu.processes[0].mem_mb, 512);
}

TEST_F(NvmlReaderTest, MemoryTotalZero_IsUnknown) {
  const model::GpuReading gpu = one_card(R"("mem_total_mb": 0, "mem_used_mb": 0)");
  EXPECT_EQ(gpu.mem_total_mb, std::nullopt);
  EXPECT_EQ(gpu.mem_used_mb, std::nullopt);
}

TEST_F(NvmlReaderTest, MigParent_HasNoUtilisationButItsInstancesProcesses) {
  set_scenario(R"({"gpus": [{"model": "RTX 3090 Ti", "util_percent": 50, "mig": [
      {"processes": [{"pid": 501, "mem_mb": 100}]}, null,
      {"processes": [{"pid": 502, "mem_mb": 200}]}]}]})");
  start();
  const model::GpuReading gpu = read_one();
  EXPECT_EQ(gpu.mig, true);
  EXPECT_EQ(gpu.util_percent, std::nullopt);
  EXPECT_EQ(gpu.mem_util_percent, std::nullopt);
  EXPECT_NE(gpu.mem_total_mb, std::nullopt);
  ASSERT_THAT(gpu.processes, SizeIs(2));
  EXPECT_EQ(gpu.processes[0].pid, 502);
  EXPECT_EQ(gpu.processes[0].mem_mb, 200);
  EXPECT_EQ(gpu.processes[1].pid, 501);
}

TEST_F(NvmlReaderTest, CardsWithAndWithoutMig_SayWhetherItIsOn) {
  set_scenario(R"({"gpus": [{"model": "RTX 3090 Ti", "mig": null},
                            {"model": "RTX 3090 Ti", "mig": false}]})");
  start();
  const Readings gpus = read();
  ASSERT_THAT(gpus, SizeIs(2));
  EXPECT_EQ(gpus[0].mig, std::nullopt);
  EXPECT_EQ(gpus[1].mig, false);
}

TEST_F(NvmlReaderTest, TextsThatFillTheirBuffers_AreBounded) {
  set_scenario(R"({"string_fill": true, "gpus": [{"model": "RTX 3090 Ti", "string_fill": true}]})");
  start();
  const model::Inventory& inventory = reader_->inventory();
  ASSERT_NE(inventory.gpus[0].name, std::nullopt);
  EXPECT_EQ(inventory.gpus[0].name->size(), nvml::kNameBytes);
  EXPECT_EQ(inventory.gpus[0].uuid->size(), nvml::kUuidBytes);
  EXPECT_EQ(inventory.driver_version->size(), nvml::kVersionBytes);
}

TEST_F(NvmlReaderTest, NameThatIsNoUtf8_BecomesValid) {
  one_card(R"("name_bytes": "47ff50")");
  EXPECT_EQ(reader_->inventory().gpus[0].name, "G\xEF\xBF\xBDP");
}

TEST_F(NvmlReaderTest, InitFails_CodeComesBack) {
  for (const int code : {1, 9, 15, 18, 28, 999}) {
    set_scenario("{\"init_code\": " + std::to_string(code) + "}");
    const auto started = try_start();
    EXPECT_FALSE(started);
    EXPECT_EQ(code_or_zero(started), code);
  }
}

TEST_F(NvmlReaderTest, LostCard_KeepsItsRowAndTheOthersGoOn) {
  set_scenario(R"({"gpus": [{"model": "RTX 3090 Ti", "uuid": "GPU-a"},
                            {"model": "RTX 3090 Ti", "uuid": "GPU-b", "util_percent": 5}]})");
  start();
  set_scenario(R"({"gpus": [{"model": "RTX 3090 Ti", "uuid": "GPU-a", "lost": true},
                            {"model": "RTX 3090 Ti", "uuid": "GPU-b", "util_percent": 5}]})");
  read_until([](const Readings& gpus) { return gpus[0].error.has_value(); });
  clock_.advance(NvmlReader::kUuidCheckMs);
  const Readings gpus = read();
  ASSERT_THAT(gpus, SizeIs(2));
  model::GpuReading lost;
  lost.error = "GPU is lost";
  EXPECT_EQ(gpus[0], lost);
  EXPECT_EQ(gpus[1].error, std::nullopt);
  EXPECT_EQ(gpus[1].util_percent, 5);
  EXPECT_EQ(reader_->inventory().gpus[0].uuid, "GPU-a");
}

TEST_F(NvmlReaderTest, CardThatRefusesEveryCall_SaysWhy) {
  set_scenario(R"({"gpus": [{"model": "RTX 3090 Ti", "codes": {"*": 4}},
                            {"model": "RTX 3090 Ti", "codes": {"nvmlDeviceGetFanSpeed": 4}}]})");
  start();
  const Readings gpus = read();
  ASSERT_THAT(gpus, SizeIs(2));
  EXPECT_EQ(gpus[0].error, "no permission");
  EXPECT_EQ(gpus[1].error, std::nullopt);
}

TEST_F(NvmlReaderTest, CardLostFromTheStart_HasAnIndexAndNoName) {
  set_scenario(R"({"gpus": [{"model": "RTX 3090 Ti", "lost": true}, {"model": "RTX 3090 Ti"}]})");
  start();
  const Readings gpus = read();
  ASSERT_THAT(gpus, SizeIs(2));
  EXPECT_EQ(gpus[0].error, "GPU is lost");
  EXPECT_EQ(gpus[1].error, std::nullopt);
  EXPECT_EQ(reader_->inventory().gpus[0], model::GpuFacts{});
}

TEST_F(NvmlReaderTest, LostCardComesBack_IsReadAgain) {
  set_scenario(R"({"gpus": [{"model": "RTX 3090 Ti", "uuid": "GPU-a", "lost": true}]})");
  start();
  EXPECT_EQ(read_one().error, "GPU is lost");
  set_scenario(R"({"gpus": [{"model": "RTX 3090 Ti", "uuid": "GPU-a"}]})");
  read_until([this](const Readings& gpus) {
    clock_.advance(NvmlReader::kUuidCheckMs);
    return !gpus[0].error;
  });
  EXPECT_EQ(reader_->inventory().gpus[0].uuid, "GPU-a");
}

TEST_F(NvmlReaderTest, CardWeMayNotOpen_SaysSo) {
  set_scenario(
      R"({"gpus": [{"model": "RTX 3090 Ti"}, {"model": "RTX 3090 Ti", "no_permission": true}]})");
  start();
  const Readings gpus = read();
  ASSERT_THAT(gpus, SizeIs(2));
  EXPECT_EQ(gpus[0].error, std::nullopt);
  EXPECT_EQ(gpus[1].error, "no permission");
}

TEST_F(NvmlReaderTest, CardAddedWhileRunning_IsEnumerated) {
  set_scenario(R"({"gpus": [{"model": "RTX 3090 Ti"}]})");
  start();
  EXPECT_THAT(read(), SizeIs(1));
  set_scenario(R"({"gpus": [{"model": "RTX 3090 Ti"}, {"model": "RTX A6000"}]})");
  read_until([](const Readings& gpus) { return gpus.size() == 2; });
  ASSERT_THAT(reader_->inventory().gpus, SizeIs(2));
  EXPECT_EQ(reader_->inventory().gpus[1].name, "NVIDIA RTX A6000");
  EXPECT_EQ(woken_, 2u);
}

TEST_F(NvmlReaderTest, CardTakenAwayWhileRunning_RowGoes) {
  set_scenario(R"({"gpus": [{"model": "RTX 3090 Ti", "count": 2}]})");
  start();
  EXPECT_THAT(read(), SizeIs(2));
  set_scenario(R"({"gpus": [{"model": "RTX 3090 Ti"}]})");
  read_until([](const Readings& gpus) { return gpus.size() == 1; });
  EXPECT_THAT(reader_->inventory().gpus, SizeIs(1));
}

TEST_F(NvmlReaderTest, CardsExchanged_AreNoticedByTheirUuids) {
  set_scenario(R"({"gpus": [{"model": "RTX 3090 Ti", "uuid": "GPU-a"}]})");
  start();
  set_scenario(R"({"gpus": [{"model": "RTX A6000", "uuid": "GPU-b", "util_percent": 33}]})");
  read_until([](const Readings& gpus) { return gpus[0].util_percent == 33; });
  EXPECT_EQ(reader_->inventory().gpus[0].uuid, "GPU-a");  // not due yet
  clock_.advance(NvmlReader::kUuidCheckMs);
  read();
  EXPECT_EQ(reader_->inventory().gpus[0].uuid, "GPU-b");
  EXPECT_EQ(reader_->inventory().gpus[0].name, "NVIDIA RTX A6000");
}

TEST_F(NvmlReaderTest, DriverGoesAway_CodeComesBack) {
  set_scenario(R"({"gpus": [{"model": "RTX 3090 Ti"}]})");
  start();
  read();
  set_scenario(R"({"gpus": [{"model": "RTX 3090 Ti"}], "codes": {"nvmlDeviceGetCount_v2": 999}})");
  nvml::Return code = nvml::kSuccess;
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (code == nvml::kSuccess && std::chrono::steady_clock::now() < limit) {
    code = code_or_zero(reader_->read(true, 1000));
  }
  EXPECT_EQ(code, nvml::kUnknown);
}

TEST_F(NvmlReaderTest, SlowFields_AreReadAgainEveryFewSeconds) {
  set_scenario(R"({"gpus": [{"model": "RTX 3090 Ti", "temperature_c": 40, "util_percent": 1}]})");
  start();
  EXPECT_EQ(read_one().temperature_c, 40);
  set_scenario(R"({"gpus": [{"model": "RTX 3090 Ti", "temperature_c": 60, "util_percent": 2}]})");
  read_until([](const Readings& gpus) { return gpus[0].util_percent == 2; });
  EXPECT_EQ(read_one().temperature_c, 40);
  clock_.advance(NvmlCard::kSlowMs);
  EXPECT_EQ(read_one().temperature_c, 60);
}

TEST_F(NvmlReaderTest, PcieNotSupported_RestIsThere) {
  const model::GpuReading gpu =
      one_card(R"("util_percent": 9, "codes": {"nvmlDeviceGetPcieThroughput": 3})");
  EXPECT_EQ(gpu.pcie_rx_kb_s, std::nullopt);
  EXPECT_EQ(gpu.pcie_tx_kb_s, std::nullopt);
  EXPECT_EQ(gpu.util_percent, 9);
}

TEST_F(NvmlReaderTest, PcieCallBlocks_RestIsThere) {
  set_scenario(R"({"block_ms": {"nvmlDeviceGetPcieThroughput": 1000},
                   "gpus": [{"model": "RTX 3090 Ti", "count": 8, "util_percent": 9}]})");
  start();
  for (int i = 0; i < 2; ++i) {
    const Readings gpus = read();
    ASSERT_THAT(gpus, SizeIs(8));
    EXPECT_EQ(gpus[7].util_percent, 9);
    EXPECT_EQ(gpus[7].pcie_rx_kb_s, std::nullopt);
  }
}

TEST_F(NvmlReaderTest, Primed_TellsProcessesAlone) {
  set_scenario(R"({"gpus": [{"model": "RTX 3090 Ti", "util_percent": 9,
                             "processes": [{"pid": 41, "mem_mb": 5}]}]})");
  start();
  const Readings primed = reader_->prime(true);
  ASSERT_THAT(primed, SizeIs(1));
  EXPECT_THAT(primed[0].processes, SizeIs(1));
  EXPECT_EQ(primed[0].util_percent, std::nullopt);
  EXPECT_THAT(reader_->prime(false), IsEmpty());
}

TEST_F(NvmlReaderTest, ProcessesNotWanted_AreNotRead) {
  set_scenario(R"({"gpus": [{"model": "RTX 3090 Ti", "processes": [{"pid": 41, "mem_mb": 5}]}]})");
  start();
  const auto readings = reader_->read(false, 1000);
  ASSERT_TRUE(readings);
  EXPECT_THAT((*readings)[0].processes, IsEmpty());
}

}  // namespace
}  // namespace nvidb::agent
