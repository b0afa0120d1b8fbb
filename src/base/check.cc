// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "base/check.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace nvidb::base {
namespace {

// tidy: a failed CHECK may be anywhere in the program, and knows nobody to ask.
std::atomic<void (*)()> check_hook{nullptr};

}  // namespace

void set_check_hook(void (*hook)()) {
  check_hook = hook;
}

void check_failed(const char* file, int line, const char* condition) {
  // Taken out before it runs, so that a hook which fails a CHECK itself does not call itself for
  // ever.
  if (const auto hook = check_hook.exchange(nullptr)) hook();
  std::fprintf(stderr, "nvidb: CHECK failed at %s:%d: %s\n", file, line, condition);
  std::fflush(stderr);
  std::abort();
}

}  // namespace nvidb::base
