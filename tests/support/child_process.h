// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Real processes for tests that read /proc or send signals. Each is killed and reaped when it goes.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace nvidb::test {

class ChildProcess {
 public:
  // The program is running when this returns: its pipe closes at exec.
  static ChildProcess exec(const std::string& program, std::vector<std::string> argv) {
    return ChildProcess([&](int pipe) {
      std::vector<char*> pointers;
      for (std::string& argument : argv) pointers.push_back(argument.data());
      pointers.push_back(nullptr);
      (void)pipe;
      ::execv(program.c_str(), pointers.data());
    });
  }

  // A copy of this program under another name of the kernel's.
  static ChildProcess named(const std::string& comm) {
    return ChildProcess([&](int pipe) {
      ::prctl(PR_SET_NAME, comm.c_str());
      ::close(pipe);
      for (;;) ::pause();
    });
  }

  // Has ended and is not reaped.
  static ChildProcess zombie() {
    ChildProcess child([](int) {});
    siginfo_t info;
    ::waitid(P_PID, static_cast<id_t>(child.pid()), &info, WEXITED | WNOWAIT);
    return child;
  }

  ChildProcess(ChildProcess&& other) noexcept : pid_(other.pid_) { other.pid_ = -1; }
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }

  pid_t pid() const { return pid_; }

  // Waits for the end and reaps; the signal that ended it, or 0.
  int wait_for_signal() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

 private:
  template <class Body>
  explicit ChildProcess(Body body) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ends[0]);
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      body(ends[1]);
      ::_exit(127);
    }
    ::close(ends[1]);
    char byte;
    while (::read(ends[0], &byte, 1) > 0) {
    }
    ::close(ends[0]);
  }

  pid_t pid_ = -1;
};

}  // namespace nvidb::test
