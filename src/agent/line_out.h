// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// The collector's side of the protocol stream: whole lines from two threads, one descriptor.
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>

namespace nvidb::agent {

class LineOut {
 public:
  // Takes what is standard output now for itself and points standard output at standard error
  // instead, so that a chatty driver cannot write between the lines. -1 where standard output is
  // closed.
  static int take_stdout();

  explicit LineOut(int fd) : fd_(fd) {}

  // Waits as long as the reader does. False: the line could not be written, for nobody reads any
  // more.
  bool write(std::string_view line);
  // Gives up where another line is being written or the reader takes nothing for `wait_ms`. For
  // lines of at most kShortBytes, which a pipe that is ready takes at once.
  bool write_short(std::string_view line, std::int64_t wait_ms);
  static constexpr std::size_t kShortBytes = 4096;

  int fd() const { return fd_; }

 private:
  bool write_and_release(std::string_view line);

  int fd_;
  std::mutex mutex_;
  std::condition_variable released_;
  bool writing_ = false;  // under the mutex, which is not held while writing
};

}  // namespace nvidb::agent
