// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// A frame is a value: a grid of styled cells. Views draw into one; ansi.h and (later) diff.h turn
// it into bytes.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nvidb::screen {

// A colour by its role in our palette, so that themes and colour depths are decided in one place
// (ansi.h).
enum class Ink : std::uint8_t { plain, dim, accent, good, warn, alarm };

struct Style {
  Ink ink = Ink::plain;
  bool bold = false;
  bool reverse = false;

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

  // Adds blank rows at the bottom until there are `height`; fewer than now is nothing.
  void grow(int height);

  bool operator==(const Frame&) const = default;

 private:
  Cell& cell(int x, int y);
  void set(int x, int y, int width, std::string_view text, Style style);

  int width_;
  int height_;
  std::vector<Cell> cells_;
};

}  // namespace nvidb::screen
