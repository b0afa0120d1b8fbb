// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "fleet/fold.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace nvidb::fleet {
namespace {

using base::ErrorKind;
using base::fail;
using model::Node;
using model::NodeState;

base::Result<void> fold(FoldState& state, const model::Hello& hello, std::int64_t) {
  if (hello.protocol != model::kProtocolVersion) {
    return fail(ErrorKind::protocol,
                fmt::format("the collector speaks protocol {}, this nvidb speaks {}",
                            hello.protocol, model::kProtocolVersion),
                "install the same nvidb on both sides");
  }
  state.node.collector = hello.collector;
  state.node.host_facts = hello.host;
  return {};
}

base::Result<void> fold(FoldState& state, const model::Notice& notice, std::int64_t) {
  state.node.notice = notice.text;
  return {};
}

// A card keeps its last reading over a new inventory only if it is the same card at the same place.
base::Result<void> fold(FoldState& state, const model::Inventory& inventory, std::int64_t) {
  Node& node = state.node;
  if (!node.collector)
    return fail(ErrorKind::protocol, "the collector sent an inventory before its hello");
  std::vector<model::Gpu> gpus;
  gpus.reserve(inventory.gpus.size());
  for (const model::GpuFacts& facts : inventory.gpus) {
    model::Gpu gpu{facts, {.index = facts.index}};
    const auto old = std::ranges::find_if(
        node.gpus, [&](const model::Gpu& other) { return other.facts.index == facts.index; });
    if (old != node.gpus.end() && old->facts.uuid == facts.uuid) gpu.reading = old->reading;
    gpus.push_back(std::move(gpu));
  }
  node.gpus = std::move(gpus);
  node.source = inventory.source;
  node.simulated = inventory.simulated;
  node.driver_version = inventory.driver_version;
  node.cuda_version = inventory.cuda_version;
  node.nvml_path = inventory.nvml_path;
  node.nvml_version = inventory.nvml_version;
  state.gpu_error = inventory.error;
  if (node.state == NodeState::up) node.error = state.gpu_error;
  return {};
}

base::Result<void> fold(FoldState& state, const model::Sample& sample, std::int64_t now_ms) {
  Node& node = state.node;
  if (!node.collector)
    return fail(ErrorKind::protocol, "the collector sent a sample before its hello");
  // Both lists ascend by index. A reading for a card that the inventory does not name is not shown;
  // a card without a reading says so.
  auto reading = sample.gpus.begin();
  for (model::Gpu& gpu : node.gpus) {
    while (reading != sample.gpus.end() && reading->index < gpu.facts.index) ++reading;
    if (reading != sample.gpus.end() && reading->index == gpu.facts.index) {
      gpu.reading = *reading;
    } else {
      gpu.reading = {.index = gpu.facts.index, .error = "not in the last sample"};
    }
  }
  node.host = sample.host;
  node.sampled_at_ms = now_ms;
  node.sample_ms = sample.read_ms;
  node.state = NodeState::up;
  node.error = state.gpu_error;
  node.notice.reset();
  return {};
}

// These three the feed keeps to itself.
base::Result<void> fold(FoldState&, const model::SignalReply&, std::int64_t) {
  return {};
}

base::Result<void> fold(FoldState&, const model::Want&, std::int64_t) {
  return {};
}

base::Result<void> fold(FoldState&, const model::SmiXml&, std::int64_t) {
  return {};
}

}  // namespace

base::Result<void> on_message(FoldState& state, const model::AgentMessage& message,
                              std::int64_t now_ms) {
  return std::visit([&](const auto& m) { return fold(state, m, now_ms); }, message);
}

void on_failure(FoldState& state, const base::Error& error, NodeState cause) {
  const bool has_values = state.node.sampled_at_ms.has_value();
  state.node.state = cause == NodeState::down && has_values ? NodeState::stale : cause;
  state.node.error = base::to_text(error);
  state.node.notice.reset();
}

void on_restart(FoldState& state) {
  state.node.state = state.node.sampled_at_ms ? NodeState::stale : NodeState::connecting;
  state.node.collector.reset();
}

}  // namespace nvidb::fleet
