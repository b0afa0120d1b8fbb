// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// A terminal small enough to believe: it shows what bytes of ours draw, and remembers the first
// thing in them that real terminals do not agree on. Knows nothing of screen/ but Frame, to
// compare.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "screen/ansi.h"
#include "screen/frame.h"

namespace nvidb::test {

struct VtPen {
  bool bold = false, reverse = false;
  std::string ink, paper;  // as in SGR; empty is the terminal's own

  bool operator==(const VtPen&) const = default;
};

struct VtCell {
  std::string text = " ";  // empty: the second half of a wide grapheme
  VtPen pen;
};

// No autowrap, as Tty leaves it. What a program cannot rely on is a trouble: unknown sequences,
// control characters, half a wide grapheme at the edge, a relative move or text from a place where
// the cursor's column is not certain (the last column was written, or a grapheme whose width
// terminals disagree on), erasing with reversed colours.
class TinyVt {
 public:
  TinyVt(int width, int height)
      : width_(width), height_(height), cells_(static_cast<std::size_t>(width * height)) {}

  void feed(std::string_view bytes) {
    while (!bytes.empty() && !trouble_) {
      const std::size_t escape = bytes.find('\x1b');
      print(bytes.substr(0, escape));
      if (escape == std::string_view::npos) return;
      bytes.remove_prefix(escape + 1);
      if (bytes.empty() || bytes[0] != '[') return note("an escape that is not CSI");
      const std::size_t end = bytes.find_first_not_of("0123456789;", 1);
      if (end == std::string_view::npos) return note("a sequence without an end");
      control(numbers(bytes.substr(1, end - 1)), bytes[end]);
      bytes.remove_prefix(end + 1);
    }
  }

  // The first trouble in what was fed.
  const std::optional<std::string>& trouble() const { return trouble_; }
  const VtPen& pen() const { return pen_; }

  // Where it looks different from `frame`: the first such cell, empty if none.
  std::string difference(const screen::Frame& frame, const screen::Palette& palette) const {
    for (int y = 0; y < height_; ++y) {
      for (int x = 0; x < width_; ++x) {
        const screen::Cell& wanted = frame.at(x, y);
        const VtCell& seen = at(x, y);
        if (seen.text == wanted.text && (wanted.text.empty() || looks(seen, wanted, palette)))
          continue;
        return "at " + std::to_string(x) + "," + std::to_string(y) + ": '" + seen.text + "' for '" +
               wanted.text + "'" + (seen.text == wanted.text ? ", other style" : "");
      }
    }
    return {};
  }

 private:
  static bool looks(const VtCell& seen, const screen::Cell& wanted,
                    const screen::Palette& palette) {
    TinyVt other(1, 1);
    other.feed(screen::sgr(wanted.style, palette));
    const VtPen& pen = other.pen();
    if (seen.text != " " || seen.pen.reverse || pen.reverse) return seen.pen == pen;
    return seen.pen.paper == pen.paper;
  }

