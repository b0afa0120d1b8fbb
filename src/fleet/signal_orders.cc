// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "fleet/signal_orders.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"

namespace nvidb::fleet {
namespace {

using base::ErrorKind;
using base::fail;

constexpr const char* kUnknown = "whether it was sent is unknown";

}  // namespace

std::int64_t SignalOrders::open(SignalDone done) {
  const std::int64_t id = ++last_id_;
  Open& order = open_.try_emplace(id, loop_, std::move(done)).first->second;
  order.timer.set(timeout_ms_, [this, id] {
    finish(id, fail(ErrorKind::timeout,
                    fmt::format("no answer within {:g} s; {}",
                                static_cast<double>(timeout_ms_) / 1000, kUnknown)));
  });
  return id;
}

void SignalOrders::on_reply(const model::SignalReply& reply) {
  if (!reply.error) return finish(reply.id, {});
  const bool is_gone = *reply.error == "no such process";
  finish(reply.id,
         fail(is_gone ? ErrorKind::not_found : ErrorKind::refused, base::printable(*reply.error)));
}

void SignalOrders::on_collector_gone() {
  while (!open_.empty()) {
    finish(open_.begin()->first,
           fail(ErrorKind::unreachable,
                fmt::format("the connection ended before the answer; {}", kUnknown)));
  }
}

void SignalOrders::refuse(const SignalDone& done, base::Error error) {
  post(done, fail(std::move(error)));
}

void SignalOrders::stop() {
  running_.reset();
  open_.clear();
}

void SignalOrders::finish(std::int64_t id, base::Result<void> outcome) {
  const auto found = open_.find(id);
  if (found == open_.end()) return;
  const SignalDone done = std::move(found->second.done);
  open_.erase(found);
  post(done, std::move(outcome));
}

void SignalOrders::post(const SignalDone& done, base::Result<void> outcome) {
  loop_.post([done, outcome = std::move(outcome), running = std::weak_ptr<const bool>(running_)] {
    if (!running.expired()) done(outcome);
  });
}

}  // namespace nvidb::fleet
