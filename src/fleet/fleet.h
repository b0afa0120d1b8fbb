// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Keeps one feed alive for each watched machine and folds what they say into snapshots.
//
// Lives on the loop's thread. A snapshot is immutable and shared: readers may keep it as long as
// they like.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "io/child.h"
#include "io/loop.h"
#include "io/ssh.h"
#include "model/fleet.h"

namespace nvidb::fleet {

// What nvidia-smi's text says, taken apart.
struct SmiTables {
  model::Inventory inventory;
  std::vector<model::GpuReading> readings;
};

struct NodeSpec {
  std::string name;
  std::string address = "localhost";
  std::optional<std::int64_t> port;
  std::optional<std::string> username;
  bool local = true;
  io::ChildSpec collector;  // the process that speaks the agent protocol, or ssh to it

  // For servers.
  std::optional<io::SshTarget> ssh;  // absent: the collector is a child on this machine
  std::string control_path;          // of the shared connection; "" shares none
  // The text of a collector that the server asks for, because nvidb is not installed there.
  std::function<std::string_view(model::CollectorKind)> script;
  // Takes apart what servers without Python send as nvidia-smi printed it.
  std::function<SmiTables(const model::SmiXml&)> read_smi;
  // Why there is no use in trying, e.g. a password that nobody gave: shown, and nothing is started.
  std::optional<base::Error> refused;
};

struct FleetOptions {
  std::int64_t interval_ms = 1000;
  std::int64_t hello_timeout_ms = 10000;  // from the start to the hello
  std::int64_t sample_timeout_ms =
      30000;  // from the start to the first sample; a driver may be slow to wake
  std::int64_t sample_slack_ms = 5000;    // a later sample is due within 3 intervals and this
  std::int64_t signal_timeout_ms = 5000;  // from the order to the collector's answer
  bool once = false;                      // no second try: a node that fails stays down
};

class Fleet {
 public:
  // on_change runs on the loop after each published snapshot; may be empty.
  Fleet(io::Loop& loop, const base::Clock& clock, std::vector<NodeSpec> nodes, FleetOptions options,
        std::function<void(const std::shared_ptr<const model::FleetSnapshot>&)> on_change);
  ~Fleet();

  void start();
  // Kills every collector. Idempotent; no callback afterwards.
  void stop();
  // Nodes that are still connecting are given up: the time of all, `limit_ms`, is over.
  void give_up_connecting(std::int64_t limit_ms);
  // The user's wish to try a node again at once, as if it had never failed: one that waits for its
  // next try, or that refused us (the user may have mended that). Any other is left alone, also one
  // that cannot be tried at all (NodeSpec::refused). REQUIRES: node_index < count of the nodes.
  void retry(std::size_t node_index);
  // Has the node's collector send `signal` to the process that has this pid and this start time
  // (ProcessSample::start_ticks), so that a pid that was used again is never hit. `done` is called
  // exactly once, from the loop and never from within this call, unless stop() comes first. Errors:
  //   not_found    `no such process`, also where the pid belongs to another one by now
  //   refused      the system's own text, `Operation not permitted`
  //   unreachable  the node does not answer and nothing was sent; or its collector ended before it
  //                answered: whether the signal was sent is unknown
  //   timeout      no answer in time: whether it was sent is unknown
  //   busy         too many signals to this node wait for an answer; nothing was sent
  //   invalid      a pid or start time that no process has; nothing was sent
  // Works whatever the driver does, so also on a stale node whose collector answers; but one in sh
  // hears nothing while nvidia-smi runs, so there a timeout may be followed by the signal.
  // REQUIRES: node_index < count of the nodes; signal is 2, 9 or 15.
  void signal(std::size_t node_index, std::int64_t pid, std::int64_t start_ticks, int signal,
              std::function<void(base::Result<void>)> done);
  // Never null; revision 0 before the first change, then with every node still connecting.
  std::shared_ptr<const model::FleetSnapshot> latest() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace nvidb::fleet
