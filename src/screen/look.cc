// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "screen/look.h"

namespace nvidb::screen {

Style look(const Style& style, const Palette& palette) {
  Style seen = style;
  switch (palette.depth) {
    case ColorDepth::none:
      seen.reverse = style.reverse || style.paper == Paper::selected;
      seen.paper = Paper::none;
      seen.ink = Ink::plain;
      break;
    case ColorDepth::basic16:
      if (style.paper == Paper::none) break;
      // Reversed inks would make the selected line a row of coloured blocks, and on green, yellow
      // and red only plain black can be read: bold black is grey there.
      seen.ink = Ink::plain;
      if (style.paper == Paper::selected) {
        seen.reverse = true;
        seen.paper = Paper::none;
      } else {
        seen.bold = false;
      }
      break;
    case ColorDepth::palette256:
    case ColorDepth::true_color:
      break;
  }
  return seen;
}

}  // namespace nvidb::screen
