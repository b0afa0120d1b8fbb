// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "agent/proc.h"
#include "agent/proc_files.h"
#include "agent/proc_parse.h"

namespace nvidb::agent {
namespace {

using base::ErrorKind;
using base::fail;

// Closes the descriptor when it goes.
struct Pidfd {
  const int fd;
  explicit Pidfd(int the_fd) : fd(the_fd) {}
  ~Pidfd() {
    if (fd >= 0) ::close(fd);
  }
  Pidfd(const Pidfd&) = delete;
  Pidfd& operator=(const Pidfd&) = delete;
};

tl::unexpected<base::Error> no_such_process() {
  return fail(ErrorKind::not_found, "no such process");
}

tl::unexpected<base::Error> system_error(int error) {
  // A thread that is not the first of its process has a number, too: EINVAL or ENOENT by version.
  if (error == ESRCH || error == EINVAL || error == ENOENT) return no_such_process();
  const bool refused = error == EPERM || error == EACCES;
  return fail(refused ? ErrorKind::refused : ErrorKind::io, std::generic_category().message(error));
}

}  // namespace

base::Result<void> signal_process(const std::string& proc_root, std::int64_t pid,
                                  std::int64_t start_ticks, int signal) {
  if (pid <= 1 || pid > INT32_MAX) {
    return fail(ErrorKind::invalid, fmt::format("pid {} cannot be signalled", pid));
  }
  if (signal != SIGINT && signal != SIGKILL && signal != SIGTERM) {
    return fail(ErrorKind::invalid, fmt::format("signal {} is not one of 2, 9 and 15", signal));
  }
  // First hold the process, whichever it is, then look which one it is: from then on the number
  // cannot change hands. By number because the C library of Debian 11 has no wrappers.
  const Pidfd process(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0)));
  if (process.fd < 0) return system_error(errno);
  ProcRoot root(proc_root);
  std::array<char, 2048> buffer;
  const auto text = root.read(fmt::format("{}/stat", pid).c_str(), buffer);
  const auto stat = text ? parse_proc_stat(*text) : std::nullopt;
  if (!stat || stat->pid != pid || stat->start_ticks != start_ticks) return no_such_process();
  if (::syscall(SYS_pidfd_send_signal, process.fd, signal, nullptr, 0) != 0) {
    return system_error(errno);
  }
  return {};
}

}  // namespace nvidb::agent
