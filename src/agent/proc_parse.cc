// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "agent/proc_parse.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/text.h"
#include "model/agent_message.h"

namespace nvidb::agent {
namespace {

constexpr std::size_t kMaxNameBytes = 256;
constexpr std::size_t kMaxCommBytes = 15;  // of a process; the kernel cuts a longer file name

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n';
}

void skip_blanks(std::string_view& text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
}

// Takes a number and the blanks before it from the front of `text`.
template <class Number>
std::optional<Number> take_number(std::string_view& text) {
  skip_blanks(text);
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string_view file_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

// Valid UTF-8 of at most `limit` bytes, cut between two characters.
std::string bounded(std::string_view text, std::size_t limit) {
  std::string valid = base::valid_utf8(text.substr(0, limit));
  if (valid.size() > limit) {
    std::size_t end = limit;
    while (end > 0 && (static_cast<unsigned char>(valid[end]) & 0xC0) == 0x80) --end;
    valid.resize(end);
  }
  return valid;
}

}  // namespace

std::optional<ProcStat> parse_proc_stat(std::string_view text) {
  ProcStat stat;
  const auto pid = take_number<std::int64_t>(text);
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (!pid || open == text.npos || close == text.npos || close < open) return std::nullopt;
  stat.pid = *pid;
  stat.comm = text.substr(open + 1, close - open - 1);
  text.remove_prefix(close + 1);

  skip_blanks(text);
  if (text.empty()) return std::nullopt;
  stat.state = text.front();
  text.remove_prefix(1);
  // Numbered as proc(5) does; state is 3. Some fields are unsigned 64-bit (25 can be all ones), so
  // nothing after the last wanted one is read.
  constexpr int kUserTicks = 14, kSystemTicks = 15, kThreads = 20, kStartTicks = 22, kRssPages = 24;
  for (int field = 4; field <= kRssPages; ++field) {
    std::string_view rest = text;
    auto number = take_number<std::int64_t>(rest);
    if (!number) {
      // An unsigned number that does not fit is one of those that are not wanted.
      rest = text;
      if (!take_number<std::uint64_t>(rest)) return std::nullopt;
      number = 0;
    }
    text = rest;
    if (field == kUserTicks || field == kSystemTicks) {
      if (*number < 0 || *number > (std::int64_t{1} << 60)) return std::nullopt;
      stat.cpu_ticks += *number;
    }
    if (field == kThreads) stat.threads = *number;
    if (field == kStartTicks) stat.start_ticks = *number;
    if (field == kRssPages) stat.rss_pages = *number;
  }
  return stat;
}

std::optional<CpuTicks> parse_cpu_ticks(std::string_view stat) {
  std::string_view line = take_line(stat);
  if (!line.starts_with("cpu ")) return std::nullopt;
  line.remove_prefix(4);
  // user nice system idle iowait irq softirq steal; guest time follows and is part of user and nice
  // already.
  std::array<std::int64_t, 8> ticks{};
  std::size_t count = 0;
  for (; count < ticks.size(); ++count) {
    const auto number = take_number<std::int64_t>(line);
    if (!number || *number < 0 || *number > (std::int64_t{1} << 56)) break;
    ticks[count] = *number;
  }
  if (count < 4) return std::nullopt;
  CpuTicks cpu;
  cpu.idle = ticks[3] + ticks[4];
  cpu.busy = ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6] + ticks[7];
  return cpu;
}

std::optional<double> busy_percent(const CpuTicks& before, const CpuTicks& now) {
  // The kernel's time of idle cores is known to step back a little.
  const std::int64_t busy = std::max<std::int64_t>(now.busy - before.busy, 0);
  const std::int64_t idle = std::max<std::int64_t>(now.idle - before.idle, 0);
  if (busy + idle == 0) return std::nullopt;
  return 100.0 * static_cast<double>(busy) / static_cast<double>(busy + idle);
}

std::optional<std::int64_t> count_cpus(std::string_view stat) {
  std::int64_t count = 0;
  while (!stat.empty()) {
    const std::string_view line = take_line(stat);
    if (!line.starts_with("cpu")) break;
    if (line.size() > 3 && line[3] >= '0' && line[3] <= '9') ++count;
  }
  if (count == 0) return std::nullopt;
  return count;
}

MemInfo parse_meminfo(std::string_view text) {
  std::optional<std::int64_t> free, buffers, cached;
  MemInfo memory;
  const std::pair<std::string_view, std::optional<std::int64_t>*> wanted[] = {
      {"MemTotal:", &memory.total_kib},
      {"MemFree:", &free},
      {"MemAvailable:", &memory.available_kib},
      {"Buffers:", &buffers},
      {"Cached:", &cached},
      {"SwapTotal:", &memory.swap_total_kib},
      {"SwapFree:", &memory.swap_free_kib},
  };
  while (!text.empty()) {
    std::string_view line = take_line(text);
    for (const auto& [key, value] : wanted) {
      if (!line.starts_with(key)) continue;
      line.remove_prefix(key.size());
      const auto number = take_number<std::int64_t>(line);
      if (number && *number >= 0 && *number <= (std::int64_t{1} << 50)) *value = number;
      break;
    }
  }
  if (!memory.available_kib && free) {
    memory.available_kib = *free + buffers.value_or(0) + cached.value_or(0);
  }
  return memory;
}

std::optional<double> parse_leading_number(std::string_view text) {
  const auto number = take_number<double>(text);
  if (!number || !(*number >= 0 && *number <= 1e12)) return std::nullopt;
  return number;
}

std::optional<std::string> parse_pretty_name(std::string_view os_release) {
  constexpr std::string_view kKey = "PRETTY_NAME=";
  while (!os_release.empty()) {
    std::string_view line = take_line(os_release);
    if (!line.starts_with(kKey)) continue;
    line.remove_prefix(kKey.size());
    while (!line.empty() && (is_blank(line.back()) || line.back() == '\r')) line.remove_suffix(1);
    const char quote = line.empty() ? '\0' : line.front();
    const bool quoted = quote == '"' || quote == '\'';
    if (quoted) {
      line.remove_prefix(1);
      if (line.ends_with(quote)) line.remove_suffix(1);
    }
    std::string name;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '\\' && quote != '\'' && i + 1 < line.size()) ++i;
      name += line[i];
    }
    if (name.empty()) return std::nullopt;
    return bounded(name, kMaxNameBytes);
  }
  return std::nullopt;
}

std::optional<std::string> command_text(std::string_view cmdline) {
  while (cmdline.ends_with('\0')) cmdline.remove_suffix(1);
  if (cmdline.empty()) return std::nullopt;
  std::string joined(cmdline);
  std::replace(joined.begin(), joined.end(), '\0', ' ');
  return bounded(joined, model::kMaxCommandBytes);
}

std::optional<std::string> process_name(std::string_view cmdline, std::string_view comm) {
  const std::string_view first = cmdline.substr(0, cmdline.find('\0'));
  std::string_view rest = cmdline.substr(first.size());
  while (rest.starts_with('\0')) rest.remove_prefix(1);
  std::string_view name = file_name(first);
  const bool is_file_of_comm = !comm.empty() && name.substr(0, kMaxCommBytes) == comm;
  if (rest.empty() && !is_file_of_comm && first.find(' ') != first.npos) {
    name = file_name(first.substr(0, first.find(' ')));
    while (name.ends_with(':')) name.remove_suffix(1);
  }
  if (name.empty()) name = comm;
  if (name.empty()) return std::nullopt;
  return bounded(name, kMaxNameBytes);
}

}  // namespace nvidb::agent
