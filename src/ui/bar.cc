// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "ui/bar.h"

#include <algorithm>
#include <cmath>

namespace nvidb::ui {

int full_blocks(std::optional<double> percent, int width) {
  // Written so that NaN is none as well.
  if (!percent || !(*percent >= 0.5) || width <= 0) return 0;
  const double blocks = std::round(std::min(*percent, 100.0) / 100 * width);
  return std::clamp(static_cast<int>(blocks), 1, width);
}

screen::Ink value_ink(model::Level level) {
  switch (level) {
    case model::Level::idle:
      return screen::Ink::dim;
    case model::Level::normal:
      return screen::Ink::plain;
    case model::Level::warn:
      return screen::Ink::warn;
    case model::Level::alarm:
      return screen::Ink::alarm;
  }
  return screen::Ink::plain;
}

screen::Ink bar_ink(model::Level level) {
  return level == model::Level::warn || level == model::Level::alarm ? value_ink(level)
                                                                     : screen::Ink::accent;
}

int put_bar(screen::Frame& frame, int x, int y, std::optional<double> percent, int width,
            screen::Ink ink, const Glyphs& glyphs) {
  const int full = full_blocks(percent, width);
  for (int i = 0; i < width; ++i) {
    const bool is_full = i < full;
    x = frame.put(x, y, is_full ? glyphs.bar_full : glyphs.bar_empty,
                  {is_full ? ink : screen::Ink::dim});
  }
  return x;
}

}  // namespace nvidb::ui
