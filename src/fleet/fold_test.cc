// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "fleet/fold.h"

#include <gtest/gtest.h>

namespace nvidb::fleet {
namespace {

using base::ErrorKind;
using model::NodeState;

constexpr std::int64_t kNow = 1'764'583'200'000;

model::Inventory two_cards() {
  model::Inventory inventory;
  inventory.source = model::GpuSource::nvml;
  inventory.driver_version = "570.1";
  inventory.gpus = {{.index = 0, .uuid = "GPU-a"}, {.index = 1, .uuid = "GPU-b"}};
  return inventory;
}

model::Sample sample_of_both() {
  model::Sample sample;
  sample.read_ms = 3;
  sample.gpus = {{.index = 0, .util_percent = 10}, {.index = 1, .util_percent = 20}};
  return sample;
}

FoldState after(std::initializer_list<model::AgentMessage> messages) {
  FoldState state;
  for (const auto& message : messages) EXPECT_TRUE(on_message(state, message, kNow));
  return state;
}

TEST(Fold, HelloInventorySample_MakesANodeThatIsUp) {
  const model::Node node = after({model::Hello{}, two_cards(), sample_of_both()}).node;
  EXPECT_EQ(node.state, NodeState::up);
  EXPECT_EQ(node.sampled_at_ms, kNow);
  ASSERT_EQ(node.gpus.size(), 2u);
  EXPECT_EQ(node.gpus[1].facts.uuid, "GPU-b");
  EXPECT_EQ(node.gpus[1].reading.util_percent, 20);
  EXPECT_FALSE(node.error);
}

TEST(Fold, BeforeTheFirstSample_TheNodeIsConnecting) {
  const model::Node node =
      after({model::Hello{}, model::Notice{"waking 2 GPUs"}, two_cards()}).node;
  EXPECT_EQ(node.state, NodeState::connecting);
  EXPECT_EQ(node.notice, "waking 2 GPUs");
}

TEST(Fold, OtherProtocol_IsAnErrorAndChangesNothing) {
  FoldState state;
  const auto result = on_message(state, model::Hello{.protocol = 2}, kNow);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::protocol);
  EXPECT_FALSE(state.node.collector);
}

TEST(Fold, MessagesBeforeHello_AreErrors) {
  FoldState state;
  EXPECT_FALSE(on_message(state, two_cards(), kNow));
  EXPECT_FALSE(on_message(state, sample_of_both(), kNow));
}

TEST(Fold, InventoryWithError_IsANodeErrorOnceSampled) {
  model::Inventory inventory;
  inventory.error = "driver and library differ";
  const model::Node node = after({model::Hello{}, inventory, model::Sample{}}).node;
  EXPECT_EQ(node.state, NodeState::up);
  EXPECT_EQ(node.error, "driver and library differ");
}

TEST(Fold, CardMissingFromASample_KeepsItsRowWithAnError) {
  model::Sample sample = sample_of_both();
  sample.gpus.erase(sample.gpus.begin());
  const model::Node node = after({model::Hello{}, two_cards(), sample_of_both(), sample}).node;
  ASSERT_EQ(node.gpus.size(), 2u);
  EXPECT_EQ(node.gpus[0].reading.error, "not in the last sample");
  EXPECT_EQ(node.gpus[1].reading.util_percent, 20);
}

TEST(Fold, ReadingOfACardTheInventoryDoesNotName_IsNotShown) {
  model::Sample sample = sample_of_both();
  sample.gpus.push_back({.index = 7, .util_percent = 99});
  EXPECT_EQ(after({model::Hello{}, two_cards(), sample}).node.gpus.size(), 2u);
}

TEST(Fold, AnotherCardAtTheSameIndex_DoesNotInheritTheReading) {
  model::Inventory swapped = two_cards();
  swapped.gpus[1].uuid = "GPU-new";
  const model::Node node = after({model::Hello{}, two_cards(), sample_of_both(), swapped}).node;
  EXPECT_EQ(node.gpus[0].reading.util_percent, 10);
  EXPECT_FALSE(node.gpus[1].reading.util_percent);
}

TEST(Fold, FailureAfterSamples_KeepsTheLastValuesAsStale) {
  FoldState state = after({model::Hello{}, two_cards(), sample_of_both()});
  on_failure(state, {ErrorKind::timeout, "no sample within 8 s", ""});
  EXPECT_EQ(state.node.state, NodeState::stale);
  EXPECT_EQ(state.node.error, "no sample within 8 s");
  EXPECT_EQ(state.node.gpus[0].reading.util_percent, 10);
  on_restart(state);
  EXPECT_EQ(state.node.state, NodeState::stale);
  for (const model::AgentMessage& message :
       {model::AgentMessage(model::Hello{}), model::AgentMessage(two_cards()),
        model::AgentMessage(sample_of_both())}) {
    ASSERT_TRUE(on_message(state, message, kNow + 9000));
  }
  EXPECT_EQ(state.node.state, NodeState::up);
  EXPECT_FALSE(state.node.error);
}

TEST(Fold, RefusalAfterSamples_SaysSoAndKeepsTheLastValues) {
  for (const NodeState cause : {NodeState::auth, NodeState::hostkey}) {
    FoldState state = after({model::Hello{}, two_cards(), sample_of_both()});
    on_failure(state, {ErrorKind::refused, "lab refused the login", "ssh lab"}, cause);
    EXPECT_EQ(state.node.state, cause);
    on_restart(state);
    EXPECT_EQ(state.node.state, NodeState::stale);
    EXPECT_EQ(state.node.error, "lab refused the login (ssh lab)");
    EXPECT_EQ(state.node.gpus.at(0).reading.util_percent, 10);
  }
}

TEST(Fold, FailureBeforeAnySample_IsDown) {
  FoldState state = after({model::Hello{}});
  on_failure(state, {ErrorKind::io, "gone", "try again"});
  EXPECT_EQ(state.node.state, NodeState::down);
  EXPECT_EQ(state.node.error, "gone (try again)");
}

}  // namespace
}  // namespace nvidb::fleet
