// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <string_view>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "config/paths.h"
#include "io/askpass.h"

namespace {

using namespace nvidb;
using namespace nvidb::cli;

// A program started with a standard descriptor closed would get it back as some pipe or database of
// its own.
void open_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    // The wrong direction on purpose: using it fails instead of vanishing.
    if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

// Usage errors are told as JSON too where the words ask for it, even if they could not be parsed.
bool wants_json(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--") return false;
    if (word == "--json") return true;
  }
  return false;
}

int run(const Invocation& invocation) {
  const CommonArguments& common = invocation.common;
  struct Visitor {
    const CommonArguments& common;
    int operator()(const MonitorArguments& a) const { return run_monitor(common, a); }
    int operator()(const OnceArguments& a) const { return run_once(common, a); }
    int operator()(const InfoArguments& a) const { return run_info(common, a); }
    int operator()(const AgentArguments& a) const { return run_agent(common, a); }
    int operator()(const CompletionArguments& a) const { return run_completion(common, a); }
    int operator()(const AddArguments& a) const { return run_add(common, a); }
    int operator()(const ImportArguments& a) const { return run_import(common, a); }
    int operator()(const LsArguments& a) const { return run_ls(common, a); }
    int operator()(const CleanArguments& a) const { return run_clean(common, a); }
    int operator()(const PrintArguments& a) const { return print(a.text); }
  };
  return std::visit(Visitor{common}, invocation.command);
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_descriptors();
  std::signal(SIGPIPE, SIG_IGN);
  // ssh starts its askpass program with the question alone, so the environment has to tell.
  if (const auto socket = config::env(io::kAskpassSocketVariable); socket && argc == 2) {
    return io::askpass_main(argv[1], *socket, config::env(io::kAskpassForVariable).value_or(""));
  }
  const auto invocation = parse_arguments(argc, argv);
  if (!invocation) return print_usage_error(invocation.error(), wants_json(argc, argv));
  return run(*invocation);
}
