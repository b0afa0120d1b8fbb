// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "ui/node_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "base/units.h"
#include "model/rules.h"
#include "ui/bar.h"

namespace nvidb::ui {
namespace {

using model::Level;
using model::Node;
using model::NodeState;
using screen::Ink;
using screen::Style;

constexpr int kBarWidth = 5;
constexpr int kLongestName = 24;  // columns; a longer name is cut in this line, never the alignment
constexpr int kPercentWidth = 4;  // `100%`

Span dot(const Node& node, const Glyphs& glyphs) {
  switch (node.state) {
    case NodeState::up:
      if (node.error) return {std::string(glyphs.trouble), {Ink::alarm, true}};
      return {std::string(glyphs.up), {Ink::good}};
    case NodeState::connecting:
      return {std::string(glyphs.waiting), {Ink::dim}};
    case NodeState::stale:
      return {std::string(glyphs.waiting), {Ink::warn}};
    case NodeState::down:
    case NodeState::auth:
    case NodeState::hostkey:
      return {std::string(glyphs.trouble), {Ink::alarm, true}};
  }
  return {};
}

// What stands where the numbers would be; absent where the state needs no word.
std::optional<Span> state_word(const Node& node, const Glyphs& glyphs) {
  switch (node.state) {
    case NodeState::up:
      if (!node.gpus.empty()) return std::nullopt;
      if (node.error) return Span{"GPUs cannot be read", {Ink::alarm}};
      return Span{"no NVIDIA GPU here", {}};
    case NodeState::connecting:
      return Span{"connecting" + std::string(glyphs.ascii ? "..." : glyphs.ellipsis), {Ink::dim}};
    case NodeState::stale:
      return Span{"stale", {Ink::warn}};
    case NodeState::down:
      return Span{"down", {Ink::alarm}};
    case NodeState::auth:
      return Span{"login refused", {Ink::alarm}};
    case NodeState::hostkey:
      return Span{"host key", {Ink::alarm}};
  }
  return std::nullopt;
}

// `3s`, `12 min`, `5 h`, `2 d`: one number is enough to judge by.
std::string age_text(std::int64_t seconds) {
  if (seconds < 120) return fmt::format("{}s", seconds);
  if (seconds < 7200) return fmt::format("{} min", seconds / 60);
  if (seconds < 172800) return fmt::format("{} h", seconds / 3600);
  return fmt::format("{} d", seconds / 86400);
}

void add_bar(Piece& piece, std::optional<double> percent, Level level, const Glyphs& glyphs) {
  const int full = full_blocks(percent, kBarWidth);
  std::string blocks, rest;
  for (int i = 0; i < kBarWidth; ++i) {
    (i < full ? blocks : rest) += i < full ? glyphs.bar_full : glyphs.bar_empty;
  }
  piece.push_back({" ", {}});
  if (!blocks.empty()) piece.push_back({std::move(blocks), {bar_ink(level)}});
  if (!rest.empty()) piece.push_back({std::move(rest), {Ink::dim}});
}

std::string padded(const std::string& text, int width) {
  // Never cut: a text is as wide as the widest at most.
  return base::pad_left(text, std::max(width, base::display_width(text)));
}

}  // namespace

// Empty where unknown.
struct NodeSummaries::Texts {
  std::string name, gpus, free, mem, cpu, host_mem;
};

NodeSummaries::Texts NodeSummaries::texts_of(const Node& node) {
  Texts texts;
  texts.name = base::printable(node.name);
  const model::Totals totals = model::totals_of(node);
  if (totals.gpus > 0) {
    texts.gpus = fmt::format("{} GPU{}", totals.gpus, totals.gpus == 1 ? "" : "s");
    texts.free = fmt::format("{} free", totals.available);
  }
  if (totals.mem_used_mb && totals.mem_total_mb) {
    texts.mem = fmt::format("{}/{}", base::format_size(*totals.mem_used_mb),
                            base::format_size(*totals.mem_total_mb));
  }
  if (node.host.cpu_percent) {
    texts.cpu = fmt::format("{:.0f}%", *node.host.cpu_percent);
    if (node.host_facts.cpu_cores) texts.cpu += fmt::format(" of {}", *node.host_facts.cpu_cores);
  }
  if (node.host.mem_used_mb && node.host.mem_total_mb) {
    texts.host_mem = fmt::format("{}/{}", base::format_size(*node.host.mem_used_mb),
                                 base::format_size(*node.host.mem_total_mb));
  }
  return texts;
}

NodeSummaries::NodeSummaries(const model::FleetSnapshot& fleet, std::int64_t now_ms,
                             const Glyphs& glyphs)
    : now_ms_(now_ms), glyphs_(glyphs) {
  const auto widen = [](int& width, const std::string& text) {
    width = std::max(width, base::display_width(text));
  };
  for (const Node& node : fleet.nodes) {
    const Texts texts = texts_of(node);
    widen(widths_.name, texts.name);
    widen(widths_.gpus, texts.gpus);
    widen(widths_.free, texts.free);
    widen(widths_.mem, texts.mem);
    widen(widths_.cpu, texts.cpu);
    widen(widths_.host_mem, texts.host_mem);
  }
  widths_.name = std::min(widths_.name, kLongestName);
}

std::vector<Piece> NodeSummaries::of_gpus(const Node& node) const {
  const Texts texts = texts_of(node);
  const model::Totals totals = model::totals_of(node);
  const bool faded = node.state != NodeState::up;
  const auto style = [&](Ink ink) { return Style{faded ? Ink::dim : ink}; };

  std::vector<Piece> pieces;
  pieces.push_back(
      {dot(node, glyphs_),
       {" ", {}},
       {base::pad_right(texts.name, widths_.name, glyphs_.ascii), {Ink::plain, true}}});
  if (const auto word = state_word(node, glyphs_)) pieces.push_back({*word});
  if (!texts.gpus.empty()) {
    // One letter less than the plural: its number still stands under the others.
    const bool shorter = totals.gpus == 1 && base::display_width(texts.gpus) < widths_.gpus;
    const std::string gpus = texts.gpus + (shorter ? " " : "");
    pieces.push_back({{padded(gpus, widths_.gpus), style(Ink::plain)}});
    pieces.push_back({{padded(texts.free, widths_.free), style(Ink::plain)}});
    Piece util;
    if (totals.util_percent) {
      const Level level = model::util_level(*totals.util_percent);
      util.push_back({padded(fmt::format("{:.0f}%", *totals.util_percent), kPercentWidth),
                      style(value_ink(level))});
      add_bar(util, totals.util_percent, faded ? Level::idle : level, glyphs_);
    } else {
      util.push_back({padded(std::string(glyphs_.unknown), kPercentWidth), {Ink::dim}});
      util.push_back({std::string(1 + kBarWidth, ' '), {}});
    }
    pieces.push_back(std::move(util));
  }
  if (texts.mem.empty() && !texts.gpus.empty() && widths_.mem > 0) {
    // Keeps the place that other nodes need.
    pieces.push_back({{padded(std::string(glyphs_.unknown), widths_.mem), {Ink::dim}},
                      {std::string(1 + kBarWidth, ' '), {}}});
  } else if (!texts.mem.empty()) {
    const double percent = 100.0 * static_cast<double>(*totals.mem_used_mb) /
                           static_cast<double>(std::max<std::int64_t>(*totals.mem_total_mb, 1));
    const Level level = model::mem_level(percent);
    Piece mem{{padded(texts.mem, widths_.mem), style(value_ink(level))}};
    add_bar(mem, percent, level, glyphs_);
    pieces.push_back(std::move(mem));
  }
  return pieces;
}

std::vector<Piece> NodeSummaries::of_host(const Node& node) const {
  const Texts texts = texts_of(node);
  const bool faded = node.state != NodeState::up;
  const Style style{faded ? Ink::dim : Ink::plain};
  std::vector<Piece> pieces;
  if (!texts.cpu.empty()) {
    pieces.push_back({{"CPU ", {Ink::dim}}, {padded(texts.cpu, widths_.cpu), style}});
  }
  if (!texts.host_mem.empty()) {
    pieces.push_back({{"Mem ", {Ink::dim}}, {padded(texts.host_mem, widths_.host_mem), style}});
  }
  if (node.sampled_at_ms) {
    const std::int64_t age_s = std::max<std::int64_t>(now_ms_ - *node.sampled_at_ms, 0) / 1000;
    pieces.push_back({{age_text(age_s) + " ago", {faded ? Ink::warn : Ink::dim}}});
  }
  return pieces;
}

std::vector<Piece> node_facts(const Node& node) {
  std::vector<Piece> facts;
  const auto add = [&](std::string text, Ink ink = Ink::dim) {
    facts.push_back({{std::move(text), {ink}}});
  };
  if (!node.local && node.address != node.name) add(base::printable(node.address));
  if (node.driver_version) add("driver " + base::printable(*node.driver_version));
  if (node.cuda_version) add("CUDA " + base::printable(*node.cuda_version));
  if (node.source != model::GpuSource::none) add(fmt::format("source {}", to_string(node.source)));
  if (node.simulated) add("simulated", Ink::warn);
  if (node.gpus.empty() && node.sampled_at_ms) {
    if (node.host_facts.os) add(base::printable(*node.host_facts.os));
    if (node.host.load1) add(fmt::format("load {:.2f}", *node.host.load1));
    if (node.host.uptime_s) add("up " + age_text(*node.host.uptime_s));
  }
  if (node.bad_lines > 0) add(fmt::format("{} unreadable lines", node.bad_lines), Ink::warn);
  return facts;
}

}  // namespace nvidb::ui
