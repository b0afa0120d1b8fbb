// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "cli/output.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/text.h"
#include "base/units.h"
#include "cli/exit_code.h"
#include "config/paths.h"
#include "io/files.h"
#include "model/json.h"

namespace nvidb::cli {
namespace {

constexpr int kDefaultWidth = 100;
constexpr int kMinWidth = 40;
constexpr int kMaxWidth = 1000;

int find_width(bool is_terminal) {
  winsize size{};
  if (is_terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return std::clamp<int>(size.ws_col, kMinWidth, kMaxWidth);
  }
  if (const auto columns = config::env("COLUMNS")) {
    const auto number = base::parse_positive_number(*columns, "COLUMNS");
    if (number && *number >= 1)
      return static_cast<int>(std::clamp<double>(*number, kMinWidth, kMaxWidth));
  }
  return kDefaultWidth;
}

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (auto value = config::env(name)) {
      std::ranges::transform(*value, value->begin(),
                             [](unsigned char c) { return std::tolower(c); });
      return value->find("utf-8") != std::string::npos || value->find("utf8") != std::string::npos;
    }
  }
  return false;
}

screen::ColorDepth find_depth(ColorChoice choice, bool is_terminal) {
  const std::string term = config::env("TERM").value_or("");
  if (choice == ColorChoice::never) return screen::ColorDepth::none;
  if (choice == ColorChoice::automatic) {
    if (!is_terminal || config::env("NO_COLOR") || term == "dumb" || term.empty())
      return screen::ColorDepth::none;
  }
  const std::string depth = config::env("COLORTERM").value_or("");
  if (depth == "truecolor" || depth == "24bit") return screen::ColorDepth::true_color;
  if (term.find("256color") != std::string::npos) return screen::ColorDepth::palette256;
  return screen::ColorDepth::basic16;
}

void print_on_stderr(std::string_view text) {
  // Nothing can be done where even this fails.
  (void)io::write_all(STDERR_FILENO, text);
}

// Errors may quote what the user or a host said.
std::string error_line(std::string_view message) {
  return fmt::format("nvidb: {}\n", base::printable(message));
}

}  // namespace

Terminal look_at_terminal(ColorChoice color) {
  Terminal terminal;
  terminal.is_terminal = ::isatty(STDOUT_FILENO) == 1;
  terminal.width = find_width(terminal.is_terminal);
  terminal.ascii = !locale_is_utf8();
  terminal.depth = find_depth(color, terminal.is_terminal);
  return terminal;
}

int print(std::string_view text) {
  const auto written = io::write_all(STDOUT_FILENO, text);
  if (written) return kDone;
  if (written.error().kind == base::ErrorKind::conflict) std::exit(kDone);
  print_on_stderr(error_line("cannot write to standard output: " + written.error().message));
  return kFailed;
}

int print_error(const base::Error& error, bool json) {
  const std::string text = base::to_text(error);
  if (json) {
    print(model::error_json(text));
  } else {
    print_on_stderr(error_line(text));
  }
  return kFailed;
}

void print_note(std::string_view text) {
  print_on_stderr(error_line(text));
}

int print_usage_error(const UsageError& error, bool json) {
  if (json) print(model::error_json(error.message));
  print_on_stderr(error_line(error.message) + error.usage + "\n");
  return kUsage;
}

}  // namespace nvidb::cli
