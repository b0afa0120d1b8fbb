// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Gives the terminal back when the program dies of a bug of its own, so that the person is left
// with a shell that echoes. Private to screen/; one at a time in a process, set and reset by
// tty.cc.
#include <termios.h>

#include <string>

namespace nvidb::screen {

// From now on SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL and a failed CHECK first write `farewell` to
// `fd` and set `modes`, with nothing but async-signal-safe calls; then they do what they did
// before.
void arm_crash_exit(int fd, const termios& modes, std::string farewell);

// Everything as it was before arm_crash_exit(). Idempotent.
void disarm_crash_exit();

// Writes to a terminal that may take nothing for a while: at most 200 ms. Async-signal-safe.
void write_with_patience(int fd, const char* bytes, std::size_t size);

}  // namespace nvidb::screen
