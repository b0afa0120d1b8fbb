// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
// The whole collector as a process of its own, which is how it is always used: this test program
// starts itself again.
#include "agent/agent_main.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <optional>
#include <utility>

#include "agent/sim_test_support.h"
#include "io/child.h"
#include "io/lines.h"
#include "io/loop.h"
#include "model/json.h"

namespace nvidb::agent {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kLimitMs = 60'000;

// The child's side.
TEST(AgentChild, DISABLED_Run) {
  const char* library = std::getenv("NVIDB_TEST_LIBRARY");
  if (library == nullptr) GTEST_SKIP() << "only as a child";
  AgentOptions options;
  options.nvml_paths = {library};
  options.interval_ms = 3'600'000;
  options.once = std::getenv("NVIDB_TEST_ONCE") != nullptr;
  std::exit(agent_main(options));
}

class AgentMainTest : public SimTest {
 protected:
  // `before` comes before this program's own path and arguments.
  void start(std::vector<std::pair<std::string, std::string>> env = {},
             std::vector<std::string> before = {}) {
    std::vector<std::string> argv = std::move(before);
    argv.insert(argv.end(),
                {std::filesystem::read_symlink("/proc/self/exe").string(),
                 "--gtest_filter=AgentChild.DISABLED_Run", "--gtest_also_run_disabled_tests"});
    io::ChildSpec spec = {.program = argv[0],
                          .argv = argv,
                          .env = {{"NVIDB_TEST_LIBRARY", sim_path()}},
                          .unset_env = {}};
    spec.env.insert(spec.env.end(), env.begin(), env.end());
    io::Child::Handlers handlers;
    handlers.on_stdout = [this](std::string_view bytes) {
      lines_.feed(
          bytes, [this](std::string_view line) { on_line(line); }, [] {});
    };
    handlers.on_stderr = [this](std::string_view bytes) { stderr_ += bytes; };
    handlers.on_exit = [this](io::ExitStatus status) {
      exit_ = status;
      loop_.stop();
    };
    auto child = io::Child::start(loop_, spec, std::move(handlers));
    ASSERT_TRUE(child) << child.error().message;
    child_ = *child;
  }

  void on_line(std::string_view line) {
    if (!line.starts_with(model::kLineMark)) {
      unmarked_ += line;
      return;
    }
    auto message = model::decode_message(line);
    ASSERT_TRUE(message) << message.error().message;
    messages_.push_back(std::move(*message));
    if (act_) act_(messages_.back());
  }

  // Runs until the child has ended; `act` sees each message.
  void run(std::function<void(const model::AgentMessage&)> act = {}) {
    act_ = std::move(act);
    io::Timer limit(loop_);
    limit.set(kLimitMs, [this] {
      ADD_FAILURE() << "the collector did not end; stderr: " << stderr_;
      loop_.stop();
    });
    loop_.run();
  }
  void order(const model::AgentCommand& command) { child_->write(model::encode_line(command)); }

  static bool wait_until(const std::function<bool()>& true_at_last) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::milliseconds(kLimitMs / 2);
    while (!true_at_last()) {
      if (std::chrono::steady_clock::now() > limit) return false;
      ::poll(nullptr, 0, 5);
    }
    return true;
  }
  // Or a zombie that nobody reaps.
  static bool is_gone(int pid) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string number, name, state;
    return !(stat >> number >> name >> state) || state == "Z";
  }

  template <typename Message>
  const Message* find() const {
    for (const auto& message : messages_) {
      if (const auto* wanted = std::get_if<Message>(&message)) return wanted;
    }
    return nullptr;
  }

  io::Loop loop_;
  io::LineSplitter lines_{model::kMaxLineBytes};
  std::shared_ptr<io::Child> child_;
  std::vector<model::AgentMessage> messages_;
  std::function<void(const model::AgentMessage&)> act_;
  std::string stderr_, unmarked_;
  std::optional<io::ExitStatus> exit_;
  int smi_pid_ = 0;
};

bool is_sample(const model::AgentMessage& message) {
  return std::holds_alternative<model::Sample>(message);
}

TEST_F(AgentMainTest, StdinEnds_ExitsWithHelloInventoryAndSampleSent) {
  start();
  run([this](const model::AgentMessage& message) {
    if (is_sample(message)) child_->close_stdin();
  });
  ASSERT_TRUE(exit_);
  EXPECT_EQ(exit_->code, 0) << stderr_;
  ASSERT_GE(messages_.size(), 4u);
  ASSERT_TRUE(std::holds_alternative<model::Hello>(messages_[0]));
  EXPECT_EQ(std::get<model::Hello>(messages_[0]).pid, child_->pid());
  EXPECT_EQ(std::get<model::Hello>(messages_[0]).collector, model::CollectorKind::native);
  EXPECT_TRUE(std::holds_alternative<model::Notice>(messages_[1]));
  EXPECT_TRUE(std::holds_alternative<model::Inventory>(messages_[2]));
  EXPECT_TRUE(is_sample(messages_[3]));
}

TEST_F(AgentMainTest, Once_EndsByItselfThoughStdinIsClosed) {
  start({{"NVIDB_TEST_ONCE", "1"}});
  child_->close_stdin();
  run();
  ASSERT_TRUE(exit_);
  EXPECT_EQ(exit_->code, 0) << stderr_;
  EXPECT_NE(find<model::Sample>(), nullptr);
}

