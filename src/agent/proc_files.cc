// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "agent/proc_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace nvidb::agent {

ProcRoot::ProcRoot(std::string path) : path_(std::move(path)) {}

ProcRoot::~ProcRoot() {
  if (fd_ >= 0) ::close(fd_);
}

int ProcRoot::fd() {
  if (fd_ < 0) fd_ = ::open(path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  return fd_;
}

std::optional<std::string_view> ProcRoot::read(const char* path, std::span<char> buffer) {
  if (fd() < 0) return std::nullopt;
  // O_NONBLOCK because a tree that only looks like /proc may hold a pipe.
  const int file = ::openat(fd_, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (file < 0) return std::nullopt;
  std::size_t size = 0;
  int error = 0;
  // Ends: each turn reads at least one byte, was interrupted, or leaves.
  while (size < buffer.size()) {
    const ssize_t count = ::read(file, buffer.data() + size, buffer.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) error = errno;
    if (count <= 0) break;
    size += static_cast<std::size_t>(count);
  }
  ::close(file);
  // What came before an error is of no use: the process has gone in between.
  if (error != 0) {
    errno = error;
    return std::nullopt;
  }
  return std::string_view(buffer.data(), size);
}

}  // namespace nvidb::agent
