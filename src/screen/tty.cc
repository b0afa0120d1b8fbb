// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "screen/tty.h"

#include <fcntl.h>  // tidy: the edge of this room
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>  // tidy: the edge of this room

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "screen/crash_exit.h"

namespace nvidb::screen {
namespace {

constexpr std::size_t kReadBytes = 16 << 10;
constexpr Size kDefaultSize{80, 24};

// Source: xterm's control sequences. Terminals ignore the private modes that they do not have.
// 1049 alternate screen, 25 cursor, 7 autowrap, 2004 bracketed paste, 1 cursor keys as CSI, ESC >
// the number pad as digits; 1000 buttons, 1002 drags, 1006 reports without a limit of columns.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?1l\x1b>\x1b[?2004h";
constexpr std::string_view kMouseOn = "\x1b[?1000h\x1b[?1002h\x1b[?1006h";
constexpr std::string_view kMouseOff = "\x1b[?1006l\x1b[?1002l\x1b[?1000l";
// The screen is cleared for terminals that have no other one, e.g. the Linux console.
constexpr std::string_view kLeave = "\x1b[?2004l\x1b[?7h\x1b[0m\x1b[H\x1b[2J\x1b[?25h\x1b[?1049l";
// Ends whatever sequence was cut off; nothing on its own.
constexpr std::string_view kStringEnd = "\x1b\\";

tl::unexpected<base::Error> gone(const char* doing) {
  return base::fail(base::ErrorKind::io,
                    std::string("cannot ") + doing + " the terminal: " + std::strerror(errno));
}

// By its name, or by the one that every process has for its own: a terminal of another user (su) or
// from outside (a container) cannot be opened by its name.
int open_terminal() {
  constexpr int kFlags = O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC;
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO}) {
    std::array<char, 256> name{};
    if (::ttyname_r(standard, name.data(), name.size()) != 0) continue;
    if (const int fd = ::open(name.data(), kFlags); fd >= 0) return fd;
  }
  return ::open("/dev/tty", kFlags);
}

termios make_raw(termios modes) {
  ::cfmakeraw(&modes);
  modes.c_iflag &= ~static_cast<tcflag_t>(IXOFF);
  // A read with nothing to read is EAGAIN, one from a terminal that is gone is 0.
  modes.c_cc[VMIN] = 1;
  modes.c_cc[VTIME] = 0;
  return modes;
}

}  // namespace

struct Tty::State {
  explicit State(int opened) : fd(opened) {}
  ~State() { ::close(fd); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  const int fd;
  bool entered = false, mouse = false;
  termios before{};
  std::string queue;  // bytes not written yet begin at `written`
  std::size_t written = 0;

  bool is_behind() const { return written < queue.size(); }
  std::string farewell() const { return std::string(mouse ? kMouseOff : "").append(kLeave); }
};

base::Result<std::unique_ptr<Tty>> Tty::open() {
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1) {
    return base::fail(base::ErrorKind::unsupported, "standard input and output are not a terminal");
  }
  const int fd = open_terminal();
  if (fd < 0) {
    return base::fail(base::ErrorKind::unsupported,
                      std::string("cannot open the terminal: ") + std::strerror(errno));
  }
  return std::unique_ptr<Tty>(new Tty(std::make_unique<State>(fd)));
}

Tty::Tty(std::unique_ptr<State> state) : state_(std::move(state)) {}

Tty::~Tty() {
  leave();
}

base::Result<void> Tty::enter(bool mouse) {
  if (state_->entered) return {};
  if (::tcgetattr(state_->fd, &state_->before) != 0) return gone("read the modes of");
  const termios raw = make_raw(state_->before);
  // Never TCSADRAIN: a terminal that takes nothing would be waited for.
  if (::tcsetattr(state_->fd, TCSANOW, &raw) != 0) return gone("set the modes of");
  state_->entered = true;
  state_->mouse = mouse;
  arm_crash_exit(state_->fd, state_->before, std::string(kStringEnd) + state_->farewell());
  auto written = write(std::string(kEnter).append(mouse ? kMouseOn : ""));
  if (!written) leave();
  return written;
}

void Tty::leave() {
  if (!state_->entered) return;
  const bool cut_off = state_->is_behind();
  state_->queue.clear();
  state_->written = 0;
  const std::string bytes = std::string(cut_off ? kStringEnd : "") + state_->farewell();
  write_with_patience(state_->fd, bytes.data(), bytes.size());
  // What was typed or clicked for us is not for the shell.
  ::tcflush(state_->fd, TCIFLUSH);
  ::tcsetattr(state_->fd, TCSANOW, &state_->before);
  disarm_crash_exit();
  state_->entered = false;
}

int Tty::fd() const {
  return state_->fd;
}

Size Tty::size() const {
  winsize told{};
  if (::ioctl(state_->fd, TIOCGWINSZ, &told) != 0) return kDefaultSize;
  const auto within = [](int value, int otherwise, int most) {
    return value == 0 ? otherwise : std::min(value, most);
  };
  return {within(told.ws_col, kDefaultSize.width, kMaxSize.width),
          within(told.ws_row, kDefaultSize.height, kMaxSize.height)};
}

base::Result<std::string> Tty::read() {
  std::string bytes(kReadBytes, '\0');
  ssize_t count = 0;
  do {
    count = ::read(state_->fd, bytes.data(), bytes.size());
  } while (count < 0 && errno == EINTR);
  if (count < 0 && errno == EAGAIN) return std::string();
  if (count < 0) return gone("read from");
  if (count == 0) return base::fail(base::ErrorKind::io, "the terminal was closed");
  bytes.resize(static_cast<std::size_t>(count));
  return bytes;
}

base::Result<void> Tty::write(std::string_view bytes) {
  std::string& queue = state_->queue;
  queue.erase(0, std::exchange(state_->written, 0));
  queue += bytes;
  while (state_->is_behind()) {
    const ssize_t count =
        ::write(state_->fd, queue.data() + state_->written, queue.size() - state_->written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return {};
    if (count < 0) return gone("write to");
    state_->written += static_cast<std::size_t>(count);
  }
  queue.clear();
  state_->written = 0;
  return {};
}

bool Tty::is_behind() const {
  return state_->is_behind();
}

}  // namespace nvidb::screen
