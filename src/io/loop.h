// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// The event loop: one thread runs it and owns all state that its callbacks touch.
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>

namespace asio {
class io_context;
}

namespace nvidb::io {

class Loop {
 public:
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Runs callbacks until stop(), or until nothing is left to wait for.
  void run();
  // From a callback: run() returns after it. Idempotent.
  void stop();
  // Queues `callback` to run on the loop's thread; callable from any thread.
  void post(std::function<void()> callback);

  // Calls back once on SIGINT or SIGTERM, with the signal's number, instead of dying. At most one
  // such callback.
  void on_interrupt(std::function<void(int)> callback);

  // Calls back each time one of `signals` comes, with its number, instead of what it would do. At
  // most one such callback; not for SIGINT and SIGTERM together with on_interrupt().
  void on_signals(std::initializer_list<int> signals, std::function<void(int)> callback);

  // For io/ and those that build on it.
  asio::io_context& context();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A deadline that can be cancelled; dropping it cancels it. The callback runs on the loop.
class Timer {
 public:
  explicit Timer(Loop& loop);
  ~Timer();
  // Replaces what was set before. delay_ms >= 0.
  void set(std::int64_t delay_ms, std::function<void()> callback);
  void cancel();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace nvidb::io
