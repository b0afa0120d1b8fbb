// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>

#include "base/text.h"

namespace nvidb::base {
namespace {

constexpr double kMaxSizeMb = 1099511627776;  // 2^40
constexpr std::int64_t kMaxShown = std::int64_t{1} << 50;
constexpr std::size_t kMaxInputBytes = 64;  // no honest number is longer

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The length of `12` or `12.5` at the front of `text`; 0 where there is none. A point needs digits
// on both sides.
std::size_t number_length(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size() && is_digit(text[i])) ++i;
  if (i == 0 || i == text.size() || text[i] != '.') return i;
  const std::size_t point = i++;
  while (i < text.size() && is_digit(text[i])) ++i;
  return i == point + 1 ? 0 : i;
}

// REQUIRES: `text` is what number_length() measured.
std::optional<double> to_number(std::string_view text) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// MiB in one `unit`; absent for a word that is no unit.
std::optional<double> mib_of_unit(std::string_view unit) {
  std::string lower(unit);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  if (lower.empty()) return 1;
  const std::string_view rest = std::string_view(lower).substr(1);
  if (!rest.empty() && rest != "b" && rest != "ib") return std::nullopt;
  switch (lower[0]) {
    case 'm':
      return 1;
    case 'g':
      return 1024;
    case 't':
      return 1024.0 * 1024;
    default:
      return std::nullopt;
  }
}

// What the user typed, safe to print and not endless.
std::string quoted(std::string_view text) {
  constexpr int kShownColumns = 40;
  return cut(printable(text.substr(0, 4 * kShownColumns)), kShownColumns);
}

tl::unexpected<Error> no_size(std::string_view text) {
  return fail(ErrorKind::invalid, fmt::format("'{}' is not a size", quoted(text)),
              "write it like 20G or 512M");
}

// `value` in `units` of 1024 with one decimal below 100, none from there on, so at most four digits
// and a point. Rounding may carry into the next unit: 1023.6 is 1.0 of the next, never 1024.
std::string three_digits(double value, std::span<const std::string_view> units) {
  std::size_t unit = 0;
  while (unit + 1 < units.size() && std::floor(value + 0.5) >= 1024) {
    value /= 1024;
    ++unit;
  }
  const double tenths = std::floor(value * 10 + 0.5);
  if (tenths < 1000) return fmt::format("{:.1f}{}", tenths / 10, units[unit]);
  return fmt::format("{:.0f}{}", std::floor(value + 0.5), units[unit]);
}

}  // namespace

Result<std::int64_t> parse_size_mb(std::string_view text) {
  if (text.size() > kMaxInputBytes) return no_size(text);
  const std::size_t length = number_length(text);
  if (length == 0) return no_size(text);
  const std::string_view rest = text.substr(length);
  const std::string_view unit = rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
  if (unit.empty() && !rest.empty()) return no_size(text);
  const auto number = to_number(text.substr(0, length));
  const auto scale = mib_of_unit(unit);
  if (!number || !scale) return no_size(text);
  const double mb = std::ceil(*number * *scale);
  if (mb > kMaxSizeMb) {
    return fail(ErrorKind::invalid, fmt::format("'{}' is more than any machine has", quoted(text)),
                "write it like 20G or 512M");
  }
  return static_cast<std::int64_t>(mb);
}

Result<double> parse_positive_number(std::string_view text, std::string_view what) {
  if (text.size() <= kMaxInputBytes && !text.empty() && number_length(text) == text.size()) {
    if (const auto number = to_number(text)) return *number;
  }
  return fail(ErrorKind::invalid, fmt::format("{} '{}' is not a number", what, quoted(text)),
              "write it like 10 or 0.5");
}

std::string format_size(std::int64_t mb) {
  mb = std::clamp<std::int64_t>(mb, 0, kMaxShown);
  if (mb < 1024) return fmt::format("{}M", mb);
  constexpr std::array<std::string_view, 3> kUnits{"G", "T", "P"};
  return three_digits(static_cast<double>(mb) / 1024, kUnits);
}

std::string format_duration(std::int64_t seconds) {
  seconds = std::max<std::int64_t>(seconds, 0);
  constexpr std::int64_t kDay = 86400;
  const std::string clock =
      fmt::format("{:02}:{:02}:{:02}", seconds % kDay / 3600, seconds % 3600 / 60, seconds % 60);
  return seconds < kDay ? clock : fmt::format("{}-{}", seconds / kDay, clock);
}

std::string format_rate(double kb_s) {
  // NaN fails the comparison as well.
  double value = kb_s > 0 ? std::min(kb_s, 1e15) : 0;
  if (std::floor(value + 0.5) < 1000) return fmt::format("{:.0f}KB/s", std::floor(value + 0.5));
  constexpr std::array<std::string_view, 3> kUnits{"MB/s", "GB/s", "TB/s"};
  value /= 1024;
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && std::floor(value + 0.5) >= 1000) {
    value /= 1024;
    ++unit;
  }
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}{}", value, decimals, kUnits[unit]);
}

std::string format_bytes(std::int64_t bytes) {
  bytes = std::max<std::int64_t>(bytes, 0);
  if (bytes < 1024) return fmt::format("{}B", bytes);
  constexpr std::array<std::string_view, 5> kUnits{"K", "M", "G", "T", "P"};
  return three_digits(static_cast<double>(bytes) / 1024, kUnits);
}

}  // namespace nvidb::base
