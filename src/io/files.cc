// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "io/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "io/fd.h"

namespace nvidb::io {

using base::ErrorKind;
using base::fail;

base::Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!file.valid()) {
    const ErrorKind kind = errno == ENOENT || errno == ENOTDIR ? ErrorKind::not_found
                           : errno == EACCES                   ? ErrorKind::refused
                                                               : ErrorKind::io;
    return fail(kind, fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  }
  // A pipe or a terminal could be waited for for ever.
  struct stat status {};
  if (::fstat(file.get(), &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode))) {
    return fail(ErrorKind::invalid, fmt::format("{} is not a file", path));
  }
  std::string text;
  char buffer[16384];
  for (;;) {
    const ssize_t count = ::read(file.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return fail(ErrorKind::io, fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    }
    if (count == 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
    if (text.size() > max_bytes) {
      return fail(ErrorKind::invalid, fmt::format("{} is larger than {} bytes", path, max_bytes));
    }
  }
}

base::Result<void> write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno == EAGAIN) {
      pollfd ready{fd, POLLOUT, 0};
      ::poll(&ready, 1, -1);
      continue;
    }
    const ErrorKind kind = errno == EPIPE ? ErrorKind::conflict : ErrorKind::io;
    return fail(kind, std::strerror(errno));
  }
  return {};
}

}  // namespace nvidb::io
