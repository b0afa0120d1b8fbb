// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "agent/line_out.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>

#include "base/check.h"
#include "io/files.h"

namespace nvidb::agent {

int LineOut::take_stdout() {
  constexpr int kAboveTheStandardThree = 3;
  const int own = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, kAboveTheStandardThree);
  if (own < 0) return -1;
  if (::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    CHECK(nowhere >= 0);
    ::dup2(nowhere, STDOUT_FILENO);
    ::close(nowhere);
  }
  return own;
}

bool LineOut::write(std::string_view line) {
  {
    std::unique_lock lock(mutex_);
    released_.wait(lock, [this] { return !writing_; });
    writing_ = true;
  }
  return write_and_release(line);
}

bool LineOut::write_short(std::string_view line, std::int64_t wait_ms) {
  CHECK(line.size() <= kShortBytes);
  {
    std::unique_lock lock(mutex_);
    if (!released_.wait_for(lock, std::chrono::milliseconds(wait_ms),
                            [this] { return !writing_; })) {
      return false;
    }
    writing_ = true;
  }
  pollfd ready = {.fd = fd_, .events = POLLOUT, .revents = 0};
  const bool takes = ::poll(&ready, 1, static_cast<int>(wait_ms)) == 1;
  return write_and_release(takes ? line : std::string_view()) && takes;
}

bool LineOut::write_and_release(std::string_view line) {
  const bool written = io::write_all(fd_, line).has_value();
  const std::lock_guard lock(mutex_);
  writing_ = false;
  released_.notify_one();
  return written;
}

}  // namespace nvidb::agent
