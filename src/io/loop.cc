// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "io/loop.h"

#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <optional>
#include <utility>

#include "base/check.h"

namespace nvidb::io {

struct Loop::State {
  asio::io_context context{1};
  std::optional<asio::signal_set> interrupts;
  std::optional<asio::signal_set> signals;
  std::function<void(int)> on_signal;

  void wait_for_signals() {
    signals->async_wait([this](asio::error_code error, int number) {
      if (error) return;
      on_signal(number);
      wait_for_signals();
    });
  }
};

Loop::Loop() : state_(std::make_unique<State>()) {}
Loop::~Loop() = default;

void Loop::run() {
  state_->context.restart();
  state_->context.run();
}

void Loop::stop() {
  state_->context.stop();
}

void Loop::post(std::function<void()> callback) {
  asio::post(state_->context, std::move(callback));
}

void Loop::on_interrupt(std::function<void(int)> callback) {
  state_->interrupts.emplace(state_->context, SIGINT, SIGTERM);
  state_->interrupts->async_wait(
      [callback = std::move(callback)](asio::error_code error, int number) {
        if (!error) callback(number);
      });
}

void Loop::on_signals(std::initializer_list<int> signals, std::function<void(int)> callback) {
  CHECK(!state_->signals);
  state_->signals.emplace(state_->context);
  for (const int number : signals) state_->signals->add(number);
  state_->on_signal = std::move(callback);
  state_->wait_for_signals();
}

asio::io_context& Loop::context() {
  return state_->context;
}

// The generation tells a callback that is already queued from the one that replaced it.
struct Timer::State {
  explicit State(asio::io_context& context) : timer(context) {}
  asio::steady_timer timer;
  std::uint64_t generation = 0;
};

Timer::Timer(Loop& loop) : state_(std::make_shared<State>(loop.context())) {}

Timer::~Timer() {
  cancel();
}

void Timer::set(std::int64_t delay_ms, std::function<void()> callback) {
  const std::uint64_t generation = ++state_->generation;
  state_->timer.expires_after(std::chrono::milliseconds(delay_ms));
  state_->timer.async_wait([weak = std::weak_ptr<State>(state_), generation,
                            callback = std::move(callback)](asio::error_code error) {
    const auto state = weak.lock();
    if (!error && state && state->generation == generation) callback();
  });
}

void Timer::cancel() {
  ++state_->generation;
  state_->timer.cancel();
}

}  // namespace nvidb::io
