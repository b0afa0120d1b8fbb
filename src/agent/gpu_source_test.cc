// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "agent/gpu_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>

#include "agent/sim_test_support.h"

namespace nvidb::agent {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kSmiXml = R"(<?xml version="1.0" ?>
<nvidia_smi_log>
  <driver_version>535.54.03</driver_version>
  <cuda_version>12.2</cuda_version>
  <attached_gpus>1</attached_gpus>
  <gpu id="00000000:01:00.0">
    <product_name>NVIDIA GeForce RTX 3060</product_name>
    <uuid>GPU-smi</uuid>
    <utilization><gpu_util>12 %</gpu_util></utilization>
    <processes>
      <process_info>
        <pid>1</pid><type>C</type><process_name>as smi says</process_name>
        <used_memory>300 MiB</used_memory>
      </process_info>
    </processes>
  </gpu>
</nvidia_smi_log>
)";

class GpuSourceTest : public SimTest {
 protected:
  void SetUp() override {
    SimTest::SetUp();
    ASSERT_FALSE(HasFailure());
    // A PATH and a /proc of our own, both empty.
    root_ = folder() + "/source";
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_ + "/bin");
    std::filesystem::create_directories(root_ + "/proc/driver/nvidia");
    path_before_ = ::getenv("PATH");
    ::setenv("PATH", (root_ + "/bin").c_str(), 1);
  }
  void TearDown() override { ::setenv("PATH", path_before_.c_str(), 1); }

  void write_smi(const std::string& body) {
    const std::string path = root_ + "/bin/nvidia-smi";
    std::ofstream(path) << "#!/bin/sh\necho run >>" << root_ << "/runs\n" << body << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  void write_smi_xml() {
    std::ofstream(root_ + "/log.xml") << kSmiXml;
    write_smi("exec /bin/cat " + root_ + "/log.xml");
  }
  std::size_t smi_runs() const {
    std::ifstream runs(root_ + "/runs");
    std::size_t count = 0;
    for (std::string line; std::getline(runs, line);) ++count;
    return count;
  }

  GpuSource source(const std::string& library = sim_path(), std::int64_t smi_deadline_ms = 20'000) {
    return GpuSource(
        {.nvml_paths = {library}, .proc_root = root_ + "/proc", .smi_deadline_ms = smi_deadline_ms},
        proc_, clock_, [](std::size_t) {});
  }

  static constexpr std::int64_t kInterval = 1000;
  std::string root_, path_before_;
  ProcReader proc_{"/proc"};
  const std::string nowhere_ = folder() + "/no/libnvidia-ml.so.1";
};

TEST_F(GpuSourceTest, Nvml_IsUsedFirst) {
  write_smi_xml();
  GpuSource gpus = source();
  gpus.refresh(kInterval);
  EXPECT_EQ(gpus.inventory().source, model::GpuSource::nvml);
  EXPECT_THAT(gpus.read(true, kInterval), SizeIs(1));
  EXPECT_EQ(smi_runs(), 0u);
}

TEST_F(GpuSourceTest, NeitherLibraryNorProgram_IsAMachineWithoutGpus) {
  GpuSource gpus = source(nowhere_);
  gpus.refresh(kInterval);
  EXPECT_EQ(gpus.inventory(), model::Inventory{});
  EXPECT_THAT(gpus.read(true, kInterval), IsEmpty());
}

TEST_F(GpuSourceTest, NoLibrary_SmiIsUsed) {
  write_smi_xml();
  GpuSource gpus = source(nowhere_);
  gpus.refresh(kInterval);
  EXPECT_EQ(gpus.inventory().source, model::GpuSource::nvidia_smi);
  EXPECT_EQ(gpus.inventory().error, std::nullopt);
  EXPECT_EQ(gpus.inventory().driver_version, "535.54.03");
  const auto readings = gpus.read(true, kInterval);
  ASSERT_THAT(readings, SizeIs(1));
  EXPECT_EQ(readings[0].util_percent, 12);
  ASSERT_THAT(readings[0].processes, SizeIs(1));
  EXPECT_EQ(readings[0].processes[0].mem_mb, 300);
  EXPECT_NE(readings[0].processes[0].start_ticks, std::nullopt);  // pid 1 is in /proc
}

