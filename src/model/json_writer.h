// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Writes one JSON text front to back, without a tree in between: a sample goes out every second on
// every watched machine, and building a tree for it costs several times what writing does.
#include <cstdint>
#include <string>
#include <string_view>

namespace nvidb::model {

class JsonWriter {
 public:
  enum class Style {
    compact,  // no white space at all
    pretty,   // indent 2
  };

  // Writes behind `start`.
  explicit JsonWriter(Style style, std::string start = {})
      : style_(style), text_(std::move(start)) {}

  void begin_object() { begin('{'); }
  void end_object() { end('}'); }
  void begin_array() { begin('['); }
  void end_array() { end(']'); }

  // `name` is a word of ours: it is not escaped.
  void key(std::string_view name);

  // Invalid UTF-8 becomes U+FFFD. Control characters are escaped, DEL and C1 too, for the text may
  // reach a terminal.
  void text(std::string_view value);
  void integer(std::int64_t value);
  // Rounded to at most two decimals, none where it is whole. null where is_writable() says no.
  void decimal(double value);
  void boolean(bool value);
  void null();

  // Finite, and small enough that a cent of it means anything.
  static bool is_writable(double value);

  std::size_t size() const { return text_.size(); }
  std::string take() { return std::move(text_); }

 private:
  void begin(char bracket);
  void end(char bracket);
  void before_value();
  void new_line();
  void escaped(std::string_view valid);

  Style style_;
  std::string text_;
  int depth_ = 0;
  bool first_ = true;       // of the innermost open object or array
  bool after_key_ = false;  // a value must follow, on the same line
};

}  // namespace nvidb::model
