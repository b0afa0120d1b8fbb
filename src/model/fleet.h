// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Every watched machine at one moment: what views, --json and the web page are made from.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/agent_message.h"
#include "model/gpu.h"
#include "model/host.h"
#include "model/shared.h"

namespace nvidb::model {

enum class NodeState {
  connecting,  // no sample yet
  up,          // the last sample is recent
  stale,       // there are values, but they are old
  down,        // nothing comes, and nothing is being waited for
  auth,        // the server refused us; the user has to act
  hostkey,     // unknown or changed host key; the user has to act
};
const char* to_string(NodeState state);  // the enumerator's own name

// VRAM that one user's processes hold.
struct UserVram {
  std::string user;
  std::int64_t mem_mb = 0;

  bool operator==(const UserVram&) const = default;
};

struct Node {
  std::string name;
  std::string address;  // host name or IP; `localhost` for this machine
  std::optional<std::int64_t> port;
  std::optional<std::string> username;
  bool local = false;

  NodeState state = NodeState::connecting;
  std::optional<std::string> error;   // one sentence a person can act on
  std::optional<std::string> notice;  // what is being waited for

  bool simulated = false;
  GpuSource source = GpuSource::none;
  std::optional<CollectorKind> collector;
  std::optional<std::string> driver_version, cuda_version;
  std::optional<std::string> nvml_path, nvml_version;
  HostFacts host_facts;

  // Of the last sample; absent before the first.
  // Wall clock of this machine at arrival, not the node's own clock.
  std::optional<std::int64_t> sampled_at_ms;
  std::optional<std::int64_t> sample_ms;
  HostReading host;
  std::vector<Gpu> gpus;  // ascending index

  std::int64_t bad_lines = 0;  // marked lines that could not be read
  std::int64_t noise_lines = 0;

  bool operator==(const Node&) const = default;
};

struct FleetSnapshot {
  std::int64_t revision = 0;
  std::vector<Shared<Node>> nodes;  // local first, then in configuration order

  bool operator==(const FleetSnapshot&) const = default;
};

}  // namespace nvidb::model
