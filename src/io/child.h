// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Child processes: the only place that starts any.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "io/loop.h"

namespace nvidb::io {

// How a process ended: exit(code), or killed by a signal (code is then 128 + signal).
struct ExitStatus {
  int code = 0;
  int signal = 0;  // 0: it exited by itself
};
// `exit status 3`, `killed by signal 9 (Killed)`.
std::string to_text(const ExitStatus& status);

struct ChildSpec {
  std::string program;            // a path, or a name looked up in PATH
  std::vector<std::string> argv;  // argv[0] included
  std::vector<std::pair<std::string, std::string>>
      env;  // added to, or replacing, our own environment
  std::vector<std::string> unset_env;
};

// A running child in its own process group, with pipes on stdin, stdout and stderr. All callbacks
// run on the loop; none runs after stop(), nor after the Child is gone. Destroying it kills its
// whole group at once (SIGKILL).
class Child {
 public:
  struct Handlers {
    std::function<void(std::string_view)> on_stdout;  // some bytes, as they come
    std::function<void(std::string_view)> on_stderr;
    std::function<void(ExitStatus)>
        on_exit;  // last call: both streams have ended, or 200 ms passed since the exit
  };
  // Errors: not_found (no such program), io.
  static base::Result<std::shared_ptr<Child>> start(Loop& loop, const ChildSpec& spec,
                                                    Handlers handlers);
  ~Child();

  // Queues bytes for its stdin; dropped once the child has closed it. Never blocks; at most 1 MiB
  // may wait, then false.
  bool write(std::string bytes);
  void close_stdin();
  // SIGTERM / SIGKILL to the whole group.
  void terminate();
  void kill();
  // No more callbacks; closes stdin and kills the group after `grace_ms` unless it ended by then.
  // Idempotent.
  void stop(std::int64_t grace_ms = 0);
  int pid() const;

 private:
  struct State;
  explicit Child(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

// Runs a program to its end on the calling thread (for threads that own no loop), stdin from
// /dev/null. Stays in the caller's process group, so that killing the caller's group kills it too.
// Keeps at most `max_output_bytes` of each stream; past that the program is killed. Errors:
// not_found, io, timeout (killed with SIGKILL at the deadline; not waited for if it is stuck in the
// kernel).
struct Output {
  ExitStatus status;
  std::string out, err;
};
base::Result<Output> run_command(const ChildSpec& spec, std::int64_t deadline_ms,
                                 std::size_t max_output_bytes);

}  // namespace nvidb::io
