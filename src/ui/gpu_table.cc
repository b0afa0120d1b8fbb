// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "ui/gpu_table.h"

#include <algorithm>

#include "base/text.h"
#include "ui/bar.h"

namespace nvidb::ui {
namespace {

using screen::Ink;
using screen::Style;

constexpr int kGap = 2;
constexpr int kTailGap = 1;
constexpr int kBarGap = 1;
constexpr int kShortBar = 6;
constexpr int kLongBar = 16;
constexpr int kCutNamesBelow =
    60;  // columns of the terminal; source: spec, "Rules for every command"
constexpr int kNarrowestName = 8;
constexpr int kLongName = 40;  // a longer one may not cost other columns their place
constexpr int kNarrowestUsers = 14;
// Bars are worth more than these columns from 100 columns on, less below; source: user's text.
constexpr int kWideTerminal = 100;
constexpr int kBarRankNarrow = 5;
constexpr int kBarRankWide = 8;

struct Measured {
  const GpuColumn* column = nullptr;
  int natural = 0;
  int least = 0;
  int before_slash = 0;
  int after_slash = 0;  // with the slash
  bool any = false;
};

bool is_shown_when_lost(ColumnId id) {
  return id == ColumnId::gpu || id == ColumnId::model;
}

void measure(Measured& column, const CellValue& value) {
  if (value.text.empty()) return;
  column.any = true;
  const std::size_t slash = value.text.find('/');
  if (column.column->align == Align::slash && slash != std::string::npos) {
    const std::string_view text = value.text;
    column.before_slash = std::max(column.before_slash, base::display_width(text.substr(0, slash)));
    column.after_slash = std::max(column.after_slash, base::display_width(text.substr(slash)));
  } else {
    column.natural = std::max(column.natural, base::display_width(value.text));
  }
}

Measured measure(const GpuColumn& column, const model::FleetSnapshot& fleet) {
  Measured out{&column};
  for (const model::Node& node : fleet.nodes) {
    for (const model::Gpu& gpu : node.gpus) {
      if (!gpu.reading.error || is_shown_when_lost(column.id)) measure(out, column.get(gpu));
    }
  }
  out.natural = std::max({out.natural, out.before_slash + out.after_slash, column.least_width});
  out.least = out.natural;
  if (column.id == ColumnId::processes) out.least = std::min(out.natural, kNarrowestUsers);
  return out;
}

class Fitting {
 public:
  Fitting(std::vector<Measured> columns, int room, int bar_rank)
      : columns_(std::move(columns)), room_(room), bar_rank_(bar_rank) {}

  // Leaves out one rank after the other until the rest fits.
  void drop_until_fits() {
    const std::size_t all = columns_.size();
    for (int rank = 0; rank < kNeverDropped && needed() > room_; ++rank) {
      if (rank == bar_rank_) bars_ = false;
      if (needed() <= room_) break;
      leave_out([&](const Measured& one) { return one.column->drop_rank == rank; });
    }
    dropped_ = columns_.size() < all;
  }

  Measured* find(ColumnId id) {
    for (Measured& one : columns_) {
      if (one.column->id == id) return &one;
    }
    return nullptr;
  }

  int needed() const {
    int total = 0;
    bool first = true;
    for (const Measured& one : columns_) {
      if (!first) total += one.column->is_tail ? kTailGap : kGap;
      first = false;
      total += one.least;
      if (bars_ && one.column->has_bar) total += kBarGap + kShortBar;
    }
    return total;
  }

  GpuTableLayout place(int indent, bool compact) {
    int spare = room_ - needed();
    if (Measured* users = find(ColumnId::processes)) {
      const int more = std::clamp(users->natural - users->least, 0, std::max(spare, 0));
      users->least += more;
      spare -= more;
    }
    GpuTableLayout layout;
    const auto bars =
        std::ranges::count_if(columns_, [](const Measured& one) { return one.column->has_bar; });
    if (bars_ && bars > 0) {
      const int more = compact ? 0 : std::max(spare, 0) / static_cast<int>(bars);
      layout.bar_width = std::min(kShortBar + more, kLongBar);
    }
    int x = indent;
    for (const Measured& one : columns_) {
      if (!layout.columns.empty()) x += one.column->is_tail ? kTailGap : kGap;
      layout.columns.push_back({one.column, x, one.least, one.least - one.after_slash});
      x += one.least;
      if (one.column->has_bar && layout.bar_width > 0) x += kBarGap + layout.bar_width;
    }
    return layout;
  }

  bool dropped() const { return dropped_; }
  void leave_out(auto&& which) { std::erase_if(columns_, which); }

