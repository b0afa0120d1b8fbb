// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/check.h"
#include "base/width_table.h"

namespace nvidb::base {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD
// Marks stacked on one character beyond this are left to stand alone, so that a cell stays small.
constexpr std::size_t kMaxGraphemeBytes = 32;

struct Decoded {
  std::optional<char32_t> code_point;  // absent: `length` bytes that are not UTF-8
  std::size_t length = 1;
};

// The first code point of `text`, or the longest beginning of one that is broken off: the Unicode
// standard's "maximal subpart", so that one broken character becomes one U+FFFD. REQUIRES: not
// empty.
Decoded decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  std::size_t length = 0;
  unsigned char low = 0x80, high = 0xbf;  // bounds of the second byte
  if (lead >= 0xc2 && lead <= 0xdf) {
    length = 2;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    length = 3;
    if (lead == 0xe0) low = 0xa0;   // no overlong forms
    if (lead == 0xed) high = 0x9f;  // no surrogates
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    length = 4;
    if (lead == 0xf0) low = 0x90;
    if (lead == 0xf4) high = 0x8f;  // nothing above U+10FFFF
  } else {
    return {std::nullopt, 1};
  }
  char32_t value = lead & (0x7f >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (i >= text.size() || byte(i) < low || byte(i) > high) return {std::nullopt, i};
    value = (value << 6) | (byte(i) & 0x3f);
    low = 0x80;
    high = 0xbf;
  }
  return {value, length};
}

bool is_control(char32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7f && code_point < 0xa0);
}

std::optional<WidthKind> kind_of(char32_t code_point) {
  // Nothing below but the soft hyphen is in the table; most text ends here.
  if (code_point < 0x300 && code_point != 0xad) return std::nullopt;
  const auto ranges = width_ranges();
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), code_point,
                       [](char32_t value, const WidthRange& range) { return value < range.first; });
  if (after == ranges.begin() || std::prev(after)->last < code_point) return std::nullopt;
  return std::prev(after)->kind;
}

bool is_regional_indicator(char32_t code_point) {
  return code_point >= 0x1f1e6 && code_point <= 0x1f1ff;
}

void append_control(std::string& out, char32_t control) {
  switch (control) {
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += "\\t";
      break;
    default:
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(control));
      break;
  }
}

// cut() and the columns that are left of `width`.
std::string fit(std::string_view text, int width, bool ascii, int* spare) {
  std::string out = cut(text, width, ascii);
  *spare = std::max(width, 0) - display_width(out);
  return out;
}

}  // namespace

int code_point_width(char32_t code_point) {
  if (is_control(code_point) || code_point > 0x10ffff) return -1;
  const auto kind = kind_of(code_point);
  if (!kind) return 1;
  switch (*kind) {
    case WidthKind::combining:
      return 0;
    case WidthKind::format:
      return 0;
    case WidthKind::none:
      return -1;
    case WidthKind::wide:
      return 2;
  }
  return -1;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const Decoded next = decode(text.substr(i));
    const std::string_view bytes = text.substr(i, next.length);
    i += next.length;
    if (!next.code_point) {
      for (const char byte : bytes) append_control(out, static_cast<unsigned char>(byte));
    } else if (is_control(*next.code_point)) {
      append_control(out, *next.code_point);
    } else {
      const auto kind = kind_of(*next.code_point);
      if (kind == WidthKind::format) continue;
      out += kind == WidthKind::none ? kReplacement : bytes;
    }
  }
  return out;
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const Decoded next = decode(text.substr(i));
    out += next.code_point ? text.substr(i, next.length) : kReplacement;
    i += next.length;
  }
  return out;
}

Grapheme first_grapheme(std::string_view text) {
  CHECK(!text.empty());
  const Decoded first = decode(text);
  const char32_t base = first.code_point.value_or(0xfffd);
  std::size_t length = first.length;
  int width = std::max(code_point_width(base), 0);
  if (is_regional_indicator(base) && length < text.size()) {
    const Decoded second = decode(text.substr(length));
    if (second.code_point && is_regional_indicator(*second.code_point)) {
      length += second.length;
      width = 2;
    }
  }
  while (length < text.size()) {
    const Decoded mark = decode(text.substr(length));
    if (!mark.code_point || code_point_width(*mark.code_point) != 0) break;
    if (length + mark.length > kMaxGraphemeBytes) break;
    length += mark.length;
  }
  return {text.substr(0, length), width};
}

int display_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const Grapheme next = first_grapheme(text);
    width += next.width;
    text.remove_prefix(next.bytes.size());
  }
  return width;
}

std::string cut(std::string_view text, int width, bool ascii) {
  if (width <= 0) return {};
  std::size_t kept = 0;  // bytes that leave room for the mark of the cut
  int used = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Grapheme next = first_grapheme(text.substr(at));
    used += next.width;
    if (used > width) return std::string(text.substr(0, kept)) + (ascii ? "~" : "…");
    at += next.bytes.size();
    if (used <= width - 1) kept = at;
  }
  return std::string(text);
}

std::string pad_right(std::string_view text, int width, bool ascii) {
  int spare = 0;
  std::string out = fit(text, width, ascii, &spare);
  return out.append(static_cast<std::size_t>(spare), ' ');
}

std::string pad_left(std::string_view text, int width, bool ascii) {
  int spare = 0;
  const std::string out = fit(text, width, ascii, &spare);
  return std::string(static_cast<std::size_t>(spare), ' ') + out;
}

}  // namespace nvidb::base
