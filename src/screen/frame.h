// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// A frame is a value: a grid of styled cells. Views draw into one; ansi.h and diff.h turn it into
// bytes.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nvidb::screen {

// Columns and rows of a terminal or frame.
struct Size {
  int width = 0, height = 0;

  bool operator==(const Size&) const = default;
};

// A part of a frame: columns x to x + width - 1, rows y to y + height - 1.
struct Rect {
  int x = 0, y = 0, width = 0, height = 0;

  bool contains(int column, int row) const {
    return column >= x && column - x < width && row >= y && row - y < height;
  }
  bool operator==(const Rect&) const = default;
};

// A colour by its role in our palette, so that themes and colour depths are decided in one place
// (ansi.h).
enum class Ink : std::uint8_t { plain, dim, accent, good, warn, alarm };

// What a cell is written on. `selected` is a low-contrast grey, reverse where there are no greys;
// the others fill a cell of a gauge.
enum class Paper : std::uint8_t { none, selected, good, warn, alarm };

struct Style {
  Ink ink = Ink::plain;
  bool bold = false;
  bool reverse = false;
  Paper paper = Paper::none;

  bool operator==(const Style&) const = default;
};

// One column. A wide grapheme sits in its first cell; the second has empty text and is never drawn
// by itself.
struct Cell {
  std::string text = " ";
  Style style;

  bool operator==(const Cell&) const = default;
};

class Frame {
 public:
  // All blank. width and height >= 0.
  Frame(int width, int height);

  int width() const { return width_; }
  int height() const { return height_; }
  // REQUIRES: 0 <= x < width(), 0 <= y < height().
  const Cell& at(int x, int y) const;

  // Writes `text` from (x, y) to the right, clipped to the frame; returns the column after what was
  // written. `text` goes through base::printable() first. A wide grapheme that would be cut by an
  // edge, or whose other half is overwritten, becomes a blank; marks that have no character before
  // them in `text` are left out.
  int put(int x, int y, std::string_view text, Style style = {});

  // Gives every cell of `area` this paper; text and ink stay. Clipped to the frame. A wide grapheme
  // is on the paper of its first cell.
  void set_paper(const Rect& area, Paper paper);

  // Blanks `area`, clipped to the frame. A wide grapheme half inside becomes a blank.
  void clear(const Rect& area);

  // Adds blank rows at the bottom until there are `height`; fewer than now is nothing.
  void grow(int height);

  bool operator==(const Frame&) const = default;

 private:
  Cell& cell(int x, int y);
  void cut_wide(int x, int end, int y);
  void set(int x, int y, int width, std::string_view text, Style style);
  int put_plain(int x, int y, std::string_view text, Style style);

  int width_;
  int height_;
  std::vector<Cell> cells_;
};

}  // namespace nvidb::screen
