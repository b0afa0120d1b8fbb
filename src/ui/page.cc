// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "ui/page.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"

namespace nvidb::ui {
namespace {

constexpr int kNarrowest = 2;  // so that a wide grapheme fits

}  // namespace

int width_of(const Piece& piece) {
  int width = 0;
  for (const Span& span : piece) width += base::display_width(span.text);
  return width;
}

std::vector<std::string> wrap(std::string_view text, int width) {
  CHECK(width >= kNarrowest);
  const std::string shown = base::printable(text);
  std::vector<std::string> rows(1);
  int used = 0;
  std::string_view rest = shown;
  while (!rest.empty()) {
    const std::size_t word_size = std::min(rest.find(' '), rest.size());
    std::string_view word = rest.substr(0, word_size);
    rest.remove_prefix(std::min(word_size + 1, rest.size()));
    if (word.empty()) continue;
    const int word_width = base::display_width(word);
    if (used > 0 && used + 1 + word_width > width) {
      rows.emplace_back();
      used = 0;
    }
    if (used > 0) {
      rows.back() += ' ';
      ++used;
    }
    while (!word.empty()) {
      const base::Grapheme next = base::first_grapheme(word);
      if (used + next.width > width) {
        rows.emplace_back();
        used = 0;
      }
      rows.back() += next.bytes;
      used += next.width;
      word.remove_prefix(next.bytes.size());
    }
  }
  return rows;
}

int Page::add_row() {
  frame_.grow(frame_.height() + 1);
  return frame_.height() - 1;
}

void Page::add_pieces(int x, int hanging, const std::vector<Piece>& pieces, const Span& separator) {
  int y = add_row();
  const int separator_width = base::display_width(separator.text);
  bool first = true;
  for (const Piece& piece : pieces) {
    if (!first) {
      if (x + separator_width + width_of(piece) > width()) {
        y = add_row();
        x = hanging;
      } else {
        x = frame_.put(x, y, separator.text, separator.style);
      }
    }
    first = false;
    if (x + width_of(piece) <= width()) {
      for (const Span& span : piece) x = frame_.put(x, y, span.text, span.style);
      continue;
    }
    // Wider than a whole row.
    const int room = std::max(width() - x, kNarrowest);
    for (const Span& span : piece) {
      const std::vector<std::string> rows = wrap(span.text, room);
      int end = x;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i > 0) y = add_row();
        end = frame_.put(x, y, rows[i], span.style);
      }
      if (&span == &piece.back())
        x = end;
      else
        y = add_row();
    }
  }
}

void Page::add_text(int x, std::string_view text, screen::Style style) {
  for (const std::string& row : wrap(text, std::max(width() - x, kNarrowest))) {
    frame_.put(x, add_row(), row, style);
  }
}

}  // namespace nvidb::ui
