// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "screen/tty.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <cstring>
#include <exception>

#include "base/check.h"
#include "support/pty.h"

namespace nvidb::screen {
namespace {

using test::Pty;

constexpr std::string_view kEntered = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?1l\x1b>\x1b[?2004h";
constexpr std::string_view kMouse = "\x1b[?1000h\x1b[?1002h\x1b[?1006h";
constexpr std::string_view kNoMouse = "\x1b[?1006l\x1b[?1002l\x1b[?1000l";
constexpr std::string_view kLeft = "\x1b[?2004l\x1b[?7h\x1b[0m\x1b[H\x1b[2J\x1b[?25h\x1b[?1049l";

std::unique_ptr<Tty> open_on(const Pty& pty) {
  const test::StandardFiles files(pty.slave());
  auto tty = Tty::open();
  CHECK(tty);
  return *std::move(tty);
}

bool equal(const termios& a, const termios& b) {
  return a.c_iflag == b.c_iflag && a.c_oflag == b.c_oflag && a.c_cflag == b.c_cflag &&
         a.c_lflag == b.c_lflag && std::memcmp(a.c_cc, b.c_cc, sizeof a.c_cc) == 0;
}

std::string joined(std::string_view a, std::string_view b, std::string_view c = {}) {
  return std::string(a).append(b).append(c);
}

TEST(Tty, OpenWithoutATerminal_IsUnsupported) {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  base::Result<std::unique_ptr<Tty>> opened = [&] {
    const test::StandardFiles files(null);
    return Tty::open();
  }();
  ::close(null);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind, base::ErrorKind::unsupported);
}

TEST(Tty, Open_ChangesNothingAndIsNonBlockingForItselfOnly) {
  Pty pty;
  const termios before = pty.modes();
  const auto tty = open_on(pty);
  EXPECT_TRUE(equal(pty.modes(), before));
  EXPECT_TRUE(::fcntl(tty->fd(), F_GETFL) & O_NONBLOCK);
  EXPECT_TRUE(::fcntl(tty->fd(), F_GETFD) & FD_CLOEXEC);
  EXPECT_FALSE(::fcntl(pty.slave(), F_GETFL) & O_NONBLOCK);
}

TEST(Tty, EnterAndLeave_SayWhatTheyShouldAndGiveTheModesBack) {
  Pty pty;
  const termios before = pty.modes();
  const auto tty = open_on(pty);
  ASSERT_TRUE(tty->enter(true));
  ASSERT_TRUE(tty->enter(true));  // nothing
  EXPECT_EQ(pty.modes().c_lflag & (ISIG | ICANON | ECHO | IEXTEN), 0u);
  EXPECT_EQ(pty.modes().c_iflag & (IXON | ICRNL), 0u);
  ASSERT_TRUE(tty->write("frame"));
  tty->leave();
  tty->leave();  // nothing
  EXPECT_TRUE(equal(pty.modes(), before));
  EXPECT_EQ(pty.shown_until("1049l"),
            joined(kEntered, kMouse, "frame").append(kNoMouse).append(kLeft));
}

TEST(Tty, WithoutMouse_NothingIsSaidOfIt) {
  Pty pty;
  const auto tty = open_on(pty);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(tty->enter(false));
    tty->leave();
    EXPECT_EQ(pty.shown_until("1049l"), joined(kEntered, kLeft));
  }
}

TEST(Tty, Destroyed_Leaves) {
  Pty pty;
  const termios before = pty.modes();
  {
    const auto tty = open_on(pty);
    ASSERT_TRUE(tty->enter(false));
  }
  EXPECT_TRUE(equal(pty.modes(), before));
  EXPECT_EQ(pty.shown_until("1049l"), joined(kEntered, kLeft));
}

TEST(Tty, Read_GivesControlCharactersAndNothingWithoutInput) {
  Pty pty;
  const auto tty = open_on(pty);
  ASSERT_TRUE(tty->enter(false));
  EXPECT_EQ(tty->read().value(), "");
  pty.type("q\x03\x1a\r\x11\x13");
  ASSERT_TRUE(test::wait_for(tty->fd(), POLLIN));
  EXPECT_EQ(tty->read().value(), "q\x03\x1a\r\x11\x13");
  EXPECT_EQ(tty->read().value(), "");
}

TEST(Tty, Leave_DropsWhatWasTypedForUs) {
  Pty pty;
  const auto tty = open_on(pty);
  ASSERT_TRUE(tty->enter(false));
  pty.type("rm\r");
  ASSERT_TRUE(test::wait_for(tty->fd(), POLLIN));
  tty->leave();
  int waiting = -1;
  ASSERT_EQ(::ioctl(pty.slave(), FIONREAD, &waiting), 0);
  EXPECT_EQ(waiting, 0);
}

TEST(Tty, TerminalThatIsGone_IsAnError) {
  Pty pty;
  const auto tty = open_on(pty);
  ASSERT_TRUE(tty->enter(false));
  pty.hang_up();
  const auto read = tty->read();
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, base::ErrorKind::io);
  const auto written = tty->write("x");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, base::ErrorKind::io);
  tty->leave();
  EXPECT_FALSE(tty->enter(false));
}

