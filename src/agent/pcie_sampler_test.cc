// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "agent/pcie_sampler.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "agent/sim_test_support.h"

namespace nvidb::agent {
namespace {

constexpr std::int64_t kLongMs = 30'000;  // a limit that only a broken sampler reaches

nvml::Device device(std::uintptr_t number) {
  return reinterpret_cast<nvml::Device>(number);
}

// A driver whose answers a test chooses and whose calls it can hold back. Shared with the sampler's
// threads.
struct FakeDriver {
  struct Answer {
    nvml::Return code = nvml::kSuccess;
    std::uint32_t kb_s = 0;
    bool blocked = false;
  };
  std::mutex mutex;
  std::condition_variable released;
  std::map<std::pair<nvml::Device, int>, Answer> answers;
  int calls = 0;

  nvml::Return ask(nvml::Device card, int counter, std::uint32_t* kb_s) {
    std::unique_lock lock(mutex);
    ++calls;
    Answer& answer = answers[{card, counter}];
    released.wait(lock, [&] { return !answer.blocked; });
    *kb_s = answer.kb_s;
    return answer.code;
  }
  void set(nvml::Device card, int counter, Answer answer) {
    const std::lock_guard lock(mutex);
    answers[{card, counter}] = answer;
    released.notify_all();
  }
};

class PcieSamplerTest : public testing::Test {
 protected:
  void set_others(std::uint32_t kb_s) {
    driver_->set(first_, nvml::kPcieTx, {.kb_s = kb_s});
    driver_->set(second_, nvml::kPcieRx, {.kb_s = kb_s});
    driver_->set(second_, nvml::kPcieTx, {.kb_s = kb_s});
  }
  static void wait_until(const std::function<bool()>& true_at_last) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::milliseconds(kLongMs);
    while (!true_at_last() && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
  }

