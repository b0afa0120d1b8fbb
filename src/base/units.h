// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Sizes, durations and rates, as people type and read them. Source: spec "Rules for every command".
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nvidb::base {

// MiB from `20G`, `512m`, `1.5 TiB`, `300`: a number, then optionally m/mb/mib, g/gb/gib, t/tb/tib
// in any case, 1024-based; bare is MiB. Fractions of a MiB are rounded up. Errors: invalid
// (anything else, negative, above 2^40).
Result<std::int64_t> parse_size_mb(std::string_view text);

// A non-negative decimal number, `0.5`, `10`; no sign, exponent, unit or space. Errors: invalid,
// naming `what`.
Result<double> parse_positive_number(std::string_view text, std::string_view what);

// Below 1024 MiB `512M`; else GiB with one decimal, `20.0G`; from 100 GiB none, `143G`; from 1024
// GiB `1.4T`.
std::string format_size(std::int64_t mb);

// `HH:MM:SS`, from a day on `D-HH:MM:SS`; negative shows as 00:00:00.
std::string format_duration(std::int64_t seconds);

// 1024-based with three digits: `0KB/s`, `500KB/s`, `1.60GB/s`, `11.7MB/s`, `507MB/s`.
std::string format_rate(double kb_s);

// For the sizes of files: `812B`, `4.0K`, `1.2M`, `3.4G`.
std::string format_bytes(std::int64_t bytes);

}  // namespace nvidb::base
