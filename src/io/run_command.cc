// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/clock.h"
#include "io/child.h"
#include "io/spawn.h"

namespace nvidb::io {
namespace {

using base::ErrorKind;
using base::fail;

// Reads what is there into `text`; closes the descriptor at the end of the stream. False where it
// grew too large.
bool drain(Fd& fd, std::string& text, std::size_t max_bytes) {
  char buffer[16384];
  const ssize_t count = ::read(fd.get(), buffer, sizeof buffer);
  if (count < 0 && errno == EINTR) return true;
  if (count <= 0) {
    fd.reset();
    return true;
  }
  text.append(buffer, static_cast<std::size_t>(count));
  return text.size() <= max_bytes;
}

// A process stuck in a driver call ignores even SIGKILL; it is left to init rather than waited for.
constexpr int kReapTries = 50;
constexpr int kReapWaitMs = 10;

void kill_and_reap(int pid) {
  ::kill(pid, SIGKILL);
  for (int i = 0; i < kReapTries; ++i) {
    if (::waitpid(pid, nullptr, WNOHANG) != 0) return;
    ::poll(nullptr, 0, kReapWaitMs);
  }
}

}  // namespace

base::Result<Output> run_command(const ChildSpec& spec, std::int64_t deadline_ms,
                                 std::size_t max_output_bytes) {
  auto spawned = spawn(spec, Group::same, Stdin::dev_null);
  if (!spawned) return fail(spawned.error());
  const base::Clock& clock = base::system_clock();
  const std::int64_t end_ms = clock.steady_ms() + deadline_ms;
  const auto timed_out = [&] {
    kill_and_reap(spawned->pid);
    return fail(ErrorKind::timeout, fmt::format("{} did not answer within {:.1f} s", spec.program,
                                                static_cast<double>(deadline_ms) / 1000));
  };

  Output output;
  while (spawned->out.valid() || spawned->err.valid()) {
    const std::int64_t left_ms = end_ms - clock.steady_ms();
    if (left_ms <= 0) return timed_out();
    pollfd fds[2] = {{spawned->out.get(), POLLIN, 0}, {spawned->err.get(), POLLIN, 0}};
    const int ready = ::poll(fds, 2, static_cast<int>(left_ms));
    if (ready < 0 && errno != EINTR) break;
    if (ready <= 0) continue;
    bool fits = true;
    if (fds[0].revents != 0) fits = drain(spawned->out, output.out, max_output_bytes) && fits;
    if (fds[1].revents != 0) fits = drain(spawned->err, output.err, max_output_bytes) && fits;
    if (!fits) {
      kill_and_reap(spawned->pid);
      return fail(ErrorKind::io,
                  fmt::format("{} printed more than {} bytes", spec.program, max_output_bytes));
    }
  }
  for (;;) {
    int status = 0;
    const int done = ::waitpid(spawned->pid, &status, WNOHANG);
    if (done == spawned->pid) {
      output.status = exit_status(status);
      return output;
    }
    if (done < 0 && errno != EINTR) {
      return fail(ErrorKind::io,
                  fmt::format("cannot wait for {}: {}", spec.program, std::strerror(errno)));
    }
    if (clock.steady_ms() >= end_ms) return timed_out();
    ::poll(nullptr, 0, 1);
  }
}

}  // namespace nvidb::io
