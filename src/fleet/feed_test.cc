// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "fleet/feed.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "model/json.h"

namespace nvidb::fleet {
namespace {

using model::NodeState;

std::string good_lines() {
  model::Inventory inventory;
  inventory.source = model::GpuSource::nvml;
  inventory.gpus = {{.index = 0, .uuid = "GPU-a"}};
  model::Sample sample;
  sample.seq = 1;
  sample.at_ms = 1;
  sample.gpus = {{.index = 0, .util_percent = 42}};
  return model::encode_line(model::AgentMessage(model::Hello{})) +
         model::encode_line(model::AgentMessage(inventory)) +
         model::encode_line(model::AgentMessage(sample));
}

// Runs one try of a collector that is a shell script, with `lines` in $LINES, until its node is
// settled.
model::Node watch(const std::string& script, FleetOptions options = {},
                  const std::string& lines = good_lines(), NodeSpec spec = {}) {
  io::Loop loop;
  spec.name = "here";
  spec.collector = {.program = "/bin/sh",
                    .argv = {"sh", "-c", script},
                    .env = {{"LINES", lines}},
                    .unset_env = {}};
  options.once = true;
  model::Node node;
  Gate gate;
  Feed* started = nullptr;
  Feed feed(loop, base::system_clock(), spec, options, gate, [&] {
    node = started->state().node;
    if (node.state != NodeState::connecting) loop.stop();
  });
  started = &feed;
  io::Timer limit(loop);
  limit.set(20000, [&] {
    ADD_FAILURE() << "the feed never settled";
    loop.stop();
  });
  feed.start();
  loop.run();
  return node;
}

TEST(Feed, GoodLines_MakeANodeThatIsUp) {
  const model::Node node = watch("printf %s \"$LINES\"; sleep 100");
  EXPECT_EQ(node.state, NodeState::up);
  EXPECT_EQ(node.gpus.at(0).reading.util_percent, 42);
}

TEST(Feed, ServerWithoutNvidb_GetsTheScriptItAsksFor) {
  NodeSpec spec;
  spec.script = [](model::CollectorKind kind) {
    return kind == model::CollectorKind::python ? "python text" : "shell text";
  };
  const model::Node node = watch(
      "echo 'nvidb1 {\"type\":\"want\",\"script\":\"python\"}'; a=$(head -c 11);"
      "echo 'nvidb1 {\"type\":\"want\",\"script\":\"shell\"}'; b=$(head -c 10);"
      "[ \"$a,$b\" = 'python text,shell text' ] && printf %s \"$LINES\"; sleep 100",
      {}, good_lines(), spec);
  EXPECT_EQ(node.state, NodeState::up);
}

TEST(Feed, ScriptThatDoesNotExist_IsAnError) {
  const model::Node node = watch("echo 'nvidb1 {\"type\":\"want\",\"script\":\"python\"}'; cat");
  EXPECT_EQ(node.error, "the server asks for a collector that does not exist");
}

std::string smi_lines(const std::string& xml, int status) {
  model::SmiXml message;
  message.seq = 1;
  message.at_ms = 1;
  message.status = status;
  message.host.mem_total_mb = 1000;
  message.processes = {{.pid = 7, .command = "python train.py", .user = "alice"}};
  message.xml = xml;
  return model::encode_line(
             model::AgentMessage(model::Hello{.collector = model::CollectorKind::shell})) +
         model::encode_line(model::AgentMessage(message));
}

TEST(Feed, TextOfNvidiaSmi_IsTakenApartHere) {
  NodeSpec spec;
  spec.read_smi = [](const model::SmiXml& message) {
    EXPECT_EQ(message.xml, "<all>");
    SmiTables tables;
    tables.inventory.source = model::GpuSource::nvidia_smi;
    tables.inventory.gpus = {{.index = 0, .uuid = "GPU-a"}};
    tables.readings = {{.index = 0, .util_percent = 42}};
    tables.readings[0].processes = message.processes;
    return tables;
  };
  const model::Node node =
      watch("printf %s \"$LINES\"; sleep 100", {}, smi_lines("<all>", 0), spec);
  ASSERT_EQ(node.state, NodeState::up);
  EXPECT_EQ(node.source, model::GpuSource::nvidia_smi);
  EXPECT_EQ(node.host.mem_total_mb, 1000);
  EXPECT_EQ(node.gpus.at(0).reading.processes.at(0).user, "alice");
}

TEST(Feed, TextOfNvidiaSmiThatSaysNothing_IsANodeError) {
  NodeSpec spec;
  spec.read_smi = [](const model::SmiXml&) {
    SmiTables tables;
    tables.inventory.error = "Failed to initialize NVML";
    return tables;
  };
  const model::Node node = watch("printf %s \"$LINES\"; sleep 100", {}, smi_lines("x", 9), spec);
  EXPECT_EQ(node.state, NodeState::up);
  EXPECT_EQ(node.error, "Failed to initialize NVML");
}

io::SshTarget lab() {
  return {.host = "lab", .port = {}, .user = "alice"};
}

TEST(Feed, SshThatIsRefused_SaysWhatToDoAndIsNotTriedAgain) {
  NodeSpec spec;
  spec.ssh = lab();
  const model::Node refused =
      watch("echo 'alice@lab: Permission denied (publickey).' >&2; exit 255", {}, "", spec);
  EXPECT_EQ(refused.state, NodeState::auth);
  EXPECT_EQ(refused.error, "here refused the login (see why with: ssh alice@lab)");
  const model::Node changed = watch(
      "echo 'REMOTE HOST IDENTIFICATION HAS CHANGED!' >&2; head -c 3000 /dev/zero | tr '\\0' x >&2;"
      "echo 'Host key verification failed.' >&2; exit 255",
      {}, "", spec);
  EXPECT_EQ(changed.state, NodeState::hostkey);
  EXPECT_EQ(changed.error,
            "host key changed (if that is right: ssh-keygen -R lab, then ssh alice@lab)");
}

TEST(Feed, SshThatSaysNothing_IsGivenUp) {
  NodeSpec spec;
  spec.ssh = lab();
  const model::Node node = watch("exec sleep 100", {.hello_timeout_ms = 100}, "", spec);
  EXPECT_EQ(node.state, NodeState::down);
  EXPECT_EQ(node.error, "here did not answer within 0.1 s (try: ssh alice@lab)");
}

TEST(Feed, SilenceAfterASample_IsStaleAndTriedAgain) {
  io::Loop loop;
  NodeSpec spec;
  spec.collector = {.program = "/bin/sh",
                    .argv = {"sh", "-c", "printf %s \"$LINES\"; exec sleep 100"},
                    .env = {{"LINES", good_lines()}},
                    .unset_env = {}};
  Gate gate;
  bool was_stale = false;
  model::Node node;
  Feed* started = nullptr;
  Feed feed(loop, base::system_clock(), spec, {.interval_ms = 10, .sample_slack_ms = 50}, gate,
            [&] {
              node = started->state().node;
              if (node.state == NodeState::stale && node.error) was_stale = true;
              if (was_stale && node.state == NodeState::up) loop.stop();
            });
  started = &feed;
  io::Timer limit(loop);
  limit.set(20000, [&] { loop.stop(); });
  feed.start();
  loop.run();
  EXPECT_TRUE(was_stale);
  EXPECT_EQ(node.state, NodeState::up);
}

TEST(Feed, OutOfTime_OnlyThoseStillConnectingAreGivenUp) {
  io::Loop loop;
  NodeSpec spec;
  spec.ssh = lab();
  spec.ssh->proxy_jump = "login";
  spec.collector = {.program = "sleep", .argv = {"sleep", "100"}, .env = {}, .unset_env = {}};
  Gate gate;
  std::vector<std::unique_ptr<Feed>> feeds;
  for (std::size_t i = 0; i <= kMaxHandshakesPerJump; ++i) {
    feeds.push_back(std::make_unique<Feed>(loop, base::system_clock(), spec,
                                           FleetOptions{.once = true}, gate, [] {}));
    feeds.back()->start();
  }
  for (auto feed = feeds.rbegin(); feed != feeds.rend(); ++feed) (*feed)->give_up_connecting(3000);
  EXPECT_EQ(feeds.front()->state().node.error,
            "no sample within 3 s (try: ssh -J login alice@lab)");
  EXPECT_EQ(feeds.back()->state().node.error,
            "its turn to connect did not come within 3 s (try: ssh -J login alice@lab)");
}

TEST(Feed, SilentHandshakes_DoNotKeepTheNextFromBeginning) {
  io::Loop loop;
  Gate gate;
  NodeSpec silent;
  silent.ssh = lab();
  silent.ssh->proxy_jump = "login";
  silent.collector = {.program = "sleep", .argv = {"sleep", "100"}, .env = {}, .unset_env = {}};
  NodeSpec healthy = silent;
  healthy.collector = {.program = "/bin/sh",
                       .argv = {"sh", "-c", "printf %s \"$LINES\"; exec sleep 100"},
                       .env = {{"LINES", good_lines()}},
                       .unset_env = {}};
  std::vector<std::unique_ptr<Feed>> feeds;
  bool is_up = false;
  for (std::size_t i = 0; i <= kMaxHandshakesPerJump; ++i) {
    const bool last = i == kMaxHandshakesPerJump;
    feeds.push_back(
        std::make_unique<Feed>(loop, base::system_clock(), last ? healthy : silent,
                               FleetOptions{.hello_timeout_ms = 60000}, gate, [&, last] {
                                 if (!last) return;
                                 is_up = feeds.back()->state().node.state == NodeState::up;
                                 if (is_up) loop.stop();
                               }));
  }
  io::Timer limit(loop);
  limit.set(20000, [&] { loop.stop(); });
  for (const auto& feed : feeds) feed->start();
  loop.run();
  EXPECT_TRUE(is_up);
}

TEST(Feed, ConnectionThatBreaksAfterASample_IsStaleWithItsReason) {
  io::Loop loop;
  NodeSpec spec;
  spec.name = "here";
  spec.ssh = lab();
  spec.collector = {
      .program = "/bin/sh",
      .argv = {"sh", "-c",
               "printf %s \"$LINES\"; echo 'Timeout, server lab not responding.' >&2; exit 255"},
      .env = {{"LINES", good_lines()}},
      .unset_env = {}};
  Gate gate;
  model::Node node;
  Feed* started = nullptr;
  Feed feed(loop, base::system_clock(), spec, {}, gate, [&] {
    node = started->state().node;
    if (node.state == NodeState::stale) loop.stop();
  });
  started = &feed;
  feed.start();
  loop.run();
  EXPECT_EQ(node.error, "Timeout, server lab not responding. (try: ssh alice@lab)");
  EXPECT_EQ(node.gpus.at(0).reading.util_percent, 42);
}

TEST(Feed, NodeThatCannotBeTried_StartsNothing) {
  io::Loop loop;
  NodeSpec spec;
  spec.collector.program = "/no/such/program";
  spec.refused = base::Error{base::ErrorKind::refused, "lab needs a password", ""};
  Gate gate;
  int changes = 0;
  Feed feed(loop, base::system_clock(), spec, {}, gate, [&] { ++changes; });
  feed.start();
  loop.run();
  EXPECT_EQ(feed.state().node.state, NodeState::auth);
  EXPECT_EQ(feed.state().node.error, "lab needs a password");
  feed.retry();
  EXPECT_EQ(feed.state().node.state, NodeState::auth);
  EXPECT_EQ(changes, 1);
}

TEST(Feed, NoiseBeforeAndBetween_IsSkippedAndCounted) {
  const model::Node node =
      watch("echo welcome; echo; printf 'half a line\\n'; printf %s \"$LINES\"; sleep 100");
  EXPECT_EQ(node.state, NodeState::up);
  EXPECT_EQ(node.noise_lines, 3);
}

TEST(Feed, MalformedMarkedLine_CostsOnlyItself) {
  const model::Node node = watch("echo 'nvidb1 {nonsense'; printf %s \"$LINES\"; sleep 100");
  EXPECT_EQ(node.state, NodeState::up);
  EXPECT_EQ(node.bad_lines, 1);
}

TEST(Feed, Rubbish_IsAnErrorWithTheLastWords) {
  const model::Node node = watch("echo rubbish; printf 'evil \\033[2J words\\n'");
  EXPECT_EQ(node.state, NodeState::down);
  EXPECT_EQ(node.error, "the collector ended with exit status 0: evil \\x1b[2J words");
}

TEST(Feed, OverlongLine_IsDroppedNotKept) {
  const model::Node node = watch("head -c 3000000 /dev/zero | tr '\\0' x; exit 3");
  EXPECT_EQ(node.state, NodeState::down);
  EXPECT_EQ(node.bad_lines, 1);
  EXPECT_EQ(node.error,
            "the collector ended with exit status 3: 1 lines were longer than 1048576 bytes");
}

TEST(Feed, Crash_SaysTheSignalAndStderr) {
  const model::Node node = watch("echo 'last words' >&2; kill -SEGV $$");
  EXPECT_EQ(node.error, "the collector was killed by signal 11 (Segmentation fault): last words");
}

TEST(Feed, SilentCollector_IsGivenUpAtTheHelloDeadline) {
  const model::Node node = watch("exec sleep 100", {.hello_timeout_ms = 100});
  EXPECT_EQ(node.state, NodeState::down);
  EXPECT_EQ(node.error, "the collector did not answer within 0.1 s");
}

TEST(Feed, HelloAndThenNothing_IsGivenUpAtTheSampleDeadline) {
  const std::string lines = model::encode_line(model::AgentMessage(model::Hello{})) +
                            model::encode_line(model::AgentMessage(model::Notice{"waking 8 GPUs"}));
  const model::Node node = watch("trap '' TERM; printf %s \"$LINES\"; exec sleep 100",
                                 {.sample_timeout_ms = 200}, lines);
  EXPECT_EQ(node.state, NodeState::down);
  EXPECT_EQ(node.error,
            "no sample within 0.2 s (waking 8 GPUs) (the NVIDIA driver may hang: look for NVRM or "
            "Xid lines in dmesg)");
}

TEST(Feed, MissingProgram_IsAnError) {
  io::Loop loop;
  NodeSpec spec;
  spec.collector.program = "/no/such/collector";
  Gate gate;
  int changes = 0;
  Feed feed(loop, base::system_clock(), spec, {.once = true}, gate, [&] { ++changes; });
  feed.start();
  EXPECT_EQ(feed.state().node.state, NodeState::down);
  EXPECT_EQ(feed.state().node.error, "cannot start /no/such/collector: No such file or directory");
  EXPECT_EQ(changes, 1);
}

TEST(Feed, AfterAFailure_StartsAnew) {
  io::Loop loop;
  NodeSpec spec;
  spec.collector = {
      .program = "/bin/sh", .argv = {"sh", "-c", "exit 1"}, .env = {}, .unset_env = {}};
  int failures = 0;
  Gate gate;
  Feed* started = nullptr;
  Feed feed(loop, base::system_clock(), spec, {}, gate, [&] {
    if (started->state().node.state == NodeState::down && ++failures == 2) loop.stop();
  });
  started = &feed;
  feed.start();
  loop.run();
  EXPECT_EQ(failures, 2);
}

// A feed whose collector fails in its own way while the folder holds no file `mended`.
struct MendableFeed {
  explicit MendableFeed(const std::string& failure, FleetOptions options = {}) {
    ::mkdtemp(folder.data());
    NodeSpec spec;
    spec.name = "here";
    spec.ssh = lab();
    spec.collector = {.program = "/bin/sh",
                      .argv = {"sh", "-c",
                               "cd " + folder + "; echo try >>tries; [ -e mended ] || { " +
                                   failure + "; }; printf %s \"$LINES\"; exec sleep 100"},
                      .env = {{"LINES", good_lines()}},
                      .unset_env = {}};
    feed = std::make_unique<Feed>(loop, base::system_clock(), spec, options, gate, [this] {
      if (feed->state().node.state == awaited) loop.stop();
    });
    limit.set(20000, [this] { loop.stop(); });
  }
  ~MendableFeed() { std::filesystem::remove_all(folder); }

