// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "agent/smi_values.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "base/text.h"

namespace nvidb::agent {
namespace {

constexpr std::int64_t kMostMemoryMb = (std::int64_t{1} << 30) - 1;

constexpr std::pair<std::string_view, SmiToken> kTokens[] = {
    {"N/A", SmiToken::missing},
    {"Not Supported", SmiToken::missing},
    {"Not Available", SmiToken::missing},
    {"Not Found", SmiToken::missing},
    {"No Permission", SmiToken::missing},
    {"Insufficient Permissions", SmiToken::missing},
    {"Function Not Found", SmiToken::missing},
    {"Requested functionality has been deprecated", SmiToken::missing},
    {"Not available in WDDM driver model", SmiToken::missing},
    {"ERR!", SmiToken::trouble},
    {"Unknown Error", SmiToken::trouble},
    {"Unknown", SmiToken::missing},
    {"GPU requires reset", SmiToken::reset},
    {"GPU is lost", SmiToken::lost},
};

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// `text` and what follows its leading number, or nothing where it does not begin with one.
template <class Number>
std::optional<Number> number_before(std::string_view text, std::string_view unit) {
  text = trimmed(text);
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (trimmed(text) != unit) return std::nullopt;
  return number;
}

}  // namespace

SmiToken smi_token(std::string_view text) {
  text = trimmed(text);
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') {
    text = text.substr(1, text.size() - 2);
  }
  for (const auto& [words, token] : kTokens) {
    if (text == words) return token;
  }
  return SmiToken::none;
}

std::optional<std::string> smi_text(std::string_view text) {
  text = trimmed(text);
  if (text.empty() || smi_token(text) != SmiToken::none) return std::nullopt;
  // Bounded before it is mended, so that a huge text costs nothing, and after, because mending can
  // lengthen it.
  std::string valid = base::valid_utf8(text.substr(0, kMaxSmiTextBytes));
  if (valid.size() <= kMaxSmiTextBytes) return valid;
  std::size_t end = kMaxSmiTextBytes;
  while (end > 0 && (static_cast<unsigned char>(valid[end]) & 0xC0) == 0x80) --end;
  valid.resize(end);
  return valid;
}

std::optional<double> smi_number(std::string_view text, std::string_view unit, double lowest,
                                 double highest) {
  const auto number = number_before<double>(text, unit);
  // Written so that a NaN fails as well.
  if (!number || !(*number >= lowest && *number <= highest)) return std::nullopt;
  return number;
}

std::optional<std::int64_t> smi_integer(std::string_view text, std::string_view unit,
                                        std::int64_t lowest, std::int64_t highest) {
  const auto number = number_before<std::int64_t>(text, unit);
  if (!number || *number < lowest || *number > highest) return std::nullopt;
  return number;
}

std::optional<std::int64_t> smi_mb(std::string_view text) {
  if (const auto mb = smi_integer(text, "MiB", 0, kMostMemoryMb)) return mb;
  return smi_integer(text, "MB", 0, kMostMemoryMb);
}

std::optional<std::string> smi_program_name(std::string_view text) {
  text = trimmed(text);
  if (text.empty() || smi_token(text) != SmiToken::none) return std::nullopt;
  const bool windows = text.size() > 2 && text[1] == ':' && text[2] == '\\';
  if (!windows) {
    // Browsers overwrite their argv with one long text, so what looks like a path has arguments
    // behind it.
    text = text.substr(0, text.find(' '));
  }
  const std::size_t slash = text.find_last_of(windows ? "\\" : "/");
  if (slash != text.npos && slash + 1 < text.size()) text.remove_prefix(slash + 1);
  return smi_text(text);
}

}  // namespace nvidb::agent
