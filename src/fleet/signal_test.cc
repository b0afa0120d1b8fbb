// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
//
// Signals through a feed, to scripts that play a collector and to the real collectors.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>

#include "fleet/feed.h"
#include "model/json.h"
#include "support/child_process.h"

namespace nvidb::fleet {
namespace {

using base::ErrorKind;
using model::NodeState;

constexpr std::int64_t kLimitMs = 20000;  // only a broken program reaches it
constexpr std::int64_t kPid = 4242;
constexpr std::int64_t kTicks = 77;

std::string line(const model::AgentMessage& message) {
  return model::encode_line(message);
}

std::string good_lines() {
  return line(model::Hello{}) + line(model::Inventory{}) + line(model::Sample{.seq = 1});
}

// What a collector does that says good lines, and then this.
io::ChildSpec script(const std::string& then, const std::string& lines = good_lines()) {
  return {.program = "/bin/sh",
          .argv = {"sh", "-c",
                   "reply() { echo \"nvidb1 {\\\"type\\\":\\\"signal_reply\\\",$1}\"; }\n"
                   "printf %s \"$LINES\"\n" +
                       then},
          .env = {{"LINES", lines}},
          .unset_env = {}};
}

// A feed named `lab`, its loop, and the outcomes of the signals it was asked to send.
class Bench {
 public:
  explicit Bench(io::ChildSpec collector, FleetOptions options = {}, NodeSpec spec = {})
      : limit_(loop_) {
    spec.name = "lab";
    spec.collector = std::move(collector);
    feed_ = std::make_unique<Feed>(loop_, base::system_clock(), spec, options, gate_, [this] {
      if (awaited_ && awaited_(feed_->state().node)) loop_.stop();
    });
  }

  Feed& feed() { return *feed_; }
  const std::vector<base::Result<void>>& outcomes() const { return outcomes_; }

  // Runs until the node is as it is awaited.
  void run_until(std::function<bool(const model::Node&)> awaited) {
    if (awaited(feed_->state().node)) return;
    awaited_ = std::move(awaited);
    run();
    awaited_ = nullptr;
  }
  void run_until(NodeState state) {
    run_until([state](const model::Node& node) { return node.state == state; });
  }

  void signal(std::int64_t pid = kPid, std::int64_t start_ticks = kTicks, int number = SIGTERM) {
    feed_->signal(pid, start_ticks, number, [this](const base::Result<void>& outcome) {
      outcomes_.push_back(outcome);
      if (outcomes_.size() == wanted_) loop_.stop();
    });
  }

  // Runs until so many outcomes came, all in all.
  void run_until_outcomes(std::size_t count) {
    wanted_ = count;
    if (outcomes_.size() < count) run();
    wanted_ = 0;
    ASSERT_EQ(outcomes_.size(), count);
  }

  // The outcome of one signal to a node that is up.
  base::Result<void> outcome_when_up() {
    feed_->start();
    run_until(NodeState::up);
    signal();
    run_until_outcomes(1);
    return outcomes_.empty() ? base::Result<void>() : outcomes_.front();
  }

 private:
  void run() {
    limit_.set(kLimitMs, [this] {
      ADD_FAILURE() << "it never came";
      loop_.stop();
    });
    loop_.run();
    limit_.cancel();
  }

