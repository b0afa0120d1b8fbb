// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// A frame that grows downwards while text is set into it: pieces that wrap between them, and
// sentences that wrap between words. Nothing is ever cut here.
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "screen/frame.h"

namespace nvidb::ui {

// Text of one style; printable already where its width matters.
struct Span {
  std::string text;
  screen::Style style = {};
};

// Spans that stay on one row together.
using Piece = std::vector<Span>;

int width_of(const Piece& piece);

// `text`, made printable, in rows of at most `width` columns, broken at spaces, within a word only
// where the word alone is wider. REQUIRES: width >= 2.
std::vector<std::string> wrap(std::string_view text, int width);

class Page {
 public:
  explicit Page(int width) : frame_(width, 0) {}

  int width() const { return frame_.width(); }

  // A new empty row at the bottom; returns its y.
  int add_row();
  screen::Frame& frame() { return frame_; }
  screen::Frame take() { return std::move(frame_); }

  // Pieces with `separator` between them; those that do not fit go on in rows that begin at
  // `hanging`.
  void add_pieces(int x, int hanging, const std::vector<Piece>& pieces, const Span& separator);

  // A sentence at column x.
  void add_text(int x, std::string_view text, screen::Style style);

 private:
  screen::Frame frame_;
};

}  // namespace nvidb::ui
