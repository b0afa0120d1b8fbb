// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// The one list of what a row about a GPU can show. Every table of GPUs is made from it, so one more
// number is one more row in columns.cc. Pure.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/gpu.h"
#include "model/rules.h"
#include "screen/frame.h"
#include "ui/glyphs.h"

namespace nvidb::ui {

enum class ColumnId {
  gpu,
  model,
  util,
  mem,
  mem_percent,
  temperature,
  power,
  performance_state,
  fan,
  link,
  rx,
  tx,
  processes,
};

enum class Align {
  left,
  right,
  slash,  // `used/total`, the slashes under each other; what follows the slash is dim
};

// What one card shows in one column; printable already.
struct CellValue {
  std::string text;  // empty: unknown
  screen::Ink ink = screen::Ink::plain;
  // Only where the column has a bar.
  std::optional<double> bar_percent = std::nullopt;
  screen::Ink bar_ink = screen::Ink::accent;
  // The items that `text` lists, where some may be left out for a count: `alice 35.9G +2`.
  std::vector<std::string> items = {};
};

struct GpuColumn {
  ColumnId id;
  const char* header;
  Align align;
  // Lower ones leave first when the terminal is narrow; kNeverDropped ones stay.
  // Source: spec, "The monitor screen".
  int drop_rank;
  int least_width;  // so that the columns behind do not move when a number gets longer
  bool has_bar;
  // Belongs to the column before it: one blank between them instead of two, and they leave
  // together.
  bool is_tail;
  // Shown although no card at all has a value.
  bool always;
  CellValue (*get)(const model::Gpu& gpu);
};

inline constexpr int kNeverDropped = 100;

// In the order of the screen.
std::span<const GpuColumn> gpu_columns();

// The model name as people say it: without `NVIDIA ` and `GeForce `. Printable; empty where it is
// unknown.
std::string short_model(const model::GpuFacts& facts);

// Who is on the card, largest first: `alice 35.9G`; only the name where the driver does not tell
// the memory; `?` for processes of other pid namespaces.
std::vector<std::string> users_on(const model::GpuReading& reading);

// As many of `items` as fit in `width` columns, and how many are missing: `alice 35.9G, bob 2.0G
// +3`.
std::string fit_items(std::span<const std::string> items, int width, bool ascii);

}  // namespace nvidb::ui
