// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "call.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace nvidb::sim {
namespace {

template <typename Number>
nvml::Return put_number(std::optional<double> number, Number* out) {
  if (out == nullptr) return nvml::kInvalidArgument;
  if (!number) return nvml::kNotSupported;
  // 2^63 is the most that llround takes; as a limit it is exact.
  constexpr double kMost =
      std::min(static_cast<double>(std::numeric_limits<Number>::max()), 9.2e18);
  constexpr double kLeast = std::is_signed_v<Number> ? -2147483648.0 : 0.0;
  *out = static_cast<Number>(std::llround(std::clamp(*number, kLeast, kMost)));
  return nvml::kSuccess;
}

}  // namespace

nvml::Return suffer(const Scenario& scenario, const char* function, bool on_card) {
  const Fault fault = find_fault(scenario.faults, function, on_card);
  if (fault.crash) std::abort();
  while (fault.block) ::pause();
  wait_ms(fault.block_ms);
  return fault.code;
}

void make_noise(const Scenario& scenario) {
  if (scenario.noise.empty()) return;
  const std::string line = scenario.noise + "\n";
  // A closed stdout is the caller's business.
  if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) return;
}

nvml::Return put(std::optional<double> number, std::uint32_t* out) {
  return put_number(number, out);
}

nvml::Return put(std::optional<double> number, int* out) {
  return put_number(number, out);
}

nvml::Return put(std::optional<double> number, std::uint64_t* out) {
  return put_number(number, out);
}

nvml::Return put_text(const std::optional<std::string>& text, char* out, std::uint32_t size,
                      bool fill) {
  if (out == nullptr || size == 0) return nvml::kInvalidArgument;
  if (!text) return nvml::kNotSupported;
  if (fill) {
    std::memset(out, '#', size);
    std::memcpy(out, text->data(), std::min<std::size_t>(size, text->size()));
    return nvml::kSuccess;
  }
  if (text->size() >= size) return nvml::kInsufficientSize;
  std::memcpy(out, text->c_str(), text->size() + 1);
  return nvml::kSuccess;
}

}  // namespace nvidb::sim
