// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Model values in the words of the domain: `GpuBuilder(0, "NVIDIA A40").util(87).mem(20_GiB,
// 48_GiB).build()`. What is not said stays absent.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "model/fleet.h"
#include "model/gpu.h"

namespace nvidb::test {

constexpr std::int64_t operator""_GiB(unsigned long long n) {
  return static_cast<std::int64_t>(n) * 1024;
}
constexpr std::int64_t operator""_GiB(long double n) {
  return static_cast<std::int64_t>(n * 1024);
}

class GpuBuilder {
 public:
  GpuBuilder(int index, std::string name) {
    gpu_.facts.index = gpu_.reading.index = index;
    gpu_.facts.name = std::move(name);
    gpu_.facts.uuid = "GPU-00000000-0000-0000-0000-" + std::to_string(100000000000 + index);
  }

  GpuBuilder& util(double percent) { return set(gpu_.reading.util_percent, percent); }
  GpuBuilder& mem(std::int64_t used_mb, std::int64_t total_mb) {
    gpu_.reading.mem_total_mb = total_mb;
    return set(gpu_.reading.mem_used_mb, used_mb);
  }
  GpuBuilder& temperature(std::int64_t celsius) { return set(gpu_.reading.temperature_c, celsius); }
  GpuBuilder& power(double watts, std::optional<double> limit = std::nullopt) {
    gpu_.reading.power_limit_w = limit;
    return set(gpu_.reading.power_w, watts);
  }
  GpuBuilder& state(std::string p_state) {
    return set(gpu_.reading.performance_state, std::move(p_state));
  }
  GpuBuilder& fan(std::int64_t percent) { return set(gpu_.reading.fan_percent, percent); }
  GpuBuilder& link(std::int64_t gen, std::int64_t width) {
    gpu_.reading.pcie_gen = gen;
    return set(gpu_.reading.pcie_width, width);
  }
  GpuBuilder& traffic(std::int64_t rx_kb_s, std::int64_t tx_kb_s) {
    gpu_.reading.pcie_rx_kb_s = rx_kb_s;
    return set(gpu_.reading.pcie_tx_kb_s, tx_kb_s);
  }
  GpuBuilder& mig() { return set(gpu_.reading.mig, true); }
  GpuBuilder& lost(std::string error) { return set(gpu_.reading.error, std::move(error)); }
  GpuBuilder& process(std::int64_t pid, std::optional<std::string> user,
                      std::optional<std::int64_t> mem_mb) {
    model::ProcessSample process;
    process.pid = pid;
    process.user = std::move(user);
    process.mem_mb = mem_mb;
    gpu_.reading.processes.push_back(std::move(process));
    return *this;
  }

  model::Gpu build() const { return gpu_; }

 private:
  template <class T, class Value>
  GpuBuilder& set(std::optional<T>& member, Value value) {
    member = std::move(value);
    return *this;
  }

  model::Gpu gpu_;
};

// A node that answers, unless told otherwise.
class NodeBuilder {
 public:
  // The wall clock at which every node's sample arrived.
  static constexpr std::int64_t kSampledAtMs = 1'796'119'200'000;

  explicit NodeBuilder(std::string name) {
    node_.name = std::move(name);
    node_.address = "localhost";
    node_.local = true;
    node_.state = model::NodeState::up;
    node_.sampled_at_ms = kSampledAtMs;
  }

  NodeBuilder& remote(std::string address) {
    node_.local = false;
    node_.address = std::move(address);
    return *this;
  }
  NodeBuilder& driver(std::string driver, std::string cuda,
                      model::GpuSource source = model::GpuSource::nvml) {
    node_.driver_version = std::move(driver);
    node_.cuda_version = std::move(cuda);
    node_.source = source;
    return *this;
  }
  NodeBuilder& host(double cpu_percent, std::int64_t cores, std::int64_t used_mb,
                    std::int64_t total_mb) {
    node_.host.cpu_percent = cpu_percent;
    node_.host_facts.cpu_cores = cores;
    node_.host.mem_used_mb = used_mb;
    node_.host.mem_total_mb = total_mb;
    return *this;
  }
  NodeBuilder& state(model::NodeState state) {
    node_.state = state;
    return *this;
  }
  NodeBuilder& never_sampled() {
    node_.sampled_at_ms.reset();
    return *this;
  }
  NodeBuilder& error(std::string text) {
    node_.error = std::move(text);
    return *this;
  }
  NodeBuilder& notice(std::string text) {
    node_.notice = std::move(text);
    return *this;
  }
  NodeBuilder& simulated() {
    node_.simulated = true;
    return *this;
  }
  NodeBuilder& gpu(const GpuBuilder& gpu) { return this->gpu(gpu.build()); }
  NodeBuilder& gpu(model::Gpu gpu) {
    node_.gpus.push_back(std::move(gpu));
    return *this;
  }

  model::Node build() const { return node_; }

 private:
  model::Node node_;
};

template <class... Nodes>
model::FleetSnapshot fleet_of(const Nodes&... nodes) {
  return {.revision = 1, .nodes = {nodes.build()...}};
}

}  // namespace nvidb::test