  io::Loop loop_;
  io::Timer limit_;
  Gate gate_;
  std::function<bool(const model::Node&)> awaited_;
  std::size_t wanted_ = 0;
  std::vector<base::Result<void>> outcomes_;
  std::unique_ptr<Feed> feed_;
};

void expect_error(const base::Result<void>& outcome, ErrorKind kind, const std::string& message) {
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, kind);
  EXPECT_EQ(outcome.error().message, message);
}

TEST(Signal, AnsweredOrder_IsSuccess) {
  Bench bench(
      script("read -r order\n"
             "[ \"$order\" = 'nvidb1 {\"type\":\"signal\",\"id\":1,\"pid\":4242,"
             "\"start_ticks\":77,\"signal\":15}' ] && reply '\"id\":1'\n"
             "exec sleep 100"));
  EXPECT_TRUE(bench.outcome_when_up());
}

TEST(Signal, AnswerWithAnError_IsItsTextAndKind) {
  const struct {
    const char* text;
    ErrorKind kind;
    const char* message;
  } cases[] = {
      {"no such process", ErrorKind::not_found, "no such process"},
      {"Operation not permitted", ErrorKind::refused, "Operation not permitted"},
      {"evil \\u001b[2J words", ErrorKind::refused, "evil \\x1b[2J words"},
  };
  for (const auto& one : cases) {
    Bench bench(
        script("read -r order; cat <<'END'\nnvidb1 {\"type\":\"signal_reply\",\"id\":1,"
               "\"error\":\"" +
               std::string(one.text) + "\"}\nEND\nexec sleep 100"));
    expect_error(bench.outcome_when_up(), one.kind, one.message);
  }
}

TEST(Signal, BeforeTheFirstSample_IsSent) {
  Bench bench(script("read -r order; reply '\"id\":1'; exec sleep 100",
                     line(model::Hello{}) + line(model::Notice{"waking 8 GPUs"})));
  bench.feed().start();
  bench.run_until([](const model::Node& node) { return node.notice.has_value(); });
  bench.signal();
  bench.run_until_outcomes(1);
  EXPECT_TRUE(bench.outcomes().at(0));
}

TEST(Signal, SilentCollector_IsATimeout) {
  Bench bench(script("exec sleep 100"), {.signal_timeout_ms = 50});
  expect_error(bench.outcome_when_up(), ErrorKind::timeout,
               "no answer within 0.05 s; whether it was sent is unknown");
  EXPECT_EQ(FleetOptions().signal_timeout_ms, 5000);
}

TEST(Signal, AnswerAfterTheTimeout_IsIgnored) {
  Bench bench(script("read -r first; read -r second; reply '\"id\":1'; reply '\"id\":1'; exit 1"),
              {.signal_timeout_ms = 50});
  EXPECT_FALSE(bench.outcome_when_up());
  bench.signal();
  bench.run_until_outcomes(2);
  bench.run_until(NodeState::stale);
  EXPECT_EQ(bench.outcomes().size(), 2u);
  EXPECT_FALSE(bench.outcomes().at(1));
}

TEST(Signal, AnswersToUnknownIds_AreIgnored) {
  Bench bench(
      script("read -r order; reply '\"id\":7'; reply '\"id\":-1'; reply '\"x\":1'\n"
             "reply '\"id\":1,\"error\":\"no such process\"'; reply '\"id\":1'; exit 1"));
  expect_error(bench.outcome_when_up(), ErrorKind::not_found, "no such process");
  bench.run_until(NodeState::stale);
  EXPECT_EQ(bench.outcomes().size(), 1u);
}

TEST(Signal, SeveralAtOnce_EachGetsItsOwnAnswer) {
  Bench bench(
      script("read -r a; read -r b; reply '\"id\":2,\"error\":\"second\"'\n"
             "reply '\"id\":1,\"error\":\"first\"'; exec sleep 100"));
  bench.feed().start();
  bench.run_until(NodeState::up);
  bench.signal();
  bench.signal();
  bench.run_until_outcomes(2);
  EXPECT_EQ(bench.outcomes().at(0).error().message, "second");
  EXPECT_EQ(bench.outcomes().at(1).error().message, "first");
}

TEST(Signal, CollectorThatEndsFirst_LeavesItUnknown) {
  Bench bench(script("read -r order; exit 3"));
  expect_error(bench.outcome_when_up(), ErrorKind::unreachable,
               "the connection ended before the answer; whether it was sent is unknown");
}

TEST(Signal, CollectorReplacedByAScript_LeavesItUnknownAndTakesNoOrders) {
  NodeSpec spec;
  spec.script = [](model::CollectorKind) { return "text"; };
  Bench bench(script("read -r order; echo 'nvidb1 {\"type\":\"want\",\"script\":\"python\"}'\n"
                     "[ \"$(head -c 4)\" = text ] && printf %s \"$LINES\"\n"
                     "read -r order; reply '\"id\":2'; exec sleep 100"),
              {}, spec);
  expect_error(bench.outcome_when_up(), ErrorKind::unreachable,
               "the connection ended before the answer; whether it was sent is unknown");
  bench.signal();
  bench.run_until_outcomes(2);
  expect_error(bench.outcomes().at(1), ErrorKind::unreachable,
               "node lab does not answer: nothing was sent");
}

TEST(Signal, NodeThatDoesNotAnswer_IsSentNothing) {
  for (const bool is_started : {false, true}) {
    Bench bench(script("exec sleep 100", ""));
    if (is_started) bench.feed().start();
    bench.signal();
    EXPECT_TRUE(bench.outcomes().empty()) << "never from within the call";
    bench.run_until_outcomes(1);
    expect_error(bench.outcomes().at(0), ErrorKind::unreachable,
                 "node lab does not answer: nothing was sent");
  }
}

TEST(Signal, NodeThatWasLost_IsSentNothing) {
  Bench bench(script("exit 1"));
  bench.feed().start();
  bench.run_until(NodeState::stale);
  bench.signal();
  bench.run_until_outcomes(1);
  EXPECT_EQ(bench.outcomes().at(0).error().kind, ErrorKind::unreachable);
}

// The second collector gets id 2, and the answer meant for the first is nobody's.
TEST(Signal, AfterAReconnect_IdsGoOn) {
  Bench bench(
      script("read -r order; case $order in *'\"id\":2,'*) reply '\"id\":1'\n"
             "reply '\"id\":2,\"error\":\"two\"'; exec sleep 100;; esac"));
  EXPECT_FALSE(bench.outcome_when_up());
  bench.feed().retry();
  bench.run_until(NodeState::up);
  bench.signal();
  bench.run_until_outcomes(2);
  expect_error(bench.outcomes().at(1), ErrorKind::refused, "two");
}

TEST(Signal, StoppedFeed_CallsBackNoMore) {
  Bench bench(script("read -r order; exec sleep 100"));
  bench.feed().start();
  bench.run_until(NodeState::up);
  bench.signal();          // waits for its answer
  bench.signal(1, 1, 15);  // its outcome is already posted
  bench.feed().stop();
  bench.signal();
  EXPECT_TRUE(bench.outcomes().empty());
}

TEST(Signal, ProcessThatCannotBe_IsSentNothing) {
  const struct {
    std::int64_t pid, start_ticks;
  } cases[] = {{1, 5}, {0, 5}, {-7, 5}, {1LL << 32, 5}, {kPid, -1}};
  Bench bench(script("read -r order; exit 1"));
  bench.feed().start();
  bench.run_until(NodeState::up);
  std::size_t count = 0;
  for (const auto& one : cases) {
    bench.signal(one.pid, one.start_ticks);
    bench.run_until_outcomes(++count);
    EXPECT_EQ(bench.outcomes().back().error().kind, ErrorKind::invalid) << one.pid;
  }
  EXPECT_EQ(bench.outcomes().at(0).error().message,
            "pid 1 with start time 5 is no process to signal: nothing was sent");
  EXPECT_EQ(bench.feed().state().node.state, NodeState::up);
}

TEST(Signal, TooManyWithoutAnswer_AreRefused) {
  Bench bench(script("exec sleep 100"));
  bench.feed().start();
  bench.run_until(NodeState::up);
  for (std::size_t i = 0; i <= kMaxOpenSignals; ++i) bench.signal();
  bench.run_until_outcomes(1);
  expect_error(bench.outcomes().at(0), ErrorKind::busy,
               "node lab has not answered the last 64 signals: nothing was sent");
}

TEST(Signal, ThroughTheFleet_ReachesTheNamedNode) {
  io::Loop loop;
  std::vector<NodeSpec> nodes(2);
  nodes[0].name = "other";
  nodes[0].collector = script("exec sleep 100", "");
  nodes[1].name = "lab";
  nodes[1].collector = script("read -r order; reply '\"id\":1'; exec sleep 100");
  std::vector<std::string> outcomes;
  const auto note = [&](const base::Result<void>& outcome) {
    outcomes.push_back(outcome ? "sent" : outcome.error().message);
    if (outcomes.size() == 2) loop.stop();
  };
  Fleet* started = nullptr;
  bool is_asked = false;
  Fleet fleet(loop, base::system_clock(), nodes, {}, [&](const auto& snapshot) {
    if (is_asked || snapshot->nodes[1]->state != NodeState::up) return;
    is_asked = true;
    started->retry(1);
    started->signal(0, kPid, kTicks, SIGINT, note);
    started->signal(1, kPid, kTicks, SIGINT, note);
  });
  started = &fleet;
  io::Timer limit(loop);
  limit.set(kLimitMs, [&] { loop.stop(); });
  fleet.start();
  loop.run();
  EXPECT_EQ(outcomes,
            (std::vector<std::string>{"node other does not answer: nothing was sent", "sent"}));
}

// ---- the real collectors ----

std::int64_t start_ticks_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::stringstream text;
  text << file.rdbuf();
  std::istringstream fields(text.str().substr(text.str().rfind(')') + 2));
  std::string field;
  for (int number = 3; number <= 22; ++number) fields >> field;
  return std::stoll(field);
}

