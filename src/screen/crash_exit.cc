// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "screen/crash_exit.h"

#include <poll.h>
#include <unistd.h>  // tidy: the edge of this room

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <memory>
#include <utility>

#include "base/check.h"

namespace nvidb::screen {
namespace {

constexpr std::array kCrashes = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr int kPatienceRounds = 4, kRoundMs = 50;
constexpr std::size_t kStackBytes = 64 << 10;

struct Plan {
  int fd = -1;
  termios modes{};
  std::string farewell;
  std::array<struct sigaction, kCrashes.size()> before{};
  // A stack that overflowed has no room left for the handler.
  std::array<char, kStackBytes> stack{};
  stack_t stack_before{};
};

// tidy: a signal handler can reach nothing else
std::atomic<Plan*> armed{nullptr};
std::atomic_flag has_given_back = ATOMIC_FLAG_INIT;  // tidy: as above; two threads may crash

void give_back() {
  const Plan* plan = armed.load();
  if (!plan || has_given_back.test_and_set()) return;
  write_with_patience(plan->fd, plan->farewell.data(), plan->farewell.size());
  ::tcsetattr(plan->fd, TCSANOW, &plan->modes);
}

extern "C" void on_crash(int number, siginfo_t* info, void*) {
  const int saved_errno = errno;
  give_back();
  struct sigaction before {};
  before.sa_handler = SIG_DFL;
  if (const Plan* plan = armed.load()) {
    for (std::size_t i = 0; i < kCrashes.size(); ++i) {
      if (kCrashes[i] == number) before = plan->before[i];
    }
  }
  ::sigaction(number, &before, nullptr);
  // A fault happens again on return, now for whoever handled it before us; a signal that was sent
  // does not.
  if (info->si_code <= 0 || number == SIGABRT) ::raise(number);
  errno = saved_errno;
}

}  // namespace

void write_with_patience(int fd, const char* bytes, std::size_t size) {
  for (int round = 0; size > 0 && round < kPatienceRounds;) {
    const ssize_t count = ::write(fd, bytes, size);
    if (count >= 0) {
      bytes += count;
      size -= static_cast<std::size_t>(count);
      continue;
    }
    if (errno != EAGAIN && errno != EINTR) return;
    pollfd waited{fd, POLLOUT, 0};
    ::poll(&waited, 1, kRoundMs);
    ++round;
  }
}

void arm_crash_exit(int fd, const termios& modes, std::string farewell) {
  CHECK(!armed.load());
  auto plan = std::make_unique<Plan>();
  plan->fd = fd;
  plan->modes = modes;
  plan->farewell = std::move(farewell);
  has_given_back.clear();
  // Sanitizers bring a stack of their own.
  const bool has_stack = ::sigaltstack(nullptr, &plan->stack_before) == 0 &&
                         !(plan->stack_before.ss_flags & SS_DISABLE);
  if (!has_stack) {
    stack_t own{};
    own.ss_sp = plan->stack.data();
    own.ss_size = plan->stack.size();
    ::sigaltstack(&own, nullptr);
  }
  Plan* const given = plan.release();
  armed.store(given);
  struct sigaction action {};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
  ::sigemptyset(&action.sa_mask);
  // In the background tcsetattr() would stop the program instead of letting it die.
  ::sigaddset(&action.sa_mask, SIGTTOU);
  for (std::size_t i = 0; i < kCrashes.size(); ++i) {
    ::sigaction(kCrashes[i], &action, &given->before[i]);
  }
  base::set_check_hook(give_back);
}

void disarm_crash_exit() {
  Plan* const plan = armed.load();
  if (!plan) return;
  base::set_check_hook(nullptr);
  for (std::size_t i = 0; i < kCrashes.size(); ++i) {
    ::sigaction(kCrashes[i], &plan->before[i], nullptr);
  }
  if (plan->stack_before.ss_flags & SS_DISABLE) ::sigaltstack(&plan->stack_before, nullptr);
  armed.store(nullptr);
  delete plan;
}

}  // namespace nvidb::screen
