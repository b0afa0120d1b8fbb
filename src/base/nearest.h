// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// The known word that somebody probably meant. Pure.
#include <span>
#include <string_view>

namespace nvidb::base {

// The entry of `known` that differs in the fewest letters (swapped neighbours count once; at most a
// third of the word, at least one), else "".
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

}  // namespace nvidb::base