TEST(Tty, Size_IsWhatTheTerminalSaysWithinBounds) {
  Pty pty;
  const auto tty = open_on(pty);
  EXPECT_EQ(tty->size(), (Size{80, 24}));
  pty.resize(123, 45);
  EXPECT_EQ(tty->size(), (Size{123, 45}));
  pty.resize(0, 7);
  EXPECT_EQ(tty->size(), (Size{80, 7}));
  pty.resize(65535, 65535);
  EXPECT_EQ(tty->size(), kMaxSize);
}

TEST(Tty, TerminalThatTakesNothing_IsNotWaitedForAndGetsTheRestLater) {
  Pty pty;
  const auto tty = open_on(pty);
  ASSERT_TRUE(tty->enter(false));
  const std::string frame(300'000, 'x');
  ASSERT_TRUE(tty->write(frame));
  EXPECT_TRUE(tty->is_behind());
  ASSERT_TRUE(tty->write("END"));
  std::string shown;
  while (tty->is_behind()) {
    std::array<char, 4096> some;
    ASSERT_TRUE(test::wait_for(pty.master(), POLLIN));
    const ssize_t count = ::read(pty.master(), some.data(), some.size());
    ASSERT_GT(count, 0);
    shown.append(some.data(), static_cast<std::size_t>(count));
    ASSERT_TRUE(tty->write(""));
  }
  shown += pty.shown_until("END");
  EXPECT_EQ(shown, joined(kEntered, frame, "END"));
}

TEST(Tty, LeavingAStoppedTerminal_EndsAndGivesTheModesBack) {
  Pty pty;
  const termios before = pty.modes();
  const auto tty = open_on(pty);
  ASSERT_TRUE(tty->enter(false));
  ASSERT_EQ(::tcflow(pty.slave(), TCOOFF), 0);
  ASSERT_TRUE(tty->write("frame"));
  EXPECT_TRUE(tty->is_behind());
  tty->leave();
  EXPECT_FALSE(tty->is_behind());
  EXPECT_TRUE(equal(pty.modes(), before));
}

TEST(Tty, LeavingWithinAFrame_DropsTheRestAndEndsItsSequence) {
  Pty pty;
  const auto tty = open_on(pty);
  ASSERT_TRUE(tty->enter(false));
  const std::string frame(300'000, 'x');
  ASSERT_TRUE(tty->write(frame));
  std::string shown;
  const auto takes_some = [&] {
    pollfd waited{tty->fd(), POLLOUT, 0};
    return ::poll(&waited, 1, 0) == 1;
  };
  while (!takes_some()) {
    std::array<char, 4096> some;
    ASSERT_TRUE(test::wait_for(pty.master(), POLLIN));
    const ssize_t count = ::read(pty.master(), some.data(), some.size());
    ASSERT_GT(count, 0);
    shown.append(some.data(), static_cast<std::size_t>(count));
  }
  tty->leave();
  shown += pty.shown_until("1049l");
  EXPECT_LT(shown.size(), frame.size());
  EXPECT_TRUE(shown.ends_with(joined("x\x1b\\", kLeft))) << shown.substr(shown.size() - 90);
}

// Runs `die` in a child that has entered; the signal that ended it.
int death_of(Pty& pty, void (*die)()) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int number : {SIGABRT, SIGSEGV}) std::signal(number, SIG_DFL);  // no sanitizer's
    const int null = ::open("/dev/null", O_WRONLY);
    ::dup2(null, STDERR_FILENO);
    const auto tty = open_on(pty);
    if (!tty->enter(true)) ::_exit(1);
    die();
    ::_exit(2);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

struct Death {
  const char* name;
  void (*die)();
  int signal;
};

class TtyCrash : public testing::TestWithParam<Death> {};

TEST_P(TtyCrash, AfterEnter_GivesTheTerminalBackOnceAndStillDies) {
  Pty pty;
  const termios before = pty.modes();
  EXPECT_EQ(death_of(pty, GetParam().die), GetParam().signal);
  EXPECT_TRUE(equal(pty.modes(), before));
  EXPECT_EQ(pty.shown_until("1049l"),
            joined(kEntered, kMouse, "\x1b\\").append(kNoMouse).append(kLeft));
}

INSTANTIATE_TEST_SUITE_P(Deaths, TtyCrash,
                         testing::Values(Death{"abort", [] { std::abort(); }, SIGABRT},
                                         Death{"check", [] { CHECK(1 + 1 == 3); }, SIGABRT},
                                         Death{"terminate", [] { std::terminate(); }, SIGABRT},
                                         Death{"sent", [] { ::raise(SIGSEGV); }, SIGSEGV},
                                         Death{"fault",
                                               [] {
                                                 // A page that may not be written: a fault no
                                                 // sanitizer sees before.
                                                 const_cast<volatile char*>("read only")[0] = 'x';
                                               },
                                               SIGSEGV}),
                         [](const auto& row) { return row.param.name; });

TEST(TtyHandlers, AfterLeave_SignalsDoWhatTheyDidBefore) {
  struct sigaction before {
  }, during{}, after{};
  ::sigaction(SIGABRT, nullptr, &before);
  Pty pty;
  const auto tty = open_on(pty);
  ASSERT_TRUE(tty->enter(false));
  ::sigaction(SIGABRT, nullptr, &during);
  tty->leave();
  ::sigaction(SIGABRT, nullptr, &after);
  EXPECT_NE(during.sa_sigaction, before.sa_sigaction);
  EXPECT_EQ(after.sa_sigaction, before.sa_sigaction);
}

}  // namespace
}  // namespace nvidb::screen
