// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "ui/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "base/units.h"
#include "ui/bar.h"

namespace nvidb::ui {
namespace {

using model::Gpu;
using screen::Ink;

std::string percent_text(double percent) {
  return fmt::format("{:.0f}%", percent);
}

CellValue gpu_cell(const Gpu& gpu) {
  return {std::to_string(gpu.facts.index)};
}

CellValue model_cell(const Gpu& gpu) {
  std::string name = short_model(gpu.facts);
  if (!name.empty() && gpu.reading.mig.value_or(false)) name += " MIG";
  return {std::move(name)};
}

CellValue util_cell(const Gpu& gpu) {
  const auto util = gpu.reading.util_percent;
  if (!util) return {};
  const model::Level level = model::util_level(*util);
  return {percent_text(*util), value_ink(level), *util, bar_ink(level)};
}

model::Level mem_level_of(const Gpu& gpu) {
  const auto percent = model::mem_used_percent(gpu.reading);
  return percent ? model::mem_level(*percent) : model::Level::normal;
}

CellValue mem_cell(const Gpu& gpu) {
  const model::GpuReading& reading = gpu.reading;
  if (!reading.mem_used_mb && !reading.mem_total_mb) return {};
  const auto size = [](const auto& mb) { return mb ? base::format_size(*mb) : std::string("?"); };
  const model::Level level = mem_level_of(gpu);
  return {size(reading.mem_used_mb) + "/" + size(reading.mem_total_mb), value_ink(level),
          model::mem_used_percent(reading), bar_ink(level)};
}

CellValue share_cell(const Gpu& gpu) {
  const auto percent = model::mem_used_percent(gpu.reading);
  if (!percent) return {};
  return {percent_text(*percent), value_ink(mem_level_of(gpu))};
}

CellValue temperature_cell(const Gpu& gpu) {
  const auto celsius = gpu.reading.temperature_c;
  if (!celsius) return {};
  return {fmt::format("{}C", *celsius), value_ink(model::temperature_level(*celsius))};
}

CellValue power_cell(const Gpu& gpu) {
  const auto watts = gpu.reading.power_w;
  const auto limit = gpu.reading.power_limit_w;
  if (!watts) return {};
  return {limit ? fmt::format("{:.0f}/{:.0f}W", *watts, *limit) : fmt::format("{:.0f}W", *watts)};
}

CellValue state_cell(const Gpu& gpu) {
  return {base::printable(gpu.reading.performance_state.value_or("")), Ink::dim};
}

CellValue fan_cell(const Gpu& gpu) {
  const auto percent = gpu.reading.fan_percent;
  if (!percent) return {};
  return {fmt::format("{}%", *percent), Ink::dim};
}

CellValue link_cell(const Gpu& gpu) {
  const model::GpuReading& reading = gpu.reading;
  if (!reading.pcie_gen || !reading.pcie_width) return {};
  return {fmt::format("{}.0x{}", *reading.pcie_gen, *reading.pcie_width)};
}

// Green up to the first threshold is the user's wish for these two columns; elsewhere green means
// healthy.
CellValue rate_cell(std::optional<std::int64_t> kb_s, const model::GpuReading& reading) {
  if (!kb_s) return {};
  const auto percent = model::pcie_percent(kb_s, reading);
  Ink ink = Ink::plain;
  if (percent) {
    const model::Level level = model::pcie_level(*percent);
    ink = level == model::Level::normal ? Ink::good : value_ink(level);
    if (*percent < 1) ink = Ink::dim;
  }
  return {base::format_rate(static_cast<double>(*kb_s)), ink};
}

CellValue rx_cell(const Gpu& gpu) {
  return rate_cell(gpu.reading.pcie_rx_kb_s, gpu.reading);
}
CellValue tx_cell(const Gpu& gpu) {
  return rate_cell(gpu.reading.pcie_tx_kb_s, gpu.reading);
}

CellValue processes_cell(const Gpu& gpu) {
  CellValue cell;
  cell.items = users_on(gpu.reading);
  cell.text = fmt::format("{}", fmt::join(cell.items, ", "));
  return cell;
}

using Id = ColumnId;
using enum Align;
constexpr int kStays = kNeverDropped;

// clang-format off
constexpr GpuColumn kColumns[] = {
    // header, align, rank, least width, bar, tail, always, getter
    {Id::gpu,                "GPU",   right, kStays, 3, false, false, true,  gpu_cell},
    {Id::model,              "MODEL", left,  8,      5, false, false, true,  model_cell},
    {Id::util,               "UTIL",  right, kStays, 4, true,  false, true,  util_cell},
    {Id::mem,                "VRAM",  slash, 9,      4, true,  false, true,  mem_cell},
    {Id::mem_percent,        "",      right, 9,      4, false, true,  false, share_cell},
    {Id::temperature,        "TEMP",  right, 6,      4, false, false, false, temperature_cell},
    {Id::power,              "POWER", slash, 5,      5, false, false, false, power_cell},
    {Id::performance_state,  "PERF",  left,  0,      4, false, false, false, state_cell},
    {Id::fan,                "FAN",   right, 1,      4, false, false, false, fan_cell},
    {Id::link,               "PCIe",  right, 2,      6, false, false, false, link_cell},
    {Id::rx,                 "RX",    right, 4,      8, false, false, false, rx_cell},
    {Id::tx,                 "TX",    right, 3,      8, false, false, false, tx_cell},
    {Id::processes,          "USERS", left,  7,      5, false, false, false, processes_cell},
};
// clang-format on

}  // namespace

std::span<const GpuColumn> gpu_columns() {
  return kColumns;
}

std::string short_model(const model::GpuFacts& facts) {
  const std::string name = base::printable(facts.name.value_or(""));
  std::string_view rest = name;
  for (const std::string_view word : {"NVIDIA ", "GeForce "}) {
    if (rest.size() > word.size() && rest.substr(0, word.size()) == word) {
      rest.remove_prefix(word.size());
    }
  }
  return std::string(rest);
}

std::vector<std::string> users_on(const model::GpuReading& reading) {
  struct Sum {
    std::string user;
    std::optional<std::int64_t> mem_mb;
  };
  std::map<std::string, std::optional<std::int64_t>> by_user;
  for (const model::ProcessSample& process : reading.processes) {
    auto& mem_mb = by_user[process.user.value_or("?")];
    if (process.mem_mb) mem_mb = mem_mb.value_or(0) + *process.mem_mb;
  }
  std::vector<Sum> sums;
  sums.reserve(by_user.size());
  for (const auto& [user, mem_mb] : by_user) sums.push_back({user, mem_mb});
  // Absent sorts below zero; equals stay in the order of their names.
  std::ranges::stable_sort(sums, std::ranges::greater{}, &Sum::mem_mb);
  std::vector<std::string> items;
  items.reserve(sums.size());
  for (const Sum& sum : sums) {
    std::string item = base::printable(sum.user);
    if (sum.mem_mb) item += " " + base::format_size(*sum.mem_mb);
    items.push_back(std::move(item));
  }
  return items;
}

std::string fit_items(std::span<const std::string> items, int width, bool ascii) {
  std::string best;
  std::string listed;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) listed += ", ";
    listed += items[i];
    const std::size_t missing = items.size() - i - 1;
    std::string candidate = missing == 0 ? listed : fmt::format("{} +{}", listed, missing);
    if (base::display_width(candidate) <= width) best = std::move(candidate);
    // A longer list never fits better, except that the last one loses its count.
    if (base::display_width(listed) > width) break;
  }
  if (best.empty() && !items.empty()) {
    const std::string count = items.size() > 1 ? fmt::format(" +{}", items.size() - 1) : "";
    const int room = width - static_cast<int>(count.size());
    return base::cut(base::cut(items[0], room, ascii) + count, width, ascii);
  }
  return best;
}

}  // namespace nvidb::ui
