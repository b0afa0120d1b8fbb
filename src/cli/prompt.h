// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Questions to a person at a terminal. Prompts go to stderr, so that stdout holds data alone; a
// line is read as the terminal edits it.
#include <csignal>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nvidb::cli {

// Both stdin and stderr are terminals: a person can be asked.
bool can_ask();

// A line for the person, on stderr; printable whatever it quotes.
void say(std::string_view line);

// The answer without blanks at its ends; "" is Enter alone. Absent: Ctrl-C, Ctrl-D or the terminal
// went away. REQUIRES: can_ask().
std::optional<std::string> ask(std::string_view prompt);

// `QUESTION [y/N] ` (or `[Y/n]`), asked again until it is answered. Absent as ask().
std::optional<bool> ask_yes(std::string_view question, bool when_empty);

// An answer that is not shown, exactly as typed. "" is Enter alone or Ctrl-D. Absent: nobody can be
// asked. Ctrl-C ends the program with 130, the terminal as it was.
std::optional<std::string> ask_secret(std::string_view prompt);

// Picks from a numbered list: `1,3-5` or `1 3-5`, `a` or `all`, nothing. Positions from 0,
// ascending, none twice; each below `count`. Errors: invalid. Pure.
base::Result<std::vector<std::size_t>> parse_choice(std::string_view text, std::size_t count);

// While one lives, Ctrl-C does not end the program: a child that shares the terminal gets it too,
// and happened() tells afterwards. One at a time.
class HoldInterrupt {
 public:
  HoldInterrupt();
  ~HoldInterrupt();
  HoldInterrupt(const HoldInterrupt&) = delete;
  HoldInterrupt& operator=(const HoldInterrupt&) = delete;
  bool happened() const;

 private:
  struct sigaction before_ {};
};

}  // namespace nvidb::cli
