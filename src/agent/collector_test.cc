// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "agent/collector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "agent/sim_test_support.h"

namespace nvidb::agent {
namespace {

using testing::SizeIs;

constexpr std::int64_t kLimitMs = 30'000;  // that only a broken collector reaches

TEST(NextDue, ReadingWasQuick_OneIntervalOn) {
  EXPECT_EQ(next_due_ms(1000, 500, 1020), 1500);
  EXPECT_EQ(next_due_ms(1000, 500, 1499), 1500);
}

TEST(NextDue, ReadingTookLong_MissedOnesAreSkippedAndTheBeatKept) {
  EXPECT_EQ(next_due_ms(1000, 500, 1500), 2000);
  EXPECT_EQ(next_due_ms(1000, 500, 4321), 4500);
}

// What a collector emitted, for the test's thread to wait for. Outlives the collector's thread.
struct Inbox {
  std::mutex mutex;
  std::condition_variable came;
  std::deque<model::AgentMessage> messages;
  bool ended = false;

  std::optional<model::AgentMessage> next() {
    std::unique_lock lock(mutex);
    came.wait_for(lock, std::chrono::milliseconds(kLimitMs),
                  [&] { return !messages.empty() || ended; });
    if (messages.empty()) return std::nullopt;
    model::AgentMessage message = std::move(messages.front());
    messages.pop_front();
    return message;
  }
  template <typename Message>
  std::optional<Message> next_of() {
    while (auto message = next()) {
      if (auto* wanted = std::get_if<Message>(&*message)) return std::move(*wanted);
    }
    return std::nullopt;
  }
};

class CollectorTest : public SimTest {
 protected:
  std::unique_ptr<Collector> start(std::int64_t interval_ms, bool once, bool listening = true) {
    Collector::Options options;
    options.source.nvml_paths = {sim_path()};
    options.source.proc_root = "/proc";
    options.interval_ms = interval_ms;
    options.once = once;
    return std::make_unique<Collector>(
        options, base::system_clock(),
        [inbox = inbox_, listening](const model::AgentMessage& message) {
          const std::lock_guard lock(inbox->mutex);
          inbox->messages.push_back(message);
          inbox->came.notify_all();
          return listening;
        },
        [inbox = inbox_] {
          const std::lock_guard lock(inbox->mutex);
          inbox->ended = true;
          inbox->came.notify_all();
        });
  }

  std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
};

TEST_F(CollectorTest, Once_NoticeInventorySampleEnd) {
  set_scenario(R"({"gpus": [{"model": "RTX 3090 Ti", "count": 2}]})");
  const auto collector = start(3'600'000, true);
  auto message = inbox_->next();
  ASSERT_TRUE(message);
  EXPECT_EQ(*message, model::AgentMessage(model::Notice{"waking 2 GPUs"}));
  message = inbox_->next();
  ASSERT_TRUE(message && std::holds_alternative<model::Inventory>(*message));
  EXPECT_THAT(std::get<model::Inventory>(*message).gpus, SizeIs(2));
  message = inbox_->next();
  ASSERT_TRUE(message && std::holds_alternative<model::Sample>(*message));
  EXPECT_EQ(inbox_->next(), std::nullopt);
  EXPECT_TRUE(collector->stop(kLimitMs));
}

TEST_F(CollectorTest, FirstSample_HasCpuSharesAndTraffic) {
  set_scenario(R"({"gpus": [{"model": "RTX 3090 Ti", "processes": [{"mem_mb": 1, "pid": )" +
               std::to_string(::getpid()) + R"(}], "pcie": {"rx_kb_s": 123}}]})");
  const auto collector = start(3'600'000, true);
  const auto sample = inbox_->next_of<model::Sample>();
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->seq, 1);
  EXPECT_NE(sample->host.cpu_percent, std::nullopt);
  ASSERT_THAT(sample->gpus, SizeIs(1));
  EXPECT_EQ(sample->gpus[0].pcie_rx_kb_s, 123);
  ASSERT_THAT(sample->gpus[0].processes, SizeIs(1));
  EXPECT_NE(sample->gpus[0].processes[0].cpu_percent, std::nullopt);
  EXPECT_TRUE(collector->stop(kLimitMs));
}

TEST_F(CollectorTest, OrdersWhileWaiting_AreObeyedAtOnce) {
  set_scenario(
      R"({"gpus": [{"model": "RTX 3090 Ti", "processes": [{"pid": 4000000, "mem_mb": 1}]}]})");
  const auto collector = start(3'600'000, false);
  auto sample = inbox_->next_of<model::Sample>();
  ASSERT_TRUE(sample);
  EXPECT_THAT(sample->gpus[0].processes, SizeIs(1));
  collector->want_processes(false);
  collector->set_interval(100);
  sample = inbox_->next_of<model::Sample>();
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->seq, 2);
  EXPECT_THAT(sample->gpus[0].processes, SizeIs(0));
  EXPECT_TRUE(collector->stop(kLimitMs));
}

TEST_F(CollectorTest, CardsChange_InventoryComesBeforeTheSample) {
  const auto collector = start(100, false);
  ASSERT_TRUE(inbox_->next_of<model::Sample>());
  set_scenario(R"({"gpus": [{"model": "RTX 3090 Ti", "count": 3}]})");
  std::size_t announced = 1;
  for (int i = 0; i < 1000 && announced != 3; ++i) {
    const auto message = inbox_->next();
    ASSERT_TRUE(message);
    if (const auto* inventory = std::get_if<model::Inventory>(&*message)) {
      announced = inventory->gpus.size();
    } else if (const auto* sample = std::get_if<model::Sample>(&*message)) {
      EXPECT_THAT(sample->gpus, SizeIs(announced));
    }
  }
  EXPECT_EQ(announced, 3u);
  const auto sample = inbox_->next_of<model::Sample>();
  ASSERT_TRUE(sample);
  EXPECT_THAT(sample->gpus, SizeIs(3));
  EXPECT_TRUE(collector->stop(kLimitMs));
}

TEST_F(CollectorTest, DriverRefuses_SamplesOfTheHostGoOn) {
  set_scenario(R"({"init_code": 9})");
  const auto collector = start(100, false);
  const auto inventory = inbox_->next_of<model::Inventory>();
  ASSERT_TRUE(inventory);
  EXPECT_EQ(inventory->error, "the NVIDIA driver is not loaded");
  for (int seq = 1; seq <= 2; ++seq) {
    const auto sample = inbox_->next_of<model::Sample>();
    ASSERT_TRUE(sample);
    EXPECT_EQ(sample->seq, seq);
    EXPECT_NE(sample->host.mem_total_mb, std::nullopt);
  }
  EXPECT_TRUE(collector->stop(kLimitMs));
}

TEST_F(CollectorTest, NobodyListens_Ends) {
  const auto collector = start(100, false, false);
  while (inbox_->next()) {
  }
  EXPECT_TRUE(inbox_->ended);
  EXPECT_TRUE(collector->stop(kLimitMs));
}

TEST_F(CollectorTest, DriverBlocks_StopSaysSoWithoutWaiting) {
  set_scenario(R"({"block_ms": {"nvmlInit_v2": 600}})");
  const auto collector = start(100, false);
  EXPECT_FALSE(collector->stop(1));
  EXPECT_TRUE(collector->stop(kLimitMs));
}

}  // namespace
}  // namespace nvidb::agent
