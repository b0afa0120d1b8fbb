// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// The life of one collector process: started, watched against deadlines, started anew. Private to
// fleet/.
//
// starting --hello--> waking --first sample--> up --late or ended--> waiting --back-off--> starting
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "fleet/fleet.h"
#include "fleet/fold.h"
#include "io/child.h"
#include "io/lines.h"
#include "io/loop.h"

namespace nvidb::fleet {

// How long to wait before try number `failures` + 1 (failures >= 1): 1, 2, 5, 10, 15 s, then every
// 60 s, less up to a tenth of it, taken by `jitter` in [0, 1), so that many feeds that failed
// together do not return together.
std::int64_t backoff_ms(int failures, double jitter);

class Feed {
 public:
  // on_change after every change of state(). All on the loop's thread.
  Feed(io::Loop& loop, const base::Clock& clock, const NodeSpec& spec, const FleetOptions& options,
       std::function<void()> on_change);
  ~Feed();

  void start();
  void stop();
  const FoldState& state() const { return state_; }

 private:
  enum class Phase { idle, starting, waking, up, waiting, stopped };

  void spawn();
  void on_bytes(std::string_view bytes);
  void on_line(std::string_view line);
  void on_exit(io::ExitStatus status);
  void on_deadline();
  void give_up(base::Error error);
  std::string last_words() const;

  io::Loop& loop_;
  const base::Clock& clock_;
  const NodeSpec spec_;
  const FleetOptions options_;
  std::function<void()> on_change_;
  FoldState state_;
  Phase phase_ = Phase::idle;
  int failures_ = 0;
  std::int64_t started_ms_ = 0;  // steady
  std::shared_ptr<io::Child> child_;
  io::LineSplitter lines_;
  io::Timer timer_;
  std::string noise_;   // the last line on stdout that was not ours, bounded
  std::string stderr_;  // the last bytes of stderr, bounded
};

}  // namespace nvidb::fleet
