// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "io/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <string_view>

extern char** environ;

namespace nvidb::io {
namespace {

using base::ErrorKind;
using base::fail;

bool defines(std::string_view assignment, std::string_view name) {
  return assignment.size() > name.size() && assignment.starts_with(name) &&
         assignment[name.size()] == '=';
}

std::vector<std::string> make_environment(const ChildSpec& spec) {
  std::vector<std::string> result;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view assignment = *entry;
    const bool replaced =
        std::ranges::any_of(spec.env,
                            [&](const auto& pair) { return defines(assignment, pair.first); }) ||
        std::ranges::any_of(spec.unset_env,
                            [&](const auto& name) { return defines(assignment, name); });
    if (!replaced) result.emplace_back(assignment);
  }
  for (const auto& [name, value] : spec.env) result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// True if some folder of PATH holds a file of this name, executable or not.
bool is_on_path(const std::string& program) {
  if (program.find('/') != std::string::npos) return true;
  std::string_view path;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (defines(*entry, "PATH")) path = std::string_view(*entry).substr(5);
  }
  while (!path.empty()) {
    const std::size_t colon = path.find(':');
    const std::string folder(path.substr(0, colon));
    if (::access((folder.empty() ? program : folder + "/" + program).c_str(), F_OK) == 0)
      return true;
    path = colon == std::string_view::npos ? std::string_view() : path.substr(colon + 1);
  }
  return false;
}

struct Pipe {
  Fd read_end, write_end;
};

base::Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return fail(ErrorKind::io, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

// Frees what posix_spawn's two option objects hold.
struct SpawnOptions {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  SpawnOptions() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
  }
  ~SpawnOptions() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
};

}  // namespace

base::Result<Spawned> spawn(const ChildSpec& spec, Group group, Stdin stdin_kind) {
  auto in = make_pipe();
  auto out = make_pipe();
  auto err = make_pipe();
  if (!in) return fail(in.error());
  if (!out) return fail(out.error());
  if (!err) return fail(err.error());

  SpawnOptions options;
  if (stdin_kind == Stdin::pipe) {
    ::posix_spawn_file_actions_adddup2(&options.actions, in->read_end.get(), STDIN_FILENO);
  } else {
    ::posix_spawn_file_actions_addopen(&options.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  }
  ::posix_spawn_file_actions_adddup2(&options.actions, out->write_end.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&options.actions, err->write_end.get(), STDERR_FILENO);

  sigset_t none, all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&options.attributes, &none);
  ::posix_spawnattr_setsigdefault(&options.attributes, &all);
  short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  if (group == Group::own) {
    flags |= POSIX_SPAWN_SETPGROUP;
    ::posix_spawnattr_setpgroup(&options.attributes, 0);
  }
  ::posix_spawnattr_setflags(&options.attributes, flags);

  std::vector<std::string> argv = spec.argv;
  if (argv.empty()) argv.push_back(spec.program);
  std::vector<std::string> environment = make_environment(spec);
  int pid = 0;
  const int code = ::posix_spawnp(&pid, spec.program.c_str(), &options.actions, &options.attributes,
                                  pointers(argv).data(), pointers(environment).data());
  if (code != 0) {
    // The search says "permission denied" for a folder of PATH that it may not look into.
    const bool is_missing = code == ENOENT || (code == EACCES && !is_on_path(spec.program));
    return fail(is_missing ? ErrorKind::not_found : ErrorKind::io,
                fmt::format("cannot start {}: {}", spec.program, std::strerror(code)));
  }
  Spawned spawned;
  spawned.pid = pid;
  if (stdin_kind == Stdin::pipe) spawned.in = std::move(in->write_end);
  spawned.out = std::move(out->read_end);
  spawned.err = std::move(err->read_end);
  return spawned;
}

ExitStatus exit_status(int wait_status) {
  if (WIFSIGNALED(wait_status)) return {128 + WTERMSIG(wait_status), WTERMSIG(wait_status)};
  return {WEXITSTATUS(wait_status), 0};
}

std::string to_text(const ExitStatus& status) {
  if (status.signal != 0)
    return fmt::format("killed by signal {} ({})", status.signal, ::strsignal(status.signal));
  return fmt::format("exit status {}", status.code);
}

}  // namespace nvidb::io
