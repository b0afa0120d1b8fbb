// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Waits until a descriptor that someone else owns, e.g. the terminal, can be read or written.
#include <functional>
#include <memory>

#include "io/loop.h"

namespace nvidb::io {

class FdWatch {
 public:
  // Does not own `fd`, does not change its flags, and must go before it is closed. REQUIRES: it can
  // be waited for (no plain file).
  FdWatch(Loop& loop, int fd);
  ~FdWatch();
  FdWatch(const FdWatch&) = delete;
  FdWatch& operator=(const FdWatch&) = delete;

  // Calls back on the loop each time there is something to read (or the end), until the watch is
  // gone. The callback may destroy the watch.
  void on_readable(std::function<void()> callback);
  // Calls back once, when the next write would not block.
  void once_writable(std::function<void()> callback);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace nvidb::io
