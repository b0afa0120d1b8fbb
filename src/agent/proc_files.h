// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Reading the small files of /proc without streams, allocations or trust. Private to agent/.
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nvidb::agent {

// A folder that paths are relative to; opened when first used, and again until that works.
class ProcRoot {
 public:
  explicit ProcRoot(std::string path);
  ~ProcRoot();
  ProcRoot(const ProcRoot&) = delete;
  ProcRoot& operator=(const ProcRoot&) = delete;

  // A descriptor of the folder, or -1. Borrowed.
  int fd();

  // The front of the file, as much as fits into `buffer`, borrowed from it; absent with errno where
  // it cannot be opened or read.
  std::optional<std::string_view> read(const char* path, std::span<char> buffer);

 private:
  const std::string path_;
  int fd_ = -1;
};

}  // namespace nvidb::agent