TEST_F(GpuSourceTest, Smi_RunsAtMostEveryFiveSeconds) {
  write_smi_xml();
  GpuSource gpus = source(nowhere_);
  gpus.refresh(kInterval);
  clock_.advance(GpuSource::kSmiEveryMs - 1);
  gpus.refresh(kInterval);
  EXPECT_THAT(gpus.read(true, kInterval), SizeIs(1));
  EXPECT_EQ(smi_runs(), 1u);
  clock_.advance(1);
  gpus.refresh(kInterval);
  EXPECT_EQ(smi_runs(), 2u);
}

TEST_F(GpuSourceTest, SmiHangs_IsKilledAtItsDeadlineAndReported) {
  write_smi("exec /bin/sleep 1000");
  GpuSource gpus = source(nowhere_, 50);
  gpus.refresh(kInterval);
  EXPECT_EQ(gpus.inventory().source, model::GpuSource::none);
  ASSERT_NE(gpus.inventory().error, std::nullopt);
  EXPECT_THAT(*gpus.inventory().error, HasSubstr("nvidia-smi did not answer"));
}

TEST_F(GpuSourceTest, SmiFailsOnStderrOnly_ItsWordsAreReported) {
  write_smi("echo 'cannot open shared object' >&2; exit 127");
  GpuSource gpus = source(nowhere_);
  gpus.refresh(kInterval);
  EXPECT_EQ(gpus.inventory().error, "nvidia-smi failed: cannot open shared object");
}

TEST_F(GpuSourceTest, SmiPrintsRubbish_IsAnErrorAndTriedAgain) {
  write_smi("echo '<?xml version=\"1.0\" ?><nvidia_smi_log><gpu>'");
  GpuSource gpus = source(nowhere_);
  gpus.refresh(kInterval);
  EXPECT_EQ(gpus.inventory().source, model::GpuSource::none);
  EXPECT_NE(gpus.inventory().error, std::nullopt);
  write_smi_xml();
  clock_.advance(1000);
  gpus.refresh(kInterval);
  EXPECT_EQ(gpus.inventory().source, model::GpuSource::nvidia_smi);
  EXPECT_EQ(gpus.inventory().error, std::nullopt);
}

TEST_F(GpuSourceTest, InitFailsAndSmiWorks_SmiIsUsed) {
  set_scenario(R"({"init_code": 999})");
  write_smi_xml();
  GpuSource gpus = source();
  gpus.refresh(kInterval);
  EXPECT_EQ(gpus.inventory().source, model::GpuSource::nvidia_smi);
  EXPECT_EQ(gpus.inventory().error, std::nullopt);
}

TEST_F(GpuSourceTest, InitFailsAndSmiSeesNothing_WordsOfInitStay) {
  set_scenario(R"({"init_code": 9})");
  write_smi("echo 'No devices were found'; exit 6");
  GpuSource gpus = source();
  gpus.refresh(kInterval);
  EXPECT_EQ(gpus.inventory().error, "the NVIDIA driver is not loaded");
  EXPECT_THAT(gpus.read(true, kInterval), IsEmpty());
}

TEST_F(GpuSourceTest, VersionsDiffer_BothAreNamed) {
  const std::string library = root_ + "/libnvidia-ml.so.550.90.07";
  std::filesystem::copy_file(sim_path(), library);
  std::ofstream(root_ + "/proc/driver/nvidia/version")
      << "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun  6 22:20:39 UTC "
         "2023\n";
  set_scenario(R"({"init_code": 18})");
  GpuSource gpus = source(library);
  gpus.refresh(kInterval);
  EXPECT_EQ(gpus.inventory().source, model::GpuSource::none);
  EXPECT_EQ(gpus.inventory().error,
            "the NVIDIA driver and its library differ (driver 535.54.03, library 550.90.07): "
            "reboot, or reload the driver");
}

