// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// What a command may print to, and how its errors look.
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/arguments.h"
#include "screen/ansi.h"

namespace nvidb::cli {

// Of standard output, at this moment.
struct Terminal {
  bool is_terminal = false;
  int width = 100;     // the terminal's, else $COLUMNS, else 100
  bool ascii = false;  // the locale is not UTF-8
  screen::ColorDepth depth = screen::ColorDepth::none;
};
Terminal look_at_terminal(ColorChoice color);

// Writes to standard output. A reader that went away ends the program quietly (exit code 0); any
// other failure is an error on stderr and kFailed. Returns kDone or kFailed.
int print(std::string_view text);

// `nvidb: MESSAGE` on stderr; with json the error document on stdout. Returns kFailed.
int print_error(const base::Error& error, bool json);

// `nvidb: TEXT` on stderr: a warning, or a word beside the data.
void print_note(std::string_view text);

// `nvidb: MESSAGE` and the usage line on stderr; with json the error document on stdout too.
// Returns kUsage.
int print_usage_error(const UsageError& error, bool json);

}  // namespace nvidb::cli
