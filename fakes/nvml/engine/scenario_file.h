// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// The scenario file, watched: read again when it changes, so that a test can steer a running
// program. For one thread at a time.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine/scenario.h"

namespace nvidb::sim {

class ScenarioFile {
 public:
  static constexpr std::size_t kMaxBytes = 8 << 20;

  // An empty path is default_scenario(), for good.
  explicit ScenarioFile(std::string path);

  const std::string& path() const { return path_; }

  // The newest scenario that was good; null where none was ever. Looks at the file at most every
  // check_ms of the scenario, and always when `now` is said.
  std::shared_ptr<const Scenario> look(std::int64_t steady_ms, bool now = false);

  // What is wrong with the file, once for each new trouble; absent where nothing new is.
  std::optional<std::string> take_complaint();

 private:
  struct Stamp {
    std::int64_t mtime_ns = 0, size = 0;
    std::uint64_t device = 0, inode = 0;
    bool operator==(const Stamp&) const = default;
  };

  void reread();
  void complain(const std::string& trouble);

  std::string path_;
  std::shared_ptr<const Scenario> scenario_;
  std::optional<Stamp> read_stamp_;  // of the file that scenario_ was read from
  std::optional<std::int64_t> looked_ms_;
  std::string trouble_;
  std::optional<std::string> complaint_;
};

}  // namespace nvidb::sim
