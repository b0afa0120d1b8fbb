// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// A frame as a text to review: the glyphs between bars, then one style letter for each column.
//   . plain   d dim   a accent   g good   w warn   r alarm;  upper case is bold (P: bold plain),
//   blanks stay blank
#include <string>

#include "screen/frame.h"

namespace nvidb::test {

inline char style_letter(const screen::Cell& cell) {
  if (cell.text == " ") return ' ';
  constexpr char kThin[] = ".dagwr";
  constexpr char kBold[] = "PDAGWR";
  const auto ink = static_cast<std::size_t>(cell.style.ink);
  return cell.style.bold ? kBold[ink] : kThin[ink];
}

inline std::string frame_text(const screen::Frame& frame) {
  std::string glyphs, styles;
  for (int y = 0; y < frame.height(); ++y) {
    glyphs += '|';
    styles += '|';
    for (int x = 0; x < frame.width(); ++x) {
      glyphs += frame.at(x, y).text;
      styles += style_letter(frame.at(x, y));
    }
    glyphs += "|\n";
    styles += "|\n";
  }
  return "size " + std::to_string(frame.width()) + "x" + std::to_string(frame.height()) + "\n" +
         glyphs + "style\n" + styles;
}

}  // namespace nvidb::test
