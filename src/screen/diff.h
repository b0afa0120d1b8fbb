// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Two frames -> the bytes that turn a terminal that shows the first into one that shows the second.
#include <string>

#include "screen/ansi.h"
#include "screen/frame.h"

namespace nvidb::screen {

// REQUIRES: both frames have the same size. Empty where they look the same. Only the cells that
// changed are written, in runs, with the cheapest of the moves that every terminal knows; blanks
// that differ only in their ink are the same. Writes neither newlines nor into a scroll region; the
// cursor and the SGR state are left anywhere, since each diff starts with a move and a reset of its
// own. After a grapheme whose width terminals disagree on comes an absolute move.
std::string diff(const Frame& shown, const Frame& wanted, const Palette& palette);

// Clears the screen and draws everything, whatever it showed.
std::string repaint(const Frame& wanted, const Palette& palette);

}  // namespace nvidb::screen
