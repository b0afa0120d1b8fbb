// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "model/json_writer.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace nvidb::model {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

}  // namespace

void JsonWriter::key(std::string_view name) {
  before_value();
  text_ += '"';
  text_ += name;
  text_ += style_ == Style::pretty ? "\": " : "\":";
  after_key_ = true;
}

void JsonWriter::text(std::string_view value) {
  before_value();
  text_ += '"';
  if (std::ranges::all_of(value, is_plain)) {
    text_ += value;
  } else {
    escaped(base::valid_utf8(value));
  }
  text_ += '"';
}

void JsonWriter::escaped(std::string_view valid) {
  for (std::size_t i = 0; i < valid.size(); ++i) {
    const auto byte = static_cast<unsigned char>(valid[i]);
    if (byte == '"' || byte == '\\') {
      text_ += '\\';
      text_ += valid[i];
    } else if (byte == '\n') {
      text_ += "\\n";
    } else if (byte == '\t') {
      text_ += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      text_ += "\\u00";
      text_ += kHex[byte >> 4];
      text_ += kHex[byte & 0xf];
    } else if (byte == 0xc2 && i + 1 < valid.size() &&
               static_cast<unsigned char>(valid[i + 1]) < 0xa0) {
      // U+0080 to U+009F: terminals take some of them for escape sequences.
      const auto low = static_cast<unsigned char>(valid[++i]);
      text_ += "\\u00";
      text_ += kHex[low >> 4];
      text_ += kHex[low & 0xf];
    } else {
      text_ += valid[i];
    }
  }
}

void JsonWriter::integer(std::int64_t value) {
  before_value();
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  text_.append(digits, end);
}

bool JsonWriter::is_writable(double value) {
  return std::isfinite(value) && std::abs(value) < 1e15;
}

void JsonWriter::decimal(double value) {
  if (!is_writable(value)) return null();
  const std::int64_t hundredths = std::llround(value * 100);
  const std::int64_t size = std::abs(hundredths);
  const std::int64_t cents = size % 100;
  if (cents == 0) return integer(hundredths / 100);

  before_value();
  char digits[32];
  char* at = digits;
  if (hundredths < 0) *at++ = '-';
  at = std::to_chars(at, digits + sizeof digits, size / 100).ptr;
  *at++ = '.';
  *at++ = static_cast<char>('0' + cents / 10);
  if (cents % 10 != 0) *at++ = static_cast<char>('0' + cents % 10);
  text_.append(digits, at);
}

void JsonWriter::boolean(bool value) {
  before_value();
  text_ += value ? "true" : "false";
}

void JsonWriter::null() {
  before_value();
  text_ += "null";
}

void JsonWriter::begin(char bracket) {
  before_value();
  text_ += bracket;
  ++depth_;
  first_ = true;
}

void JsonWriter::end(char bracket) {
  --depth_;
  if (!first_) new_line();
  text_ += bracket;
  first_ = false;
}

void JsonWriter::before_value() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (!first_) text_ += ',';
  if (depth_ > 0) new_line();
  first_ = false;
}

void JsonWriter::new_line() {
  if (style_ == Style::compact) return;
  text_ += '\n';
  text_.append(static_cast<std::size_t>(depth_) * 2, ' ');
}

}  // namespace nvidb::model
