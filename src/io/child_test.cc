// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "io/child.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <string>

namespace nvidb::io {
namespace {

using base::ErrorKind;

ChildSpec shell(std::string script) {
  return {
      .program = "/bin/sh", .argv = {"sh", "-c", std::move(script)}, .env = {}, .unset_env = {}};
}

// A child whose output is kept; run() returns when it ended or after a limit that only a broken
// build reaches.
struct Watched {
  Loop loop;
  std::string out, err;
  std::optional<ExitStatus> status;
  std::shared_ptr<Child> child;

  explicit Watched(const ChildSpec& spec) {
    auto started = Child::start(loop, spec,
                                {.on_stdout = [this](std::string_view bytes) { out += bytes; },
                                 .on_stderr = [this](std::string_view bytes) { err += bytes; },
                                 .on_exit =
                                     [this](ExitStatus s) {
                                       status = s;
                                       loop.stop();
                                     }});
    EXPECT_TRUE(started.has_value());
    if (started) child = *started;
  }
  void run() {
    Timer limit(loop);
    limit.set(20000, [this] {
      ADD_FAILURE() << "the child never ended";
      loop.stop();
    });
    loop.run();
  }
};

bool is_alive(int pid) {
  return ::kill(pid, 0) == 0;
}

// Zombies count as dead: the process can do nothing any more.
bool ends_soon(int pid) {
  for (int i = 0; i < 1000; ++i) {
    if (!is_alive(pid)) return true;
    const auto state = run_command(shell(fmt::format("ps -o stat= -p {}", pid)), 5000, 1000);
    if (state && state->out.starts_with("Z")) return true;
    ::poll(nullptr, 0, 5);
  }
  return false;
}

TEST(Child, BothStreamsAndStatus_AreDelivered) {
  Watched watched(shell("echo to-out; echo to-err >&2; exit 7"));
  watched.run();
  EXPECT_EQ(watched.out, "to-out\n");
  EXPECT_EQ(watched.err, "to-err\n");
  ASSERT_TRUE(watched.status);
  EXPECT_EQ(watched.status->code, 7);
  EXPECT_EQ(watched.status->signal, 0);
}

TEST(Child, LargeOutput_ArrivesWhole) {
  Watched watched(shell("head -c 3000000 /dev/zero | tr '\\0' x"));
  watched.run();
  EXPECT_EQ(watched.out.size(), 3000000u);
}

TEST(Child, WrittenBytes_ReachStdinInOrderThenItsEnd) {
  Watched watched(shell("cat"));
  std::string expected;
  for (int i = 0; i < 100; ++i) {
    const std::string part = std::string(5000, static_cast<char>('a' + i % 26));
    expected += part;
    EXPECT_TRUE(watched.child->write(part));
  }
  watched.child->close_stdin();
  watched.run();
  EXPECT_EQ(watched.out, expected);
}

TEST(Child, ChildThatNeverReads_BoundsWhatWaits) {
  Watched watched(shell("sleep 100"));
  bool accepted = true;
  for (int i = 0; i < 1000 && accepted; ++i)
    accepted = watched.child->write(std::string(10000, 'x'));
  EXPECT_FALSE(accepted);
}

TEST(Child, ChildThatClosedStdin_SwallowsWrites) {
  ::signal(SIGPIPE, SIG_IGN);
  Watched watched(shell("exec <&-; echo ready; sleep 0.2"));
  EXPECT_TRUE(watched.child->write("nobody reads this\n"));
  watched.run();
  EXPECT_TRUE(watched.child->write("nor this\n"));
  EXPECT_EQ(watched.status->code, 0);
}

TEST(Child, KilledBySignal_SaysWhich) {
  Watched watched(shell("kill -ABRT $$"));
  watched.run();
  EXPECT_EQ(watched.status->signal, SIGABRT);
  EXPECT_EQ(to_text(*watched.status), "killed by signal 6 (Aborted)");
}

TEST(Child, ExitWhileGrandchildHoldsThePipe_StillEnds) {
  Watched watched(shell("(trap '' HUP TERM; exec setsid sleep 100) & echo $!; exit 3"));
  watched.run();
  EXPECT_EQ(watched.status->code, 3);
  ::kill(std::stoi(watched.out), SIGKILL);
}

TEST(Child, Destroyed_KillsTheWholeGroupEvenIfTermIsIgnored) {
  Watched watched(shell("trap '' TERM INT HUP; sleep 100 & echo $!; wait"));
  Timer poll(watched.loop);
  std::function<void()> wait_for_pid = [&] {
    if (watched.out.find('\n') != std::string::npos) return watched.loop.stop();
    poll.set(5, wait_for_pid);
  };
  poll.set(5, wait_for_pid);
  watched.loop.run();
  const int leader = watched.child->pid();
  const int grandchild = std::stoi(watched.out);
  EXPECT_TRUE(is_alive(grandchild));
  watched.child.reset();
  EXPECT_TRUE(ends_soon(leader));
  EXPECT_TRUE(ends_soon(grandchild));
}

TEST(Child, StopWithGrace_LetsItEndByItselfWithoutCallbacks) {
  const std::string file = testing::TempDir() + fmt::format("nvidb_child_{}", ::getpid());
  Watched watched(shell("cat; echo by-itself > " + file));
  watched.child->stop(20000);
  watched.loop.run();  // returns when nothing is left to wait for
  EXPECT_FALSE(watched.status);
  EXPECT_EQ(run_command(shell("cat " + file + "; rm " + file), 5000, 100)->out, "by-itself\n");
}

TEST(Child, StoppedInItsOwnCallback_CallsNothingMore) {
  Loop loop;
  std::shared_ptr<Child> child;
  int calls = 0;
  auto started = Child::start(loop, shell("while echo x; do :; done"),
                              {.on_stdout =
                                   [&](std::string_view) {
                                     ++calls;
                                     child->stop(0);
                                   },
                               .on_stderr = {},
                               .on_exit = [&](ExitStatus) { FAIL(); }});
  child = *started;
  loop.run();
  EXPECT_EQ(calls, 1);
}

TEST(Child, ProgramThatIsNotThere_IsNotFound) {
  Loop loop;
  const auto started = Child::start(
      loop, {.program = "/no/such/program", .argv = {}, .env = {}, .unset_env = {}}, {});
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().kind, ErrorKind::not_found);
}

TEST(Child, Environment_IsAddedReplacedAndUnset) {
  ::setenv("NVIDB_TEST_KEPT", "kept", 1);
  ::setenv("NVIDB_TEST_REPLACED", "old", 1);
  ::setenv("NVIDB_TEST_GONE", "gone", 1);
  ChildSpec spec =
      shell("echo $NVIDB_TEST_KEPT $NVIDB_TEST_REPLACED $NVIDB_TEST_NEW ${NVIDB_TEST_GONE-unset}");
  spec.env = {{"NVIDB_TEST_REPLACED", "replaced"}, {"NVIDB_TEST_NEW", "new"}};
  spec.unset_env = {"NVIDB_TEST_GONE"};
  EXPECT_EQ(run_command(spec, 5000, 1000)->out, "kept replaced new unset\n");
}

TEST(Child, InheritsNoDescriptorOfOurs) {
  const std::string list = "for fd in /proc/self/fd/*; do readlink $fd; done | grep -c pipe";
  const auto before = run_command(shell(list), 5000, 1000);
  Watched first(shell("sleep 100"));
  const auto beside = run_command(shell(list), 5000, 1000);
  ASSERT_TRUE(before && beside);
  EXPECT_EQ(before->out, beside->out);
}

TEST(RunCommand, OutputStatusAndStderr_AreKept) {
  const auto output = run_command(shell("echo out; echo err >&2; exit 3"), 5000, 1000);
  ASSERT_TRUE(output);
  EXPECT_EQ(output->out, "out\n");
  EXPECT_EQ(output->err, "err\n");
  EXPECT_EQ(output->status.code, 3);
}

TEST(RunCommand, Hanging_IsKilledAtTheDeadline) {
  const auto output = run_command(shell("trap '' TERM; while :; do sleep 1; done"), 200, 1000);
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().kind, ErrorKind::timeout);
  EXPECT_EQ(output.error().message, "/bin/sh did not answer within 0.2 s");
}

