// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Styles as SGR sequences, and frames as text for a stream: a pipe, a file, a terminal that
// scrolls.
#include <string>

#include "screen/frame.h"

namespace nvidb::screen {

enum class ColorDepth { none, basic16, palette256, true_color };

enum class Background { dark, light };

// How our inks and papers look on this terminal. The inks are readable on both backgrounds; the
// papers differ.
struct Palette {
  ColorDepth depth = ColorDepth::none;
  Background background = Background::dark;

  bool operator==(const Palette&) const = default;
};

// The SGR sequence of a style, from any state: it begins with a reset. Without colours only bold
// and reverse are left.
std::string sgr(const Style& style, const Palette& palette);

// Rows joined by newlines, each with trailing blanks removed; with colours, SGR sequences around
// the styled runs and a reset before each newline. Never any other escape.
std::string to_text(const Frame& frame, ColorDepth depth);

}  // namespace nvidb::screen