  void run_until(NodeState state) {
    awaited = state;
    loop.run();
    EXPECT_EQ(feed->state().node.state, state);
  }
  void mend() { std::ofstream(folder + "/mended").flush(); }
  std::size_t tries() const {
    std::ifstream file(folder + "/tries");
    return static_cast<std::size_t>(std::count(std::istreambuf_iterator<char>(file), {}, '\n'));
  }

  std::string folder = testing::TempDir() + "nvidb_feed_XXXXXX";
  io::Loop loop;
  io::Timer limit{loop};
  Gate gate;
  NodeState awaited = NodeState::up;
  std::unique_ptr<Feed> feed;
};

TEST(Feed, RetryOfABlockedFeed_StartsAnew) {
  const struct {
    const char* failure;
    NodeState state;
  } cases[] = {
      {"echo 'Permission denied (publickey).' >&2; exit 255", NodeState::auth},
      {"echo 'Host key verification failed.' >&2; exit 255", NodeState::hostkey},
  };
  for (const auto& one : cases) {
    MendableFeed mendable(one.failure);
    mendable.feed->start();
    mendable.run_until(one.state);
    const std::optional<std::string> why = mendable.feed->state().node.error;
    ASSERT_TRUE(why);
    mendable.mend();
    mendable.feed->retry();
    EXPECT_EQ(mendable.feed->state().node.state, NodeState::connecting);
    EXPECT_EQ(mendable.feed->state().node.error, why) << "until there is something newer to say";
    mendable.run_until(NodeState::up);
    EXPECT_FALSE(mendable.feed->state().node.error);
  }
}

TEST(Feed, RetryThatIsRefusedAgain_IsBlockedAgain) {
  MendableFeed mendable("echo 'Permission denied (publickey).' >&2; exit 255");
  mendable.feed->start();
  mendable.run_until(NodeState::auth);
  mendable.feed->retry();
  mendable.run_until(NodeState::auth);
  EXPECT_EQ(mendable.feed->state().node.error,
            "here refused the login (see why with: ssh alice@lab)");
  EXPECT_EQ(mendable.tries(), 2u);
}

TEST(Feed, RetryOfAFeedThatWaits_StartsAnewAtOnceAndOnlyOnce) {
  MendableFeed mendable("exit 3");
  mendable.feed->start();
  mendable.run_until(NodeState::down);
  mendable.mend();
  for (int i = 0; i < 3; ++i) mendable.feed->retry();
  EXPECT_EQ(mendable.feed->state().node.state, NodeState::connecting);
  mendable.run_until(NodeState::up);
  mendable.feed->retry();
  EXPECT_EQ(mendable.feed->state().node.state, NodeState::up);
  EXPECT_EQ(mendable.tries(), 2u);
}

TEST(Feed, RetryBeforeTheStartAndAfterTheEnd_IsNothing) {
  MendableFeed mendable("exit 3");
  mendable.feed->retry();
  mendable.feed->stop();
  mendable.feed->retry();
  mendable.limit.cancel();
  mendable.loop.run();
  EXPECT_EQ(mendable.tries(), 0u);
}

TEST(Feed, RetryOfAQueuedFeed_KeepsItsPlaceInTheQueue) {
  MendableFeed mendable("exit 3");
  std::vector<Gate::Ticket> others;
  for (std::size_t i = 0; i < kMaxHandshakesDirect; ++i) {
    others.push_back(mendable.gate.enter("", [](Gate::Ticket) {}));
  }
  mendable.mend();
  mendable.feed->start();
  mendable.feed->retry();
  std::size_t others_in = 0;
  for (std::size_t i = 0; i < kMaxHandshakesDirect; ++i) {
    mendable.gate.enter("", [&](Gate::Ticket) { ++others_in; });
  }
  mendable.gate.leave(others[0]);
  EXPECT_EQ(others_in, 0u);
  mendable.run_until(NodeState::up);
  EXPECT_EQ(mendable.tries(), 1u);
}

TEST(Feed, Stopped_CallsBackNoMore) {
  io::Loop loop;
  NodeSpec spec;
  spec.collector = {.program = "/bin/sh", .argv = {"sh", "-c", "cat"}, .env = {}, .unset_env = {}};
  Gate gate;
  int changes = 0;
  Feed feed(loop, base::system_clock(), spec, {}, gate, [&] { ++changes; });
  feed.start();
  feed.stop();
  const int before = changes;
  loop.run();
  EXPECT_EQ(changes, before);
}

TEST(Backoff, GrowsToAMinuteLessTheJitter) {
  EXPECT_EQ(backoff_ms(1, 0), 1000);
  EXPECT_EQ(backoff_ms(2, 0), 2000);
  EXPECT_EQ(backoff_ms(3, 0), 5000);
  EXPECT_EQ(backoff_ms(4, 0), 10000);
  EXPECT_EQ(backoff_ms(5, 0), 15000);
  EXPECT_EQ(backoff_ms(6, 0), 60000);
  EXPECT_EQ(backoff_ms(1000000, 0.5), 57000);
}

}  // namespace
}  // namespace nvidb::fleet
