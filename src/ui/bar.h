// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// A share drawn as a short row of blocks; always beside the number it shows.
#include <optional>

#include "model/rules.h"
#include "screen/frame.h"
#include "ui/glyphs.h"

namespace nvidb::ui {

// How many of `width` blocks are full: rounded, but none below 0.5 % and at least one above it.
// Absent is none.
int full_blocks(std::optional<double> percent, int width);

// The ink of a value, and of a bar, by how loud it is: a normal bar has the accent, a normal value
// is plain.
screen::Ink value_ink(model::Level level);
screen::Ink bar_ink(model::Level level);

// Draws `width` blocks from (x, y): full ones in `ink`, the rest dim. Returns the column after
// them.
int put_bar(screen::Frame& frame, int x, int y, std::optional<double> percent, int width,
            screen::Ink ink, const Glyphs& glyphs);

}  // namespace nvidb::ui
