// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Frames as text for a stream: a pipe, a file, a terminal that scrolls.
#include <string>

#include "screen/frame.h"

namespace nvidb::screen {

enum class ColorDepth { none, basic16, palette256, true_color };

// Rows joined by newlines, each with trailing blanks removed; with colours, SGR sequences around
// the styled runs and a reset before each newline. Never any other escape.
std::string to_text(const Frame& frame, ColorDepth depth);

}  // namespace nvidb::screen
