// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// `nvidb --once` as text: every node, every GPU, in a frame as tall as it needs to be. Pure.
#include <cstdint>
#include <string>

#include "model/fleet.h"
#include "screen/frame.h"

namespace nvidb::ui {

struct OnceOptions {
  int width = 100;       // columns, >= 40; every GPU is shown whatever it is
  bool compact = false;  // tables no wider than their content
  bool ascii =
      false;  // no glyph outside ASCII but in names (docs: `#-` bars, `>` marker, `* o !` dots)
  std::string clock;        // local time for the header, `10:52:58`
  std::int64_t now_ms = 0;  // wall clock, for ages
};

screen::Frame once_view(const model::FleetSnapshot& fleet, const OnceOptions& options);

}  // namespace nvidb::ui
