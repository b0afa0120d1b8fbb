// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "agent/proc_parse.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "model/agent_message.h"

namespace nvidb::agent {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

// Each field but the ticks is its own number in proc(5); 8 may be -1 and 25 is often all ones.
constexpr std::string_view kNumbers =
    " S 4 5 6 7 -1 9 10 11 12 13 700 300 16 17 18 19 20 21 22 23 24 18446744073709551615 26";

std::string stat_line(std::string_view comm) {
  return "123 (" + std::string(comm) + ")" + std::string(kNumbers) + "\n";
}

TEST(ProcStat, EveryMember_IsTakenFromItsField) {
  const std::string text = stat_line("sleep");
  const auto stat = parse_proc_stat(text);

  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->pid, 123);
  EXPECT_EQ(stat->comm, "sleep");
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->cpu_ticks, 700 + 300);
  EXPECT_EQ(stat->threads, 20);
  EXPECT_EQ(stat->start_ticks, 22);
  EXPECT_EQ(stat->rss_pages, 24);
}

TEST(ProcStat, NameThatLooksLikeTheRest_IsStillTheName) {
  for (const std::string_view comm :
       {"a b", "a) R 1 (b", "))((", "(", ")", "a\nb", "\xFF\x1b[2J", "", ") Z 9 9"}) {
    const std::string text = stat_line(comm);
    const auto stat = parse_proc_stat(text);
    ASSERT_TRUE(stat) << comm;
    EXPECT_EQ(stat->comm, comm);
    EXPECT_EQ(stat->start_ticks, 22) << comm;
  }
}

TEST(ProcStat, CutOffOrRubbish_IsAbsent) {
  const std::string whole = stat_line("sleep");
  const std::size_t last_wanted = whole.find(" 24 ");
  for (std::size_t size = 0; size <= last_wanted; ++size) {
    EXPECT_FALSE(parse_proc_stat(whole.substr(0, size))) << size;
  }
  for (const char* text : {"x (a) S 1", "123 sleep S 1 2 3", ")123(", "1 (a) S - - - - -"}) {
    EXPECT_FALSE(parse_proc_stat(text)) << text;
  }
}

TEST(ProcStat, TicksThatNoMachineReaches_AreAbsent) {
  EXPECT_FALSE(parse_proc_stat(
      "1 (a) S 1 2 3 4 5 6 7 8 9 10 9223372036854775807 9223372036854775807 1 1 1 1 1 1 1 1 1 1"));
}

TEST(CpuTicks, WaitingIsIdleAndGuestsCountOnce) {
  const auto cpu = parse_cpu_ticks("cpu  10 20 30 400 50 6 7 8 9 1\ncpu0 1 1 1 1\n");

  ASSERT_TRUE(cpu);
  EXPECT_EQ(cpu->busy, 10 + 20 + 30 + 6 + 7 + 8);
  EXPECT_EQ(cpu->idle, 400 + 50);
}

TEST(CpuTicks, OldKernelWithFourFields_IsRead) {
  const auto cpu = parse_cpu_ticks("cpu 1 2 3 4\n");

  ASSERT_TRUE(cpu);
  EXPECT_EQ(cpu->busy, 6);
  EXPECT_EQ(cpu->idle, 4);
}

TEST(CpuTicks, Rubbish_IsAbsent) {
  for (const char* text : {"", "cpu", "cpu 1 2 3", "cpu0 1 2 3 4 5", "cpu -1 2 3 4", "cpu a b"}) {
    EXPECT_FALSE(parse_cpu_ticks(text)) << text;
  }
}

TEST(BusyPercent, IsTheShareOfTheTimeInBetween) {
  EXPECT_EQ(busy_percent({100, 900}, {125, 975}), 25.0);
  EXPECT_EQ(busy_percent({100, 900}, {200, 900}), 100.0);
  EXPECT_EQ(busy_percent({100, 900}, {100, 950}), 0.0);
}

TEST(BusyPercent, NoTimeBetween_IsAbsentAndStepsBackAreNoTime) {
  EXPECT_EQ(busy_percent({100, 900}, {100, 900}), std::nullopt);
  EXPECT_EQ(busy_percent({100, 900}, {90, 800}), std::nullopt);
  EXPECT_EQ(busy_percent({100, 900}, {150, 899}), 100.0);
}

TEST(CountCpus, CountsTheCoresAndNotTheSum) {
  EXPECT_EQ(count_cpus("cpu  1\ncpu0 1\ncpu1 1\ncpu12 1\nintr 5\ncpu13 1\n"), 3);
  EXPECT_EQ(count_cpus("intr 5\n"), std::nullopt);
  EXPECT_EQ(count_cpus(""), std::nullopt);
}

