// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// What a collector and its reader say to each other: docs/agent-protocol.md in C++.
//
// One message is one line `nvidb1 {json}\n`; json.h has the codec.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/gpu.h"
#include "model/host.h"

namespace nvidb::model {

inline constexpr int kProtocolVersion = 1;
inline constexpr std::string_view kLineMark = "nvidb1 ";
// With mark and newline; a longer line is malformed.
inline constexpr std::size_t kMaxLineBytes = 1 << 20;
// Of one process's command line; longer ones are cut.
inline constexpr std::size_t kMaxCommandBytes = 16 << 10;
inline constexpr std::size_t kMaxGpus = 1024;        // in one message; more is malformed
inline constexpr std::size_t kMaxProcesses = 16384;  // on one card in one message

enum class CollectorKind { native, python, shell };
enum class GpuSource { nvml, nvidia_smi, none };
const char* to_string(CollectorKind kind);  // `native` `python` `shell`
const char* to_string(GpuSource source);    // `nvml` `nvidia-smi` `none`

// First line, before the driver is touched.
struct Hello {
  int protocol = kProtocolVersion;
  CollectorKind collector = CollectorKind::native;
  std::string version;  // of the collector's program
  std::int64_t pid = 0;
  HostFacts host;

  bool operator==(const Hello&) const = default;
};

// What is being waited for, while it takes long: `waking 8 GPUs`.
struct Notice {
  std::string text;

  bool operator==(const Notice&) const = default;
};

// Which cards there are and where the numbers come from. Before the first sample, and again after
// every change.
struct Inventory {
  GpuSource source = GpuSource::none;
  bool simulated = false;  // the library is our simulator
  // Why there are no numbers, in plain words; absent on a machine without GPUs.
  std::optional<std::string> error;
  std::optional<std::string> driver_version, cuda_version;
  std::optional<std::string> nvml_path, nvml_version;
  std::vector<GpuFacts> gpus;  // ascending index

  bool operator==(const Inventory&) const = default;
};

struct Sample {
  std::int64_t seq = 0;      // 1, 2, 3 ... of this collector
  std::int64_t at_ms = 0;    // wall clock of the watched machine
  std::int64_t read_ms = 0;  // how long reading took
  HostReading host;
  std::vector<GpuReading> gpus;  // ascending index; the cards of the last inventory

  bool operator==(const Sample&) const = default;
};

// Answer to a SignalProcess.
struct SignalReply {
  std::int64_t id = 0;
  // The system's own text, or `no such process` where the pid was reused.
  std::optional<std::string> error;

  bool operator==(const SignalReply&) const = default;
};

// From the bootstrap of a server without nvidb: which collector's text it waits for on its stdin
// (docs/agent-protocol.md, "Starting over ssh"). Comes before the hello.
struct Want {
  CollectorKind script = CollectorKind::python;  // python or shell

  bool operator==(const Want&) const = default;
};

// A sample of a server without Python: what `nvidia-smi -q -x` said there, whole, for the reader to
// take apart, and what /proc says of the processes it names.
struct SmiXml {
  std::int64_t seq = 0, at_ms = 0, read_ms = 0;  // as in Sample
  HostReading host;
  std::int64_t status = 0;               // nvidia-smi's exit status
  std::vector<ProcessSample> processes;  // `type` and `mem_mb` say nothing
  std::string xml;

  bool operator==(const SmiXml&) const = default;
};

using AgentMessage = std::variant<Hello, Notice, Inventory, Sample, SignalReply, Want, SmiXml>;

// Orders on the collector's stdin. The end of stdin is the order to exit.
struct SetInterval {
  std::int64_t interval_ms = 1000;  // 100 to 3,600,000
  bool operator==(const SetInterval&) const = default;
};
struct WantProcesses {
  bool want = true;  // false: samples carry no processes, which is cheaper
  bool operator==(const WantProcesses&) const = default;
};
struct SignalProcess {
  std::int64_t id = 0;           // comes back in the reply
  std::int64_t pid = 0;          // > 1
  std::int64_t start_ticks = 0;  // refused unless the process has this start time
  int signal = 15;               // 2, 9 or 15
  bool operator==(const SignalProcess&) const = default;
};
struct Quit {
  bool operator==(const Quit&) const = default;
};
using AgentCommand = std::variant<SetInterval, WantProcesses, SignalProcess, Quit>;

}  // namespace nvidb::model
