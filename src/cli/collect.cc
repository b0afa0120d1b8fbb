// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "cli/collect.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/output.h"
#include "io/files.h"

namespace nvidb::cli {
namespace {

// Nothing is shown while everything answers as fast as usual.
constexpr std::int64_t kQuietMs = 400;

std::size_t settled_count(const model::FleetSnapshot& fleet) {
  return static_cast<std::size_t>(std::ranges::count_if(fleet.nodes, [](const model::Node& node) {
    return node.state != model::NodeState::connecting;
  }));
}

// One line on stderr that is overwritten and, at the end, removed.
class Progress {
 public:
  explicit Progress(bool wanted) : wanted_(wanted && ::isatty(STDERR_FILENO) == 1) {}
  ~Progress() {
    if (shown_) write("\r\x1b[K");
  }
  void show(std::size_t settled, std::size_t count) {
    if (!wanted_) return;
    shown_ = true;
    write(fmt::format("\r\x1b[Kwaiting for {} of {} machines", count - settled, count));
  }

 private:
  static void write(std::string_view text) { (void)io::write_all(STDERR_FILENO, text); }
  const bool wanted_;
  bool shown_ = false;
};

}  // namespace

base::Result<Collected> collect_once(const Settings& settings, bool remote, bool demo,
                                     fleet::FleetOptions options) {
  options.once = true;
  io::Loop loop;
  auto watched = watched_nodes(loop, settings, remote, demo, options.interval_ms);
  if (!watched) return base::fail(watched.error());

  Collected result;
  loop.on_interrupt([&](int) {
    result.interrupted = true;
    loop.stop();
  });
  Progress progress(watched->nodes.size() > 1);
  bool quiet = true;
  const std::size_t count = watched->nodes.size();
  fleet::Fleet fleet(loop, base::system_clock(), std::move(watched->nodes), options,
                     [&](const std::shared_ptr<const model::FleetSnapshot>& snapshot) {
                       const std::size_t settled = settled_count(*snapshot);
                       if (settled == count) return loop.stop();
                       if (!quiet) progress.show(settled, count);
                     });
  io::Timer timer(loop);
  timer.set(kQuietMs, [&] {
    quiet = false;
    progress.show(settled_count(*fleet.latest()), count);
  });
  fleet.start();
  loop.run();
  fleet.stop();
  result.fleet = fleet.latest();
  return result;
}

}  // namespace nvidb::cli