 private:
  std::vector<Measured> columns_;
  int room_;
  int bar_rank_;
  bool bars_ = true;
  bool dropped_ = false;
};

Style faded_or(Ink ink, bool faded) {
  return {faded ? Ink::dim : ink};
}

// Left of the slash in its own ink, the rest dim: the total hardly ever changes.
void put_slashed(screen::Frame& frame, const PlacedColumn& place, int y, const CellValue& value,
                 Style style) {
  const std::size_t slash = std::min(value.text.find('/'), value.text.size());
  const std::string_view text = value.text;
  const int before = base::display_width(text.substr(0, slash));
  const int x = frame.put(place.x + place.slash_width - before, y, text.substr(0, slash), style);
  frame.put(x, y, text.substr(slash), {Ink::dim});
}

void put_cell(screen::Frame& frame, const PlacedColumn& place, int y, const CellValue& value,
              int bar_width, const Glyphs& glyphs, bool faded) {
  const GpuColumn& column = *place.column;
  const bool unknown = value.text.empty();
  std::string text = unknown ? std::string(glyphs.unknown) : value.text;
  if (!value.items.empty()) text = fit_items(value.items, place.width, glyphs.ascii);
  const Style style = unknown ? Style{Ink::dim} : faded_or(value.ink, faded);
  // An empty list of users is an idle card, not an unknown.
  const bool nothing = unknown && (column.id == ColumnId::processes || column.is_tail);
  if (nothing) {
    // Stays blank.
  } else if (column.align == Align::slash && value.text.find('/') != std::string::npos) {
    put_slashed(frame, place, y, value, style);
  } else if (column.align == Align::left) {
    frame.put(place.x, y, base::cut(text, place.width, glyphs.ascii), style);
  } else {
    frame.put(place.x, y, base::pad_left(text, place.width, glyphs.ascii), style);
  }
  if (!column.has_bar || bar_width == 0 || unknown) return;
  if (column.id == ColumnId::mem && !value.bar_percent) return;
  put_bar(frame, place.x + place.width + kBarGap, y, value.bar_percent, bar_width,
          faded ? Ink::dim : value.bar_ink, glyphs);
}

void add_header(Page& page, const GpuTableLayout& layout, const Glyphs& glyphs) {
  const int y = page.add_row();
  for (const PlacedColumn& place : layout.columns) {
    const std::string text = place.column->align == Align::left
                                 ? place.column->header
                                 : base::pad_left(place.column->header, place.width, glyphs.ascii);
    page.frame().put(place.x, y, text, {Ink::dim});
  }
}

void add_lost_card(Page& page, const model::Gpu& gpu, const GpuTableLayout& layout,
                   const Glyphs& glyphs) {
  const int y = page.add_row();
  int x = 0;
  for (const PlacedColumn& place : layout.columns) {
    if (!is_shown_when_lost(place.column->id)) continue;
    put_cell(page.frame(), place, y, place.column->get(gpu), 0, glyphs, false);
    x = place.x + place.width + kGap;
  }
  int row = y;
  for (const std::string& text : wrap(*gpu.reading.error, std::max(page.width() - x, kGap))) {
    if (row > y) page.add_row();
    page.frame().put(x, row++, text, {Ink::alarm});
  }
}

}  // namespace

GpuTableLayout lay_out_gpus(const model::FleetSnapshot& fleet, int width, int indent,
                            bool compact) {
  std::vector<Measured> measured;
  for (const GpuColumn& column : gpu_columns()) {
    Measured one = measure(column, fleet);
    if (one.any || column.always) measured.push_back(one);
  }
  const int bar_rank = width >= kWideTerminal ? kBarRankWide : kBarRankNarrow;
  Fitting fitting(measured, width - indent, bar_rank);
  int name_width = 0;
  if (Measured* name = fitting.find(ColumnId::model)) {
    name_width = name->natural;
    if (width < kCutNamesBelow) name->least = std::min(name->natural, kNarrowestName);
  }
  fitting.drop_until_fits();
  Measured* name = fitting.find(ColumnId::model);
  if (name == nullptr || (name_width > kLongName && fitting.dropped())) {
    // The names go below the table, so that what they would have cost stays.
    Fitting nameless(measured, width - indent, bar_rank);
    nameless.leave_out([](const Measured& one) { return one.column->id == ColumnId::model; });
    nameless.drop_until_fits();
    GpuTableLayout layout = nameless.place(indent, compact);
    layout.names_below = true;
    return layout;
  }
  // What a cut name can have back.
  name->least =
      std::clamp(width - indent - fitting.needed() + name->least, name->least, name_width);
  return fitting.place(indent, compact);
}

void add_gpu_table(Page& page, const std::vector<model::Gpu>& gpus, const GpuTableLayout& layout,
                   const Glyphs& glyphs, bool faded) {
  add_header(page, layout, glyphs);
  for (const model::Gpu& gpu : gpus) {
    if (gpu.reading.error) {
      add_lost_card(page, gpu, layout, glyphs);
      continue;
    }
    const int y = page.add_row();
    for (const PlacedColumn& place : layout.columns) {
      put_cell(page.frame(), place, y, place.column->get(gpu), layout.bar_width, glyphs, faded);
    }
  }
}

}  // namespace nvidb::ui
