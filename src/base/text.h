// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Text on a terminal: what it may contain and how wide it is.
//
// Everything that came from a process, job, host or file goes through printable() before it is
// measured or shown. Widths are those of tmux 3.3a and xterm (wide 2, combining 0, ambiguous 1);
// facts in docs/adr.
#include <cstdint>
#include <string>
#include <string_view>

namespace nvidb::base {

// `text` with every byte that must not reach a terminal made visible: control characters (C0, DEL,
// C1) and invalid UTF-8 as `\x1b`, newline, return and tab as `\n` `\r` `\t`; bidi controls, line
// separators, zero-width joiner and other format characters dropped; unassigned and private code
// points as U+FFFD. Valid UTF-8 always.
std::string printable(std::string_view text);

// `text` as valid UTF-8: each invalid sequence becomes U+FFFD; everything else, control characters
// too, is kept. For JSON, whose encoder escapes control characters itself.
std::string valid_utf8(std::string_view text);

// One user-perceived character at the front of `text` and the columns it takes (0, 1 or 2).
// REQUIRES: `text` is not empty and is the result of printable(). bytes >= 1.
struct Grapheme {
  std::string_view bytes;
  int width = 0;
};
Grapheme first_grapheme(std::string_view text);

// Columns of one code point: -1 control or unassigned, 0 combining, 1, or 2 wide.
int code_point_width(char32_t code_point);

// Columns of a whole printable() text.
int display_width(std::string_view text);

// At most `width` columns of `text`; where something is cut the last column is `…` (`~` with
// ascii). Never splits a grapheme, so the result may be one column short. width <= 0 gives "".
std::string cut(std::string_view text, int width, bool ascii = false);

// cut() and then spaces to exactly `width` columns, text at the left / at the right.
std::string pad_right(std::string_view text, int width, bool ascii = false);
std::string pad_left(std::string_view text, int width, bool ascii = false);

}  // namespace nvidb::base
