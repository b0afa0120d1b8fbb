// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "io/fd_watch.h"

#include <sys/epoll.h>

#include <asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <utility>

#include "base/check.h"

namespace nvidb::io {

// The descriptor is in an epoll set of ours, and asio waits for the set: given the descriptor
// itself it would make it non-blocking, for everybody who shares it, and close it in the end. Kept
// alive by a callback that runs, so that it may destroy the watch.
struct FdWatch::State : std::enable_shared_from_this<FdWatch::State> {
  State(asio::io_context& context, int watched) : fd(watched), reads(context), writes(context) {}

  struct Side {
    explicit Side(asio::io_context& context) : set(context) {}
    asio::posix::stream_descriptor set;
    std::function<void()> callback;
    bool waits = false;
  };

  void wait(Side& side, std::uint32_t event) {
    if (!side.set.is_open()) {
      epoll_event wanted{};
      wanted.events = event;
      const int set = ::epoll_create1(EPOLL_CLOEXEC);
      CHECK(set >= 0 && ::epoll_ctl(set, EPOLL_CTL_ADD, fd, &wanted) == 0);
      side.set.assign(set);
    }
    if (std::exchange(side.waits, true)) return;
    side.set.async_wait(
        side.set.wait_read, [weak = weak_from_this(), &side, event](asio::error_code error) {
          const auto state = weak.lock();
          if (!state || state->is_gone || error) return;
          side.waits = false;
          const bool again = event == EPOLLIN;
          // Out of its place first: the callback may set another one.
          const auto callback = again ? side.callback : std::exchange(side.callback, nullptr);
          callback();
          if (again && !state->is_gone) state->wait(side, event);
        });
  }

  const int fd;
  Side reads, writes;
  bool is_gone = false;
};

FdWatch::FdWatch(Loop& loop, int fd) : state_(std::make_shared<State>(loop.context(), fd)) {}

FdWatch::~FdWatch() {
  state_->is_gone = true;
}

void FdWatch::on_readable(std::function<void()> callback) {
  state_->reads.callback = std::move(callback);
  state_->wait(state_->reads, EPOLLIN);
}

void FdWatch::once_writable(std::function<void()> callback) {
  state_->writes.callback = std::move(callback);
  state_->wait(state_->writes, EPOLLOUT);
}

}  // namespace nvidb::io
