// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// A pseudo terminal: the test holds both ends, a program believes in one.
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>

namespace nvidb::test {

// As long as a test waits for what must come; never reached where all is well.
inline constexpr int kPatienceMs = 10'000;

inline bool wait_for(int fd, short events) {
  pollfd waited{fd, events, 0};
  return ::poll(&waited, 1, kPatienceMs) == 1;
}

class Pty {
 public:
  Pty() {
    master_ = ::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    ::grantpt(master_);
    ::unlockpt(master_);
    std::array<char, 256> name{};
    ::ptsname_r(master_, name.data(), name.size());
    slave_ = ::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC);
  }
  ~Pty() {
    hang_up();
    ::close(slave_);
  }
  Pty(const Pty&) = delete;
  Pty& operator=(const Pty&) = delete;

  int master() const { return master_; }
  int slave() const { return slave_; }

  // The person's end goes away.
  void hang_up() {
    if (master_ >= 0) ::close(master_);
    master_ = -1;
  }

  termios modes() const {
    termios now{};
    ::tcgetattr(slave_, &now);
    return now;
  }

  void resize(unsigned short columns, unsigned short rows) {
    winsize size{};
    size.ws_col = columns;
    size.ws_row = rows;
    ::ioctl(master_, TIOCSWINSZ, &size);
  }

  void type(std::string_view bytes) {
    if (::write(master_, bytes.data(), bytes.size()) < 0) ::abort();
  }

  // What was shown, until `end` was or nothing comes any more.
  std::string shown_until(std::string_view end) {
    std::string shown;
    while (shown.find(end) == std::string::npos && wait_for(master_, POLLIN)) {
      std::array<char, 4096> some;
      const ssize_t count = ::read(master_, some.data(), some.size());
      if (count <= 0) break;
      shown.append(some.data(), static_cast<std::size_t>(count));
    }
    return shown;
  }

 private:
  int master_ = -1, slave_ = -1;
};

// Standard input and output are another file while it lives.
class StandardFiles {
 public:
  explicit StandardFiles(int fd) : input_(::dup(STDIN_FILENO)), output_(::dup(STDOUT_FILENO)) {
    ::dup2(fd, STDIN_FILENO);
    ::dup2(fd, STDOUT_FILENO);
  }
  ~StandardFiles() {
    ::dup2(input_, STDIN_FILENO);
    ::dup2(output_, STDOUT_FILENO);
    ::close(input_);
    ::close(output_);
  }
  StandardFiles(const StandardFiles&) = delete;
  StandardFiles& operator=(const StandardFiles&) = delete;

 private:
  int input_, output_;
};

}  // namespace nvidb::test
