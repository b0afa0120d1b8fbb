// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Messages with every member at random, absent included, all within what the protocol allows; the
// same seed gives the same message.
#include <cstdint>
#include <optional>
#include <random>
#include <string>

#include "model/agent_message.h"

namespace nvidb::test {

class RandomMessage {
 public:
  explicit RandomMessage(std::uint32_t seed) : random_(seed) {}

  model::AgentMessage next() {
    switch (integer(0, 6)) {
      case 0:
        return hello();
      case 5:
        return model::Want{coin() ? model::CollectorKind::python : model::CollectorKind::shell};
      case 6:
        return smi_xml();
      case 1:
        return model::Notice{text()};
      case 2:
        return inventory();
      case 3:
        return model::SignalReply{integer(-5, 1'000'000), maybe(&RandomMessage::text)};
      default:
        return sample();
    }
  }

  model::AgentCommand next_command() {
    switch (integer(0, 3)) {
      case 0:
        return model::SetInterval{integer(100, 3'600'000)};
      case 1:
        return model::WantProcesses{coin()};
      case 2: {
        constexpr int kSignals[] = {2, 9, 15};
        return model::SignalProcess{integer(-1000, 1000), integer(2, 4'000'000), big(),
                                    kSignals[integer(0, 2)]};
      }
      default:
        return model::Quit{};
    }
  }

  model::SmiXml smi_xml() {
    const model::Sample from = sample();
    model::SmiXml message = {from.seq,        from.at_ms, from.read_ms, from.host,
                             integer(0, 255), {},         text()};
    if (!from.gpus.empty()) message.processes = from.gpus.front().processes;
    return message;
  }

  model::Hello hello() {
    model::Hello hello;
    hello.protocol = static_cast<int>(integer(0, 9));
    hello.collector = static_cast<model::CollectorKind>(integer(0, 2));
    hello.version = text();
    hello.pid = integer(1, 4'000'000);
    hello.host = {maybe(&RandomMessage::text), maybe(&RandomMessage::text),
                  maybe(&RandomMessage::positive), maybe(&RandomMessage::text)};
    return hello;
  }

  model::Inventory inventory() {
    model::Inventory inventory;
    inventory.source = static_cast<model::GpuSource>(integer(0, 2));
    inventory.simulated = coin();
    inventory.error = maybe(&RandomMessage::text);
    inventory.driver_version = maybe(&RandomMessage::text);
    inventory.cuda_version = maybe(&RandomMessage::text);
    inventory.nvml_path = maybe(&RandomMessage::text);
    inventory.nvml_version = maybe(&RandomMessage::text);
    for (int index = 0; index < 12; ++index) {
      if (!coin()) continue;
      inventory.gpus.push_back({index, maybe(&RandomMessage::text), maybe(&RandomMessage::text),
                                maybe(&RandomMessage::text), maybe(&RandomMessage::text),
                                maybe(&RandomMessage::link), maybe(&RandomMessage::link)});
    }
    return inventory;
  }

