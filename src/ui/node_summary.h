// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// The line that says how a node is, and the one that says what it runs.
#include <cstdint>
#include <vector>

#include "model/fleet.h"
#include "ui/glyphs.h"
#include "ui/page.h"

namespace nvidb::ui {

// Summary lines of all nodes of a page, measured together so that their numbers stand under each
// other.
class NodeSummaries {
 public:
  // `now_ms` is this machine's wall clock, for ages.
  NodeSummaries(const model::FleetSnapshot& fleet, std::int64_t now_ms, const Glyphs& glyphs);

  // Dot and name, GPUs, free, utilisation, VRAM: the pieces that there are.
  std::vector<Piece> of_gpus(const model::Node& node) const;
  // CPU, memory, age of all these numbers. Belongs behind of_gpus(), or into a row of its own.
  std::vector<Piece> of_host(const model::Node& node) const;

 private:
  // Columns of each number; 0 where no node has it.
  struct Widths {
    int name = 0, gpus = 0, free = 0, mem = 0, cpu = 0, host_mem = 0;
  };
  struct Texts;
  static Texts texts_of(const model::Node& node);

  std::int64_t now_ms_;
  Glyphs glyphs_;
  Widths widths_;
};

// `driver 570.195.03 · CUDA 12.8 · source nvml`, or what is known of a machine without GPUs; may be
// empty.
std::vector<Piece> node_facts(const model::Node& node);

}  // namespace nvidb::ui
