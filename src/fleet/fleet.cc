// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "fleet/fleet.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "fleet/feed.h"

namespace nvidb::fleet {
namespace {

// Snapshots are for eyes: 30 a second are enough, and with hundreds of nodes each one has a price.
constexpr std::int64_t kPublishEveryMs = 33;

}  // namespace

struct Fleet::State {
  State(io::Loop& loop, const base::Clock& used) : clock(used), timer(loop) {}

  // Feed `index` changed; the change is published now, or together with others a moment later.
  void on_change(std::size_t index) {
    if (stopped) return;
    if (!is_changed[index]) {
      is_changed[index] = true;
      changed.push_back(index);
    }
    if (publish_due) return;
    publish_due = true;
    const std::int64_t passed_ms = clock.steady_ms() - published_ms;
    timer.set(std::max<std::int64_t>(kPublishEveryMs - passed_ms, 0), [this] { publish(); });
  }

  void publish() {
    publish_due = false;
    published_ms = clock.steady_ms();
    auto next = std::make_shared<model::FleetSnapshot>(*latest);
    next->revision = latest->revision + 1;
    for (const std::size_t index : changed) {
      next->nodes[index] = feeds[index]->state().node;
      is_changed[index] = false;
    }
    changed.clear();
    latest = std::move(next);
    if (on_publish) on_publish(latest);
  }

  const base::Clock& clock;
  io::Timer timer;
  Gate gate;
  std::vector<std::unique_ptr<Feed>> feeds;
  std::function<void(const std::shared_ptr<const model::FleetSnapshot>&)> on_publish;
  std::shared_ptr<const model::FleetSnapshot> latest;
  std::vector<std::size_t> changed;
  std::vector<bool> is_changed;
  std::int64_t published_ms = 0;
  bool publish_due = false;
  bool stopped = false;
};

Fleet::Fleet(io::Loop& loop, const base::Clock& clock, std::vector<NodeSpec> nodes,
             FleetOptions options,
             std::function<void(const std::shared_ptr<const model::FleetSnapshot>&)> on_change)
    : state_(std::make_shared<State>(loop, clock)) {
  state_->on_publish = std::move(on_change);
  auto first = std::make_shared<model::FleetSnapshot>();
  for (const NodeSpec& node : nodes) {
    const std::size_t index = state_->feeds.size();
    state_->feeds.push_back(
        std::make_unique<Feed>(loop, clock, node, options, state_->gate,
                               [state = state_.get(), index] { state->on_change(index); }));
    first->nodes.push_back(state_->feeds.back()->state().node);
  }
  state_->is_changed.resize(nodes.size());
  state_->latest = std::move(first);
}

Fleet::~Fleet() {
  stop();
}

void Fleet::start() {
  for (const auto& feed : state_->feeds) feed->start();
}

void Fleet::give_up_connecting(std::int64_t limit_ms) {
  // Last first: those still in the queue leave it before a place becomes free.
  for (auto feed = state_->feeds.rbegin(); feed != state_->feeds.rend(); ++feed) {
    (*feed)->give_up_connecting(limit_ms);
  }
}

void Fleet::retry(std::size_t node_index) {
  CHECK(node_index < state_->feeds.size());
  state_->feeds[node_index]->retry();
}

void Fleet::signal(std::size_t node_index, std::int64_t pid, std::int64_t start_ticks, int signal,
                   std::function<void(base::Result<void>)> done) {
  CHECK(node_index < state_->feeds.size());
  state_->feeds[node_index]->signal(pid, start_ticks, signal, std::move(done));
}

void Fleet::stop() {
  state_->stopped = true;
  state_->timer.cancel();
  for (const auto& feed : state_->feeds) feed->stop();
}

std::shared_ptr<const model::FleetSnapshot> Fleet::latest() const {
  return state_->latest;
}

}  // namespace nvidb::fleet
