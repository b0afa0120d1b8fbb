// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "io/loop.h"

#include <gtest/gtest.h>

#include <csignal>
#include <vector>

namespace nvidb::io {
namespace {

TEST(Loop, OnSignals_CallsBackEachTimeWithTheNumber) {
  Loop loop;
  Timer limit(loop);
  limit.set(10'000, [&] {
    ADD_FAILURE() << "no signal";
    loop.stop();
  });
  std::vector<int> seen;
  loop.on_signals({SIGWINCH, SIGCONT}, [&](int number) {
    seen.push_back(number);
    if (seen.size() == 3) return loop.stop();
    ::raise(seen.size() == 1 ? SIGCONT : SIGWINCH);
  });
  ::raise(SIGWINCH);
  loop.run();
  EXPECT_EQ(seen, (std::vector<int>{SIGWINCH, SIGCONT, SIGWINCH}));
}

TEST(Loop, OnSignals_IsUndoneWithTheLoop) {
  struct sigaction before {
  }, during{}, after{};
  ::sigaction(SIGUSR1, nullptr, &before);
  {
    Loop loop;
    loop.on_signals({SIGUSR1}, [](int) {});
    ::sigaction(SIGUSR1, nullptr, &during);
  }
  ::sigaction(SIGUSR1, nullptr, &after);
  EXPECT_NE(during.sa_handler, before.sa_handler);
  EXPECT_EQ(after.sa_handler, SIG_DFL);
}

}  // namespace
}  // namespace nvidb::io
