// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Which code points are not one column wide. Data; text.cc gives it meaning.
#include <cstdint>
#include <span>

namespace nvidb::base {

enum class WidthKind : std::uint8_t {
  combining,  // drawn over the one before it, no column of its own
  format,     // steers layout (bidi, joiners, separators): not for a terminal
  none,       // unassigned, private use, surrogate: nobody knows how wide it will be
  wide,       // two columns
};

struct WidthRange {
  char32_t first, last;  // both included
  WidthKind kind;
};

// Ascending, without overlap; from U+0080 on. What is in no range takes one column.
std::span<const WidthRange> width_ranges();

}  // namespace nvidb::base