TEST(RunCommand, ClosedStreamsButRunning_IsKilledAtTheDeadline) {
  const auto output = run_command(shell("exec >&- 2>&-; sleep 100"), 200, 1000);
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().kind, ErrorKind::timeout);
}

TEST(RunCommand, EndlessOutput_IsAnError) {
  const auto output = run_command(shell("yes"), 20000, 100000);
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().kind, ErrorKind::io);
}

TEST(RunCommand, FolderOfPathThatMayNotBeSearched_DoesNotHideThatNothingIsThere) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may search every folder";
  std::string locked = testing::TempDir() + "nvidb_path_XXXXXX";
  ASSERT_NE(::mkdtemp(locked.data()), nullptr);
  ASSERT_EQ(::chmod(locked.c_str(), 0), 0);
  const std::string before = ::getenv("PATH");
  ::setenv("PATH", (before + ":" + locked).c_str(), 1);
  const auto output = run_command(
      {.program = "no-such-program-here", .argv = {}, .env = {}, .unset_env = {}}, 1000, 10);
  ::setenv("PATH", before.c_str(), 1);
  ::rmdir(locked.c_str());
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().kind, ErrorKind::not_found);
}

TEST(RunCommand, ProgramThatIsNotThere_IsNotFound) {
  const auto output = run_command(
      {.program = "no-such-program-here", .argv = {}, .env = {}, .unset_env = {}}, 1000, 10);
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().kind, ErrorKind::not_found);
}

}  // namespace
}  // namespace nvidb::io
