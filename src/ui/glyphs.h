// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// The few signs our views are drawn with, and their stand-ins for terminals and files that only
// take ASCII.
#include <string_view>

namespace nvidb::ui {

struct Glyphs {
  bool ascii = false;
  std::string_view unknown = "·";
  std::string_view separator = " · ";
  std::string_view ellipsis = "…";
  std::string_view up = "●";
  std::string_view waiting = "○";
  std::string_view trouble = "!";
  std::string_view bar_full = "▰";
  std::string_view bar_empty = "▱";
};

inline Glyphs glyphs_for(bool ascii) {
  if (!ascii) return {};
  return {.ascii = true,
          .unknown = ".",
          .separator = " . ",
          .ellipsis = "~",
          .up = "*",
          .waiting = "o",
          .trouble = "!",
          .bar_full = "#",
          .bar_empty = "-"};
}

}  // namespace nvidb::ui
