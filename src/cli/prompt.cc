// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "cli/prompt.h"

#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "base/text.h"
#include "cli/exit_code.h"
#include "io/files.h"

namespace nvidb::cli {
namespace {

constexpr std::size_t kMaxAnswerBytes = 4096;

volatile std::sig_atomic_t interrupted = 0;  // tidy: a signal handler can reach nothing else

extern "C" void note_interrupt(int) {
  interrupted = 1;
}

void show(std::string_view text) {
  // A prompt nobody sees is still followed by a read that ends.
  (void)io::write_all(STDERR_FILENO, text);
}

struct Line {
  std::string text;
  bool ended = false;  // Ctrl-C, Ctrl-D or no terminal any more, and nothing typed before
};

// Byte by byte: what follows the newline belongs to whoever reads the terminal next.
Line read_line() {
  Line line;
  const HoldInterrupt hold;
  for (;;) {
    char byte = 0;
    const ssize_t count = ::read(STDIN_FILENO, &byte, 1);
    if (count < 0 && errno == EINTR && !hold.happened()) continue;
    if (count == 1 && byte == '\n') return line;
    if (count == 1) {
      if (line.text.size() < kMaxAnswerBytes) line.text += byte;
      continue;
    }
    line.ended = hold.happened() || line.text.empty();
    show("\n");  // the person's cursor is still behind the prompt
    return line;
  }
}

// Typed letters are not shown while it lives, and Ctrl-Z cannot leave the terminal that way.
class Hidden {
 public:
  Hidden() : stop_(std::signal(SIGTSTP, SIG_IGN)) {
    if (::tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    quiet.c_lflag |= ECHONL;
    is_set_ = ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet) == 0;
  }
  ~Hidden() {
    if (is_set_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
    std::signal(SIGTSTP, stop_);
  }
  Hidden(const Hidden&) = delete;
  Hidden& operator=(const Hidden&) = delete;
  bool is_set() const { return is_set_; }

 private:
  using Handler = void (*)(int);
  Handler stop_;
  termios before_{};
  bool is_set_ = false;
};

std::string trimmed(std::string text) {
  const auto is_blank = [](unsigned char c) { return std::isspace(c) != 0; };
  text.erase(text.begin(), std::find_if_not(text.begin(), text.end(), is_blank));
  text.erase(std::find_if_not(text.rbegin(), text.rend(), is_blank).base(), text.end());
  return text;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::optional<std::size_t> parse_position(std::string_view text) {
  if (text.empty() || text.size() > 9) return {};
  std::size_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return {};
    number = number * 10 + static_cast<std::size_t>(c - '0');
  }
  return number;
}

}  // namespace

HoldInterrupt::HoldInterrupt() {
  interrupted = 0;
  struct sigaction action {};
  action.sa_handler = note_interrupt;  // without SA_RESTART, so that a read ends
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, &before_);
}

HoldInterrupt::~HoldInterrupt() {
  ::sigaction(SIGINT, &before_, nullptr);
}

bool HoldInterrupt::happened() const {
  return interrupted != 0;
}

bool can_ask() {
  return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
}

void say(std::string_view line) {
  show(base::printable(line) + "\n");
}

std::optional<std::string> ask(std::string_view prompt) {
  show(base::printable(prompt));
  Line line = read_line();
  if (line.ended) return {};
  return trimmed(std::move(line.text));
}

std::optional<bool> ask_yes(std::string_view question, bool when_empty) {
  const std::string prompt = fmt::format("{} {} ", question, when_empty ? "[Y/n]" : "[y/N]");
  for (;;) {
    const auto answer = ask(prompt);
    if (!answer) return {};
    const std::string word = lower(*answer);
    if (word.empty()) return when_empty;
    if (word == "y" || word == "yes") return true;
    if (word == "n" || word == "no") return false;
    say("  answer y or n");
  }
}

std::optional<std::string> ask_secret(std::string_view prompt) {
  if (!can_ask()) return {};
  Line line;
  {
    const Hidden hidden;
    if (!hidden.is_set()) return {};
    show(base::printable(prompt));
    line = read_line();
  }
  if (line.ended && interrupted != 0) std::exit(kInterrupted);
  return std::move(line.text);
}

base::Result<std::vector<std::size_t>> parse_choice(std::string_view text, std::size_t count) {
  const auto wrong = [&](std::string_view word) {
    return base::fail(
        base::ErrorKind::invalid,
        fmt::format("'{}' is not a number or a range from 1 to {}", base::printable(word), count),
        "write it like 1,3-5, or a for all");
  };
  std::vector<bool> is_chosen(count, false);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(", \t"), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    const std::string known = lower(std::string(word));
    if (known == "a" || known == "all") {
      is_chosen.assign(count, true);
      continue;
    }
    const std::size_t dash = word.find('-');
    const auto first = parse_position(word.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : parse_position(word.substr(dash + 1));
    if (!first || !last || *first < 1 || *last < *first || *last > count) return wrong(word);
    std::fill(is_chosen.begin() + static_cast<std::ptrdiff_t>(*first) - 1,
              is_chosen.begin() + static_cast<std::ptrdiff_t>(*last), true);
  }
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < count; ++i) {
    if (is_chosen[i]) chosen.push_back(i);
  }
  return chosen;
}

}  // namespace nvidb::cli
