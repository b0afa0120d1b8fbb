// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "cli/collect.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "config/paths.h"

namespace nvidb::cli {
namespace {

std::string host_name() {
  std::array<char, 256> buffer{};
  if (::gethostname(buffer.data(), buffer.size() - 1) != 0 || buffer[0] == '\0') return "localhost";
  return buffer.data();
}

bool is_settled(const model::FleetSnapshot& fleet) {
  return std::ranges::none_of(fleet.nodes, [](const model::Node& node) {
    return node.state == model::NodeState::connecting;
  });
}

}  // namespace

base::Result<fleet::NodeSpec> local_node(bool demo) {
  fleet::NodeSpec node;
  node.name = host_name();
  // The name in argv[0] is how every collector of ours can be found among a machine's processes.
  const std::string program = config::env("NVIDB_COLLECTOR").value_or(config::self_path());
  node.collector = {
      .program = program, .argv = {"nvidb-agent", "agent"}, .env = {}, .unset_env = {}};
  if (demo) {
    const auto files = config::find_demo_files();
    if (!files) return base::fail(files.error());
    node.collector.env = {{"NVIDB_NVML", files->nvml_path},
                          {"NVIDB_FAKE_NVML", files->scenario_path}};
  }
  return node;
}

Collected collect_once(std::vector<fleet::NodeSpec> nodes, fleet::FleetOptions options) {
  options.once = true;
  io::Loop loop;
  Collected result;
  loop.on_interrupt([&](int) {
    result.interrupted = true;
    loop.stop();
  });
  fleet::Fleet fleet(loop, base::system_clock(), std::move(nodes), options,
                     [&](const std::shared_ptr<const model::FleetSnapshot>& snapshot) {
                       if (is_settled(*snapshot)) loop.stop();
                     });
  fleet.start();
  loop.run();
  fleet.stop();
  result.fleet = fleet.latest();
  return result;
}

}  // namespace nvidb::cli
