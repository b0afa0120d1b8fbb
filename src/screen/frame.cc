// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "screen/frame.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"

namespace nvidb::screen {
namespace {

// How many bytes at the front are each a whole grapheme of one column: printable ASCII, but for the
// last before something else, which may be a mark on it.
std::size_t plain_prefix(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && text[length] >= ' ' && text[length] <= '~') ++length;
  return length == text.size() || length == 0 ? length : length - 1;
}

// The part of `area` that is in a frame. Rects come from layouts that may have got no room at all,
// so the ends are added without overflow.
Rect clip(const Rect& area, int width, int height) {
  const auto limit = [](std::int64_t value, int most) {
    return static_cast<int>(std::clamp<std::int64_t>(value, 0, most));
  };
  const int x = limit(area.x, width), y = limit(area.y, height);
  const int right = limit(std::int64_t{area.x} + area.width, width);
  const int bottom = limit(std::int64_t{area.y} + area.height, height);
  return {x, y, std::max(0, right - x), std::max(0, bottom - y)};
}

}  // namespace

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

// Leaves no half of a wide grapheme beside columns x to end - 1, which are about to be written.
void Frame::cut_wide(int x, int end, int y) {
  if (x > 0 && cell(x, y).text.empty()) cell(x - 1, y).text = " ";
  if (end < width_ && cell(end, y).text.empty()) cell(end, y).text = " ";
}

void Frame::set(int x, int y, int width, std::string_view text, Style style) {
  cut_wide(x, x + width, y);
  Cell& first = cell(x, y);
  first.text.assign(text);
  first.style = style;
  for (int i = x + 1; i < x + width; ++i) cell(i, y) = Cell{"", style};
}

// What put() does for text that is one column a byte: nearly all text, so without the parsing.
int Frame::put_plain(int x, int y, std::string_view text, Style style) {
  if (x >= width_) return x;
  const std::int64_t after = x + static_cast<std::int64_t>(text.size());
  const int end = static_cast<int>(std::min<std::int64_t>(after, width_));
  const int begin = std::max(x, 0);
  if (begin >= end) return end;
  cut_wide(begin, end, y);
  Cell* to = &cell(begin, y);
  for (int i = begin; i < end; ++i, ++to) {
    to->text.assign(1, text[static_cast<std::size_t>(std::int64_t{i} - x)]);
    to->style = style;
  }
  return end;
}

int Frame::put(int x, int y, std::string_view text, Style style) {
  if (y < 0 || y >= height_) return x;
  const std::size_t plain = plain_prefix(text);
  if (plain > 0) x = put_plain(x, y, text.substr(0, plain), style);
  if (plain == text.size() || x >= width_) return x;
  const std::string shown = base::printable(text.substr(plain));
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

void Frame::set_paper(const Rect& area, Paper paper) {
  const Rect inside = clip(area, width_, height_);
  for (int y = inside.y; y < inside.y + inside.height; ++y) {
    for (int x = inside.x; x < inside.x + inside.width; ++x) cell(x, y).style.paper = paper;
  }
}

void Frame::clear(const Rect& area) {
  const Rect inside = clip(area, width_, height_);
  if (inside.width == 0) return;
  for (int y = inside.y; y < inside.y + inside.height; ++y) {
    cut_wide(inside.x, inside.x + inside.width, y);
    for (int x = inside.x; x < inside.x + inside.width; ++x) cell(x, y) = Cell{};
  }
}

void Frame::grow(int height) {
  if (height <= height_) return;
  height_ = height;
  cells_.resize(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_));
}

}  // namespace nvidb::screen
