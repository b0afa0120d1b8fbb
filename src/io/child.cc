// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "io/child.h"

#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>
#include <csignal>
#include <deque>

#include "io/spawn.h"

namespace nvidb::io {
namespace {

constexpr std::size_t kMaxQueuedBytes = 1 << 20;
// After the exit, output that is already in the pipes is read; a grandchild that holds them open is
// not waited for.
constexpr std::chrono::milliseconds kDrainAfterExit{200};

}  // namespace

// Kept alive by the handlers that wait; each of them holds a shared_ptr. The child is reaped when
// its pidfd says that it ended, also after stop(): its pid stays ours until then, so killing its
// group can hit no stranger.
struct Child::State : std::enable_shared_from_this<Child::State> {
  State(asio::io_context& context, Spawned spawned, int pid_fd, Handlers given)
      : pid(spawned.pid),
        in(context, spawned.in.release()),
        out(context, spawned.out.release()),
        err(context, spawned.err.release()),
        exit_wait(context, pid_fd),
        timer(context),
        handlers(std::move(given)) {}

  struct Stream {
    Stream(asio::io_context& context, int fd) : descriptor(context, fd) {}
    asio::posix::stream_descriptor descriptor;
    std::array<char, 65536> buffer;
    bool open = true;
  };

  void start() {
    read(out, handlers.on_stdout);
    read(err, handlers.on_stderr);
    exit_wait.async_wait(asio::posix::stream_descriptor::wait_read,
                         [self = shared_from_this()](asio::error_code error) {
                           if (!error) self->on_ended();
                         });
  }

  void read(Stream& stream, const std::function<void(std::string_view)>& handler) {
    stream.descriptor.async_read_some(
        asio::buffer(stream.buffer),
        [self = shared_from_this(), &stream, &handler](asio::error_code error, std::size_t count) {
          if (self->stopped) return;
          if (error) {
            stream.open = false;
            self->finish_if_done();
            return;
          }
          if (handler) handler(std::string_view(stream.buffer.data(), count));
          if (!self->stopped) self->read(stream, handler);
        });
  }

  void on_ended() {
    // While the leader is an unreaped zombie its group id cannot belong to anybody else.
    ::kill(-pid, SIGKILL);
    int status = 0;
    ::waitpid(pid, &status, 0);
    reaped = true;
    ended_with = exit_status(status);
    close_input();
    asio::error_code ignored;
    exit_wait.close(ignored);
    if (stopped) {
      timer.cancel();
      return;
    }
    timer.expires_after(kDrainAfterExit);
    timer.async_wait([self = shared_from_this()](asio::error_code error) {
      if (error || self->stopped) return;
      self->out.open = self->err.open = false;
      self->finish_if_done();
    });
    finish_if_done();
  }

  void finish_if_done() {
    if (!reaped || out.open || err.open || stopped) return;
    stopped = true;
    close_streams();
    timer.cancel();
    const auto on_exit = std::move(handlers.on_exit);
    handlers = {};
    if (on_exit) on_exit(ended_with);
  }

  void write_next() {
    writing = true;
    asio::async_write(in, asio::buffer(queue.front()),
                      [self = shared_from_this()](asio::error_code error, std::size_t) {
                        self->writing = false;
                        if (error || !self->in.is_open()) {
                          self->queue.clear();
                          self->queued_bytes = 0;
                          self->close_input();
                          return;
                        }
                        self->queued_bytes -= self->queue.front().size();
                        self->queue.pop_front();
                        if (!self->queue.empty()) return self->write_next();
                        if (self->close_when_written) self->close_input();
                      });
  }

  void close_input() {
    asio::error_code ignored;
    if (in.is_open()) in.close(ignored);
  }

  void close_streams() {
    asio::error_code ignored;
    out.descriptor.close(ignored);
    err.descriptor.close(ignored);
  }

  void signal_group(int number) {
    if (!reaped) ::kill(-pid, number);
  }

  void stop(std::int64_t grace_ms) {
    stopped = true;
    close_input();
    close_streams();
    if (reaped) return;
    if (grace_ms <= 0) return signal_group(SIGKILL);
    timer.expires_after(std::chrono::milliseconds(grace_ms));
    timer.async_wait([self = shared_from_this()](asio::error_code error) {
      if (!error) self->signal_group(SIGKILL);
    });
  }

  const int pid;
  asio::posix::stream_descriptor in;
  Stream out, err;
  asio::posix::stream_descriptor exit_wait;
  asio::steady_timer timer;
  Handlers handlers;
  std::deque<std::string> queue;
  std::size_t queued_bytes = 0;
  bool writing = false;
  bool close_when_written = false;
  bool stopped = false;
  bool reaped = false;
  ExitStatus ended_with;
};

base::Result<std::shared_ptr<Child>> Child::start(Loop& loop, const ChildSpec& spec,
                                                  Handlers handlers) {
  auto spawned = spawn(spec, Group::own, Stdin::pipe);
  if (!spawned) return base::fail(spawned.error());
  const int pid = spawned->pid;
  const int pid_fd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (pid_fd < 0) {
    ::kill(-pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return base::fail(base::ErrorKind::unsupported,
                      "this kernel has no pidfd_open (Linux 5.3 is needed)");
  }
  auto state =
      std::make_shared<State>(loop.context(), std::move(*spawned), pid_fd, std::move(handlers));
  state->start();
  return std::shared_ptr<Child>(new Child(std::move(state)));
}

Child::Child(std::shared_ptr<State> state) : state_(std::move(state)) {}

Child::~Child() {
  stop(0);
}

bool Child::write(std::string bytes) {
  if (!state_->in.is_open() || state_->close_when_written) return true;
  if (state_->queued_bytes + bytes.size() > kMaxQueuedBytes) return false;
  state_->queued_bytes += bytes.size();
  state_->queue.push_back(std::move(bytes));
  if (!state_->writing) state_->write_next();
  return true;
}

void Child::close_stdin() {
  state_->close_when_written = true;
  if (!state_->writing) state_->close_input();
}

void Child::terminate() {
  state_->signal_group(SIGTERM);
}

void Child::kill() {
  state_->signal_group(SIGKILL);
}

void Child::stop(std::int64_t grace_ms) {
  if (state_->stopped && grace_ms > 0) return;
  state_->stop(grace_ms);
}

int Child::pid() const {
  return state_->pid;
}

}  // namespace nvidb::io
