// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "agent/nvml_processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "agent/sim_test_support.h"

namespace nvidb::agent {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// The process lists of the simulator's first card.
class ProcessListsTest : public SimTest {
 protected:
  std::vector<CardProcess> list(const std::string& path = sim_path()) {
    library_ = open(path);
    if (library_ == nullptr) return {};
    EXPECT_EQ(library_->init(), nvml::kSuccess);
    nvml::Device device = nullptr;
    EXPECT_EQ(library_->handle_by_index(0, &device), nvml::kSuccess);
    ProcessLists lists(*library_);
    std::vector<CardProcess> processes;
    code_ = lists.add(device, processes);
    sort_by_memory(processes);
    library_->shutdown();
    return processes;
  }

  std::shared_ptr<const NvmlLibrary> library_;
  nvml::Return code_ = nvml::kSuccess;
};

constexpr const char* kTwoProcesses =
    R"({"gpus": [{"model": "RTX 3090 Ti", "processes": [
        {"pid": 301, "mem_mb": 100}, {"pid": 302, "mem_mb": 200}]}]})";
const CardProcess kFirst{.pid = 301, .compute = true, .mem_mb = 100};
const CardProcess kSecond{.pid = 302, .compute = true, .mem_mb = 200};

TEST_F(ProcessListsTest, NewestRecords_24Bytes) {
  set_scenario(kTwoProcesses);
  EXPECT_THAT(list(), ElementsAre(kSecond, kFirst));
  EXPECT_EQ(library_->compute_processes.record, ProcessRecord::v2_24_bytes);
}

TEST_F(ProcessListsTest, Early535_SecondVersionIsPreferred) {
  set_scenario(std::string(kTwoProcesses).replace(0, 1, R"({"record_bytes": 32, )"));
  EXPECT_THAT(list(sim_without({"nvmlDeviceGetRunningProcessDetailList"})),
              ElementsAre(kSecond, kFirst));
  EXPECT_EQ(library_->compute_processes.record, ProcessRecord::v2_24_bytes);
}

TEST_F(ProcessListsTest, Early535WithoutSecondVersion_32Bytes) {
  set_scenario(std::string(kTwoProcesses).replace(0, 1, R"({"record_bytes": 32, )"));
  EXPECT_THAT(list(sim_without({"nvmlDeviceGetRunningProcessDetailList",
                                "nvmlDeviceGetComputeRunningProcesses_v2",
                                "nvmlDeviceGetGraphicsRunningProcesses_v2",
                                "nvmlDeviceGetMPSComputeRunningProcesses_v2"})),
              ElementsAre(kSecond, kFirst));
  EXPECT_EQ(library_->compute_processes.record, ProcessRecord::wide_32_bytes);
}

TEST_F(ProcessListsTest, OldestLibrary_16Bytes) {
  set_scenario(kTwoProcesses);
  EXPECT_THAT(list(sim_without({"nvmlDeviceGetComputeRunningProcesses_v3",
                                "nvmlDeviceGetComputeRunningProcesses_v2",
                                "nvmlDeviceGetGraphicsRunningProcesses_v3",
                                "nvmlDeviceGetGraphicsRunningProcesses_v2"})),
              ElementsAre(kSecond, kFirst));
  EXPECT_EQ(library_->compute_processes.record, ProcessRecord::v1_16_bytes);
}

TEST_F(ProcessListsTest, SeveralLists_AreMergedByPid) {
  set_scenario(R"({"gpus": [{"model": "RTX 3090 Ti", "processes": [
      {"pid": 1001, "type": "C", "mem_mb": 10}, {"pid": 1001, "type": "G", "mem_mb": 30},
      {"pid": 1002, "type": "G", "mem_mb": 20}, {"pid": 1003, "type": "MPS", "mem_mb": 5},
      {"pid": 1004, "type": "CG", "mem_mb": 4}]}]})");
  EXPECT_THAT(
      list(),
      ElementsAre(CardProcess{.pid = 1001, .compute = true, .graphics = true, .mem_mb = 30},
                  CardProcess{.pid = 1002, .graphics = true, .mem_mb = 20},
                  CardProcess{.pid = 1003, .compute = true, .mem_mb = 5},
                  CardProcess{.pid = 1004, .compute = true, .graphics = true, .mem_mb = 4}));
}

TEST_F(ProcessListsTest, HiddenMemory_IsUnknownAndLast) {
  set_scenario(R"({"gpus": [{"model": "RTX 3090 Ti", "processes": [
      {"pid": 8}, {"pid": 7, "mem_mb": null}, {"pid": 9, "mem_mb": 0}]}]})");
  EXPECT_THAT(list(), ElementsAre(CardProcess{.pid = 9, .compute = true, .mem_mb = 0},
                                  CardProcess{.pid = 7, .compute = true},
                                  CardProcess{.pid = 8, .compute = true}));
}

TEST_F(ProcessListsTest, MoreThanTheFirstBuffer_AllAreListed) {
  std::string processes;
  for (int i = 0; i < 200; ++i) {
    processes +=
        (i == 0 ? "" : ",") + ("{\"pid\": " + std::to_string(1000 + i) + ", \"mem_mb\": 1}");
  }
  set_scenario(R"({"gpus": [{"model": "RTX 3090 Ti", "processes": [)" + processes + "]}]}");
  EXPECT_THAT(list(), SizeIs(200));
  EXPECT_EQ(code_, nvml::kSuccess);
}

TEST_F(ProcessListsTest, ListGrowsBetweenCalls_IsReadAllTheSame) {
  std::string processes;
  for (int i = 0; i < 40; ++i) {
    processes +=
        (i == 0 ? "" : ",") + ("{\"pid\": " + std::to_string(1000 + i) + ", \"mem_mb\": 1}");
  }
  set_scenario(R"({"grow_lists": 20, "gpus": [{"model": "RTX 3090 Ti", "processes": [)" +
               processes + "]}]}");
  const auto listed = list();
  std::set<std::int64_t> pids;
  for (const CardProcess& process : listed) pids.insert(process.pid);
  EXPECT_GE(listed.size(), 40u);
  EXPECT_EQ(pids.size(), listed.size());
  for (int i = 0; i < 40; ++i) EXPECT_TRUE(pids.contains(1000 + i)) << i;
}

TEST_F(ProcessListsTest, ListsFail_NothingIsListed) {
  set_scenario(R"({"gpus": [{"model": "RTX 3090 Ti", "processes": [{"pid": 5, "mem_mb": 1}],
      "codes": {"nvmlDeviceGetComputeRunningProcesses": 4}}]})");
  EXPECT_THAT(list(), IsEmpty());
  EXPECT_EQ(code_, nvml::kNoPermission);
}

}  // namespace
}  // namespace nvidb::agent
