// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// The life of one collector process: started, watched against deadlines, started anew. Private to
// fleet/.
//
// queued --gate--> starting --hello--> waking --first sample--> up
//   any of these --late or ended--> waiting --back-off--> queued
//   any of these --refused by the server--> blocked, until the user acts
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "fleet/fleet.h"
#include "fleet/fold.h"
#include "fleet/gate.h"
#include "fleet/signal_orders.h"
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
  // on_change after every change of state(). All on the loop's thread; `gate` outlives the feed.
  Feed(io::Loop& loop, const base::Clock& clock, const NodeSpec& spec, const FleetOptions& options,
       Gate& gate, std::function<void()> on_change);
  ~Feed();

  void start();
  void stop();
  // A node that is still connecting has had its time: `limit_ms`, for the message.
  void give_up_connecting(std::int64_t limit_ms);
  // Fleet::retry(), Fleet::signal().
  void retry();
  void signal(std::int64_t pid, std::int64_t start_ticks, int signal, SignalDone done);
  const FoldState& state() const { return state_; }

 private:
  enum class Phase { idle, queued, starting, waking, up, waiting, blocked, stopped };

  void enter_gate();
  void leave_gate();
  void spawn();
  bool is_watching() const;
  void on_collector_gone();
  void send_script(model::CollectorKind kind);
  base::Result<void> fold_smi(const model::SmiXml& message);
  bool try_a_fresh_connection();
  void on_bytes(std::string_view bytes);
  void on_line(std::string_view line);
  void on_exit(io::ExitStatus status);
  void on_deadline();
  void give_up(const base::Error& error, model::NodeState state = model::NodeState::down);
  std::string last_words() const;
  std::string next_step() const;

  io::Loop& loop_;
  const base::Clock& clock_;
  const NodeSpec spec_;
  const FleetOptions options_;
  std::function<void()> on_change_;
  FoldState state_;
  Phase phase_ = Phase::idle;
  Gate& gate_;
  std::optional<Gate::Ticket> ticket_;
  bool reused_connection_ = false;  // this try goes over a connection that was there before
  bool hears_orders_ = false;       // a collector has said hello and is still there
  int failures_ = 0;
  std::int64_t started_ms_ = 0;  // steady
  std::shared_ptr<io::Child> child_;
  io::LineSplitter lines_;
  io::Timer timer_;
  io::Timer gate_timer_;
  SignalOrders signals_;
  std::string noise_;   // the last line on stdout that was not ours, bounded
  std::string stderr_;  // the last bytes of stderr, bounded
};

}  // namespace nvidb::fleet
