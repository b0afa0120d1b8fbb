// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "agent/proc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "agent/proc_files.h"
#include "agent/proc_parse.h"
#include "base/text.h"
#include "model/agent_message.h"
#include "support/child_process.h"

namespace nvidb::agent {
namespace {

using base::ErrorKind;
using model::ProcessSample;
using test::ChildProcess;
using ::testing::ElementsAre;
using ::testing::SizeIs;
using namespace std::string_literals;

class FakeClock : public base::Clock {
 public:
  std::int64_t wall_ms() const override { return now_ms; }
  std::int64_t steady_ms() const override { return now_ms; }
  std::int64_t now_ms = 1'000'000;
};

// A tree that looks like /proc, gone with the test.
class ProcTree : public ::testing::Test {
 protected:
  ProcTree() { std::filesystem::create_directory(root()); }
  ~ProcTree() override { std::filesystem::remove_all(base_); }

  std::string root() const { return base_ / "proc"; }

  void write(const std::string& path, std::string_view text) {
    const std::filesystem::path file = std::filesystem::path(root()) / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }

  void write_process(std::int64_t pid, const std::string& comm, std::int64_t cpu_ticks,
                     std::int64_t start_ticks, std::string_view cmdline) {
    write(std::to_string(pid) + "/stat", std::to_string(pid) + " (" + comm +
                                             ") R 1 2 3 4 5 6 7 8 9 10 " +
                                             std::to_string(cpu_ticks) + " 0 0 0 20 0 3 0 " +
                                             std::to_string(start_ticks) + " 9 256 0\n");
    write(std::to_string(pid) + "/cmdline", cmdline);
  }

  std::vector<ProcessSample> read(std::vector<std::int64_t> pids) {
    return reader_.read_processes(pids);
  }

  static std::filesystem::path make_folder() {
    std::string pattern = ::testing::TempDir() + "nvidb-proc-XXXXXX";
    const char* made = ::mkdtemp(pattern.data());
    return made != nullptr ? made : "";
  }

