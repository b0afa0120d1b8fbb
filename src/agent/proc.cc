// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "agent/proc.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "agent/proc_files.h"
#include "agent/proc_parse.h"
#include "base/text.h"
#include "model/agent_message.h"

namespace nvidb::agent {
namespace {

constexpr std::size_t kStatBytes = 2048;  // of one process; real ones stay below 700
constexpr std::size_t kCpuLineBytes = 512;
constexpr std::size_t kMemInfoBytes = 8192;
constexpr std::size_t kCpuListBytes = 512 << 10;  // the cpu lines of 4000 cores
constexpr std::size_t kOsReleaseBytes = 16 << 10;
constexpr std::size_t kBootIdBytes = 64;
constexpr std::size_t kMaxUsers = 4096;  // names kept; more than that starts over
constexpr std::size_t kMaxPasswdBytes = 1 << 20;

// What is kept of a process between two calls.
struct Known {
  std::int64_t start_ticks = 0;
  std::int64_t cpu_ticks = 0;
  std::int64_t at_ms = 0;
  std::string comm;
  std::optional<std::string> name, command, user;
  bool has_command = false;
  std::uint64_t turn = 0;  // of the call that asked for it last
};

// Room for "PID/name"; formatted by hand because it runs for each process of each sample.
struct PidPath {
  char text[40];
  PidPath(std::int64_t pid, const char* file) {
    std::snprintf(text, sizeof text, "%lld%s", static_cast<long long>(pid), file);
  }
};

std::optional<std::string> one_line(std::optional<std::string_view> text) {
  if (!text) return std::nullopt;
  text = text->substr(0, text->find('\n'));
  if (text->empty()) return std::nullopt;
  return base::valid_utf8(*text);
}

std::int64_t mib(std::int64_t kib) {
  return kib / 1024;
}

// The login name of a user; absent where the system knows none (or could not say).
std::optional<std::string> login_name(uid_t uid) {
  std::vector<char> buffer(1024);
  while (buffer.size() <= kMaxPasswdBytes) {
    passwd entry{};
    passwd* found = nullptr;
    const int error = ::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found);
    if (error == ERANGE) {
      buffer.resize(buffer.size() * 4);
      continue;
    }
    if (error != 0 || found == nullptr || found->pw_name == nullptr || *found->pw_name == '\0') {
      return std::nullopt;
    }
    return base::valid_utf8(std::string_view(found->pw_name).substr(0, 256));
  }
  return std::nullopt;
}

}  // namespace

struct ProcReader::State {
  State(std::string path, const base::Clock& the_clock)
      : root_path(path), root(std::move(path)), clock(the_clock) {}

  const std::string root_path;
  ProcRoot root;
  const base::Clock& clock;
  const std::int64_t ticks_per_s = std::max(::sysconf(_SC_CLK_TCK), 1L);
  const std::int64_t page_bytes = std::max(::sysconf(_SC_PAGESIZE), 1L);
  std::optional<CpuTicks> cpu;
  std::optional<std::int64_t> mem_total_kib;
  std::uint64_t turn = 0;
  std::unordered_map<std::int64_t, Known> known;
  std::unordered_map<uid_t, std::string> users;
  std::array<char, model::kMaxCommandBytes + 1> command_buffer;

  MemInfo read_memory();
  std::optional<double> read_number(const char* path);
  std::optional<std::string> read_user(std::int64_t pid);
  void read_identity(std::int64_t pid, std::string_view comm, Known& process);
  void read_process(std::optional<double> uptime_s, model::ProcessSample& sample);
};

MemInfo ProcReader::State::read_memory() {
  std::array<char, kMemInfoBytes> buffer;
  const auto text = root.read("meminfo", buffer);
  MemInfo memory = text ? parse_meminfo(*text) : MemInfo{};
  if (memory.total_kib == 0) memory.total_kib.reset();
  mem_total_kib = memory.total_kib;
  return memory;
}

std::optional<double> ProcReader::State::read_number(const char* path) {
  std::array<char, 128> buffer;
  const auto text = root.read(path, buffer);
  return text ? parse_leading_number(*text) : std::nullopt;
}

std::optional<std::string> ProcReader::State::read_user(std::int64_t pid) {
  // The folder and not a file in it: the files of a process that may not be traced belong to root.
  struct stat folder {};
  if (::fstatat(root.fd(), PidPath(pid, "").text, &folder, 0) != 0) return std::nullopt;
  const auto place = users.find(folder.st_uid);
  if (place != users.end()) return place->second;
  if (users.size() >= kMaxUsers) users.clear();
  std::string name = login_name(folder.st_uid).value_or(std::to_string(folder.st_uid));
  return users.emplace(folder.st_uid, std::move(name)).first->second;
}

void ProcReader::State::read_identity(std::int64_t pid, std::string_view comm, Known& process) {
  process.comm = comm;
  process.user = read_user(pid);
  const std::string_view cmdline =
      root.read(PidPath(pid, "/cmdline").text, command_buffer).value_or(std::string_view());
  process.command = command_text(cmdline);
  process.name = process_name(cmdline, comm);
  process.has_command = process.command.has_value();
}

