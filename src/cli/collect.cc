// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "cli/collect.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "cli/output.h"
#include "cli/prompt.h"
#include "io/files.h"

namespace nvidb::cli {
namespace {

using model::NodeState;

// Nothing is shown while everything answers as fast as usual.
constexpr std::int64_t kQuietMs = 400;
constexpr std::size_t kShownNames = 3;
// What is given up at its own deadline says more than what is given up at that of all.
constexpr std::int64_t kAfterDeadlinesMs = 50;

std::size_t settled_count(const model::FleetSnapshot& fleet) {
  return static_cast<std::size_t>(std::ranges::count_if(
      fleet.nodes, [](const model::Node& node) { return node.state != NodeState::connecting; }));
}

// `waiting for lab-a, lab-b and 5 more`, `waiting for lab-a: waking 8 GPUs`.
std::string what_is_awaited(const model::FleetSnapshot& fleet) {
  std::vector<std::string> names;
  for (const model::Node& node : fleet.nodes) {
    if (node.state != NodeState::connecting) continue;
    names.push_back(node.notice ? fmt::format("{}: {}", node.name, *node.notice) : node.name);
  }
  const std::size_t shown = std::min(names.size(), kShownNames);
  std::string text = fmt::format(
      "waiting for {}", fmt::join(names.begin(), names.begin() + static_cast<long>(shown), ", "));
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

// One line on stderr that is overwritten and, at the end, removed.
class Progress {
 public:
  Progress() : is_wanted_(::isatty(STDERR_FILENO) == 1) {}
  ~Progress() { clear(); }
  void show(const model::FleetSnapshot& fleet) {
    if (!is_wanted_) return;
    constexpr int kColumns = 78;
    const std::string text = base::cut(base::printable(what_is_awaited(fleet)), kColumns);
    if (text == shown_) return;
    shown_ = text;
    write("\r\x1b[K" + text);
  }
  void clear() {
    if (!shown_.empty()) write("\r\x1b[K");
    shown_.clear();
  }

 private:
  static void write(std::string_view text) { (void)io::write_all(STDERR_FILENO, text); }
  const bool is_wanted_;
  std::string shown_;
};

Collected watch_once(io::Loop& loop, std::vector<fleet::NodeSpec> nodes,
                     const fleet::FleetOptions& options) {
  Collected result;
  loop.on_interrupt([&](int) {
    result.interrupted = true;
    loop.stop();
  });
  Progress progress;
  bool quiet = true;
  const std::size_t count = nodes.size();
  fleet::Fleet fleet(loop, base::system_clock(), std::move(nodes), options,
                     [&](const std::shared_ptr<const model::FleetSnapshot>& snapshot) {
                       if (settled_count(*snapshot) == count) return loop.stop();
                       if (!quiet) progress.show(*snapshot);
                     });
  io::Timer talk(loop), end(loop);
  talk.set(kQuietMs, [&] {
    quiet = false;
    progress.show(*fleet.latest());
  });
  end.set(options.sample_timeout_ms + kAfterDeadlinesMs,
          [&] { fleet.give_up_connecting(options.sample_timeout_ms); });
  fleet.start();
  loop.run();
  fleet.stop();
  result.fleet = fleet.latest();
  return result;
}

// Servers that refused keys and agent, and may take a password: asked for, and tried once more.
// `auth: auto` is the user's ssh defaults, then a stored password, then one question.
base::Result<void> try_with_passwords(const Settings& settings, const fleet::FleetOptions& options,
                                      Collected& collected) {
  if (!can_ask()) return {};
  std::vector<config::ServerConfig> again;
  for (const config::ServerConfig& server : settings.loaded.config.servers) {
    if (server.auth != config::Auth::automatic || server.password) continue;
    const std::string name = config::identity(server);
    const bool refused = std::ranges::any_of(collected.fleet->nodes, [&](const model::Node& node) {
      return !node.local && node.name == name && node.state == NodeState::auth;
    });
    if (!refused) continue;
    const auto answer = ask_secret(fmt::format(
        "password of {}@{} ({}; Enter skips it): ", server.username, server.hostname, name));
    if (!answer || answer->empty()) continue;
    again.push_back(server);
    again.back().password = config::Secret(*answer);
  }
  if (again.empty()) return {};
  io::Loop loop;
  auto watched = watched_servers(loop, settings, again, options.interval_ms);
  if (!watched) return base::fail(watched.error());
  const Collected second = watch_once(loop, std::move(watched->nodes), options);
  collected.interrupted = second.interrupted;
  auto merged = std::make_shared<model::FleetSnapshot>(*collected.fleet);
  for (model::Shared<model::Node>& node : merged->nodes) {
    for (const model::Shared<model::Node>& better : second.fleet->nodes) {
      if (!node->local && node->name == better->name) node = better;
    }
  }
  collected.fleet = std::move(merged);
  return {};
}

}  // namespace

base::Result<Collected> collect_once(const Settings& settings, bool remote, bool demo,
                                     fleet::FleetOptions options) {
  options.once = true;
  io::Loop loop;
  auto local = local_node(demo);
  if (!local) return base::fail(local.error());
  const auto& servers = settings.loaded.config.servers;
  auto watched = watched_servers(
      loop, settings, remote ? servers : std::vector<config::ServerConfig>(), options.interval_ms);
  if (!watched) return base::fail(watched.error());
  std::vector<fleet::NodeSpec> nodes = std::move(watched->nodes);
  nodes.insert(nodes.begin(), *std::move(local));

  Collected collected = watch_once(loop, std::move(nodes), options);
  if (remote && !collected.interrupted) {
    if (const auto done = try_with_passwords(settings, options, collected); !done) {
      return base::fail(done.error());
    }
  }
  return collected;
}

}  // namespace nvidb::cli
