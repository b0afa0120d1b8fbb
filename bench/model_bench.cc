// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
//
// What one sample costs the reader: decode the line, fold it into the node.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "canned_sample.h"
#include "fleet/fold.h"
#include "model/json.h"

namespace {

using namespace nvidb;
using bench::inventory;
using bench::sample;

// The budget: 0.5 ms for 8 cards with 32 processes.
void decode_and_fold(benchmark::State& state) {
  const std::string line = model::encode_line(model::AgentMessage(sample()));
  fleet::FoldState node;
  if (!fleet::on_message(node, model::Hello{}, 0) || !fleet::on_message(node, inventory(), 0))
    std::abort();
  for (auto _ : state) {
    const auto message = model::decode_message(line);
    if (!message || !fleet::on_message(node, *message, 0)) std::abort();
    benchmark::DoNotOptimize(node);
  }
  state.SetLabel(fmt::format("{} bytes", line.size()));
}
BENCHMARK(decode_and_fold)->Unit(benchmark::kMillisecond);

void encode(benchmark::State& state) {
  const model::AgentMessage message = sample();
  for (auto _ : state) benchmark::DoNotOptimize(model::encode_line(message));
}
BENCHMARK(encode)->Unit(benchmark::kMillisecond);

void once_json_of_1000_cards(benchmark::State& state) {
  model::FleetSnapshot fleet;
  for (int i = 0; i < 125; ++i) {
    fleet::FoldState node;
    node.node.name = fmt::format("node-{}", i);
    if (!fleet::on_message(node, model::Hello{}, 0) || !fleet::on_message(node, inventory(), 0) ||
        !fleet::on_message(node, sample(), 0)) {
      std::abort();
    }
    fleet.nodes.push_back(node.node);
  }
  for (auto _ : state) benchmark::DoNotOptimize(model::fleet_json(fleet, 1));
}
BENCHMARK(once_json_of_1000_cards)->Unit(benchmark::kMillisecond);

}  // namespace
