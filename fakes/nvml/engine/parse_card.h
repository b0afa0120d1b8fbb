// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// One entry of a scenario's `gpus` to its cards. Private to parse_scenario.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/scenario.h"

namespace nvidb::sim {

// Appends `count` cards. The first thing that is wrong goes to `error`.
void parse_cards(const nlohmann::json& entry, const std::string& where, std::vector<Card>& cards,
                 std::string& error);

// Function names to codes.
std::map<std::string, int, std::less<>> parse_codes(const nlohmann::json& entry,
                                                    const std::string& where, std::string& error);

// The card of `preset` that stands at `index`: names, uuid and bus id made up, the same each time.
Card make_card(const Preset& preset, std::size_t index);

}  // namespace nvidb::sim
