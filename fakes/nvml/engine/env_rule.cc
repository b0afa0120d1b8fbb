// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "engine/env_rule.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>

namespace nvidb::sim {
namespace {

constexpr std::size_t kMaxEnvironmentBytes = 1 << 20;
constexpr std::size_t kMaxProcesses = 4096;
constexpr std::int64_t kMaxMemMb = std::int64_t{1} << 40;

template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// False where the file cannot be read.
bool read_file(const std::string& path, std::string& bytes) {
  bytes.clear();
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char part[16384];
  ssize_t got = 0;
  while (bytes.size() < kMaxEnvironmentBytes && (got = ::read(file, part, sizeof part)) > 0) {
    bytes.append(part, static_cast<std::size_t>(got));
  }
  ::close(file);
  return got >= 0;
}

std::optional<std::size_t> find_card(std::string_view entry, const std::vector<Card>& all) {
  if (const auto index = parse_number<std::size_t>(entry)) {
    return *index < all.size() ? index : std::nullopt;
  }
  if (!entry.starts_with("GPU-")) return std::nullopt;
  const auto card = std::find_if(all.begin(), all.end(), [&](const Card& candidate) {
    return candidate.uuid && candidate.uuid->starts_with(entry);
  });
  if (card == all.end()) return std::nullopt;
  return static_cast<std::size_t>(card - all.begin());
}

}  // namespace

std::optional<std::string_view> find_variable(std::string_view environment, std::string_view name) {
  while (!environment.empty()) {
    const std::string_view entry = environment.substr(0, environment.find('\0'));
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
    environment.remove_prefix(std::min(environment.size(), entry.size() + 1));
  }
  return std::nullopt;
}

bool sees_card(const std::optional<std::string>& cards, std::size_t index,
               const std::vector<Card>& all) {
  if (!cards) return index == 0;
  std::string_view rest = *cards;
  while (!rest.empty()) {
    std::string_view entry = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
    while (!entry.empty() && entry.front() == ' ') entry.remove_prefix(1);
    while (!entry.empty() && entry.back() == ' ') entry.remove_suffix(1);
    const auto card = find_card(entry, all);
    if (!card) return false;
    if (*card == index) return true;
  }
  return false;
}

std::vector<EnvProcess> scan_environments(const EnvRule& rule, const std::string& proc_root) {
  std::vector<EnvProcess> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir(proc_root.c_str()), ::closedir);
  if (!proc) return found;
  std::string environment;
  while (const dirent* entry = ::readdir(proc.get())) {
    const auto pid = parse_number<std::uint32_t>(entry->d_name);
    if (!pid || found.size() >= kMaxProcesses) continue;
    if (!read_file(proc_root + "/" + entry->d_name + "/environ", environment)) continue;
    const auto mem = find_variable(environment, rule.env);
    const auto mem_mb = mem ? parse_number<std::int64_t>(*mem) : std::nullopt;
    if (!mem_mb || *mem_mb < 0 || *mem_mb > kMaxMemMb) continue;
    EnvProcess process{.pid = *pid, .mem_mb = *mem_mb, .cards = std::nullopt};
    if (const auto cards = find_variable(environment, rule.cards_env)) process.cards = *cards;
    found.push_back(std::move(process));
  }
  std::sort(found.begin(), found.end(),
            [](const EnvProcess& a, const EnvProcess& b) { return a.pid < b.pid; });
  return found;
}

const std::vector<EnvProcess>& EnvScanner::processes(const EnvRule& rule, std::int64_t steady_ms) {
  if (scanned_rule_ != rule || steady_ms - scanned_ms_ >= kScanMs) {
    processes_ = scan_environments(rule, proc_root_);
    scanned_rule_ = rule;
    scanned_ms_ = steady_ms;
  }
  return processes_;
}

}  // namespace nvidb::sim