TEST_F(AgentMainTest, DriverBlocksForEver_StillSaysHelloAndEndsWithStdin) {
  set_scenario(R"({"block": ["nvmlInit_v2"]})");
  start();
  run([this](const model::AgentMessage&) { child_->close_stdin(); });
  ASSERT_TRUE(exit_);
  EXPECT_EQ(exit_->code, 0) << stderr_;
  EXPECT_NE(find<model::Hello>(), nullptr);
  EXPECT_EQ(find<model::Sample>(), nullptr);
}

TEST_F(AgentMainTest, DriverPrintsNoise_GoesToStderr) {
  set_scenario(R"({"noise": "driver noise\n"})");
  start();
  run([this](const model::AgentMessage& message) {
    if (is_sample(message)) order(model::Quit{});
  });
  EXPECT_THAT(unmarked_, Not(HasSubstr("driver noise")));
  EXPECT_THAT(stderr_, HasSubstr("driver noise"));
  EXPECT_EQ(exit_->code, 0) << stderr_;
}

TEST_F(AgentMainTest, MalformedOrders_AreIgnored) {
  start();
  run([this](const model::AgentMessage& message) {
    if (!is_sample(message)) return;
    child_->write("hello\nnvidb1 {\"type\":\nnvidb1 {\"type\":\"dance\"}\n" +
                  std::string(10'000, 'x') + "\n");
    order(model::Quit{});
  });
  ASSERT_TRUE(exit_);
  EXPECT_EQ(exit_->code, 0) << stderr_;
}

TEST_F(AgentMainTest, IntervalOrdered_SamplesCome) {
  start();
  int samples = 0;
  run([&](const model::AgentMessage& message) {
    if (!is_sample(message)) return;
    if (++samples == 1) order(model::SetInterval{100});
    if (samples == 3) order(model::Quit{});
  });
  EXPECT_GE(samples, 3);
  EXPECT_EQ(exit_->code, 0) << stderr_;
}

TEST_F(AgentMainTest, SignalToAReusedPid_IsRefusedWithWords) {
  start();
  run([this](const model::AgentMessage& message) {
    if (is_sample(message)) {
      order(model::SignalProcess{.id = 7, .pid = ::getpid(), .start_ticks = 1, .signal = 15});
    } else if (std::holds_alternative<model::SignalReply>(message)) {
      order(model::Quit{});
    }
  });
  const auto* reply = find<model::SignalReply>();
  ASSERT_NE(reply, nullptr);
  EXPECT_EQ(reply->id, 7);
  EXPECT_EQ(reply->error, "no such process");
}

TEST_F(AgentMainTest, SignalWhileTheDriverBlocks_IsAnswered) {
  set_scenario(R"({"block": ["nvmlInit_v2"]})");
  start();
  run([this](const model::AgentMessage& message) {
    if (std::holds_alternative<model::Hello>(message)) {
      order(model::SignalProcess{.id = 8, .pid = 4'000'000, .start_ticks = 1, .signal = 15});
    } else if (std::holds_alternative<model::SignalReply>(message)) {
      order(model::Quit{});
    }
  });
  ASSERT_NE(find<model::SignalReply>(), nullptr);
  EXPECT_EQ(exit_->code, 0) << stderr_;
}

TEST_F(AgentMainTest, Terminated_EndsQuietly) {
  start();
  run([this](const model::AgentMessage& message) {
    if (is_sample(message)) child_->terminate();
  });
  ASSERT_TRUE(exit_);
  EXPECT_EQ(exit_->signal, 0);
  EXPECT_EQ(exit_->code, 0) << stderr_;
}

TEST_F(AgentMainTest, NvidiaSmiHangs_StdinEndsAndNothingIsLeft) {
  set_scenario(R"({"init_code": 9})");
  const std::string bin = folder() + "/bin";
  std::filesystem::create_directories(bin);
  std::filesystem::remove(folder() + "/pid");
  std::ofstream(bin + "/nvidia-smi")
      << "#!/bin/sh\necho $$ >" << folder() << "/pid.new\n/bin/mv " << folder() << "/pid.new "
      << folder() << "/pid\nexec /bin/sleep 1000\n";
  std::filesystem::permissions(bin + "/nvidia-smi", std::filesystem::perms::owner_all);
  start({{"PATH", bin}});
  run([this](const model::AgentMessage&) {
    EXPECT_TRUE(wait_until([&] { return bool(std::ifstream(folder() + "/pid") >> smi_pid_); }));
    child_->close_stdin();
  });
  ASSERT_TRUE(exit_);
  EXPECT_EQ(exit_->code, 0) << stderr_;
  ASSERT_GT(smi_pid_, 1);
  EXPECT_TRUE(wait_until([&] { return is_gone(smi_pid_); })) << smi_pid_;
}

TEST_F(AgentMainTest, ReaderGoesAway_EndsWithExitCode1) {
  // The reader takes the hello and leaves, while stdin stays open.
  start({}, {"/bin/sh", "-c", R"({ "$0" "$@"; echo "code $?" >&2; } | grep -m1 hello)"});
  run();
  EXPECT_THAT(stderr_, HasSubstr("code 1\n"));
}

TEST_F(AgentMainTest, NoGpuForTheDriver_SaysSoAndTellsTheHost) {
  set_scenario(R"({"init_code": 28})");
  start({{"NVIDB_TEST_ONCE", "1"}});
  run();
  const auto* inventory = find<model::Inventory>();
  ASSERT_NE(inventory, nullptr);
  EXPECT_EQ(inventory->error, "the driver found no GPU");
  const auto* sample = find<model::Sample>();
  ASSERT_NE(sample, nullptr);
  EXPECT_NE(sample->host.mem_total_mb, std::nullopt);
}

}  // namespace
}  // namespace nvidb::agent
