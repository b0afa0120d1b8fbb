// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "agent/agent_main.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>

#include "agent/collector.h"
#include "agent/line_out.h"
#include "agent/proc.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/version.h"
#include "io/lines.h"
#include "model/json.h"

namespace nvidb::agent {
namespace {

constexpr std::size_t kMaxCommandLineBytes = 4096;
constexpr std::int64_t kReplyWaitMs = 500;
constexpr std::int64_t kStopWaitMs = 500;  // of the 2 s that the end of stdin allows
constexpr std::int64_t kLeastIntervalMs = 100, kMostIntervalMs = 3'600'000;
constexpr std::size_t kMaxErrorBytes = 1024;  // of a reply's text

// What makes the main thread's poll return besides stdin.
struct Wakers {
  int signals = -1;        // readable after SIGINT, SIGTERM or SIGHUP
  int collector_end = -1;  // readable when the collector has ended
};

// From here on these signals are read, not delivered; threads started later inherit that, and
// programs that are started (nvidia-smi) do not. Absent where the system has no descriptor left.
std::optional<Wakers> set_up_wakers() {
  sigset_t awaited;
  ::sigemptyset(&awaited);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&awaited, number);
  ::pthread_sigmask(SIG_BLOCK, &awaited, nullptr);
  ::signal(SIGPIPE, SIG_IGN);  // a reader that has gone is an error of write()
  const Wakers wakers = {.signals = ::signalfd(-1, &awaited, SFD_CLOEXEC),
                         .collector_end = ::eventfd(0, EFD_CLOEXEC)};
  if (wakers.signals < 0 || wakers.collector_end < 0) return std::nullopt;
  return wakers;
}

// Ends a nvidia-smi that the collector's thread is waiting for; ourselves the signal does not harm.
// Only where the group is ours: whoever starts a collector as a program of its own makes it so.
void end_own_group() {
  if (::getpgrp() == ::getpid()) ::kill(0, SIGTERM);
}

// Reads orders until there is a reason to end.
class Listener {
 public:
  Listener(const AgentOptions& options, const Wakers& wakers, LineOut& out, Collector& collector)
      : options_(options),
        wakers_(wakers),
        out_(out),
        collector_(collector),
        lines_(kMaxCommandLineBytes) {}

  // False where the reader of stdout has gone.
  bool run() {
    bool listening = true;
    while (!quit_) {
      // Of stdout only errors are awaited: they say that the reader has gone, long before the next
      // sample would.
      pollfd fds[] = {{.fd = wakers_.collector_end, .events = POLLIN, .revents = 0},
                      {.fd = wakers_.signals, .events = POLLIN, .revents = 0},
                      {.fd = out_.fd(), .events = 0, .revents = 0},
                      {.fd = listening ? STDIN_FILENO : -1, .events = POLLIN, .revents = 0}};
      if (::poll(fds, std::size(fds), -1) < 0) {
        if (errno == EINTR) continue;
        return true;
      }
      if ((fds[0].revents | fds[1].revents) != 0) return true;
      if (fds[2].revents != 0) return false;
      if (fds[3].revents == 0 || read_some()) continue;
      // One sample was asked for: it comes even where stdin is /dev/null.
      if (!options_.once) return true;
      listening = false;
    }
    return true;
  }

 private:
  // False at the end of stdin.
  bool read_some() {
    char bytes[4096];
    const ssize_t count = ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (count < 0) return errno == EINTR || errno == EAGAIN;
    if (count == 0) return false;
    lines_.feed(
        {bytes, static_cast<std::size_t>(count)}, [this](std::string_view line) { on_line(line); },
        [] {});
    return true;
  }

  // A malformed line costs that line only.
  void on_line(std::string_view line) {
    if (!line.starts_with(model::kLineMark)) return;
    const auto command = model::decode_command(line);
    if (command) std::visit([this](const auto& order) { on(order); }, *command);
  }

  void on(const model::SetInterval& order) { collector_.set_interval(order.interval_ms); }
  void on(const model::WantProcesses& order) { collector_.want_processes(order.want); }
  void on(const model::Quit&) { quit_ = true; }
  void on(const model::SignalProcess& order) {
    model::SignalReply reply = {.id = order.id, .error = std::nullopt};
    const auto sent =
        signal_process(options_.proc_root, order.pid, order.start_ticks, order.signal);
    if (!sent) reply.error = base::valid_utf8(sent.error().message.substr(0, kMaxErrorBytes));
    // A reader that does not read gets no reply, rather than a collector that no longer listens.
    out_.write_short(model::encode_line(model::AgentMessage(reply)), kReplyWaitMs);
  }

  const AgentOptions& options_;
  const Wakers& wakers_;
  LineOut& out_;
  Collector& collector_;
  io::LineSplitter lines_;
  bool quit_ = false;
};

Collector::Options collector_options(const AgentOptions& options) {
  Collector::Options wanted;
  wanted.source.nvml_paths = options.nvml_paths;
  if (wanted.source.nvml_paths.empty()) {
    wanted.source.nvml_paths = {"libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1"};
  }
  wanted.source.proc_root = options.proc_root;
  wanted.source.smi_deadline_ms = options.smi_deadline_ms;
  wanted.interval_ms = std::clamp(options.interval_ms, kLeastIntervalMs, kMostIntervalMs);
  wanted.once = options.once;
  return wanted;
}

model::Hello hello(const AgentOptions& options) {
  model::Hello hello;
  hello.collector = model::CollectorKind::native;
  hello.version = base::version();
  hello.pid = ::getpid();
  hello.host = ProcReader(options.proc_root).facts();
  return hello;
}

}  // namespace

int agent_main(const AgentOptions& options) {
  const auto out = std::make_shared<LineOut>(LineOut::take_stdout());
  const auto broken = std::make_shared<std::atomic<bool>>(false);
  const auto wakers = set_up_wakers();
  if (!wakers) return 1;
  // Before the driver is touched: whatever it does, the reader knows who is there.
  if (!out->write(model::encode_line(model::AgentMessage(hello(options))))) return 1;

  Collector collector(
      collector_options(options), base::system_clock(),
      [out, broken](const model::AgentMessage& message) {
        if (out->write(model::encode_line(message))) return true;
        *broken = true;
        return false;
      },
      [fd = wakers->collector_end] { ::eventfd_write(fd, 1); });
  const bool read_to_the_end = Listener(options, *wakers, *out, collector).run();
  const bool ended = collector.stop(kStopWaitMs);
  const int exit_code = *broken || !read_to_the_end ? 1 : 0;
  if (!ended) {
    end_own_group();
    // Ending the ordinary way would run destructors under a thread that is stuck in the driver.
    ::_exit(exit_code);
  }
  return exit_code;
}

}  // namespace nvidb::agent
