// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// What every exported function does before and after it answers: faults, handles, buffers.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "session.h"

namespace nvidb::sim {

// Crashes, blocks, waits, or hands back the code to answer instead of the truth; 0 for none.
nvml::Return suffer(const Scenario& scenario, const char* function, bool on_card);

// Prints the scenario's noise to stdout, as some drivers do.
void make_noise(const Scenario& scenario);

// The driver's way to hand out a number: INVALID_ARGUMENT without a place for it, NOT_SUPPORTED
// where absent; rounded, kept within 32 bits.
nvml::Return put(std::optional<double> number, std::uint32_t* out);
nvml::Return put(std::optional<double> number, int* out);
nvml::Return put(std::optional<double> number, std::uint64_t* out);

// And a text: INSUFFICIENT_SIZE where it does not fit with its NUL. `fill` fills all of `size`
// instead, without a NUL.
nvml::Return put_text(const std::optional<std::string>& text, char* out, std::uint32_t size,
                      bool fill);

// Runs a call on the machine: `answer(scenario)`.
template <typename Answer>
nvml::Return on_system(const char* function, Answer&& answer) {
  Session& session = Session::instance();
  if (!session.initialised()) return nvml::kUninitialized;
  const auto scenario = session.scenario();
  if (!scenario) return nvml::kUnknown;
  if (const nvml::Return code = suffer(*scenario, function, false)) return code;
  return answer(*scenario);
}

// Runs a call on a card or MIG device: `answer(target)`.
template <typename Answer>
nvml::Return on_device(const char* function, nvml::Device device, Answer&& answer) {
  Session& session = Session::instance();
  if (!session.initialised()) return nvml::kUninitialized;
  const std::optional<Target> target = session.resolve(device);
  if (!target) return nvml::kInvalidArgument;
  if (const nvml::Return code = suffer(*target->scenario, function, true)) return code;
  if (const nvml::Return code = card_code(*target->card, function)) return code;
  return answer(*target);
}

// Runs a call that MIG devices do not know: `answer(target)`.
template <typename Answer>
nvml::Return on_card(const char* function, nvml::Device device, Answer&& answer) {
  return on_device(function, device, [&](const Target& target) {
    return target.mig != nullptr ? nvml::kNotSupported : answer(target);
  });
}

// One number of a card.
template <typename Out>
nvml::Return put_value(const char* function, nvml::Device device,
                       std::optional<double> (CardValues::*value)() const, Out* out,
                       double scale = 1) {
  return on_card(function, device, [&](const Target& target) {
    auto number = (target.values().*value)();
    if (number) *number *= scale;
    return put(number, out);
  });
}

}  // namespace nvidb::sim
