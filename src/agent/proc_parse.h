// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// The texts of /proc, told apart. Pure. Private to agent/. Source of every format: proc(5).
//
// Each takes what was read, perhaps cut off at the end, and leaves absent what is not there.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nvidb::agent {

// /proc/PID/stat.
struct ProcStat {
  std::int64_t pid = 0;
  std::string_view comm;  // borrowed from the text; any bytes, up to 64
  char state = '?';
  std::int64_t cpu_ticks = 0;  // user and system, all threads
  std::int64_t threads = 0;
  std::int64_t start_ticks = 0;
  std::int64_t rss_pages = 0;
};
// Absent unless every member is there. comm may itself hold `) R 1 (`, so its end is the last `)`
// of the text: only numbers follow it.
std::optional<ProcStat> parse_proc_stat(std::string_view text);

// The first line of /proc/stat: time of all cores since boot.
struct CpuTicks {
  std::int64_t busy = 0;
  std::int64_t idle = 0;  // waiting for a disk is idle: the core could do other work
};
std::optional<CpuTicks> parse_cpu_ticks(std::string_view stat);

// The share of `now` that was busy since `before`, 0 to 100; absent where no time has passed.
std::optional<double> busy_percent(const CpuTicks& before, const CpuTicks& now);

// How many `cpuN` lines /proc/stat has; absent where none.
std::optional<std::int64_t> count_cpus(std::string_view stat);

// /proc/meminfo, in KiB.
struct MemInfo {
  std::optional<std::int64_t> total_kib,
      available_kib;  // available: before Linux 3.14 free + buffers + cached
  std::optional<std::int64_t> swap_total_kib, swap_free_kib;
};
MemInfo parse_meminfo(std::string_view text);

// The number at the front of /proc/loadavg and /proc/uptime.
std::optional<double> parse_leading_number(std::string_view text);

// PRETTY_NAME of an os-release file, unquoted as a shell would.
std::optional<std::string> parse_pretty_name(std::string_view os_release);

// /proc/PID/cmdline as one line of text: arguments joined by spaces, valid UTF-8, at most
// model::kMaxCommandBytes, never split within a character. Absent where it is empty.
std::optional<std::string> command_text(std::string_view cmdline);

// The file name of the first argument, or comm where there is none. Programs that overwrite their
// arguments with a title leave one long argument: `nginx: master process` is nginx. Valid UTF-8.
std::optional<std::string> process_name(std::string_view cmdline, std::string_view comm);

}  // namespace nvidb::agent
