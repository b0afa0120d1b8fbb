// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors

// NVML's functions on what a card is, and on its MIG devices.
#include <algorithm>
#include <cstdio>

#include "call.h"

namespace nvidb::sim {
namespace {

using nvml::Device;
using nvml::Return;

constexpr std::size_t kMaxMigDevices = 7;

// A text of the card, or of its MIG device where that has one of its own.
Return put_card_text(const char* function, Device device, char* out, std::uint32_t size,
                     std::optional<std::string> Card::*of_card, std::string MigDevice::*of_mig) {
  return on_device(function, device, [&](const Target& target) {
    const bool fill = target.card->string_fill;
    if (target.mig == nullptr) return put_text(target.card->*of_card, out, size, fill);
    if (of_mig == nullptr) return nvml::kNotSupported;
    return put_text(target.mig->*of_mig, out, size, fill);
  });
}

Return put_pci(const char* function, Device device, nvml::PciInfo* out) {
  return on_card(function, device, [&](const Target& target) {
    if (out == nullptr) return nvml::kInvalidArgument;
    if (!target.card->pci_bus_id) return nvml::kNotSupported;
    const std::string& bus_id = *target.card->pci_bus_id;
    *out = {};
    unsigned function_number = 0;
    std::sscanf(bus_id.c_str(), "%x:%x:%x.%x", &out->domain, &out->bus, &out->device,
                &function_number);
    char legacy[64];
    std::snprintf(legacy, sizeof legacy, "%04X:%02X:%02X.%X", out->domain & 0xFFFF, out->bus & 0xFF,
                  out->device & 0xFF, function_number & 0xF);
    const bool fill = target.card->string_fill;
    put_text(legacy, out->bus_id_legacy, sizeof out->bus_id_legacy, fill);
    put_text(bus_id.substr(0, sizeof out->bus_id - 1), out->bus_id, sizeof out->bus_id, fill);
    return nvml::kSuccess;
  });
}

}  // namespace
}  // namespace nvidb::sim

using namespace nvidb::sim;
using nvml::Device;
using nvml::Return;

#pragma GCC visibility push(default)
extern "C" {

// ---- facts ----

Return nvmlDeviceGetName(Device device, char* out, std::uint32_t size) {
  return put_card_text(__func__, device, out, size, &Card::name, &MigDevice::name);
}

Return nvmlDeviceGetUUID(Device device, char* out, std::uint32_t size) {
  return put_card_text(__func__, device, out, size, &Card::uuid, &MigDevice::uuid);
}

Return nvmlDeviceGetSerial(Device device, char* out, std::uint32_t size) {
  return put_card_text(__func__, device, out, size, &Card::serial, nullptr);
}

Return nvmlDeviceGetPciInfo_v3(Device device, nvml::PciInfo* out) {
  return put_pci(__func__, device, out);
}

Return nvmlDeviceGetPciInfo_v2(Device device, nvml::PciInfo* out) {
  return put_pci(__func__, device, out);
}

Return nvmlDeviceGetArchitecture(Device device, std::uint32_t* out) {
  return on_device(__func__, device,
                   [&](const Target& target) { return put(target.card->architecture, out); });
}

Return nvmlDeviceGetBrand(Device device, int* out) {
  return on_card(__func__, device,
                 [&](const Target& target) { return put(target.card->preset->brand, out); });
}

Return nvmlDeviceGetCudaComputeCapability(Device device, int* major, int* minor) {
  return on_device(__func__, device, [&](const Target& target) {
    const Return code = put(target.card->preset->compute_major, major);
    return code != nvml::kSuccess ? code : put(target.card->preset->compute_minor, minor);
  });
}

Return nvmlDeviceGetIndex(Device device, std::uint32_t* out) {
  return on_card(__func__, device,
                 [&](const Target& target) { return put(static_cast<double>(target.index), out); });
}

Return nvmlDeviceGetMinorNumber(Device device, std::uint32_t* out) {
  return on_card(__func__, device,
                 [&](const Target& target) { return put(static_cast<double>(target.index), out); });
}

Return nvmlDeviceGetPersistenceMode(Device device, int* out) {
  return on_card(__func__, device, [&](const Target&) { return put(1, out); });
}

// ---- MIG ----

Return nvmlDeviceGetMigMode(Device device, std::uint32_t* now, std::uint32_t* pending) {
  return on_card(__func__, device, [&](const Target& target) {
    const auto on = target.card->mig ? std::optional(*target.card->mig ? 1.0 : 0.0) : std::nullopt;
    const Return code = put(on, now);
    return code != nvml::kSuccess ? code : put(on, pending);
  });
}

Return nvmlDeviceGetMaxMigDeviceCount(Device device, std::uint32_t* out) {
  return on_card(__func__, device, [&](const Target& target) {
    const std::size_t most = std::max<std::size_t>(kMaxMigDevices, target.card->mig_devices.size());
    return put(target.card->mig ? static_cast<double>(most) : 0, out);
  });
}

Return nvmlDeviceGetMigDeviceHandleByIndex(Device device, std::uint32_t index, Device* out) {
  return on_card(__func__, device, [&](const Target& target) {
    if (out == nullptr) return nvml::kInvalidArgument;
    if (!target.card->mig) return nvml::kNotSupported;
    const auto& devices = target.card->mig_devices;
    if (index >= devices.size() || !devices[index]) return nvml::kNotFound;
    *out = Session::instance().handle_of(target.index, index);
    return nvml::kSuccess;
  });
}

Return nvmlDeviceGetDeviceHandleFromMigDeviceHandle(Device device, Device* out) {
  return on_device(__func__, device, [&](const Target& target) {
    if (out == nullptr || target.mig == nullptr) return nvml::kInvalidArgument;
    *out = Session::instance().handle_of(target.index);
    return nvml::kSuccess;
  });
}

Return nvmlDeviceIsMigDeviceHandle(Device device, std::uint32_t* out) {
  return on_device(__func__, device,
                   [&](const Target& target) { return put(target.mig != nullptr ? 1 : 0, out); });
}

Return nvmlDeviceGetGpuInstanceId(Device device, std::uint32_t* out) {
  return on_device(__func__, device, [&](const Target& target) {
    if (target.mig == nullptr) return nvml::kNotSupported;
    return put(target.mig->gpu_instance, out);
  });
}

Return nvmlDeviceGetComputeInstanceId(Device device, std::uint32_t* out) {
  return on_device(__func__, device, [&](const Target& target) {
    if (target.mig == nullptr) return nvml::kNotSupported;
    return put(target.mig->compute_instance, out);
  });
}

}  // extern "C"
#pragma GCC visibility pop
