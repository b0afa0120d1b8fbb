// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// What is left of a style on a terminal of this kind, so that styles which look the same compare
// equal. Private to screen/.
#include "screen/ansi.h"
#include "screen/frame.h"

namespace nvidb::screen {

// `style` without what this palette cannot show, and with what it shows instead. Idempotent.
Style look(const Style& style, const Palette& palette);

// Whether a blank looks the same in these two looks: nobody sees its ink.
inline bool same_on_blank(const Style& a, const Style& b) {
  return a == b || (!a.reverse && !b.reverse && a.paper == b.paper);
}

inline bool is_blank(const Cell& cell) {
  return cell.text == " ";
}

}  // namespace nvidb::screen
