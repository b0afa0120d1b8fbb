// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors

// The process lists: protocol, record sizes, what is in which, and the environment rule.
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <vector>

#include "library_test_support.h"

namespace nvidb::sim {
namespace {

constexpr const char* kCompute = "nvmlDeviceGetComputeRunningProcesses_v3";
constexpr const char* kGraphics = "nvmlDeviceGetGraphicsRunningProcesses_v3";
constexpr const char* kMps = "nvmlDeviceGetMPSComputeRunningProcesses_v3";
constexpr const char* kThree = R"({"gpus":[{"processes":[{"pid":1,"mem_mb":10},
    {"pid":2,"mem_mb":20},{"pid":3,"mem_mb":null}]}]})";

class ProcessListsTest : public LibraryTest {
 protected:
  template <typename Record>
  std::vector<Record> records(const char* name, nvml::Device device) {
    std::vector<Record> found(64);
    std::uint32_t count = 64;
    EXPECT_EQ(call<nvml::ProcessListFn>(name, device, &count, static_cast<void*>(found.data())),
              nvml::kSuccess);
    found.resize(std::min<std::uint32_t>(count, 64));
    return found;
  }
};

TEST_F(ProcessListsTest, NoRoom_SaysHowManyThereAreAndWritesNothing) {
  ASSERT_EQ(play(kThree), nvml::kSuccess);
  std::uint32_t count = 0;
  EXPECT_EQ(call<nvml::ProcessListFn>(kCompute, card(0), &count, static_cast<void*>(nullptr)),
            nvml::kInsufficientSize);
  EXPECT_EQ(count, 3u);
  std::vector<nvml::ProcessInfoV2> room(2);
  count = 2;
  EXPECT_EQ(call<nvml::ProcessListFn>(kCompute, card(0), &count, static_cast<void*>(room.data())),
            nvml::kInsufficientSize);
  EXPECT_EQ(count, 3u);
  EXPECT_EQ(room[0].pid, 0u);
}

// The room is exact, so that a byte too many is a sanitizer's finding.
TEST_F(ProcessListsTest, ExactRoom_IsFilled) {
  ASSERT_EQ(play(kThree), nvml::kSuccess);
  std::vector<nvml::ProcessInfoV2> room(3);
  std::uint32_t count = 3;
  ASSERT_EQ(call<nvml::ProcessListFn>(kCompute, card(0), &count, static_cast<void*>(room.data())),
            nvml::kSuccess);
  EXPECT_EQ(room[1].pid, 2u);
  EXPECT_EQ(room[1].used_bytes, 20u << 20);
  EXPECT_EQ(room[1].gpu_instance, nvml::kNotAvailable32);
  EXPECT_EQ(room[2].used_bytes, nvml::kNotAvailable64);
}

TEST_F(ProcessListsTest, EmptyList_IsSuccessWithoutRoom) {
  ASSERT_EQ(play("{}"), nvml::kSuccess);
  std::uint32_t count = 0;
  EXPECT_EQ(call<nvml::ProcessListFn>(kCompute, card(0), &count, static_cast<void*>(nullptr)),
            nvml::kSuccess);
  EXPECT_EQ(count, 0u);
}

TEST_F(ProcessListsTest, RecordSizes_AreThoseOfTheVersions) {
  ASSERT_EQ(play(kThree), nvml::kSuccess);
  const auto v1 = records<nvml::ProcessInfoV1>("nvmlDeviceGetComputeRunningProcesses", card(0));
  const auto v2 = records<nvml::ProcessInfoV2>("nvmlDeviceGetComputeRunningProcesses_v2", card(0));
  ASSERT_EQ(v1.size(), 3u);
  ASSERT_EQ(v2.size(), 3u);
  EXPECT_EQ(v1[2].pid, 3u);
  EXPECT_EQ(v2[2].pid, 3u);
}

TEST_F(ProcessListsTest, RecordBytes32_WidensV3Alone) {
  std::string wide = kThree;
  wide.insert(1, R"("record_bytes":32,)");
  ASSERT_EQ(play(wide), nvml::kSuccess);
  const auto v3 = records<nvml::ProcessInfoWide>(kCompute, card(0));
  ASSERT_EQ(v3.size(), 3u);
  EXPECT_EQ(v3[2].pid, 3u);
  const auto v2 = records<nvml::ProcessInfoV2>("nvmlDeviceGetComputeRunningProcesses_v2", card(0));
  EXPECT_EQ(v2[2].pid, 3u);
}

