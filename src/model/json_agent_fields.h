// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// The keys of every protocol message, each named once, for writing and for reading.
//
// A face is what does one of the two: json_encode.cc has the writer, json_decode.cc the reader.
// `*_fields(face, x)` shows each member of x to the face, in the order of the wire. On a face
//   need_*          the key must be there; a reader calls anything else malformed
//   integer number  optional; a reader takes a value outside the range for absent: it is a sentinel
//   or nonsense text            optional; cut at a limit in bytes; empty is absent
#include <concepts>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include "model/agent_message.h"

namespace nvidb::model {

// What a number can physically be, both ends included.
template <class T>
struct Range {
  T low, high;
};
using Integers = Range<std::int64_t>;
using Numbers = Range<double>;

inline constexpr std::int64_t kMaxInt = std::numeric_limits<std::int64_t>::max();
inline constexpr Integers kAnyInteger{std::numeric_limits<std::int64_t>::min(), kMaxInt};
inline constexpr Integers kCount{0, kMaxInt};
inline constexpr Integers kSizeMb{0, std::int64_t{1} << 40};
// A card of no memory is one that shares the machine's: its driver says 0 where it should say
// nothing.
inline constexpr Integers kTotalMb{1, kSizeMb.high};
inline constexpr Integers kRateKbS{0, std::int64_t{1} << 40};
inline constexpr Integers kSeconds{0, std::int64_t{1} << 40};
inline constexpr Integers kTimeMs{0, std::int64_t{1} << 53};
inline constexpr Integers kPids{0, std::numeric_limits<std::uint32_t>::max()};
inline constexpr Integers kGpuIndex{0, 65535};
inline constexpr Integers kCelsius{-100, 500};
// Above 100 on purpose: the driver counts in parts of what is quiet enough, not of what the fan can
// do.
inline constexpr Integers kFanPercent{0, 255};
inline constexpr Integers kClockMhz{0, 100'000};
inline constexpr Integers kPcieGen{1, 15};
inline constexpr Integers kPcieWidth{1, 64};
inline constexpr Integers kCores{1, 1 << 20};
inline constexpr Integers kThreads{1, 1 << 22};
inline constexpr Integers kIntervalMs{100, 3'600'000};
inline constexpr Numbers kPercent{0, 100};
inline constexpr Numbers kCoresPercent{0, 100.0 * (1 << 20)};  // 100 per core
inline constexpr Numbers kLoad{0, 1e9};
inline constexpr Numbers kWatts{0, 1e6};

// Bytes of one text; kMaxCommandBytes is the limit of a command line.
inline constexpr std::size_t kMaxNameBytes = 256;
inline constexpr std::size_t kMaxErrorBytes = 4096;
inline constexpr std::size_t kMaxThrottleReasons = 64;

template <class T, class U>
concept Is = std::same_as<std::remove_const_t<T>, U>;

// The value of a message's key `type`.
template <class T>
inline constexpr std::string_view kTypeName{};
template <>
inline constexpr std::string_view kTypeName<Hello> = "hello";
template <>
inline constexpr std::string_view kTypeName<Notice> = "notice";
template <>
inline constexpr std::string_view kTypeName<Inventory> = "inventory";
template <>
inline constexpr std::string_view kTypeName<Sample> = "sample";
template <>
inline constexpr std::string_view kTypeName<SignalReply> = "signal_reply";
template <>
inline constexpr std::string_view kTypeName<Want> = "want";
template <>
inline constexpr std::string_view kTypeName<SmiXml> = "smi_xml";
template <>
inline constexpr std::string_view kTypeName<SetInterval> = "interval";
template <>
inline constexpr std::string_view kTypeName<WantProcesses> = "processes";
template <>
inline constexpr std::string_view kTypeName<SignalProcess> = "signal";
template <>
inline constexpr std::string_view kTypeName<Quit> = "quit";

void fields(auto& face, Is<HostFacts> auto& host) {
  face.text("hostname", host.hostname, kMaxNameBytes);
  face.text("os", host.os, kMaxNameBytes);
  face.integer("cpu_cores", host.cpu_cores, kCores);
  face.text("boot_id", host.boot_id, kMaxNameBytes);
}

void fields(auto& face, Is<HostReading> auto& host) {
  face.number("cpu_percent", host.cpu_percent, kPercent);
  face.number("load1", host.load1, kLoad);
  face.integer("mem_used_mb", host.mem_used_mb, kSizeMb);
  face.integer("mem_total_mb", host.mem_total_mb, kSizeMb);
  face.integer("swap_used_mb", host.swap_used_mb, kSizeMb);
  face.integer("swap_total_mb", host.swap_total_mb, kSizeMb);
  face.integer("uptime_s", host.uptime_s, kSeconds);
}

void fields(auto& face, Is<ProcessSample> auto& process) {
  face.need_integer("pid", process.pid, kPids);
  face.need_word("type", process.type);
  face.integer("mem_mb", process.mem_mb, kSizeMb);
  face.text("name", process.name, kMaxNameBytes);
  face.command("command", process.command);
  face.text("user", process.user, kMaxNameBytes);
  face.number("cpu_percent", process.cpu_percent, kCoresPercent);
  face.number("host_mem_percent", process.host_mem_percent, kPercent);
  face.integer("rss_mb", process.rss_mb, kSizeMb);
  face.integer("elapsed_s", process.elapsed_s, kSeconds);
  face.text("state", process.state, kMaxNameBytes);
  face.integer("threads", process.threads, kThreads);
  face.integer("start_ticks", process.start_ticks, kCount);
}

void fields(auto& face, Is<GpuFacts> auto& gpu) {
  face.need_integer("index", gpu.index, kGpuIndex);
  face.text("uuid", gpu.uuid, kMaxNameBytes);
  face.text("name", gpu.name, kMaxNameBytes);
  face.text("pci_bus_id", gpu.pci_bus_id, kMaxNameBytes);
  face.text("architecture", gpu.architecture, kMaxNameBytes);
  face.integer("pcie_gen_max", gpu.pcie_gen_max, kPcieGen);
  face.integer("pcie_width_max", gpu.pcie_width_max, kPcieWidth);
}

void fields(auto& face, Is<GpuReading> auto& gpu) {
  face.need_integer("index", gpu.index, kGpuIndex);
  face.text("error", gpu.error, kMaxErrorBytes);
  face.number("util_percent", gpu.util_percent, kPercent);
  face.number("mem_util_percent", gpu.mem_util_percent, kPercent);
  face.integer("mem_used_mb", gpu.mem_used_mb, kSizeMb);
  face.integer("mem_total_mb", gpu.mem_total_mb, kTotalMb);
  face.integer("mem_reserved_mb", gpu.mem_reserved_mb, kSizeMb);
  face.integer("temperature_c", gpu.temperature_c, kCelsius);
  face.integer("fan_percent", gpu.fan_percent, kFanPercent);
  face.number("power_w", gpu.power_w, kWatts);
  face.number("power_limit_w", gpu.power_limit_w, kWatts);
  face.text("performance_state", gpu.performance_state, kMaxNameBytes);
  face.integer("sm_clock_mhz", gpu.sm_clock_mhz, kClockMhz);
  face.integer("mem_clock_mhz", gpu.mem_clock_mhz, kClockMhz);
  face.number("encoder_util_percent", gpu.encoder_util_percent, kPercent);
  face.number("decoder_util_percent", gpu.decoder_util_percent, kPercent);
  face.integer("pcie_gen", gpu.pcie_gen, kPcieGen);
  face.integer("pcie_width", gpu.pcie_width, kPcieWidth);
  face.integer("pcie_rx_kb_s", gpu.pcie_rx_kb_s, kRateKbS);
  face.integer("pcie_tx_kb_s", gpu.pcie_tx_kb_s, kRateKbS);
  face.integer("ecc_uncorrected", gpu.ecc_uncorrected, kCount);
  face.words("throttle_reasons", gpu.throttle_reasons, kMaxThrottleReasons);
  face.flag("mig", gpu.mig);
  face.list("processes", gpu.processes, kMaxProcesses);
}

void fields(auto& face, Is<Hello> auto& hello) {
  face.need_integer("protocol", hello.protocol, Integers{0, 1 << 30});
  face.need_word("collector", hello.collector);
  face.need_text("version", hello.version, kMaxNameBytes);
  face.need_integer("pid", hello.pid, kPids);
  face.object("host", hello.host);
}

void fields(auto& face, Is<Notice> auto& notice) {
  face.need_text("text", notice.text, kMaxErrorBytes);
}

void fields(auto& face, Is<Inventory> auto& inventory) {
  face.need_word("source", inventory.source);
  face.need_flag("simulated", inventory.simulated);
  face.text("error", inventory.error, kMaxErrorBytes);
  face.text("driver_version", inventory.driver_version, kMaxNameBytes);
  face.text("cuda_version", inventory.cuda_version, kMaxNameBytes);
  face.text("nvml_path", inventory.nvml_path, kMaxErrorBytes);
  face.text("nvml_version", inventory.nvml_version, kMaxNameBytes);
  face.need_list("gpus", inventory.gpus, kMaxGpus);
}

void fields(auto& face, Is<Sample> auto& sample) {
  face.need_integer("seq", sample.seq, kCount);
  face.need_integer("at_ms", sample.at_ms, kTimeMs);
  face.need_integer("read_ms", sample.read_ms, kTimeMs);
  face.object("host", sample.host);
  face.need_list("gpus", sample.gpus, kMaxGpus);
}

void fields(auto& face, Is<Want> auto& want) {
  face.need_word("script", want.script);
}

void fields(auto& face, Is<SmiXml> auto& message) {
  face.need_integer("seq", message.seq, kCount);
  face.need_integer("at_ms", message.at_ms, kTimeMs);
  face.need_integer("read_ms", message.read_ms, kTimeMs);
  face.object("host", message.host);
  face.need_integer("status", message.status, Integers{0, 1 << 16});
  face.need_list("processes", message.processes, kMaxProcesses);
  face.need_text("xml", message.xml, kMaxLineBytes);
}

void fields(auto& face, Is<SignalReply> auto& reply) {
  face.need_integer("id", reply.id, kAnyInteger);
  face.text("error", reply.error, kMaxErrorBytes);
}

void fields(auto& face, Is<SetInterval> auto& command) {
  face.need_integer("interval_ms", command.interval_ms, kIntervalMs);
}

void fields(auto& face, Is<WantProcesses> auto& command) {
  face.need_flag("want", command.want);
}

void fields(auto& face, Is<SignalProcess> auto& command) {
  face.need_integer("id", command.id, kAnyInteger);
  face.need_integer("pid", command.pid, Integers{2, kPids.high});
  face.need_integer("start_ticks", command.start_ticks, kCount);
  face.need_integer("signal", command.signal, Integers{1, 64});
}

void fields(auto&, Is<Quit> auto&) {}

}  // namespace nvidb::model
