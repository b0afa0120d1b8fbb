// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "agent/smi_xml.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/text.h"

namespace nvidb::agent {
namespace {

using base::ErrorKind;
using model::GpuReading;
using model::ProcessSample;
using model::ProcessType;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

SmiReport parse_ours(const std::string& name) {
  const std::string text =
      read_file(std::filesystem::path(NVIDB_SOURCE_DIR) / "tests/fixtures/smi" / name);
  const auto report = parse_smi_xml(text);
  EXPECT_TRUE(report) << name << ": " << (report ? "" : report.error().message);
  return report.value_or(SmiReport{});
}

// A log with one card that has these elements.
std::string card(std::string_view elements) {
  return fmt::format(
      "<?xml version=\"1.0\" ?>\n<nvidia_smi_log>\n<gpu id=\"00000000:01:00.0\">\n{}\n</gpu>\n"
      "</nvidia_smi_log>\n",
      elements);
}

GpuReading read_card(std::string_view elements) {
  const auto report = parse_smi_xml(card(elements));
  EXPECT_TRUE(report && report->readings.size() == 1) << elements;
  return report && report->readings.size() == 1 ? report->readings[0] : GpuReading{};
}

ProcessSample process(std::int64_t pid, ProcessType type, std::optional<std::int64_t> mem_mb,
                      std::optional<std::string> name) {
  ProcessSample sample;
  sample.pid = pid;
  sample.type = type;
  sample.mem_mb = mem_mb;
  sample.name = std::move(name);
  return sample;
}

TEST(SmiXml, Driver418_EveryMemberIsFound) {
  const SmiReport report = parse_ours("driver-418.xml");

  EXPECT_EQ(report.inventory.source, model::GpuSource::nvidia_smi);
  EXPECT_EQ(report.inventory.driver_version, "418.99");
  EXPECT_EQ(report.inventory.cuda_version, "10.1");
  EXPECT_EQ(report.inventory.error, std::nullopt);
  model::GpuFacts facts;
  facts.uuid = "GPU-00000418-0000-0000-0000-000000000001";
  facts.name = "Quadro K9000";
  facts.pci_bus_id = "00000000:02:00.0";
  facts.pcie_gen_max = 3;
  facts.pcie_width_max = 16;
  EXPECT_THAT(report.inventory.gpus, ElementsAre(facts));
  GpuReading reading;
  reading.util_percent = 7;
  reading.mem_util_percent = 2;
  reading.mem_used_mb = 120;
  reading.mem_total_mb = 4040;
  reading.temperature_c = 36;
  reading.fan_percent = 41;
  reading.performance_state = "P8";
  reading.sm_clock_mhz = 140;
  reading.mem_clock_mhz = 405;
  reading.encoder_util_percent = 0;
  reading.decoder_util_percent = 0;
  reading.pcie_gen = 1;
  reading.pcie_width = 8;
  reading.pcie_rx_kb_s = 34;
  reading.pcie_tx_kb_s = 12;
  reading.ecc_uncorrected = 2;
  reading.processes = {process(1201, ProcessType::graphics, 118, "Xorg")};
  EXPECT_THAT(report.readings, ElementsAre(reading));
}

TEST(SmiXml, Driver470_ReasonsPowerAndErrorsOfTheOldNames) {
  const SmiReport report = parse_ours("driver-470.xml");

  ASSERT_THAT(report.readings, SizeIs(2));
  const GpuReading& busy = report.readings[0];
  EXPECT_EQ(busy.power_w, 298.75);
  EXPECT_EQ(busy.power_limit_w, 300.0);
  EXPECT_EQ(busy.ecc_uncorrected, 3);
  EXPECT_EQ(busy.mig, std::nullopt);
  EXPECT_EQ(busy.fan_percent, 105);
  EXPECT_THAT(busy.throttle_reasons,
              ElementsAre("applications_clocks", "sw_power_cap", "hw_slowdown", "sync_boost",
                          "sw_thermal", "hw_thermal", "hw_power_brake", "display_clocks"));
}

TEST(SmiXml, Driver470_ProcessesAreOneRowAPidLargestFirst) {
  const SmiReport report = parse_ours("driver-470.xml");

  ASSERT_THAT(report.readings, SizeIs(2));
  EXPECT_THAT(report.readings[0].processes,
              ElementsAre(process(950, ProcessType::compute, 30000, std::nullopt),
                          process(800, ProcessType::compute, 1000, "solver"),
                          process(900, ProcessType::both, 1000, "python3"),
                          process(700, ProcessType::compute, std::nullopt, "mps-client")));
}

TEST(SmiXml, Driver470_IndexIsThePlaceInTheListAndOneBrokenSensorIsNoError) {
  const SmiReport report = parse_ours("driver-470.xml");

  ASSERT_THAT(report.readings, SizeIs(2));
  EXPECT_EQ(report.inventory.gpus[1].index, 1);
  EXPECT_EQ(report.inventory.gpus[1].pci_bus_id, "00000000:5E:00.0");
  EXPECT_EQ(report.readings[1].index, 1);
  EXPECT_EQ(report.readings[1].error, std::nullopt);
  EXPECT_EQ(report.readings[1].power_w, std::nullopt);
  EXPECT_EQ(report.readings[1].power_limit_w, 310.0);
  EXPECT_EQ(report.readings[1].mem_used_mb, 0);
}

TEST(SmiXml, Driver515_ReservedMemoryAppears) {
  const SmiReport report = parse_ours("driver-515.xml");

  ASSERT_THAT(report.readings, SizeIs(1));
  EXPECT_EQ(report.readings[0].mem_total_mb, 15000);
  EXPECT_EQ(report.readings[0].mem_reserved_mb, 400);
  EXPECT_EQ(report.readings[0].mem_used_mb, 2600);
  EXPECT_EQ(report.readings[0].fan_percent, std::nullopt);
  EXPECT_EQ(report.readings[0].power_limit_w, 65.0);
  EXPECT_EQ(report.readings[0].ecc_uncorrected, 0);
}

TEST(SmiXml, Driver525Wsl_ProcessMemoryIsAbsentNotHuge) {
  const SmiReport report = parse_ours("driver-525-wsl.xml");

  ASSERT_THAT(report.readings, SizeIs(1));
  EXPECT_THAT(report.readings[0].processes,
              ElementsAre(process(20, ProcessType::both, std::nullopt, "Big Game.exe"),
                          process(25, ProcessType::compute, std::nullopt, std::nullopt),
                          process(31, ProcessType::compute, std::nullopt, "python3.10")));
  EXPECT_EQ(report.readings[0].power_limit_w, 350.0);
}

TEST(SmiXml, Driver535Mig_ParentHasMemoryAndNoUtilization) {
  const SmiReport report = parse_ours("driver-535-mig.xml");

  ASSERT_THAT(report.readings, SizeIs(2));
  const GpuReading& parent = report.readings[0];
  EXPECT_EQ(parent.mig, true);
  EXPECT_EQ(parent.mem_total_mb, 81000);
  EXPECT_EQ(parent.mem_used_mb, 9050);
  EXPECT_EQ(parent.util_percent, std::nullopt);
  EXPECT_EQ(parent.mem_util_percent, std::nullopt);
  EXPECT_EQ(parent.ecc_uncorrected, 3);
  EXPECT_EQ(parent.temperature_c, 28);
  EXPECT_EQ(parent.power_w, 68.5);
  EXPECT_EQ(parent.power_limit_w, 480.0);
  EXPECT_THAT(parent.throttle_reasons, ElementsAre("sw_thermal"));
  EXPECT_THAT(parent.processes, ElementsAre(process(5001, ProcessType::compute, 8990, "vllm")));
  EXPECT_EQ(report.readings[1].mig, false);
}

TEST(SmiXml, Driver535_CardInSlowerSlot_KeepsItsOwnMaximum) {
  const SmiReport report = parse_ours("driver-535-mig.xml");

  ASSERT_THAT(report.readings, SizeIs(2));
  EXPECT_EQ(report.inventory.gpus[0].pcie_gen_max, 4);
  EXPECT_EQ(report.readings[0].pcie_gen, 3);
}

TEST(SmiXml, Driver550_LostCardKeepsItsPlaceAndTheOthersGoOn) {
  const SmiReport report = parse_ours("driver-550-lost.xml");

  ASSERT_THAT(report.readings, SizeIs(4));
  EXPECT_EQ(report.readings[0].error, std::nullopt);
  EXPECT_EQ(report.readings[0].power_w, 341.5);
  GpuReading lost;
  lost.index = 1;
  lost.error = "GPU is lost";
  EXPECT_EQ(report.readings[1], lost);
  EXPECT_EQ(report.inventory.gpus[1].uuid, "GPU-00000550-0000-0000-0000-000000000002");
  GpuReading silent;
  silent.index = 2;
  silent.error = "nvidia-smi reads nothing from this GPU";
  EXPECT_EQ(report.readings[2], silent);
  EXPECT_EQ(report.inventory.gpus[2].name, std::nullopt);
  EXPECT_EQ(report.inventory.gpus[2].uuid, std::nullopt);
  EXPECT_EQ(report.inventory.gpus[2].pci_bus_id, "00000000:3A:00.0");
  EXPECT_EQ(report.readings[3].error, "GPU needs a reset");
}

TEST(SmiXml, Driver570Unified_MemoryOfTheCardIsAbsentProcessesStay) {
  const SmiReport report = parse_ours("driver-570-unified.xml");

  ASSERT_THAT(report.readings, SizeIs(2));
  for (const GpuReading& reading : report.readings) {
    EXPECT_EQ(reading.mem_total_mb, std::nullopt);
    EXPECT_EQ(reading.mem_used_mb, std::nullopt);
    EXPECT_EQ(reading.mem_reserved_mb, std::nullopt);
    EXPECT_EQ(reading.error, std::nullopt);
  }
  EXPECT_EQ(report.readings[0].power_w, 12.5);
  EXPECT_EQ(report.readings[0].pcie_gen, 1);
  EXPECT_EQ(report.inventory.gpus[0].pcie_gen_max, 5);
  EXPECT_EQ(report.inventory.gpus[0].pcie_width_max, std::nullopt);
  EXPECT_THAT(report.readings[0].processes,
              ElementsAre(process(3131, ProcessType::compute, 40960, "ollama")));
}

TEST(SmiXml, Driver595_TheNewestNames) {
  const SmiReport report = parse_ours("driver-595.xml");

  ASSERT_THAT(report.readings, SizeIs(1));
  const GpuReading& reading = report.readings[0];
  EXPECT_EQ(report.inventory.gpus[0].architecture, "Ada");
  EXPECT_EQ(report.inventory.gpus[0].pcie_gen_max, 4);
  EXPECT_EQ(reading.power_w, 8.75);
  EXPECT_EQ(reading.power_limit_w, 70.0);
  EXPECT_EQ(reading.ecc_uncorrected, 7);
  EXPECT_EQ(reading.mem_clock_mhz, 405);
  EXPECT_EQ(reading.pcie_width, 4);
  EXPECT_THAT(reading.throttle_reasons, ElementsAre("hw_power_brake"));
  EXPECT_THAT(reading.processes,
              ElementsAre(process(1800, ProcessType::graphics, 410, "compositor"),
                          process(34001, ProcessType::both, 180, "browser")));
}

TEST(SmiXml, OldComputeProcesses_AreComputeProcesses) {
  const GpuReading reading = read_card(
      "<compute_processes><process_info><pid>77</pid><process_name>./a.out</process_name>"
      "<used_memory>60 MB</used_memory></process_info></compute_processes>");

  EXPECT_THAT(reading.processes, ElementsAre(process(77, ProcessType::compute, 60, "a.out")));
}

TEST(SmiXml, ImpossibleNumbers_AreAbsent) {
  const GpuReading reading = read_card(
      "<fan_speed>4294967295 %</fan_speed><performance_state>P32</performance_state>"
      "<temperature><gpu_temp>9999 C</gpu_temp></temperature>"
      "<utilization><gpu_util>101 %</gpu_util><memory_util>-1 %</memory_util></utilization>"
      "<fb_memory_usage><total>17592186044415 MiB</total></fb_memory_usage>"
      "<gpu_power_readings><power_draw>4294967.29 W</power_draw></gpu_power_readings>"
      "<processes><process_info><pid>0</pid></process_info>"
      "<process_info><pid>-4</pid></process_info><process_info><pid>x</pid></process_info>"
      "<process_info><pid>99999999999</pid></process_info></processes>");

  EXPECT_EQ(reading, GpuReading{});
}

TEST(SmiXml, EmptyCard_HasItsBusIdAndNothingElse) {
  const auto report = parse_smi_xml(card(""));

  ASSERT_TRUE(report);
  EXPECT_THAT(report->readings, ElementsAre(GpuReading{}));
  EXPECT_EQ(report->inventory.gpus[0].pci_bus_id, "00000000:01:00.0");
}

TEST(SmiXml, ProgramNamedLikeMarkup_CostsNoNumbers) {
  const auto report = parse_smi_xml(
      card("<processes><process_info><pid>9</pid><process_name>a<b & \xFF/c&lt;d</process_name>"
           "</process_info></processes><fan_speed>12 %</fan_speed>"));

  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->readings[0].fan_percent, 12);
  ASSERT_THAT(report->readings[0].processes, SizeIs(1));
  EXPECT_EQ(report->readings[0].processes[0].name, "a?b");
}

TEST(SmiXml, NamesInForeignBytes_BecomeValidUtf8) {
  const auto report = parse_smi_xml(card("<product_name>RTX \xE9\x80 \x01</product_name>"));

  ASSERT_TRUE(report);
  const std::string name = report->inventory.gpus[0].name.value_or("");
  EXPECT_EQ(name, base::valid_utf8(name));
  EXPECT_TRUE(name.starts_with("RTX "));
}

TEST(SmiXml, HeadlessXml_IsUnderstoodWithoutDeclaration) {
  const auto report = parse_smi_xml("<nvidia_smi_log><gpu/></nvidia_smi_log>");

  ASSERT_TRUE(report);
  EXPECT_THAT(report->readings, SizeIs(1));
}

TEST(SmiXml, NoDevices_IsAReportWithoutCards) {
  for (const char* text : {"No devices were found\n", "Warning: something\nNo devices were found",
                           "<?xml version=\"1.0\" ?><nvidia_smi_log><driver_version>550.1"
                           "</driver_version><attached_gpus>0</attached_gpus></nvidia_smi_log>"}) {
    const auto report = parse_smi_xml(text);
    ASSERT_TRUE(report) << text;
    EXPECT_THAT(report->readings, IsEmpty());
    EXPECT_THAT(report->inventory.gpus, IsEmpty());
    EXPECT_EQ(report->inventory.source, model::GpuSource::nvidia_smi);
  }
}

TEST(SmiXml, FailureInPlainText_IsUnsupportedInItsOwnWords) {
  const std::pair<const char*, const char*> cases[] = {
      {"Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.1\n",
       "Failed to initialize NVML: Driver/library version mismatch"},
      {"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure "
       "that the latest NVIDIA driver is installed and running.\n\n",
       "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure "
       "that the latest NVIDIA driver is installed and running"},
      {"Unable to determine the device handle for GPU0000:03:00.0: GPU is lost.  Reboot the system "
       "to recover this GPU\n",
       "Unable to determine the device handle for GPU0000:03:00.0: GPU is lost.  Reboot the system "
       "to recover this GPU"},
      {"Warning: infoROM has failed its check\n\n  Insufficient Permissions\r\n",
       "Insufficient Permissions"},
  };
  for (const auto& [text, sentence] : cases) {
    const auto report = parse_smi_xml(text);
    ASSERT_FALSE(report) << text;
    EXPECT_EQ(report.error().kind, ErrorKind::unsupported) << text;
    EXPECT_EQ(report.error().message, sentence);
  }
}

TEST(SmiXml, NeitherXmlNorFailure_IsAProtocolError) {
  for (const std::string& text :
       {std::string(), std::string("\n \n"), std::string("hello there"), std::string(100, '\0'),
        std::string("<?xml version=\"1.0\" ?><html><body/></html>"), std::string("<?xml")}) {
    const auto report = parse_smi_xml(text);
    ASSERT_FALSE(report) << text;
    EXPECT_EQ(report.error().kind, ErrorKind::protocol) << text;
    EXPECT_LT(report.error().message.size(), 700u);
  }
}

TEST(SmiXml, CutOffAnywhere_NeverPassesForWhole) {
  const std::string whole =
      read_file(std::filesystem::path(NVIDB_SOURCE_DIR) / "tests/fixtures/smi/driver-515.xml");
  const std::size_t end = whole.find("</nvidia_smi_log>");
  ASSERT_NE(end, whole.npos);
  for (std::size_t size = 0; size < end; size += 7) {
    const auto report = parse_smi_xml(whole.substr(0, size));
    ASSERT_FALSE(report) << size;
    EXPECT_EQ(report.error().kind, ErrorKind::protocol) << size;
  }
}

TEST(SmiXml, TooDeepTooLargeOrTooManyCards_IsAProtocolError) {
  std::string deep = "<?xml version=\"1.0\" ?>";
  for (int i = 0; i < 100'000; ++i) deep += "<a>";
  for (int i = 0; i < 100'000; ++i) deep += "</a>";
  std::string many = "<?xml version=\"1.0\" ?><nvidia_smi_log>";
  for (std::size_t i = 0; i <= model::kMaxGpus; ++i) many += "<gpu/>";
  many += "</nvidia_smi_log>";
  const std::string large((std::size_t{64} << 20) + 1, ' ');
  for (const std::string_view text :
       {std::string_view(deep), std::string_view(many), std::string_view(large)}) {
    const auto report = parse_smi_xml(text);
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().kind, ErrorKind::protocol);
  }
}

TEST(SmiXml, MoreProcessesThanAMessageHolds_AreLeftOut) {
  std::string list = "<processes>";
  for (std::size_t pid = 1; pid <= model::kMaxProcesses + 10; ++pid) {
    list += fmt::format("<process_info><pid>{}</pid></process_info>", pid);
  }
  EXPECT_THAT(read_card(list + "</processes>").processes, SizeIs(model::kMaxProcesses));
}

// ---- what real drivers printed, where the collection is at hand ----

struct Real {
  const char* file;
  const char* driver;
  const char* name;
  std::int64_t mem_total_mb, mem_used_mb;
  std::optional<std::int64_t> mem_reserved_mb;
  std::int64_t temperature_c;
  std::optional<double> power_w, power_limit_w;
  std::optional<double> util_percent;
  std::optional<bool> mig;
  std::size_t processes;
};

constexpr const char* kRealFolder = NVIDB_SOURCE_DIR "/../shared/fixtures/nvidia-smi";

TEST(SmiXml, RealOutputs_AreReadAsPrinted) {
  if (!std::filesystem::is_directory(kRealFolder)) GTEST_SKIP() << "no collection here";
  const Real reals[] = {
      {"quadro-p400.xml", "418.43", "Quadro P400", 1998, 0, {}, 33, {}, {}, 0, {}, 0},
      {"tesla-t4.xml", "515.105.01", "Tesla T4", 15360, 1032, 388, 40, 26.78, 70, 0, {}, 2},
      {"a100-sxm4-v12.xml",
       "535.54.03",
       "NVIDIA A100-SXM4-80GB",
       81920,
       50,
       869,
       27,
       67.03,
       500,
       {},
       true,
       0},
      {"rtx-3080-v12.xml",
       "536.40",
       "NVIDIA GeForce RTX 3080",
       10240,
       1128,
       173,
       31,
       22.78,
       336,
       0,
       {},
       5},
      {"rtx-3060-v12.xml",
       "570.124.04",
       "NVIDIA GeForce RTX 3060",
       12288,
       116,
       368,
       42,
       11.6,
       170,
       0,
       {},
       0},
      {"rtx-4000-sff-ada-v13.xml",
       "595.84",
       "NVIDIA RTX 4000 SFF Ada Generation",
       20475,
       3534,
       460,
       38,
       8.81,
       70,
       0,
       {},
       4},
  };
  std::size_t seen = 0;
  for (const Real& real : reals) {
    const std::filesystem::path path = std::filesystem::path(kRealFolder) / real.file;
    if (!std::filesystem::exists(path)) continue;
    ++seen;
    SCOPED_TRACE(real.file);
    const auto report = parse_smi_xml(read_file(path));
    ASSERT_TRUE(report) << report.error().message;
    ASSERT_THAT(report->readings, SizeIs(1));
    const GpuReading& reading = report->readings[0];
    EXPECT_EQ(report->inventory.driver_version, real.driver);
    EXPECT_EQ(report->inventory.gpus[0].name, real.name);
    EXPECT_TRUE(report->inventory.gpus[0].uuid.value_or("").starts_with("GPU-"));
    EXPECT_EQ(reading.mem_total_mb, real.mem_total_mb);
    EXPECT_EQ(reading.mem_used_mb, real.mem_used_mb);
    EXPECT_EQ(reading.mem_reserved_mb, real.mem_reserved_mb);
    EXPECT_EQ(reading.temperature_c, real.temperature_c);
    EXPECT_EQ(reading.power_w, real.power_w);
    EXPECT_EQ(reading.power_limit_w, real.power_limit_w);
    EXPECT_EQ(reading.util_percent, real.util_percent);
    EXPECT_EQ(reading.mig, real.mig);
    EXPECT_EQ(reading.error, std::nullopt);
    EXPECT_THAT(reading.throttle_reasons, IsEmpty());
    EXPECT_THAT(reading.processes, SizeIs(real.processes));
  }
  EXPECT_EQ(seen, std::size(reals));
}

TEST(SmiXml, RealProcesses_AreSortedAndTyped) {
  const std::filesystem::path path =
      std::filesystem::path(kRealFolder) / "rtx-4000-sff-ada-v13.xml";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no collection here";
  const auto report = parse_smi_xml(read_file(path));

  ASSERT_TRUE(report);
  EXPECT_THAT(report->readings.at(0).processes,
              ElementsAre(process(3190, ProcessType::graphics, 451, "code"),
                          process(1842, ProcessType::graphics, 410, "cosmic-comp"),
                          process(34626, ProcessType::both, 183, "chromium"),
                          process(4937, ProcessType::compute, 160, "python")));
}

}  // namespace
}  // namespace nvidb::agent