  static std::vector<int> numbers(std::string_view text) {
    std::vector<int> found{0};
    for (const char byte : text) {
      if (byte == ';') {
        found.push_back(0);
      } else {
        found.back() = std::min(found.back() * 10 + (byte - '0'), 100'000);
      }
    }
    return found;
  }

  const VtCell& at(int x, int y) const { return cells_[static_cast<std::size_t>(y * width_ + x)]; }
  VtCell& at(int x, int y) { return cells_[static_cast<std::size_t>(y * width_ + x)]; }

  void note(const std::string& what) {
    if (!trouble_) trouble_ = what;
  }

  // Several code points, or emoji: see docs/adr on widths. Counted apart from screen/diff.cc.
  static bool is_disputed(std::string_view grapheme) {
    std::size_t code_points = 0;
    bool beyond_basic_plane = false;
    for (const char byte : grapheme) {
      const auto value = static_cast<unsigned char>(byte);
      code_points += value < 0x80 || value >= 0xc0;
      beyond_basic_plane |= value >= 0xf0;
    }
    return code_points > 1 || beyond_basic_plane;
  }

  // Columns x to end - 1 are about to change: no half of a wide grapheme stays beside them.
  void cut_wide(int x, int end) {
    if (x > 0 && at(x, y_).text.empty()) at(x - 1, y_).text = " ";
    if (end < width_ && at(end, y_).text.empty()) at(end, y_).text = " ";
  }

  void print(std::string_view text) {
    if (base::printable(text) != text) return note("a control character or broken UTF-8");
    while (!text.empty()) {
      const base::Grapheme next = base::first_grapheme(text);
      text.remove_prefix(next.bytes.size());
      if (!certain_) return note("text where the column is not certain");
      if (next.width == 0) return note("a mark without a character");
      if (x_ + next.width > width_ || y_ >= height_) return note("text beyond the edge");
      cut_wide(x_, x_ + next.width);
      at(x_, y_) = {std::string(next.bytes), pen_};
      if (next.width == 2) at(x_ + 1, y_) = {"", pen_};
      x_ += next.width;
      certain_ = x_ < width_ && !is_disputed(next.bytes);
    }
  }

  // Source: ECMA-48. A number that is absent or 0 is 1, but for erasing.
  void control(const std::vector<int>& given, char final) {
    const int first = std::max(given[0], 1);
    switch (final) {
      case 'A':
        return move_by(0, -first);
      case 'B':
        return move_by(0, first);
      case 'C':
        return move_by(first, 0);
      case 'D':
        return move_by(-first, 0);
      case 'G':
        return move_to(first - 1, y_);
      case 'H':
        return move_to(given.size() > 1 ? std::max(given[1], 1) - 1 : 0, first - 1);
      case 'J':
        if (given[0] != 2) return note("an erase that we do not use");
        return erase_screen();
      case 'K':
        if (given[0] != 0) return note("an erase that we do not use");
        return erase_line_end();
      case 'm':
        return select(given);
      default:
        return note(std::string("a sequence with ") + final);
    }
  }

  void move_to(int x, int y) {
    if (width_ * height_ == 0) return;
    if (x >= width_ || y >= height_) return note("a move beyond the edge");
    x_ = x;
    y_ = y;
    certain_ = true;
  }

  void move_by(int columns, int rows) {
    if (!certain_) return note("a relative move where the column is not certain");
    const int x = x_ + columns, y = y_ + rows;
    if (x < 0 || y < 0) return note("a move beyond the edge");
    move_to(x, y);
  }

  void erase_line_end() {
    if (!certain_) return note("an erase where the column is not certain");
    if (pen_.reverse) return note("an erase with reversed colours");
    cut_wide(x_, width_);
    for (int x = x_; x < width_; ++x) at(x, y_) = erased();
  }

  void erase_screen() {
    if (pen_.reverse) return note("an erase with reversed colours");
    std::fill(cells_.begin(), cells_.end(), erased());
  }

  VtCell erased() const { return {" ", VtPen{false, false, "", pen_.paper}}; }

  void select(const std::vector<int>& given) {
    for (std::size_t i = 0; i < given.size(); ++i) {
      const int code = given[i];
      if (code == 0) {
        pen_ = {};
      } else if (code == 1) {
        pen_.bold = true;
      } else if (code == 7) {
        pen_.reverse = true;
      } else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) {
        pen_.ink = std::to_string(code);
      } else if (code >= 40 && code <= 47) {
        pen_.paper = std::to_string(code);
      } else if (code == 38 || code == 48) {
        const std::size_t length = i + 1 < given.size() && given[i + 1] == 2 ? 5 : 3;
        if (i + length > given.size()) return note("a colour without its numbers");
        std::string color;
        for (std::size_t k = 1; k < length; ++k) color += std::to_string(given[i + k]) + " ";
        (code == 38 ? pen_.ink : pen_.paper) = color;
        i += length - 1;
      } else {
        return note("SGR " + std::to_string(code));
      }
    }
  }

  int width_, height_;
  int x_ = 0, y_ = 0;
  bool certain_ = false;
  VtPen pen_;
  std::vector<VtCell> cells_;
  std::optional<std::string> trouble_;
};

}  // namespace nvidb::test