TEST(MemInfo, AvailableIsTheKernelsOwnWhereItHasOne) {
  const MemInfo memory = parse_meminfo(
      "MemTotal:       1000 kB\nMemFree:         100 kB\nMemAvailable:    600 kB\n"
      "Buffers:          10 kB\nCached:           20 kB\nSwapCached:       99 kB\n"
      "SwapTotal:       500 kB\nSwapFree:        400 kB\n");

  EXPECT_EQ(memory.total_kib, 1000);
  EXPECT_EQ(memory.available_kib, 600);
  EXPECT_EQ(memory.swap_total_kib, 500);
  EXPECT_EQ(memory.swap_free_kib, 400);
}

TEST(MemInfo, OldKernel_CountsWhatCanBeGivenBack) {
  EXPECT_EQ(parse_meminfo("MemTotal: 1000 kB\nMemFree: 100 kB\nBuffers: 10 kB\nCached: 20 kB\n")
                .available_kib,
            130);
}

TEST(MemInfo, RubbishAndMissingLines_AreAbsent) {
  const MemInfo memory = parse_meminfo("MemTotal: lots\nMemFree -3\nSwapTotal: -1 kB\n\n\0x"sv);

  EXPECT_EQ(memory.total_kib, std::nullopt);
  EXPECT_EQ(memory.available_kib, std::nullopt);
  EXPECT_EQ(memory.swap_total_kib, std::nullopt);
}

TEST(LeadingNumber, IsTheFirstWordOnly) {
  EXPECT_EQ(parse_leading_number("0.52 0.40 0.30 1/100 99\n"), 0.52);
  EXPECT_EQ(parse_leading_number("12345.67 1.0"), 12345.67);
  for (const char* text : {"", "x", "-1.0", "nan", "inf", "1e300"}) {
    EXPECT_EQ(parse_leading_number(text), std::nullopt) << text;
  }
}

TEST(PrettyName, IsUnquotedAsAShellWould) {
  EXPECT_EQ(parse_pretty_name("NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"),
            "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(parse_pretty_name("PRETTY_NAME='A \\B'"), "A \\B");
  EXPECT_EQ(parse_pretty_name("PRETTY_NAME=\"a \\\"b\\\" \\$c\"\r\n"), "a \"b\" $c");
  EXPECT_EQ(parse_pretty_name("PRETTY_NAME=Arch\n"), "Arch");
  EXPECT_EQ(parse_pretty_name("PRETTY_NAME=\n"), std::nullopt);
  EXPECT_EQ(parse_pretty_name("NAME=x\n"), std::nullopt);
}

TEST(CommandText, ArgumentsAreJoinedAndBytesMended) {
  EXPECT_EQ(command_text("python3\0-m\0x\0"sv), "python3 -m x");
  EXPECT_EQ(command_text("a\0\0b\0\0\0"sv), "a  b");
  EXPECT_EQ(command_text("echo\0l1\nl2\x1b[2J\0\xFF\0"sv), "echo l1\nl2\x1b[2J \xEF\xBF\xBD");
  EXPECT_EQ(command_text(""), std::nullopt);
  EXPECT_EQ(command_text("\0\0"sv), std::nullopt);
}

TEST(CommandText, HugeLine_IsCutBetweenCharacters) {
  for (const std::string& text : {std::string(100'000, 'a'), std::string(100'000, '\xFF'),
                                  "a" + std::string(100'000, '\xC3')}) {
    const auto command = command_text(text);
    ASSERT_TRUE(command);
    EXPECT_LE(command->size(), model::kMaxCommandBytes);
    EXPECT_GT(command->size(), model::kMaxCommandBytes - 4);
    EXPECT_EQ(*command, base::valid_utf8(*command));
  }
}

TEST(ProcessName, IsTheFileNameOfTheFirstArgument) {
  EXPECT_EQ(process_name("/usr/bin/python3\0train.py\0"sv, "python3"), "python3");
  EXPECT_EQ(process_name("sleep\0"
                         "9\0"sv,
                         "sleep"),
            "sleep");
  EXPECT_EQ(process_name("/opt/my app/solve it\0"sv, "solve it"), "solve it");
  EXPECT_EQ(process_name("/opt/x/a-rather-long-program name\0"sv, "a-rather-long-p"),
            "a-rather-long-program name");
}

TEST(ProcessName, TitleInsteadOfArguments_IsCutToTheProgram) {
  EXPECT_EQ(process_name("nginx: master process /usr/sbin/nginx\0"sv, "nginx"), "nginx");
  EXPECT_EQ(process_name("/opt/b/browser --type=gpu --dir=/home/x\0"sv, "browser"), "browser");
}

TEST(ProcessName, NoArguments_IsTheKernelsName) {
  EXPECT_EQ(process_name("", "kworker/0:1"), "kworker/0:1");
  EXPECT_EQ(process_name("\0x\0"sv, "odd"), "odd");
  EXPECT_EQ(process_name("/usr/bin/\0"sv, "odd"), "odd");
  EXPECT_EQ(process_name("", "\xFF"), "\xEF\xBF\xBD");
  EXPECT_EQ(process_name("", ""), std::nullopt);
}

}  // namespace
}  // namespace nvidb::agent
