// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// The signals that one feed's collector was asked to send, until each has its outcome. Private to
// fleet/.
//
// Outcomes are posted to the loop, never called from within a call of ours: `done` may do what it
// likes with the fleet.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "base/result.h"
#include "io/loop.h"
#include "model/agent_message.h"

namespace nvidb::fleet {

using SignalDone = std::function<void(base::Result<void>)>;

// A collector answers within milliseconds; so many open ones are a mistake of somebody's.
inline constexpr std::size_t kMaxOpenSignals = 64;

class SignalOrders {
 public:
  SignalOrders(io::Loop& loop, std::int64_t timeout_ms) : loop_(loop), timeout_ms_(timeout_ms) {}

  bool is_full() const { return open_.size() >= kMaxOpenSignals; }
  // The id of a new order, never used before; from now on it waits for its answer.
  std::int64_t open(SignalDone done);
  // An id that does not wait (any more) is ignored.
  void on_reply(const model::SignalReply& reply);
  // Nobody is there any more who could answer.
  void on_collector_gone();
  // For what was not even sent.
  void refuse(const SignalDone& done, base::Error error);
  // Forgets all; no outcome comes from now on, not even those that are posted.
  void stop();

 private:
  struct Open {
    Open(io::Loop& loop, SignalDone given) : done(std::move(given)), timer(loop) {}
    SignalDone done;
    io::Timer timer;
  };

  void finish(std::int64_t id, base::Result<void> outcome);
  void post(const SignalDone& done, base::Result<void> outcome);

  io::Loop& loop_;
  const std::int64_t timeout_ms_;
  std::int64_t last_id_ = 0;
  std::map<std::int64_t, Open> open_;
  std::shared_ptr<const bool> running_ = std::make_shared<const bool>(true);
};

}  // namespace nvidb::fleet
