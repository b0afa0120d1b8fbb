// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "screen/frame.h"

#include "base/check.h"
#include "base/text.h"

namespace nvidb::screen {

Frame::Frame(int width, int height) : width_(width), height_(height) {
  CHECK(width >= 0 && height >= 0);
  cells_.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
}

const Cell& Frame::at(int x, int y) const {
  CHECK(x >= 0 && x < width_ && y >= 0 && y < height_);
  return cells_[static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
                static_cast<std::size_t>(x)];
}

Cell& Frame::cell(int x, int y) {
  return const_cast<Cell&>(at(x, y));
}

// Writes cells x to x + width - 1, and leaves no half of an older wide grapheme beside them.
void Frame::set(int x, int y, int width, std::string_view text, Style style) {
  if (cell(x, y).text.empty() && x > 0) cell(x - 1, y).text = " ";
  const int after = x + width;
  if (after < width_ && cell(after, y).text.empty()) cell(after, y).text = " ";
  cell(x, y) = Cell{std::string(text), style};
  for (int i = x + 1; i < after; ++i) cell(i, y) = Cell{"", style};
}

int Frame::put(int x, int y, std::string_view text, Style style) {
  if (y < 0 || y >= height_) return x;
  const std::string shown = base::printable(text);
  for (std::string_view rest = shown; !rest.empty() && x < width_;) {
    const base::Grapheme next = base::first_grapheme(rest);
    rest.remove_prefix(next.bytes.size());
    const int end = x + next.width;
    if (next.width > 0 && x >= 0 && end <= width_) {
      set(x, y, next.width, next.bytes, style);
    } else if (next.width == 2 && x == -1 && width_ > 0) {
      set(0, y, 1, " ", style);
    } else if (next.width == 2 && end > width_ && x >= 0) {
      set(x, y, 1, " ", style);
      return width_;
    }
    x = end;
  }
  return x;
}

void Frame::grow(int height) {
  if (height <= height_) return;
  height_ = height;
  cells_.resize(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_));
}

}  // namespace nvidb::screen