std::string whole_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Absent where this machine lacks the program.
std::optional<io::ChildSpec> real_collector(model::CollectorKind kind) {
  const std::string remote = NVIDB_SOURCE_DIR "/src/agent/remote/";
  io::ChildSpec spec;
  spec.env = {{"NVIDB_NVML", "/no/such/library"}};
  switch (kind) {
    case model::CollectorKind::native:
      spec.program = NVIDB_BINARY_DIR "/nvidb";
      spec.argv = {"nvidb", "agent"};
      break;
    case model::CollectorKind::python:
      spec.program = "/usr/bin/python3";
      spec.argv = {"python3", "-S", "-I", "-B", "-u", remote + "agent.py", "nvidb-agent"};
      break;
    case model::CollectorKind::shell:
      spec.program = "/bin/sh";
      spec.argv = {"sh", "-c", whole_file(remote + "collector.sh"), "nvidb-agent"};
      break;
  }
  if (::access(spec.program.c_str(), X_OK) != 0) return std::nullopt;
  return spec;
}

class RealCollector : public testing::TestWithParam<model::CollectorKind> {};

TEST_P(RealCollector, Signal_ReachesTheProcessWithThatStartTimeOnly) {
  const auto spec = real_collector(GetParam());
  if (!spec) GTEST_SKIP() << "this collector is not here";
  auto target = test::ChildProcess::exec("/bin/sleep", {"sleep", "1000"});
  const std::int64_t ticks = start_ticks_of(target.pid());
  Bench bench(*spec, {.signal_timeout_ms = kLimitMs});
  bench.feed().start();
  bench.run_until(NodeState::up);
  ASSERT_EQ(bench.feed().state().node.collector, GetParam());

  bench.signal(target.pid(), ticks + 1, SIGKILL);
  bench.run_until_outcomes(1);
  expect_error(bench.outcomes().at(0), ErrorKind::not_found, "no such process");
  EXPECT_EQ(::kill(target.pid(), 0), 0);

  bench.signal(target.pid(), ticks, SIGTERM);
  bench.run_until_outcomes(2);
  ASSERT_TRUE(bench.outcomes().at(1));
  EXPECT_EQ(target.wait_for_signal(), SIGTERM);
}

INSTANTIATE_TEST_SUITE_P(Signal, RealCollector,
                         testing::Values(model::CollectorKind::native, model::CollectorKind::python,
                                         model::CollectorKind::shell),
                         [](const auto& one) { return model::to_string(one.param); });

}  // namespace
}  // namespace nvidb::fleet
