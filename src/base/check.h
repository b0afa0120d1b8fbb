// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// CHECK(condition): a promise of our own code, on in every build. Never for what a user, file or
// host sent.
namespace nvidb::base {

// Called once before a failed CHECK aborts; the screen sets it to give the terminal back. Null by
// default.
void set_check_hook(void (*hook)());

// Runs the hook, prints place and condition on stderr (on the screen that was given back) and
// aborts.
[[noreturn]] void check_failed(const char* file, int line, const char* condition);

}  // namespace nvidb::base

#define CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::nvidb::base::check_failed(__FILE__, __LINE__, #condition))