TEST_F(ProcessListsTest, Types_SayWhichList) {
  ASSERT_EQ(play(R"({"gpus":[{"model":"H200","processes":[{"pid":1,"type":"C"},
      {"pid":2,"type":"G"},{"pid":3,"type":"CG"},{"pid":4,"type":"MPS"}]}]})"),
            nvml::kSuccess);
  const auto pids = [&](const char* name) {
    std::vector<std::uint32_t> found;
    for (const auto& record : records<nvml::ProcessInfoV2>(name, card(0))) {
      found.push_back(record.pid);
    }
    return found;
  };
  EXPECT_EQ(pids(kCompute), (std::vector<std::uint32_t>{1, 3}));
  EXPECT_EQ(pids(kGraphics), (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ(pids(kMps), (std::vector<std::uint32_t>{4}));
  std::vector<nvml::ProcessInfoWide> room(8);
  nvml::ProcessDetailList list = {.version = nvml::struct_version<nvml::ProcessDetailList>(1),
                                  .mode = 3,
                                  .count = 8,
                                  .records = room.data()};
  ASSERT_EQ(
      call<nvml::ProcessDetailListFn>("nvmlDeviceGetRunningProcessDetailList", card(0), &list),
      nvml::kSuccess);
  EXPECT_EQ(list.count, 4u);
}

TEST_F(ProcessListsTest, GrowLists_OutgrowWhatTheFirstCallSaid) {
  std::string growing = kThree;
  growing.insert(1, R"("grow_lists":5,)");
  ASSERT_EQ(play(growing), nvml::kSuccess);
  std::uint32_t count = 0;
  ASSERT_EQ(call<nvml::ProcessListFn>(kCompute, card(0), &count, static_cast<void*>(nullptr)),
            nvml::kInsufficientSize);
  ASSERT_EQ(count, 3u);
  std::vector<nvml::ProcessInfoV2> room(count);
  EXPECT_EQ(call<nvml::ProcessListFn>(kCompute, card(0), &count, static_cast<void*>(room.data())),
            nvml::kInsufficientSize);
  EXPECT_EQ(count, 8u);
  EXPECT_EQ(list_size(kCompute, card(0)), 13);  // room for all at last
}

TEST_F(ProcessListsTest, MigDevices_HaveTheirOwn) {
  ASSERT_EQ(play_profile("mig_a100"), nvml::kSuccess);
  const nvml::Device parent = card(0);
  nvml::Device part = nullptr;
  ASSERT_EQ(call<nvml::ChildHandleFn>("nvmlDeviceGetMigDeviceHandleByIndex", parent, 0u, &part),
            nvml::kSuccess);
  EXPECT_EQ(records<nvml::ProcessInfoV2>(kCompute, part).size(), 1u);
  EXPECT_EQ(records<nvml::ProcessInfoV2>(kCompute, part)[0].gpu_instance, 2u);
  EXPECT_EQ(records<nvml::ProcessInfoV2>(kCompute, parent).size(), 2u);
  EXPECT_EQ(call<nvml::ChildHandleFn>("nvmlDeviceGetMigDeviceHandleByIndex", parent, 1u, &part),
            nvml::kNotFound);
}

// A program started with the two variables, killed at the end.
class Sleeper {
 public:
  explicit Sleeper(std::vector<std::string> environment) {
    std::vector<char*> variables;
    for (std::string& variable : environment) variables.push_back(variable.data());
    variables.push_back(nullptr);
    char program[] = "sleep", duration[] = "1000";
    char* arguments[] = {program, duration, nullptr};
    EXPECT_EQ(::posix_spawn(&pid_, "/bin/sleep", nullptr, nullptr, arguments, variables.data()), 0);
  }
  ~Sleeper() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  std::uint32_t pid() const { return static_cast<std::uint32_t>(pid_); }

 private:
  pid_t pid_ = -1;
};

TEST_F(ProcessListsTest, EnvRule_ListsRealProcessesOnTheCardsTheySee) {
  // A name of this test's own, so that nothing else on the machine is caught.
  const std::string name = "NVIDB_SIM_TEST_MB_" + std::to_string(::getpid());
  const Sleeper sleeper({name + "=4096", "CUDA_VISIBLE_DEVICES=1,2"});
  const Sleeper other({"SOMETHING=else"});
  ASSERT_EQ(play(R"({"env_rule":{"env":")" + name +
                 R"("},"gpus":[{"count":4,"processes":[{"pid":5,"mem_mb":1}]}]})"),
            nvml::kSuccess);
  const auto holds = [&](std::uint32_t index) {
    std::uint64_t bytes = 0;
    for (const auto& record : records<nvml::ProcessInfoV2>(kCompute, card(index))) {
      EXPECT_NE(record.pid, other.pid());
      if (record.pid == sleeper.pid()) bytes = record.used_bytes;
    }
    return bytes >> 20;
  };
  EXPECT_EQ(holds(0), 0u);
  EXPECT_EQ(holds(1), 4096u);
  EXPECT_EQ(holds(2), 4096u);
  EXPECT_EQ(holds(3), 0u);
  nvml::Memory memory = {};
  ASSERT_EQ(call<nvml::MemoryFn>("nvmlDeviceGetMemoryInfo", card(1), &memory), nvml::kSuccess);
  EXPECT_EQ(memory.used >> 20, 4096u + 1 + 18 + 314);
}

}  // namespace
}  // namespace nvidb::sim
