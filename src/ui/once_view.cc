// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "ui/once_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "base/units.h"
#include "model/rules.h"
#include "ui/glyphs.h"
#include "ui/gpu_table.h"
#include "ui/node_summary.h"
#include "ui/page.h"

namespace nvidb::ui {
namespace {

using model::FleetSnapshot;
using model::Node;
using screen::Ink;

constexpr int kIndent = 2;
constexpr int kNarrowest = 40;

std::string count_of(std::int64_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

bool does_answer(const Node& node) {
  return node.state == model::NodeState::up || node.state == model::NodeState::connecting;
}

class OnceView {
 public:
  OnceView(const FleetSnapshot& fleet, const OnceOptions& options)
      : fleet_(fleet),
        options_(options),
        glyphs_(glyphs_for(options.ascii)),
        page_(std::max(options.width, kNarrowest)),
        layout_(lay_out_gpus(fleet, page_.width(), kIndent, options.compact)),
        summaries_(fleet, options.now_ms, glyphs_) {}

  screen::Frame draw() {
    header();
    for (const Node& node : fleet_.nodes) {
      page_.add_row();
      draw_node(node);
    }
    if (fleet_.nodes.size() > 1) {
      const auto users = model::users_of(fleet_);
      if (!users.empty()) page_.add_row();
      add_users("users over all nodes", 0, users);
    }
    return page_.take();
  }

 private:
  Span separator() const { return {std::string(glyphs_.separator), {Ink::dim}}; }

  void header() {
    std::vector<Piece> pieces;
    pieces.push_back({{"nvidb", {Ink::plain, true}}, {" " + base::printable(options_.clock), {}}});
    const auto& nodes = fleet_.nodes;
    const auto simulated = std::ranges::count_if(nodes, &Node::simulated);
    if (simulated > 0) pieces.push_back({{"SIMULATED", {Ink::warn, true}}});
    pieces.push_back({{count_of(std::ssize(nodes), "node"), {}}});
    const auto silent = std::ranges::count_if(nodes, [](const Node& n) { return !does_answer(n); });
    if (silent > 0 && std::ssize(nodes) > 1) {
      pieces.push_back({{fmt::format("{} not answering", silent), {Ink::alarm}}});
    }
    const model::Totals totals = model::totals_of(fleet_);
    if (totals.gpus > 0) {
      pieces.push_back({{count_of(totals.gpus, "GPU"), {}}});
      pieces.push_back({{fmt::format("{} free", totals.available), {}}});
    }
    if (totals.util_percent) {
      pieces.push_back({{fmt::format("{:.0f}% avg", *totals.util_percent), {}}});
    }
    if (totals.mem_used_mb && totals.mem_total_mb) {
      pieces.push_back({{"VRAM " + base::format_size(*totals.mem_used_mb), {}},
                        {"/" + base::format_size(*totals.mem_total_mb), {Ink::dim}}});
    }
    page_.add_pieces(0, kIndent, pieces, separator());
  }

  void draw_node(const Node& node) {
    draw_summary(node);
    const bool trouble = node.state != model::NodeState::connecting;
    if (node.error) page_.add_text(kIndent, *node.error, {trouble ? Ink::alarm : Ink::warn});
    if (node.notice) page_.add_text(kIndent, *node.notice, {Ink::warn});
    const std::vector<Piece> facts = node_facts(node);
    if (!facts.empty()) page_.add_pieces(kIndent, kIndent, facts, separator());
    if (node.gpus.empty()) return;
    add_gpu_table(page_, node.gpus, layout_, glyphs_, node.state != model::NodeState::up);
    if (layout_.names_below) add_models(node);
    add_users("users", kIndent, model::users_of(node));
  }

  // In one row where it fits, else the GPUs in one and the machine in the next.
  void draw_summary(const Node& node) {
    const Span gap{"  ", {}};
    const std::vector<Piece> pieces = summaries_.of_gpus(node);
    const std::vector<Piece> host = summaries_.of_host(node);
    std::vector<Piece> all = pieces;
    all.insert(all.end(), host.begin(), host.end());
    int width = base::display_width(gap.text) * (static_cast<int>(all.size()) - 1);
    for (const Piece& piece : all) width += width_of(piece);
    if (width <= page_.width() || host.empty()) {
      page_.add_pieces(0, kIndent, all, gap);
    } else {
      page_.add_pieces(0, kIndent, pieces, gap);
      page_.add_pieces(kIndent, kIndent, host, gap);
    }
  }

  // `models  0-7 RTX A6000   8 RTX 3090 Ti`, where the table has no room for them.
  void add_models(const Node& node) {
    std::vector<Piece> pieces{{{"models", {Ink::dim}}}};
    for (std::size_t i = 0; i < node.gpus.size();) {
      const model::GpuFacts& first = node.gpus[i].facts;
      int last = first.index;
      const std::size_t start = i;
      while (i < node.gpus.size() && node.gpus[i].facts.name == first.name) {
        last = node.gpus[i++].facts.index;
      }
      std::string indices = fmt::format("{}", first.index);
      if (i - start > 1) indices += fmt::format("-{}", last);
      const std::string name = short_model(first);
      pieces.push_back(
          {{indices + " ", {Ink::dim}}, {name.empty() ? std::string(glyphs_.unknown) : name, {}}});
    }
    page_.add_pieces(kIndent, 2 * kIndent, pieces, {"  ", {}});
  }

  void add_users(std::string label, int indent, const std::vector<model::UserVram>& users) {
    if (users.empty()) return;
    std::vector<Piece> pieces{{{std::move(label), {Ink::dim}}}};
    for (const model::UserVram& user : users) {
      pieces.push_back(
          {{base::printable(user.user) + " ", {}}, {base::format_size(user.mem_mb), {}}});
    }
    page_.add_pieces(indent, indent + kIndent, pieces, {"  ", {}});
  }

  const FleetSnapshot& fleet_;
  const OnceOptions& options_;
  Glyphs glyphs_;
  Page page_;
  GpuTableLayout layout_;
  NodeSummaries summaries_;
};

}  // namespace

screen::Frame once_view(const model::FleetSnapshot& fleet, const OnceOptions& options) {
  return OnceView(fleet, options).draw();
}

}  // namespace nvidb::ui
