// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "fleet/gate.h"

#include <utility>

namespace nvidb::fleet {

Gate::Ticket Gate::enter(const std::string& jump, std::function<void(Ticket)> go) {
  const Ticket ticket = ++last_;
  ways_[jump].waiting.push_back({ticket, std::move(go)});
  let_in(jump);
  return ticket;
}

void Gate::leave(Ticket ticket) {
  if (const auto found = inside_.find(ticket); found != inside_.end()) {
    const std::string jump = found->second;
    inside_.erase(found);
    --ways_[jump].inside;
    return let_in(jump);
  }
  for (auto& [jump, way] : ways_) {
    way.waiting.remove_if([&](const Waiting& waiting) { return waiting.ticket == ticket; });
  }
}

void Gate::let_in(const std::string& jump) {
  Way& way = ways_[jump];
  const std::size_t limit = jump.empty() ? kMaxHandshakesDirect : kMaxHandshakesPerJump;
  while (way.inside < limit && !way.waiting.empty()) {
    const Waiting next = std::move(way.waiting.front());
    way.waiting.pop_front();
    ++way.inside;
    inside_.emplace(next.ticket, jump);
    next.go(next.ticket);
  }
}

}  // namespace nvidb::fleet