TEST_F(GpuSourceTest, InitKeepsFailing_IsTriedAgainEverLater) {
  set_scenario(R"({"init_code": 999})");
  GpuSource gpus = source();
  gpus.refresh(kInterval);
  // Each wait but the last millisecond of it must not try; that it then does is seen by the code in
  // the words.
  int code = 40;
  for (const std::int64_t wait_ms : {1000, 2000, 5000, 10'000, 30'000, 30'000}) {
    const auto before = gpus.inventory().error;
    ++code;
    set_scenario("{\"init_code\": " + std::to_string(code) + "}");
    clock_.advance(wait_ms - 1);
    gpus.refresh(kInterval);
    EXPECT_EQ(gpus.inventory().error, before) << wait_ms;
    clock_.advance(1);
    gpus.refresh(kInterval);
    EXPECT_EQ(gpus.inventory().error, "NVML did not start: NVML error " + std::to_string(code));
  }
  set_scenario("{}");
  clock_.advance(30'000);
  gpus.refresh(kInterval);
  EXPECT_EQ(gpus.inventory().source, model::GpuSource::nvml);
  EXPECT_EQ(gpus.inventory().error, std::nullopt);
}

TEST_F(GpuSourceTest, DriverGoesAndComesBack_SoDoTheCards) {
  GpuSource gpus = source();
  gpus.refresh(kInterval);
  ASSERT_THAT(gpus.read(true, kInterval), SizeIs(1));
  set_scenario(R"({"init_code": 999, "codes": {"nvmlDeviceGetCount_v2": 999}})");
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!gpus.read(true, kInterval).empty() && std::chrono::steady_clock::now() < limit) {
    ::poll(nullptr, 0, 5);
  }
  EXPECT_EQ(gpus.inventory().source, model::GpuSource::none);
  EXPECT_THAT(gpus.inventory().error.value_or(""), HasSubstr("container"));
  EXPECT_THAT(gpus.inventory().gpus, IsEmpty());
  set_scenario("{}");
  clock_.advance(1000);
  gpus.refresh(kInterval);
  EXPECT_THAT(gpus.read(true, kInterval), SizeIs(1));
  EXPECT_EQ(gpus.inventory().source, model::GpuSource::nvml);
  EXPECT_EQ(gpus.inventory().error, std::nullopt);
}

TEST_F(GpuSourceTest, SimulatedProcess_HasTheFactsOfTheScenario) {
  set_scenario(R"({"gpus": [{"model": "RTX 3090 Ti", "processes": [{"pid": 4000000, "mem_mb": 10,
      "facts": {"user": "alice", "name": "python3", "command": "python3 train.py",
                "cpu_percent": 120, "rss_mb": 500, "elapsed_s": 60, "state": "R"}}]}]})");
  GpuSource gpus = source();
  gpus.refresh(kInterval);
  const auto readings = gpus.read(true, kInterval);
  ASSERT_THAT(readings, SizeIs(1));
  ASSERT_THAT(readings[0].processes, SizeIs(1));
  const model::ProcessSample& process = readings[0].processes[0];
  EXPECT_EQ(process.pid, 4000000);
  EXPECT_EQ(process.mem_mb, 10);
  EXPECT_EQ(process.user, "alice");
  EXPECT_EQ(process.name, "python3");
  EXPECT_EQ(process.command, "python3 train.py");
  EXPECT_EQ(process.cpu_percent, 120);
  EXPECT_EQ(process.rss_mb, 500);
  EXPECT_EQ(process.state, "R");
  EXPECT_EQ(process.threads, std::nullopt);
}

TEST_F(GpuSourceTest, PidOutsideThisNamespace_IsListedWithoutUser) {
  set_scenario(
      R"({"gpus": [{"model": "RTX 3090 Ti", "processes": [{"pid": 4000001, "mem_mb": 10}]}]})");
  GpuSource gpus = source();
  gpus.refresh(kInterval);
  const auto readings = gpus.read(true, kInterval);
  ASSERT_THAT(readings[0].processes, SizeIs(1));
  EXPECT_EQ(readings[0].processes[0], (model::ProcessSample{.pid = 4000001, .mem_mb = 10}));
}

TEST_F(GpuSourceTest, OneProcessOnTwoCards_HasTheSameFactsOnBoth) {
  const std::string pid = std::to_string(::getpid());
  set_scenario(R"({"gpus": [{"model": "RTX 3090 Ti", "count": 2, "processes": [
      {"type": "G", "mem_mb": 10, "pid": )" +
               pid + "}]}]}");
  GpuSource gpus = source();
  gpus.refresh(kInterval);
  const auto readings = gpus.read(true, kInterval);
  ASSERT_THAT(readings, SizeIs(2));
  ASSERT_THAT(readings[0].processes, SizeIs(1));
  EXPECT_EQ(readings[0].processes[0].type, model::ProcessType::graphics);
  EXPECT_NE(readings[0].processes[0].user, std::nullopt);
  EXPECT_EQ(readings[0].processes, readings[1].processes);
}

}  // namespace
}  // namespace nvidb::agent
