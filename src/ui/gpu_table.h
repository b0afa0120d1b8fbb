// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Tables of GPUs: which of the columns fit, how wide they are, and their rows.
//
// One layout serves all nodes of a page, so that the same number stands in the same column
// everywhere.
#include <vector>

#include "model/fleet.h"
#include "ui/columns.h"
#include "ui/glyphs.h"
#include "ui/page.h"

namespace nvidb::ui {

struct PlacedColumn {
  const GpuColumn* column = nullptr;
  int x = 0;
  int width = 0;        // of the text, without the bar
  int slash_width = 0;  // of what stands before the slash
};

struct GpuTableLayout {
  std::vector<PlacedColumn> columns;
  int bar_width = 0;         // 0: no bars
  bool names_below = false;  // models did not fit; the view lists them in a line of their own
};

// The layout for all cards of `fleet` in columns `indent` to `width`. Columns leave in the order of
// their rank until the rest fits. Model names are cut below 60 columns only. `compact` keeps the
// bars as short as may be.
GpuTableLayout lay_out_gpus(const model::FleetSnapshot& fleet, int width, int indent, bool compact);

// A header row and a row for each card; a card with an error has its sentence instead of numbers,
// in more rows if need be. `faded` is for values that are old.
void add_gpu_table(Page& page, const std::vector<model::Gpu>& gpus, const GpuTableLayout& layout,
                   const Glyphs& glyphs, bool faded);

}  // namespace nvidb::ui
