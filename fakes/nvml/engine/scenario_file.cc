// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "engine/scenario_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "engine/parse_scenario.h"

namespace nvidb::sim {

ScenarioFile::ScenarioFile(std::string path) : path_(std::move(path)) {
  if (path_.empty()) scenario_ = std::make_shared<const Scenario>(default_scenario());
}

std::shared_ptr<const Scenario> ScenarioFile::look(std::int64_t steady_ms, bool now) {
  if (path_.empty()) return scenario_;
  if (now || !looked_ms_ || !scenario_ || steady_ms - *looked_ms_ >= scenario_->check_ms) {
    looked_ms_ = steady_ms;
    reread();
  }
  return scenario_;
}

std::optional<std::string> ScenarioFile::take_complaint() {
  return std::exchange(complaint_, std::nullopt);
}

void ScenarioFile::reread() {
  const int file = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return complain(std::strerror(errno));
  struct stat facts = {};
  ::fstat(file, &facts);
  const Stamp stamp{.mtime_ns = facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec,
                    .size = facts.st_size,
                    .device = facts.st_dev,
                    .inode = facts.st_ino};
  if (stamp == read_stamp_) {
    ::close(file);
    return;
  }
  std::string text;
  char part[65536];
  ssize_t got = 0;
  while (text.size() <= kMaxBytes && (got = ::read(file, part, sizeof part)) > 0) {
    text.append(part, static_cast<std::size_t>(got));
  }
  const int read_errno = errno;
  ::close(file);
  if (got < 0) return complain(std::strerror(read_errno));
  if (text.size() > kMaxBytes) return complain("larger than 8 MiB");
  auto parsed = parse_scenario(text);
  // The stamp of a broken file is not kept: it may be half written, and the rest may come within
  // the same tick of the file system's clock.
  if (!parsed) return complain(parsed.error().message);
  scenario_ = std::make_shared<const Scenario>(std::move(*parsed));
  read_stamp_ = stamp;
  trouble_.clear();
}

void ScenarioFile::complain(const std::string& trouble) {
  if (trouble == trouble_) return;
  trouble_ = trouble;
  complaint_ = path_ + ": " + trouble +
               (scenario_ ? " (the last good scenario stays)" : " (no scenario yet)");
}

}  // namespace nvidb::sim
