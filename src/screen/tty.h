// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// The terminal as a full-screen program needs it, and back as it was. The one edge of this room;
// for cli/ only, on the loop's thread, one at a time in a process.
//
// Writing never blocks: a terminal that takes no bytes (a stalled ssh, Ctrl-S) is simply not drawn
// to until it does.
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "screen/frame.h"

namespace nvidb::screen {

// Asks the terminal for its background colour (OSC 11); not all answer.
inline constexpr std::string_view kAskBackground = "\x1b]11;?\x1b\\";

class Tty {
 public:
  // The terminal on standard input and output, opened anew by its name, so that O_NONBLOCK is not
  // shared with the shell. Changes nothing on the screen yet. Errors: unsupported (no terminal).
  static base::Result<std::unique_ptr<Tty>> open();
  // As leave().
  ~Tty();
  Tty(const Tty&) = delete;
  Tty& operator=(const Tty&) = delete;

  // Raw mode, alternate screen, no cursor, bracketed paste, and with `mouse` mouse reports. Until
  // leave() a crash (CHECK, abort, SIGSEGV, SIGBUS, SIGFPE, SIGILL, an uncaught exception) gives
  // the terminal back first, with nothing but async-signal-safe calls. Idempotent. Errors: io.
  base::Result<void> enter(bool mouse);
  // Everything back as it was before enter(), bytes not yet written dropped. Idempotent. Waits at
  // most 200 ms for a terminal that takes nothing.
  void leave();

  int fd() const;     // to wait for readable and writable
  Size size() const;  // now; 80x24 where the terminal does not say. At most kMaxSize.

  // Some bytes, empty if there are none now. Errors: io (the terminal is gone).
  base::Result<std::string> read();
  // Queues bytes and writes what the terminal takes. Errors: io (the terminal is gone).
  base::Result<void> write(std::string_view bytes);
  // Some bytes are still queued: wait until fd() is writable, then write("").
  bool is_behind() const;

 private:
  struct State;
  explicit Tty(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

inline constexpr Size kMaxSize{1000, 500};

}  // namespace nvidb::screen
