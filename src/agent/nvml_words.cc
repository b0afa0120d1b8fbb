// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "agent/nvml_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace nvidb::agent {
namespace {

constexpr std::pair<nvml::Return, const char*> kCodeWords[] = {
    {nvml::kSuccess, "no error"},
    {nvml::kUninitialized, "NVML is not initialised"},
    {nvml::kInvalidArgument, "invalid argument"},
    {nvml::kNotSupported, "not supported"},
    {nvml::kNoPermission, "no permission"},
    {nvml::kAlreadyInitialized, "NVML is initialised already"},
    {nvml::kNotFound, "not found"},
    {nvml::kInsufficientSize, "buffer too small"},
    {nvml::kInsufficientPower, "GPU has no power cable connected"},
    {nvml::kDriverNotLoaded, "NVIDIA driver is not loaded"},
    {nvml::kTimeout, "GPU did not answer in time"},
    {nvml::kIrqIssue, "kernel has an interrupt problem with a GPU"},
    {nvml::kLibraryNotFound, "NVML library not found"},
    {nvml::kFunctionNotFound, "function missing in this driver"},
    {nvml::kCorruptedInforom, "GPU's infoROM is corrupted"},
    {nvml::kGpuIsLost, "GPU is lost"},
    {nvml::kResetRequired, "GPU needs a reset"},
    {nvml::kOperatingSystem, "blocked by the operating system"},
    {nvml::kVersionMismatch, "driver and library differ"},
    {nvml::kInUse, "GPU is in use"},
    {nvml::kMemory, "out of memory"},
    {nvml::kNoData, "no data"},
    {nvml::kVgpuEccNotSupported, "not supported by the vGPU host"},
    {nvml::kInsufficientResources, "out of resources"},
    {nvml::kFreqNotSupported, "frequency not supported"},
    {nvml::kArgumentVersionMismatch, "structure version not supported"},
    {nvml::kDeprecated, "no longer supported"},
    {nvml::kNotReady, "GPU is not ready"},
    {nvml::kGpuNotFound, "no GPU found"},
    {nvml::kInvalidState, "GPU is in an invalid state"},
    {nvml::kResetTypeNotSupported, "reset type not supported"},
    {nvml::kUnknown, "unknown NVML error"},
};

constexpr std::pair<std::uint64_t, const char*> kThrottleWords[] = {
    {nvml::kReasonApplicationsClocks, "applications_clocks"},
    {nvml::kReasonSwPowerCap, "sw_power_cap"},
    {nvml::kReasonHwSlowdown, "hw_slowdown"},
    {nvml::kReasonSyncBoost, "sync_boost"},
    {nvml::kReasonSwThermal, "sw_thermal"},
    {nvml::kReasonHwThermal, "hw_thermal"},
    {nvml::kReasonHwPowerBrake, "hw_power_brake"},
    {nvml::kReasonDisplayClocks, "display_clocks"},
};

constexpr std::pair<std::uint32_t, const char*> kArchitectures[] = {
    {2, "Kepler"}, {3, "Maxwell"}, {4, "Pascal"}, {5, "Volta"},      {6, "Turing"},
    {7, "Ampere"}, {8, "Ada"},     {9, "Hopper"}, {10, "Blackwell"}, {13, "Rubin"},
};

constexpr std::uint32_t kMostRoundingPercent = 110;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 50;  // 1 PiB
constexpr std::size_t kMostVersionBytes = 32;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

std::string code_words(nvml::Return code) {
  for (const auto& [number, words] : kCodeWords) {
    if (number == code) return words;
  }
  return fmt::format("NVML error {}", code);
}

bool is_driver_gone(nvml::Return code) {
  return is_driver_gone_by_card(code) || code == nvml::kGpuIsLost || code == nvml::kGpuNotFound ||
         code == nvml::kUnknown;
}

bool is_driver_gone_by_card(nvml::Return code) {
  return code == nvml::kUninitialized || code == nvml::kDriverNotLoaded ||
         code == nvml::kVersionMismatch;
}

bool is_card_gone(nvml::Return code) {
  return code == nvml::kGpuIsLost || code == nvml::kResetRequired;
}

std::string init_failure_words(nvml::Return code, const std::optional<std::string>& kernel_version,
                               const std::optional<std::string>& library_version) {
  switch (code) {
    case nvml::kUninitialized:
      return "NVML lost its connection to the driver";
    case nvml::kDriverNotLoaded:
      return "the NVIDIA driver is not loaded";
    case nvml::kNoPermission:
      return "no permission to talk to the NVIDIA driver";
    case nvml::kVersionMismatch: {
      const std::string versions =
          kernel_version || library_version
              ? fmt::format(" (driver {}, library {})", kernel_version.value_or("unknown"),
                            library_version.value_or("unknown"))
              : std::string();
      return "the NVIDIA driver and its library differ" + versions +
             ": reboot, or reload the driver";
    }
    case nvml::kGpuIsLost:
      return "the driver lost a GPU: see dmesg; a reboot may be needed";
    case nvml::kGpuNotFound:
      return "the driver found no GPU";
    case nvml::kUnknown:
      return "NVML failed with an unknown error; inside a container, restart the container";
    default:
      return "NVML did not start: " + code_words(code);
  }
}

std::optional<std::string> architecture_name(std::uint32_t number) {
  for (const auto& [known, name] : kArchitectures) {
    if (known == number) return name;
  }
  return std::nullopt;
}

std::vector<std::string> throttle_words(std::uint64_t reasons) {
  std::vector<std::string> words;
  reasons &= ~nvml::kReasonGpuIdle;
  for (const auto& [bit, word] : kThrottleWords) {
    if ((reasons & bit) != 0) words.emplace_back(word);
    reasons &= ~bit;
  }
  if (reasons != 0) words.push_back(fmt::format("other_{:#x}", reasons));
  return words;
}

std::optional<std::string> driver_text(std::span<const char> buffer) {
  const std::string_view text(buffer.data(), ::strnlen(buffer.data(), buffer.size()));
  if (text.empty()) return std::nullopt;
  return base::valid_utf8(text);
}

std::optional<std::string> find_version(std::string_view text) {
  for (std::size_t begin = 0; begin < text.size(); ++begin) {
    if (!is_digit(text[begin])) continue;
    std::size_t end = begin;
    while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) ++end;
    std::string_view word = text.substr(begin, end - begin);
    while (word.ends_with('.')) word.remove_suffix(1);
    // A whole word: not the 86_64 of the machine's name, not the lone number of `.so.1`.
    const bool starts = begin == 0 || text[begin - 1] == ' ' || text[begin - 1] == '.';
    if (starts && word.size() >= 3 && word.size() <= kMostVersionBytes &&
        word.find('.') != word.npos) {
      return std::string(word);
    }
    begin = end;
  }
  return std::nullopt;
}

std::optional<std::string> cuda_version_text(int number) {
  constexpr int kMostMajor = 1000;
  if (number < 1000 || number / 1000 > kMostMajor) return std::nullopt;
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

std::optional<double> sane_percent(std::uint32_t value) {
  if (value > kMostRoundingPercent) return std::nullopt;
  return static_cast<double>(std::min(value, std::uint32_t{100}));
}

std::optional<std::int64_t> sane(std::int64_t value, std::int64_t lowest, std::int64_t highest) {
  if (value < lowest || value > highest) return std::nullopt;
  return value;
}

std::optional<std::int64_t> sane_mb(std::uint64_t bytes) {
  if (bytes >= kMostBytes) return std::nullopt;
  return static_cast<std::int64_t>(bytes >> 20);
}

}  // namespace nvidb::agent
