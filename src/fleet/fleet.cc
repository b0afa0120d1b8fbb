// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "fleet/fleet.h"

#include <utility>

#include "fleet/feed.h"

namespace nvidb::fleet {

struct Fleet::State {
  std::vector<std::unique_ptr<Feed>> feeds;
  std::function<void(const std::shared_ptr<const model::FleetSnapshot>&)> on_change;
  std::shared_ptr<const model::FleetSnapshot> latest = std::make_shared<model::FleetSnapshot>();
  bool stopped = false;

  void publish() {
    if (stopped) return;
    auto next = std::make_shared<model::FleetSnapshot>();
    next->revision = latest->revision + 1;
    next->nodes.reserve(feeds.size());
    for (const auto& feed : feeds) next->nodes.push_back(feed->state().node);
    latest = std::move(next);
    if (on_change) on_change(latest);
  }
};

Fleet::Fleet(io::Loop& loop, const base::Clock& clock, std::vector<NodeSpec> nodes,
             FleetOptions options,
             std::function<void(const std::shared_ptr<const model::FleetSnapshot>&)> on_change)
    : state_(std::make_shared<State>()) {
  state_->on_change = std::move(on_change);
  for (const NodeSpec& node : nodes) {
    state_->feeds.push_back(std::make_unique<Feed>(loop, clock, node, options,
                                                   [state = state_.get()] { state->publish(); }));
  }
}

Fleet::~Fleet() {
  stop();
}

void Fleet::start() {
  for (const auto& feed : state_->feeds) feed->start();
}

void Fleet::stop() {
  state_->stopped = true;
  for (const auto& feed : state_->feeds) feed->stop();
}

std::shared_ptr<const model::FleetSnapshot> Fleet::latest() const {
  return state_->latest;
}

}  // namespace nvidb::fleet