  const std::filesystem::path base_ = make_folder();
  FakeClock clock_;
  ProcReader reader_{root(), clock_};
};

const std::int64_t kTicks = ::sysconf(_SC_CLK_TCK);

ProcessSample only_pid(std::int64_t pid) {
  ProcessSample sample;
  sample.pid = pid;
  return sample;
}

TEST_F(ProcTree, Process_HasEveryMember) {
  write("uptime", "1000.50 5.0\n");
  write("meminfo", "MemTotal: 102400 kB\n");
  write_process(77, "python3", 500, 400 * kTicks, "/usr/bin/python3\0train.py\0"s);

  const auto samples = read({77});

  ASSERT_THAT(samples, SizeIs(1));
  const std::int64_t rss_kib = 256 * ::sysconf(_SC_PAGESIZE) / 1024;
  ProcessSample expected = only_pid(77);
  expected.name = "python3";
  expected.command = "/usr/bin/python3 train.py";
  expected.user = samples[0].user;  // whoever runs the tests; asserted on a real process below
  expected.host_mem_percent = 100.0 * static_cast<double>(rss_kib) / 102400;
  expected.rss_mb = rss_kib / 1024;
  expected.elapsed_s = 600;
  expected.state = "R";
  expected.threads = 3;
  expected.start_ticks = 400 * kTicks;
  EXPECT_EQ(samples[0], expected);
  EXPECT_TRUE(samples[0].user);
}

TEST_F(ProcTree, PidsThatAreNotThere_KeepTheirPlaceAndHaveNothing) {
  write_process(77, "a", 0, 5, "a\0"s);

  const auto samples = read({99, 77, 0, -5});

  ASSERT_THAT(samples, SizeIs(4));
  EXPECT_EQ(samples[0], only_pid(99));
  EXPECT_EQ(samples[1].name, "a");
  EXPECT_EQ(samples[2], only_pid(0));
  EXPECT_EQ(samples[3], only_pid(-5));
}

TEST_F(ProcTree, CpuShare_IsOfTheTimeSinceTheCallBefore) {
  write_process(77, "a", 10 * kTicks, 5, "a\0"s);
  EXPECT_EQ(read({77})[0].cpu_percent, std::nullopt);

  write_process(77, "a", 13 * kTicks, 5, "a\0"s);
  clock_.now_ms += 2000;
  EXPECT_EQ(read({77})[0].cpu_percent, 150.0);

  clock_.now_ms += 1000;
  EXPECT_EQ(read({77})[0].cpu_percent, 0.0);
}

TEST_F(ProcTree, NoTimeBetweenTwoCalls_LosesNoTicks) {
  write_process(77, "a", 0, 5, "a\0"s);
  read({77});
  write_process(77, "a", kTicks, 5, "a\0"s);
  EXPECT_EQ(read({77})[0].cpu_percent, std::nullopt);
  clock_.now_ms += 1000;
  EXPECT_EQ(read({77})[0].cpu_percent, 100.0);
}

TEST_F(ProcTree, TicksThatStepBack_AreNoNegativeShare) {
  write_process(77, "a", 10 * kTicks, 5, "a\0"s);
  read({77});
  write_process(77, "a", 9 * kTicks, 5, "a\0"s);
  clock_.now_ms += 1000;
  EXPECT_EQ(read({77})[0].cpu_percent, 0.0);
}

TEST_F(ProcTree, ReusedPid_IsAnotherProcess) {
  write_process(77, "same", 10 * kTicks, 5, "old\0"s);
  read({77});
  write_process(77, "same", 90 * kTicks, 6, "new\0"s);
  clock_.now_ms += 1000;

  const auto samples = read({77});

  EXPECT_EQ(samples[0].cpu_percent, std::nullopt);
  EXPECT_EQ(samples[0].command, "new");
  EXPECT_EQ(samples[0].start_ticks, 6);
}

TEST_F(ProcTree, CommandLine_IsReadOnceAProcess) {
  write_process(77, "a", 0, 5, "first\0"s);
  read({77});
  write_process(77, "a", 0, 5, "second\0"s);
  EXPECT_EQ(read({77})[0].command, "first");

  read({});  // nobody asks, so it is forgotten
  EXPECT_EQ(read({77})[0].command, "second");
}

TEST_F(ProcTree, ExecUnderTheSamePid_IsNoticed) {
  write_process(77, "sh", 0, 5, "sh\0"s);
  read({77});
  write_process(77, "python3", kTicks, 5, "python3\0x.py\0"s);
  clock_.now_ms += 1000;

  const auto samples = read({77});

  EXPECT_EQ(samples[0].name, "python3");
  EXPECT_EQ(samples[0].command, "python3 x.py");
  EXPECT_EQ(samples[0].cpu_percent, 100.0);
}

TEST_F(ProcTree, CommandLineThatComesLater_IsStillFound) {
  write_process(77, "a", 0, 5, "");
  EXPECT_EQ(read({77})[0].name, "a");
  write_process(77, "a", 0, 5, "/bin/b\0"s);
  EXPECT_EQ(read({77})[0].command, "/bin/b");
}

TEST_F(ProcTree, StatThatIsRubbishOrOfAnotherPid_IsNoProcess) {
  write("77/stat", "77 (a) S 1 2");
  write("78/stat", "77 (a) R 1 2 3 4 5 6 7 8 9 10 1 0 0 0 20 0 3 0 5 9 256 0\n");
  std::filesystem::create_directories(root() + "/79/stat");

  EXPECT_THAT(read({77, 78, 79}), ElementsAre(only_pid(77), only_pid(78), only_pid(79)));
}

TEST_F(ProcTree, UptimeOfAContainer_GivesNoElapsedTime) {
  write("uptime", "10.0 5.0\n");
  write_process(77, "a", 0, 4000 * kTicks, "a\0"s);

  EXPECT_EQ(read({77})[0].elapsed_s, std::nullopt);
}

TEST_F(ProcTree, Host_HasEveryMemberAndCpuFromTheSecondCallOn) {
  write("stat", "cpu  100 0 0 900 0 0 0 0 0 0\ncpu0 1 1 1 1\n");
  write("loadavg", "1.25 1.0 1.0 1/2 3\n");
  write("uptime", "3600.99 1.0\n");
  write("meminfo",
        "MemTotal: 4194304 kB\nMemAvailable: 3145728 kB\nSwapTotal: 2048 kB\nSwapFree: 1024 kB\n");

  model::HostReading expected;
  expected.load1 = 1.25;
  expected.mem_used_mb = 1024;
  expected.mem_total_mb = 4096;
  expected.swap_used_mb = 1;
  expected.swap_total_mb = 2;
  expected.uptime_s = 3600;
  EXPECT_EQ(reader_.read_host(), expected);

  write("stat", "cpu  130 0 0 960 10 0 0 0 0 0\n");
  expected.cpu_percent = 30;
  EXPECT_EQ(reader_.read_host(), expected);
}

TEST_F(ProcTree, EmptyTreeOrNone_HasNothing) {
  EXPECT_EQ(reader_.read_host(), model::HostReading{});
  ProcReader nowhere(root() + "/none", clock_);
  EXPECT_EQ(nowhere.read_host(), model::HostReading{});
  const std::vector<std::int64_t> pids = {1};
  EXPECT_THAT(nowhere.read_processes(pids), ElementsAre(only_pid(1)));
}

TEST_F(ProcTree, Facts_ComeFromTheTreeAndFromBesideIt) {
  write("stat", "cpu  1 1 1 1\ncpu0 1\ncpu1 1\ncpu2 1\n");
  write("sys/kernel/random/boot_id", "0123-abc\n");
  write("../etc/os-release", "ID=x\nPRETTY_NAME=\"Some Linux 9\"\n");

  const model::HostFacts facts = reader_.facts();

  EXPECT_EQ(facts.cpu_cores, 3);
  EXPECT_EQ(facts.boot_id, "0123-abc");
  EXPECT_EQ(facts.os, "Some Linux 9");
  EXPECT_TRUE(facts.hostname);
}

TEST_F(ProcTree, FactsOfEmptyTree_AreAbsentButTheHostName) {
  const model::HostFacts facts = reader_.facts();

  EXPECT_EQ(facts.cpu_cores, std::nullopt);
  EXPECT_EQ(facts.boot_id, std::nullopt);
  EXPECT_EQ(facts.os, std::nullopt);
}

// ---- real processes ----

ProcessSample read_real(std::int64_t pid) {
  ProcReader reader("/proc");
  const std::vector<std::int64_t> pids = {pid};
  return reader.read_processes(pids).at(0);
}

TEST(ProcReal, Sleep_IsOurs) {
  const ChildProcess child = ChildProcess::exec("/bin/sleep", {"sleep", "1000"});

  const ProcessSample sample = read_real(child.pid());

  EXPECT_EQ(sample.name, "sleep");
  EXPECT_EQ(sample.command, "sleep 1000");
  const passwd* me = ::getpwuid(::geteuid());
  EXPECT_EQ(sample.user, me != nullptr ? std::string(me->pw_name) : std::to_string(::geteuid()));
  EXPECT_EQ(sample.threads, 1);
  EXPECT_TRUE(sample.rss_mb);
  EXPECT_GT(sample.start_ticks.value_or(0), 0);
  ASSERT_TRUE(sample.elapsed_s);
  EXPECT_GE(*sample.elapsed_s, 0);
  EXPECT_LT(*sample.elapsed_s, 600);
}

TEST(ProcReal, ArgumentsWithControlBytes_AreKeptAsValidUtf8) {
  const ChildProcess child = ChildProcess::exec("/bin/sleep", {"evil\n\x1b[2J\xFF name", "1000"});

  const ProcessSample sample = read_real(child.pid());

  EXPECT_EQ(sample.command, "evil\n\x1b[2J\xEF\xBF\xBD name 1000");
  EXPECT_EQ(sample.name, "evil\n\x1b[2J\xEF\xBF\xBD name");
}

TEST(ProcReal, KernelNameWithParenthesesAndNewline_DoesNotShiftTheFields) {
  const ChildProcess child = ChildProcess::named("a) Z 9 (\n\xFF");

  const ProcessSample sample = read_real(child.pid());

  EXPECT_NE(sample.state, "Z");
  EXPECT_EQ(sample.threads, 1);
  EXPECT_GT(sample.start_ticks.value_or(0), 9);
}

TEST(ProcReal, Zombie_HasItsKernelNameAlone) {
  const ChildProcess child = ChildProcess::zombie();

  const ProcessSample sample = read_real(child.pid());

  EXPECT_EQ(sample.state, "Z");
  EXPECT_EQ(sample.command, std::nullopt);
  EXPECT_TRUE(sample.name);
}

TEST(ProcReal, HugeCommandLine_IsCut) {
  const ChildProcess child =
      ChildProcess::exec("/bin/sleep", {"sleep", "1000", std::string(100'000, '0')});

  const ProcessSample sample = read_real(child.pid());

  ASSERT_TRUE(sample.command);
  EXPECT_EQ(sample.command->size(), model::kMaxCommandBytes);
  EXPECT_TRUE(sample.command->starts_with("sleep 1000 000"));
}

TEST(ProcReal, ThisMachine_AnswersEverything) {
  ProcReader reader("/proc");

  const model::HostReading host = reader.read_host();
  const model::HostFacts facts = reader.facts();

  EXPECT_TRUE(host.load1 && host.mem_used_mb && host.mem_total_mb && host.uptime_s);
  EXPECT_LE(host.mem_used_mb, host.mem_total_mb);
  EXPECT_TRUE(facts.hostname && facts.boot_id);
  EXPECT_EQ(facts.cpu_cores, ::sysconf(_SC_NPROCESSORS_ONLN));
}

// ---- signals ----

std::int64_t start_ticks(pid_t pid) {
  return read_real(pid).start_ticks.value_or(-1);
}

TEST(SignalProcess, TheNamedProcess_GetsTheSignal) {
  for (const int signal : {SIGINT, SIGKILL, SIGTERM}) {
    ChildProcess child = ChildProcess::exec("/bin/sleep", {"sleep", "1000"});
    EXPECT_TRUE(signal_process("/proc", child.pid(), start_ticks(child.pid()), signal));
    EXPECT_EQ(child.wait_for_signal(), signal);
  }
}

TEST(SignalProcess, AnotherStartTime_IsAnotherProcessAndNotHit) {
  const ChildProcess child = ChildProcess::exec("/bin/sleep", {"sleep", "1000"});

  const auto result = signal_process("/proc", child.pid(), start_ticks(child.pid()) + 1, SIGKILL);

  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::not_found);
  EXPECT_EQ(result.error().message, "no such process");
  EXPECT_NE(read_real(child.pid()).state.value_or("Z"), "Z");
}

TEST(SignalProcess, ReapedProcess_IsNotFound) {
  ChildProcess child = ChildProcess::zombie();
  const pid_t pid = child.pid();
  const std::int64_t ticks = start_ticks(pid);
  child.wait_for_signal();

  const auto result = signal_process("/proc", pid, ticks, SIGTERM);

  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::not_found);
}

TEST(SignalProcess, OtherPidsAndSignals_AreInvalid) {
  const ChildProcess child = ChildProcess::exec("/bin/sleep", {"sleep", "1000"});
  const std::int64_t ticks = start_ticks(child.pid());
  for (const std::int64_t pid : {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1},
                                 -std::int64_t{child.pid()}, std::int64_t{1} << 40}) {
    const auto result = signal_process("/proc", pid, ticks, SIGTERM);
    ASSERT_FALSE(result) << pid;
    EXPECT_EQ(result.error().kind, ErrorKind::invalid) << pid;
  }
  for (const int signal : {0, -1, SIGSTOP, SIGSEGV, 64, 9999}) {
    const auto result = signal_process("/proc", child.pid(), ticks, signal);
    ASSERT_FALSE(result) << signal;
    EXPECT_EQ(result.error().kind, ErrorKind::invalid) << signal;
  }
}

TEST(SignalProcess, ProcessOfAnotherUser_IsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  const ChildProcess victim = ChildProcess::exec("/bin/sleep", {"sleep", "1000"});
  const std::int64_t ticks = start_ticks(victim.pid());
  const pid_t asker = ::fork();
  if (asker == 0) {
    constexpr uid_t kNobody = 65534;
    if (::setresuid(kNobody, kNobody, kNobody) != 0) ::_exit(2);
    const auto result = signal_process("/proc", victim.pid(), ticks, SIGTERM);
    ::_exit(!result && result.error().kind == ErrorKind::refused ? 0 : 1);
  }
  int status = 0;
  ::waitpid(asker, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace nvidb::agent
