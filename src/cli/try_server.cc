// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "cli/try_server.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/remote_script.h"
#include "base/text.h"
#include "cli/nodes.h"
#include "io/child.h"
#include "io/ssh.h"
#include "model/agent_message.h"

namespace nvidb::cli {
namespace {

using base::ErrorKind;
using base::fail;

constexpr std::int64_t kTryMs = 30'000;
constexpr std::int64_t kAskMs = 300'000;  // a person compares a fingerprint, looks up a password
constexpr std::size_t kMaxOutputBytes = 1 << 20;

// In words that every login shell passes on alike.
constexpr const char* kLook =
    "sh -c 'echo; echo nvidb-on: `uname -sn`; "
    "command -v nvidia-smi >/dev/null 2>&1 && echo nvidb-has: nvidia-smi'; ";
constexpr std::string_view kOn = "nvidb-on: ";
constexpr std::string_view kHasSmi = "nvidb-has: nvidia-smi";
constexpr std::int64_t kAnyIntervalMs = 1000;  // stdin is at its end, so the collector ends at once

// For this one call the person decides about the host key and may mistype a password. The first -o
// wins in ssh, so these stand before ours, and behind what NVIDB_SSH_COMMAND says.
std::vector<std::string> asking(std::vector<std::string> program) {
  for (const char* option : {"StrictHostKeyChecking=ask", "NumberOfPasswordPrompts=3"}) {
    program.insert(program.end(), {"-o", option});
  }
  return program;
}

}  // namespace

base::Result<Found> try_server(const config::ServerConfig& server,
                               const std::vector<std::string>& ssh_program, bool on_terminal) {
  const io::SshTarget target = ssh_target(server);
  io::SshOptions options;
  options.program = on_terminal ? asking(ssh_program) : ssh_program;
  options.can_answer = on_terminal;
  // A connection of its own: a shared one would say nothing about the next login.
  const auto output = io::run_command(
      {.program = ssh_program.front(),
       .argv = io::ssh_argv(target, options, kLook + agent::remote_command(kAnyIntervalMs)),
       .env = {},
       .unset_env = {}},
      on_terminal ? kAskMs : kTryMs, kMaxOutputBytes);
  if (!output) return fail(output.error());
  auto found = parse_found(output->out);
  if (found || output->status.code == 0) return found;
  return fail(
      io::judge_ssh_failure(target, config::identity(server), output->status.code, output->err)
          .error);
}

base::Result<Found> parse_found(std::string_view text) {
  Found found;
  bool is_on = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with(kOn)) {
      found.system = base::printable(line.substr(kOn.size()));
      is_on = true;
    } else if (line == kHasSmi) {
      found.has_nvidia_smi = true;
    } else if (line.starts_with(model::kLineMark)) {
      // One that wants its script, or the hello of one that needs none. The last try counts.
      const auto wants = [&](const char* word) { return line.find(word) != line.npos; };
      found.collector = wants(R"("script":"python")")  ? model::CollectorKind::python
                        : wants(R"("script":"shell")") ? model::CollectorKind::shell
                                                       : model::CollectorKind::native;
    }
  }
  if (is_on) return found;
  return fail(ErrorKind::protocol, "the login works, but runs no commands",
              "nvidb needs an account with a shell there");
}

std::string to_text(const Found& found) {
  const char* collector = "no collector starts there";
  if (found.collector) {
    switch (*found.collector) {
      case model::CollectorKind::native:
        collector = "the nvidb installed there collects";
        break;
      case model::CollectorKind::python:
        collector = "python3 there collects";
        break;
      case model::CollectorKind::shell:
        collector = "sh alone collects";
        break;
    }
  }
  return fmt::format("{}: {}{}", found.system, collector,
                     found.has_nvidia_smi ? "" : "; no nvidia-smi in the PATH, so maybe no GPUs");
}

}  // namespace nvidb::cli
