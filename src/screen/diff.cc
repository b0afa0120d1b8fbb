// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "screen/diff.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "base/check.h"
#include "screen/look.h"

namespace nvidb::screen {
namespace {

constexpr int kEraseBytes = 3;  // ESC [ K

void append_number(std::string& out, int number) {
  char digits[12];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

std::string cursor_to(int x, int y) {
  std::string out = "\x1b[";
  if (y > 0 || x > 0) append_number(out, y + 1);
  if (x > 0) {
    out += ';';
    append_number(out, x + 1);
  }
  return out + 'H';
}

std::string column_to(int x) {
  std::string out = "\x1b[";
  append_number(out, x + 1);
  return out + 'G';
}

std::string right_by(int columns) {
  std::string out = "\x1b[";
  if (columns > 1) append_number(out, columns);
  return out + 'C';
}

// Whether terminals disagree on its width: several code points (a flag, an emoji selector, marks)
// or one beyond the basic plane, where emoji are younger than many a width table.
bool is_doubtful(std::string_view text) {
  if (text.size() <= 1) return false;
  const auto begins = [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; };
  return static_cast<unsigned char>(text[0]) >= 0xf0 ||
         std::count_if(text.begin(), text.end(), begins) > 1;
}

class Painter {
 public:
  Painter(const Frame& shown, const Frame& wanted, const Palette& palette)
      : shown_(shown), wanted_(wanted), palette_(palette) {
    changed_.resize(static_cast<std::size_t>(wanted.width()));
  }

  std::string paint() {
    for (int y = 0; y < wanted_.height(); ++y) paint_row(y);
    return std::move(out_);
  }

 private:
  bool looks_same(int x, int y) const {
    const Cell& a = shown_.at(x, y);
    const Cell& b = wanted_.at(x, y);
    if (a.text != b.text) return false;
    if (b.text.empty() || a.style == b.style) return true;  // halves: their first cell decides
    const Style from = look(a.style, palette_), to = look(b.style, palette_);
    return from == to || (is_blank(b) && same_on_blank(from, to));
  }

  // Fills changed_ for a row; the last changed column, -1 if none. A wide grapheme that changed is
  // marked at its first half, which draws both.
  int find_changes(int y) {
    int last = -1;
    for (int x = 0; x < wanted_.width(); ++x) {
      mark(x) = !looks_same(x, y);
      if (mark(x)) last = x;
    }
    return last;
  }

  char& mark(int x) { return changed_[static_cast<std::size_t>(x)]; }

  // The column from which the wanted row is bare to its end.
  int find_tail(int y) const {
    int x = wanted_.width();
    while (x > 0 && is_blank(wanted_.at(x - 1, y)) &&
           same_on_blank(look(wanted_.at(x - 1, y).style, palette_), Style{}))
      --x;
    return x;
  }

  void paint_row(int y) {
    const int last = find_changes(y);
    if (last < 0) return;
    const int tail = find_tail(y);
    for (int x = 0; x <= last;) {
      if (!mark(x)) {
        ++x;
        continue;
      }
      move_to(x, y);
      if (x >= tail && last - x + 1 > kEraseBytes) {
        take_pen_for(wanted_.at(x, y));
        out_ += "\x1b[K";
        return;
      }
      x += draw(x, y);
    }
  }

  // Returns the columns it took.
  int draw(int x, int y) {
    const Cell& cell = wanted_.at(x, y);
    CHECK(!cell.text.empty());
    take_pen_for(cell);
    out_ += cell.text;
    const int columns = x + 1 < wanted_.width() && wanted_.at(x + 1, y).text.empty() ? 2 : 1;
    column_ = x + columns;
    row_ = y;
    if (is_doubtful(cell.text)) column_ = -1;
    return columns;
  }

  bool pen_fits(const Cell& cell) const {
    if (!pen_) return false;
    const Style seen = look(cell.style, palette_);
    return *pen_ == seen || (is_blank(cell) && same_on_blank(*pen_, seen));
  }

  void take_pen_for(const Cell& cell) {
    if (pen_fits(cell)) return;
    pen_ = look(cell.style, palette_);
    out_ += sgr(*pen_, palette_);
  }

  void move_to(int x, int y) {
    // Another row is reached absolutely: after the last column nobody knows where the cursor is.
    if (row_ != y) {
      out_ += cursor_to(x, y);
    } else if (column_ != x) {
      std::string move = column_to(x);
      if (column_ >= 0 && column_ < x) {
        std::string relative = right_by(x - column_);
        if (relative.size() < move.size()) move = std::move(relative);
        if (write_over(x, y, move.size())) return;
      }
      out_ += move;
    }
    column_ = x;
    row_ = y;
  }

  // Goes on to column x by writing the unchanged cells once more, where that takes less bytes.
  bool write_over(int x, int y, std::size_t move_bytes) {
    std::size_t bytes = 0;
    for (int i = column_; i < x; ++i) {
      const Cell& cell = wanted_.at(i, y);
      if (cell.text.empty()) continue;
      bytes += cell.text.size();
      if (bytes > move_bytes || !pen_fits(cell) || is_doubtful(cell.text)) return false;
    }
    while (column_ < x) draw(column_, y);
    return true;
  }

  const Frame& shown_;
  const Frame& wanted_;
  const Palette palette_;
  std::string out_;
  std::vector<char> changed_;
  // Where the terminal's cursor is, and what it writes with; -1 and none: not known.
  int column_ = -1, row_ = -1;
  std::optional<Style> pen_;
};

}  // namespace

std::string diff(const Frame& shown, const Frame& wanted, const Palette& palette) {
  CHECK(shown.width() == wanted.width() && shown.height() == wanted.height());
  return Painter(shown, wanted, palette).paint();
}

std::string repaint(const Frame& wanted, const Palette& palette) {
  return "\x1b[0m\x1b[H\x1b[2J" + diff(Frame(wanted.width(), wanted.height()), wanted, palette);
}

}  // namespace nvidb::screen