  std::shared_ptr<FakeDriver> driver_ = std::make_shared<FakeDriver>();
  StillClock& clock_ = StillClock::instance();
  PcieSampler::Ask ask_ = [driver = driver_](nvml::Device card, int counter, std::uint32_t* kb_s) {
    return driver->ask(card, counter, kb_s);
  };
  const nvml::Device first_ = device(1), second_ = device(2);
};

TEST_F(PcieSamplerTest, TwoCards_EachDirectionIsItsOwn) {
  driver_->set(first_, nvml::kPcieRx, {.kb_s = 11});
  driver_->set(first_, nvml::kPcieTx, {.kb_s = 12});
  driver_->set(second_, nvml::kPcieRx, {.kb_s = 21});
  driver_->set(second_, nvml::kPcieTx, {.kb_s = 22});
  PcieSampler sampler(ask_, {first_, second_}, clock_);
  sampler.kick();
  sampler.wait(kLongMs);
  EXPECT_EQ(sampler.traffic(0, 0).rx_kb_s, 11);
  EXPECT_EQ(sampler.traffic(0, 0).tx_kb_s, 12);
  EXPECT_EQ(sampler.traffic(1, 0).rx_kb_s, 21);
  EXPECT_EQ(sampler.traffic(1, 0).tx_kb_s, 22);
}

TEST_F(PcieSamplerTest, NeverKicked_KnowsNothingAndStopsAtOnce) {
  PcieSampler sampler(ask_, {first_}, clock_);
  EXPECT_EQ(sampler.traffic(0, kLongMs).rx_kb_s, std::nullopt);
  EXPECT_TRUE(sampler.stop());
  EXPECT_EQ(driver_->calls, 0);
}

TEST_F(PcieSamplerTest, NotSupported_IsNeverAskedAgain) {
  driver_->set(first_, nvml::kPcieRx, {.code = nvml::kNotSupported});
  driver_->set(first_, nvml::kPcieTx, {.code = nvml::kFunctionNotFound});
  PcieSampler sampler(ask_, {first_}, clock_);
  for (int i = 0; i < 4; ++i) {
    sampler.kick();
    sampler.wait(kLongMs);
  }
  EXPECT_EQ(driver_->calls, 2);
  EXPECT_EQ(sampler.traffic(0, kLongMs).rx_kb_s, std::nullopt);
}

TEST_F(PcieSamplerTest, CallThatFails_IsAbsentAndAskedAgain) {
  driver_->set(first_, nvml::kPcieRx, {.kb_s = 7});
  PcieSampler sampler(ask_, {first_}, clock_);
  sampler.kick();
  sampler.wait(kLongMs);
  driver_->set(first_, nvml::kPcieRx, {.code = nvml::kUnknown, .kb_s = 7});
  sampler.kick();
  sampler.wait(kLongMs);
  EXPECT_EQ(sampler.traffic(0, kLongMs).rx_kb_s, std::nullopt);
  driver_->set(first_, nvml::kPcieRx, {.kb_s = 8});
  sampler.kick();
  sampler.wait(kLongMs);
  EXPECT_EQ(sampler.traffic(0, kLongMs).rx_kb_s, 8);
}

TEST_F(PcieSamplerTest, CardWithoutHandle_IsNotAsked) {
  PcieSampler sampler(ask_, {nullptr}, clock_);
  sampler.kick();
  sampler.wait(kLongMs);
  EXPECT_EQ(driver_->calls, 0);
}

TEST_F(PcieSamplerTest, AbsurdRate_IsAbsent) {
  driver_->set(first_, nvml::kPcieRx, {.kb_s = nvml::kNotAvailable32});
  PcieSampler sampler(ask_, {first_}, clock_);
  sampler.kick();
  sampler.wait(kLongMs);
  EXPECT_EQ(sampler.traffic(0, kLongMs).rx_kb_s, std::nullopt);
}

TEST_F(PcieSamplerTest, BlockedCall_KeepsItsLastValueUntilTooOldAndDelaysNobody) {
  driver_->set(first_, nvml::kPcieRx, {.kb_s = 5});
  PcieSampler sampler(ask_, {first_, second_}, clock_);
  sampler.kick();
  sampler.wait(kLongMs);

  driver_->set(first_, nvml::kPcieRx, {.blocked = true});
  set_others(66);
  sampler.kick();
  sampler.wait(1);  // now the blocked one is late
  wait_until([&] {
    return sampler.traffic(0, 0).tx_kb_s == 66 && sampler.traffic(1, 0).rx_kb_s == 66 &&
           sampler.traffic(1, 0).tx_kb_s == 66;
  });

  clock_.advance(2000);
  set_others(77);
  sampler.kick();
  sampler.wait(kLongMs);  // returns when the others have answered, or this test takes for ever
  EXPECT_EQ(sampler.traffic(0, 2000).rx_kb_s, 5);
  EXPECT_EQ(sampler.traffic(0, 1999).rx_kb_s, std::nullopt);
  EXPECT_EQ(sampler.traffic(1, 0).rx_kb_s, 77);
  EXPECT_EQ(sampler.traffic(1, 0).tx_kb_s, 77);

  EXPECT_FALSE(sampler.stop(1));
  driver_->set(first_, nvml::kPcieRx, {.kb_s = 1});
  EXPECT_TRUE(sampler.stop(kLongMs));
}

TEST_F(PcieSamplerTest, MoreCardsThanThreads_AllAreMeasured) {
  std::vector<nvml::Device> cards;
  for (std::size_t i = 0; i < PcieSampler::kMaxWorkers; ++i) {
    cards.push_back(device(100 + i));
    driver_->set(cards.back(), nvml::kPcieTx, {.kb_s = static_cast<std::uint32_t>(i)});
  }
  PcieSampler sampler(ask_, cards, clock_);
  sampler.kick();
  sampler.wait(kLongMs);
  for (std::size_t i = 0; i < cards.size(); ++i) {
    EXPECT_EQ(sampler.traffic(i, 0).tx_kb_s, static_cast<std::int64_t>(i));
  }
}

}  // namespace
}  // namespace nvidb::agent
