// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors

// NVML's functions on one card that answer with numbers of this moment.
#include <algorithm>
#include <ctime>

#include "call.h"

namespace nvidb::sim {
namespace {

using nvml::Device;
using nvml::Return;

constexpr double kMilli = 1000;
constexpr double kBytesPerKb = 1024;
constexpr std::uint64_t kBytesPerMb = 1 << 20;

std::uint64_t mb_to_bytes(std::int64_t mb) {
  return static_cast<std::uint64_t>(mb) * kBytesPerMb;
}

std::optional<CardValues::Memory> memory_of(const Target& target) {
  const auto processes = Session::instance().processes(target);
  if (target.mig == nullptr) return target.values().memory(processes);
  CardValues::Memory memory{.total_mb = target.mig->mem_total_mb};
  for (const ListedProcess& process : processes) memory.used_mb += process.mem_mb.value_or(0);
  memory.free_mb = std::max<std::int64_t>(0, memory.total_mb - memory.used_mb);
  return memory;
}

// The second number of encoder and decoder utilisation is the time it was measured over.
Return put_codec(const char* function, Device device,
                 std::optional<double> (CardValues::*value)() const, std::uint32_t* out,
                 std::uint32_t* period_us) {
  return on_card(function, device, [&](const Target& target) {
    const Return code = put((target.values().*value)(), out);
    return code != nvml::kSuccess ? code : put(167'000, period_us);
  });
}

Return put_clock(const char* function, Device device, int kind, std::uint32_t* out) {
  return on_card(function, device, [&](const Target& target) {
    switch (kind) {
      case nvml::kClockGraphics:
      case nvml::kClockSm:
        return put(target.values().sm_clock_mhz(), out);
      case nvml::kClockMemory:
        return put(target.values().mem_clock_mhz(), out);
      case nvml::kClockVideo: {
        auto mhz = target.values().sm_clock_mhz();
        if (mhz) *mhz *= 0.85;
        return put(mhz, out);
      }
      default:
        return nvml::kInvalidArgument;
    }
  });
}

Return check_version(const std::uint32_t* version, std::uint32_t right) {
  if (version == nullptr) return nvml::kInvalidArgument;
  return *version == right ? nvml::kSuccess : nvml::kArgumentVersionMismatch;
}

// ---- field values ----

Return put_u32(nvml::FieldValue& field, std::optional<double> number) {
  field.value_type = nvml::kValueU32;
  return put(number, &field.value.as_u32);
}

Return put_u64(nvml::FieldValue& field, std::uint64_t number) {
  field.value_type = nvml::kValueU64;
  field.value.as_u64 = number;
  return nvml::kSuccess;
}

std::optional<double> scaled(std::optional<double> number, double scale) {
  if (number) *number *= scale;
  return number;
}

std::optional<std::uint64_t> energy_mj(const Target& target) {
  const auto power_w = target.values().power_w();
  if (!power_w) return std::nullopt;
  return Session::instance().count_up(target, Counter::energy_mj, *power_w * kMilli);
}

Return put_pcie_bytes(nvml::FieldValue& field, const Target& target, Counter counter,
                      std::optional<double> kb_s) {
  if (!kb_s) return nvml::kNotSupported;
  const auto bytes = Session::instance().count_up(target, counter, *kb_s * kBytesPerKb);
  return put_u64(field, bytes & 0xFFFFFFFF);  // real ones have 32 bits
}

Return put_field(nvml::FieldValue& field, const Target& target) {
  const CardValues values = target.values();
  switch (field.field) {
    case 82:
      return put_u32(field, values.mem_temperature_c());
    case 83:
    case 191: {
      const auto energy = energy_mj(target);
      return energy ? put_u64(field, *energy) : nvml::kNotSupported;
    }
    case 142:  // remapped rows: correctable, uncorrectable, pending, failed
    case 143:
    case 144:
    case 145:
      return put_u32(field, scaled(values.ecc_uncorrected(), 0));
    case 185:
      return put_u32(field, scaled(values.power_w(), kMilli));
    case 186:  // of this instant, so that a reader which mixes the two up is seen
      return put_u32(field, scaled(values.power_w(), 1.04 * kMilli));
    case 190:
      return put_u32(field, scaled(values.power_limit_w(), kMilli));
    case 197:
      return put_pcie_bytes(field, target, Counter::pcie_tx_bytes, values.pcie_tx_kb_s());
    case 198:
      return put_pcie_bytes(field, target, Counter::pcie_rx_bytes, values.pcie_rx_kb_s());
    default:
      return nvml::kNotSupported;
  }
}

std::int64_t wall_us() {
  timespec now = {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1'000'000 + now.tv_nsec / 1000;
}

}  // namespace
}  // namespace nvidb::sim

using namespace nvidb::sim;
using nvml::Device;
using nvml::Return;

#pragma GCC visibility push(default)
extern "C" {

Return nvmlDeviceGetUtilizationRates(Device device, nvml::Utilization* out) {
  return on_card(__func__, device, [&](const Target& target) {
    make_noise(*target.scenario);
    if (out == nullptr) return nvml::kInvalidArgument;
    // One call, so a card without one of the two has neither.
    const Return code = put(target.values().util_percent(), &out->gpu);
    return code != nvml::kSuccess ? code : put(target.values().mem_util_percent(), &out->memory);
  });
}

Return nvmlDeviceGetEncoderUtilization(Device device, std::uint32_t* out,
                                       std::uint32_t* period_us) {
  return put_codec(__func__, device, &CardValues::encoder_util_percent, out, period_us);
}

Return nvmlDeviceGetDecoderUtilization(Device device, std::uint32_t* out,
                                       std::uint32_t* period_us) {
  return put_codec(__func__, device, &CardValues::decoder_util_percent, out, period_us);
}

Return nvmlDeviceGetMemoryInfo(Device device, nvml::Memory* out) {
  return on_device(__func__, device, [&](const Target& target) {
    if (out == nullptr) return nvml::kInvalidArgument;
    const auto memory = memory_of(target);
    if (!memory) return nvml::kNotSupported;
    out->total = mb_to_bytes(memory->total_mb);
    out->free = mb_to_bytes(memory->free_mb);
    out->used = mb_to_bytes(memory->used_mb + memory->reserved_mb);
    return nvml::kSuccess;
  });
}

Return nvmlDeviceGetMemoryInfo_v2(Device device, nvml::MemoryV2* out) {
  return on_device(__func__, device, [&](const Target& target) {
    const Return code = check_version(out == nullptr ? nullptr : &out->version,
                                      nvml::struct_version<nvml::MemoryV2>(2));
    if (code != nvml::kSuccess) return code;
    const auto memory = memory_of(target);
    if (!memory) return nvml::kNotSupported;
    out->total = mb_to_bytes(memory->total_mb);
    out->reserved = mb_to_bytes(memory->reserved_mb);
    out->free = mb_to_bytes(memory->free_mb);
    out->used = mb_to_bytes(memory->used_mb);
    return nvml::kSuccess;
  });
}

Return nvmlDeviceGetTemperature(Device device, int sensor, std::uint32_t* out) {
  return on_card(__func__, device, [&](const Target& target) {
    if (sensor != nvml::kSensorGpu || out == nullptr) return nvml::kInvalidArgument;
    // A temperature below zero goes through the unsigned number as it is.
    int celsius = 0;
    const Return code = put(target.values().temperature_c(), &celsius);
    if (code == nvml::kSuccess) *out = static_cast<std::uint32_t>(celsius);
    return code;
  });
}

Return nvmlDeviceGetTemperatureV(Device device, nvml::TemperatureV1* out) {
  return on_card(__func__, device, [&](const Target& target) {
    const Return code = check_version(out == nullptr ? nullptr : &out->version,
                                      nvml::struct_version<nvml::TemperatureV1>(1));
    if (code != nvml::kSuccess) return code;
    if (out->sensor != nvml::kSensorGpu) return nvml::kInvalidArgument;
    return put(target.values().temperature_c(), &out->celsius);
  });
}

Return nvmlDeviceGetFanSpeed(Device device, std::uint32_t* out) {
  return put_value(__func__, device, &CardValues::fan_percent, out);
}

Return nvmlDeviceGetFanSpeed_v2(Device device, std::uint32_t fan, std::uint32_t* out) {
  if (fan != 0) return nvml::kInvalidArgument;
  return put_value(__func__, device, &CardValues::fan_percent, out);
}

Return nvmlDeviceGetNumFans(Device device, std::uint32_t* out) {
  return on_card(__func__, device, [&](const Target& target) {
    return put(target.values().fan_percent() ? 1 : 0, out);
  });
}

Return nvmlDeviceGetClockInfo(Device device, int kind, std::uint32_t* out) {
  return put_clock(__func__, device, kind, out);
}

Return nvmlDeviceGetPerformanceState(Device device, int* out) {
  return put_value(__func__, device, &CardValues::performance_state, out);
}

Return nvmlDeviceGetCurrentClocksEventReasons(Device device, std::uint64_t* out) {
  return put_value(__func__, device, &CardValues::throttle_mask, out);
}

Return nvmlDeviceGetCurrentClocksThrottleReasons(Device device, std::uint64_t* out) {
  return put_value(__func__, device, &CardValues::throttle_mask, out);
}

Return nvmlDeviceGetPowerUsage(Device device, std::uint32_t* out) {
  return put_value(__func__, device, &CardValues::power_w, out, kMilli);
}

Return nvmlDeviceGetEnforcedPowerLimit(Device device, std::uint32_t* out) {
  return put_value(__func__, device, &CardValues::power_limit_w, out, kMilli);
}

Return nvmlDeviceGetPowerManagementLimit(Device device, std::uint32_t* out) {
  return put_value(__func__, device, &CardValues::power_limit_w, out, kMilli);
}

Return nvmlDeviceGetTotalEnergyConsumption(Device device, std::uint64_t* out) {
  return on_card(__func__, device, [&](const Target& target) {
    if (out == nullptr) return nvml::kInvalidArgument;
    const auto energy = energy_mj(target);
    if (!energy) return nvml::kNotSupported;
    *out = *energy;
    return nvml::kSuccess;
  });
}

Return nvmlDeviceGetCurrPcieLinkGeneration(Device device, std::uint32_t* out) {
  return put_value(__func__, device, &CardValues::pcie_gen, out);
}

Return nvmlDeviceGetCurrPcieLinkWidth(Device device, std::uint32_t* out) {
  return put_value(__func__, device, &CardValues::pcie_width, out);
}

Return nvmlDeviceGetMaxPcieLinkGeneration(Device device, std::uint32_t* out) {
  return put_value(__func__, device, &CardValues::pcie_gen_max, out);
}

Return nvmlDeviceGetGpuMaxPcieLinkGeneration(Device device, std::uint32_t* out) {
  return put_value(__func__, device, &CardValues::pcie_gen_max, out);
}

Return nvmlDeviceGetMaxPcieLinkWidth(Device device, std::uint32_t* out) {
  return put_value(__func__, device, &CardValues::pcie_width_max, out);
}

Return nvmlDeviceGetPcieThroughput(Device device, int counter, std::uint32_t* out) {
  return on_card(__func__, device, [&](const Target& target) {
    if (counter != nvml::kPcieTx && counter != nvml::kPcieRx) return nvml::kInvalidArgument;
    const auto kb_s =
        counter == nvml::kPcieTx ? target.values().pcie_tx_kb_s() : target.values().pcie_rx_kb_s();
    if (kb_s) wait_ms(target.scenario->pcie_call_ms);
    return put(kb_s, out);
  });
}

Return nvmlDeviceGetEccMode(Device device, int* now, int* pending) {
  return on_card(__func__, device, [&](const Target& target) {
    const auto on = target.values().ecc_uncorrected() ? std::optional(1.0) : std::nullopt;
    const Return code = put(on, now);
    return code != nvml::kSuccess ? code : put(on, pending);
  });
}

Return nvmlDeviceGetTotalEccErrors(Device device, int type, int counter, std::uint64_t* out) {
  return on_card(__func__, device, [&](const Target& target) {
    if (counter != nvml::kEccVolatile && counter != nvml::kEccAggregate) {
      return nvml::kInvalidArgument;
    }
    if (type == nvml::kMemoryErrorUncorrected) return put(target.values().ecc_uncorrected(), out);
    if (type == nvml::kMemoryErrorCorrected) return put(target.values().ecc_corrected(), out);
    return nvml::kInvalidArgument;
  });
}

Return nvmlDeviceGetConfComputeMemSizeInfo(Device device, nvml::ConfComputeMemSize* out) {
  return on_card(__func__, device, [&](const Target& target) {
    if (out == nullptr) return nvml::kInvalidArgument;
    const auto memory = memory_of(target);
    if (!memory) return nvml::kNotSupported;
    *out = {.protected_kib = 0,
            .unprotected_kib = static_cast<std::uint64_t>(memory->total_mb) * 1024};
    return nvml::kSuccess;
  });
}

Return nvmlDeviceGetFieldValues(Device device, int count, nvml::FieldValue* fields) {
  return on_card(__func__, device, [&](const Target& target) {
    if (count <= 0 || fields == nullptr) return nvml::kInvalidArgument;
    for (int i = 0; i < count; ++i) {
      fields[i].at_us = wall_us();
      fields[i].latency_us = 0;
      fields[i].code = put_field(fields[i], target);
    }
    return nvml::kSuccess;
  });
}

}  // extern "C"
#pragma GCC visibility pop