  model::Sample sample() {
    model::Sample sample;
    sample.seq = big();
    sample.at_ms = integer(0, 1'900'000'000'000);
    sample.read_ms = integer(0, 100'000);
    sample.host.cpu_percent = maybe(&RandomMessage::percent);
    sample.host.load1 = maybe(&RandomMessage::percent);
    sample.host.mem_used_mb = maybe(&RandomMessage::size);
    sample.host.mem_total_mb = maybe(&RandomMessage::size);
    sample.host.swap_used_mb = maybe(&RandomMessage::size);
    sample.host.swap_total_mb = maybe(&RandomMessage::size);
    sample.host.uptime_s = maybe(&RandomMessage::size);
    for (int index = 0; index < 12; ++index) {
      if (coin()) sample.gpus.push_back(reading(index));
    }
    return sample;
  }

  model::GpuReading reading(int index) {
    model::GpuReading gpu;
    gpu.index = index;
    gpu.error = maybe(&RandomMessage::text);
    gpu.util_percent = maybe(&RandomMessage::percent);
    gpu.mem_util_percent = maybe(&RandomMessage::percent);
    gpu.mem_used_mb = maybe(&RandomMessage::size);
    gpu.mem_total_mb = maybe(&RandomMessage::positive);
    gpu.mem_reserved_mb = maybe(&RandomMessage::size);
    gpu.temperature_c = maybe(&RandomMessage::small);
    gpu.fan_percent = maybe(&RandomMessage::small);
    gpu.power_w = maybe(&RandomMessage::percent);
    gpu.power_limit_w = maybe(&RandomMessage::percent);
    gpu.performance_state = maybe(&RandomMessage::text);
    gpu.sm_clock_mhz = maybe(&RandomMessage::small);
    gpu.mem_clock_mhz = maybe(&RandomMessage::small);
    gpu.encoder_util_percent = maybe(&RandomMessage::percent);
    gpu.decoder_util_percent = maybe(&RandomMessage::percent);
    gpu.pcie_gen = maybe(&RandomMessage::link);
    gpu.pcie_width = maybe(&RandomMessage::link);
    gpu.pcie_rx_kb_s = maybe(&RandomMessage::size);
    gpu.pcie_tx_kb_s = maybe(&RandomMessage::size);
    gpu.ecc_uncorrected = maybe(&RandomMessage::big);
    for (std::int64_t i = integer(0, 3); i > 0; --i) gpu.throttle_reasons.push_back(text());
    gpu.mig = maybe(&RandomMessage::coin);
    // By memory, largest first, as the order of the wire is.
    for (std::int64_t i = integer(0, 6); i > 0; --i) gpu.processes.push_back(process(i));
    return gpu;
  }

  model::ProcessSample process(std::int64_t rank) {
    model::ProcessSample process;
    process.pid = 1000 - rank;
    process.type = static_cast<model::ProcessType>(integer(0, 2));
    process.mem_mb = rank * 100 + integer(0, 99);
    process.name = maybe(&RandomMessage::text);
    process.command = maybe(&RandomMessage::text);
    process.user = maybe(&RandomMessage::text);
    process.cpu_percent = maybe(&RandomMessage::percent);
    process.host_mem_percent = maybe(&RandomMessage::percent);
    process.rss_mb = maybe(&RandomMessage::size);
    process.elapsed_s = maybe(&RandomMessage::size);
    process.state = maybe(&RandomMessage::text);
    process.threads = maybe(&RandomMessage::positive);
    process.start_ticks = maybe(&RandomMessage::big);
    return process;
  }

  // 1 to 9 pieces, among them all that an encoder may get wrong.
  std::string text() {
    static const std::string kPieces[] = {
        "a",    "Z",           " ",      "\"",       "\\",   "/",
        "\n",   "\t",          "\r",     "\x1b[31m", "\x7f", std::string(1, '\0'),
        "{",    "]",           ",",      ":",        "é",    "\u0085",
        "漢字", "👩‍💻", "\u2028", "nvidb1 "};
    std::string text;
    for (std::int64_t i = integer(1, 9); i > 0; --i) {
      text += kPieces[integer(0, std::ssize(kPieces) - 1)];
    }
    return text;
  }
  bool coin() { return integer(0, 1) == 1; }
  std::int64_t integer(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

 private:
  template <class Value>
  std::optional<Value> maybe(Value (RandomMessage::*make)()) {
    if (integer(0, 3) == 0) return std::nullopt;
    return (this->*make)();
  }
  double percent() { return static_cast<double>(integer(0, 10'000)) / 100; }
  std::int64_t size() { return integer(0, 10'000'000); }
  std::int64_t positive() { return integer(1, 1000); }
  std::int64_t small() { return integer(0, 200); }
  std::int64_t link() { return integer(1, 15); }
  std::int64_t big() { return integer(0, INT64_MAX); }

  std::mt19937 random_;
};

}  // namespace nvidb::test