void ProcReader::State::read_process(std::optional<double> uptime_s, model::ProcessSample& sample) {
  std::array<char, kStatBytes> buffer;
  const auto text = root.read(PidPath(sample.pid, "/stat").text, buffer);
  const std::int64_t now_ms = clock.steady_ms();
  const auto stat = text ? parse_proc_stat(*text) : std::nullopt;
  if (!stat || stat->pid != sample.pid) return;

  auto [place, fresh] = known.try_emplace(sample.pid);
  Known& process = place->second;
  if (!fresh && process.start_ticks != stat->start_ticks) {
    process = Known{};
    fresh = true;
  }
  // A process is a copy of its parent until it calls exec, which gives it another name. A process
  // without a command line may still get one, and asking again is cheap where there is none.
  const bool gone = stat->state == 'Z' || stat->state == 'X';
  if (fresh || (!gone && (process.comm != stat->comm || !process.has_command))) {
    read_identity(sample.pid, stat->comm, process);
  }
  if (!fresh && now_ms > process.at_ms) {
    const auto ticks = std::max<std::int64_t>(stat->cpu_ticks - process.cpu_ticks, 0);
    sample.cpu_percent = 100.0 * 1000.0 * static_cast<double>(ticks) /
                         static_cast<double>(ticks_per_s) /
                         static_cast<double>(now_ms - process.at_ms);
  }
  if (fresh || now_ms > process.at_ms) {
    process.start_ticks = stat->start_ticks;
    process.cpu_ticks = stat->cpu_ticks;
    process.at_ms = now_ms;
  }
  process.turn = turn;

  sample.name = process.name;
  sample.command = process.command;
  sample.user = process.user;
  sample.state = base::valid_utf8(std::string_view(&stat->state, 1));
  if (stat->threads > 0) sample.threads = stat->threads;
  sample.start_ticks = stat->start_ticks;
  if (stat->rss_pages >= 0 && stat->rss_pages < (std::int64_t{1} << 40)) {
    const std::int64_t rss_kib = stat->rss_pages * page_bytes / 1024;
    sample.rss_mb = mib(rss_kib);
    if (mem_total_kib && rss_kib <= *mem_total_kib) {
      sample.host_mem_percent =
          100.0 * static_cast<double>(rss_kib) / static_cast<double>(*mem_total_kib);
    }
  }
  // Inside a container the uptime may be that of the container, and then it tells nothing about a
  // process.
  if (uptime_s) {
    const double elapsed_s =
        *uptime_s - static_cast<double>(stat->start_ticks) / static_cast<double>(ticks_per_s);
    if (elapsed_s > -1.0) sample.elapsed_s = static_cast<std::int64_t>(std::max(elapsed_s, 0.0));
  }
}

ProcReader::ProcReader(std::string root, const base::Clock& clock)
    : state_(std::make_unique<State>(std::move(root), clock)) {}

ProcReader::~ProcReader() = default;

model::HostFacts ProcReader::facts() const {
  model::HostFacts facts;
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0 && host[0] != '\0') {
    facts.hostname = base::valid_utf8(host.data());
  }
  std::vector<char> buffer(kCpuListBytes);
  if (const auto text = state_->root.read("stat", buffer)) facts.cpu_cores = count_cpus(*text);
  facts.boot_id = one_line(
      state_->root.read("sys/kernel/random/boot_id", std::span(buffer).first(kBootIdBytes)));
  ProcRoot beside(state_->root_path + "/..");
  for (const char* path : {"etc/os-release", "usr/lib/os-release"}) {
    const auto text = beside.read(path, std::span(buffer).first(kOsReleaseBytes));
    if (text) facts.os = parse_pretty_name(*text);
    if (facts.os) break;
  }
  return facts;
}

model::HostReading ProcReader::read_host() {
  model::HostReading host;
  std::array<char, kCpuLineBytes> buffer;
  const auto text = state_->root.read("stat", buffer);
  const auto cpu = text ? parse_cpu_ticks(*text) : std::nullopt;
  if (cpu && state_->cpu) host.cpu_percent = busy_percent(*state_->cpu, *cpu);
  state_->cpu = cpu;
  host.load1 = state_->read_number("loadavg");
  if (const auto uptime_s = state_->read_number("uptime")) {
    host.uptime_s = static_cast<std::int64_t>(*uptime_s);
  }
  const MemInfo memory = state_->read_memory();
  if (memory.total_kib) {
    host.mem_total_mb = mib(*memory.total_kib);
    if (memory.available_kib) {
      host.mem_used_mb = mib(std::max<std::int64_t>(*memory.total_kib - *memory.available_kib, 0));
    }
  }
  if (memory.swap_total_kib) {
    host.swap_total_mb = mib(*memory.swap_total_kib);
    if (memory.swap_free_kib) {
      host.swap_used_mb =
          mib(std::max<std::int64_t>(*memory.swap_total_kib - *memory.swap_free_kib, 0));
    }
  }
  return host;
}

std::vector<model::ProcessSample> ProcReader::read_processes(std::span<const std::int64_t> pids) {
  State& state = *state_;
  ++state.turn;
  if (!state.mem_total_kib) state.read_memory();
  const auto uptime_s = state.read_number("uptime");
  std::vector<model::ProcessSample> samples;
  samples.reserve(pids.size());
  for (const std::int64_t pid : pids) {
    model::ProcessSample& sample = samples.emplace_back();
    sample.pid = pid;
    if (pid > 0) state.read_process(uptime_s, sample);
  }
  std::erase_if(state.known, [&](const auto& entry) { return entry.second.turn != state.turn; });
  return samples;
}

}  // namespace nvidb::agent
