// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// The texts that nvidia-smi writes where a value belongs, told apart. Pure. Private to agent/.
//
// A value is a number with a unit, a word, or one of many ways to say that there is none. Whatever
// is not clearly a value is absent.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nvidb::agent {

inline constexpr std::size_t kMaxSmiTextBytes = 256;  // of a name, uuid or version that is kept

// What an element says instead of a value.
enum class SmiToken {
  none,     // it is a value, or empty
  missing,  // `N/A`, `[Not Supported]`, `Requested functionality has been deprecated` ...
  trouble,  // `ERR!`, `[Unknown Error]`: the driver failed on this one question
  reset,    // `[GPU requires reset]`
  lost,     // `[GPU is lost]`
};
SmiToken smi_token(std::string_view text);

// The text as valid UTF-8 of at most kMaxSmiTextBytes, never split within a character; absent where
// it is empty or a token.
std::optional<std::string> smi_text(std::string_view text);

// The number in front of exactly this unit, with or without a space: (`26.78 W`, `W`), (`16x`,
// `x`), (`3`, ``). Absent for anything else and for a number outside [lowest, highest], ends
// included.
std::optional<double> smi_number(std::string_view text, std::string_view unit, double lowest,
                                 double highest);
std::optional<std::int64_t> smi_integer(std::string_view text, std::string_view unit,
                                        std::int64_t lowest, std::int64_t highest);

// Whole MiB of `1998 MiB` (old drivers say `MB` and mean the same); absent from 2^30 MiB on, which
// only a sentinel reaches: all ones in bytes print as 17592186044415 MiB.
std::optional<std::int64_t> smi_mb(std::string_view text);

// The file name of a program as nvidia-smi tells it, which may be a path, a Windows path, or a path
// with arguments; absent for tokens.
std::optional<std::string> smi_program_name(std::string_view text);

}  // namespace nvidb::agent
