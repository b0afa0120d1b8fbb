// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// A scenario file's text to a scenario. Strict: an unknown key, a wrong type or a number out of
// range is an error, so that a slip in a test's file is seen and not silently the default.
#include <string_view>

#include "base/result.h"
#include "engine/scenario.h"

namespace nvidb::sim {

inline constexpr std::size_t kMaxCards = 1024;
inline constexpr std::size_t kMaxProcessesPerCard = 4096;

// Errors: invalid, naming the place (`gpus[2].fan_percent`).
base::Result<Scenario> parse_scenario(std::string_view text);

// One RTX 3090 Ti, idle.
Scenario default_scenario();

}  // namespace nvidb::sim
