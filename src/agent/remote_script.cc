// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "agent/remote_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agent/smi_xml.h"
#include "base/check.h"
#include "model/agent_message.h"

namespace nvidb::agent {

namespace embedded {  // cmake/embed.cmake
extern const std::string_view agent_py;
extern const std::string_view collector_sh;
}  // namespace embedded

RemoteScripts remote_scripts() {
  return {.python = embedded::agent_py, .shell = embedded::collector_sh};
}

// What follows is one word in single quotes for whatever shell the account has, and then a program
// for sh. So it has no single quote and no newline, no exclamation mark (csh), no backslash before
// a backslash (fish), and is short (csh once took words of 1024 bytes).
std::string remote_command(std::int64_t interval_ms) {
  CHECK(interval_ms > 0);
  const auto want = [](std::string_view script) {
    return fmt::format(R"("{}{{\"type\":\"want\",\"script\":\"{}\"}}")", model::kLineMark, script);
  };
  // e STATUS: ends where a collector did so by order (0) or by a signal of somebody's.
  const std::string lead =
      fmt::format("echo;i={};e(){{ case $1 in 0|129|130|137|143)exit $1;;esac;}};", interval_ms);
  const std::string native = fmt::format(
      R"sh(for n in "$(command -v nvidb)" "$HOME/.local/bin/nvidb" /usr/local/bin/nvidb;do )sh"
      R"sh(test -f "$n"||continue;)sh"
      R"sh(case "$(head -c 4 "$n" 2>/dev/null)" in *ELF)"$n" agent --protocol {} )sh"
      R"sh(--interval {}.{:03} --tag nvidb-agent;e $?;;esac;done;)sh",
      model::kProtocolVersion, interval_ms / 1000, interval_ms % 1000);
  // Without developer tools the python3 of macOS is a stub that opens a window. -I, so that no
  // json.py in somebody's home is taken for Python's; -B, so that nothing is written. Not one
  // byte more than the script is read: orders may follow it. Only what stands before its first form
  // feed is compiled here; that compiles the rest, part by part, when it is needed.
  const std::string python = fmt::format(
      R"sh(p=$(command -v python3);test -x /usr/bin/xcode-select&&)sh"
      R"sh({{ xcode-select -p >/dev/null 2>&1||p=;}};)sh"
      R"sh(if test "$p";then "$p" -S -I -B -u -c "import sys;sys.version_info<(3,8)and )sh"
      R"sh(sys.exit(3);print(sys.argv[1]);n=int(sys.argv[2]);b=bytearray();)sh"
      R"sh([b.extend(c)for c in iter(lambda:sys.stdin.buffer.raw.read(n-len(b)),bytes())];)sh"
      R"sh(len(b)<n and sys.exit(0);exec(bytes(b[:b.find(12)]))" {} {} $i nvidb-agent;e $?;fi;)sh",
      want("python"), remote_scripts().python.size());
  // One byte at a time, for nothing that comes after the script may be read with it.
  const std::string shell =
      fmt::format(R"sh(echo {}||exit 1;eval "$(dd bs=1 count={} 2>/dev/null)")sh", want("shell"),
                  remote_scripts().shell.size());
  return "exec sh -c '" + lead + native + python + shell + "' nvidb-agent";
}

SmiReading read_smi(std::string_view xml, std::int64_t status,
                    const std::vector<model::ProcessSample>& facts) {
  SmiReading reading;
  if (xml.find_first_not_of(" \r\n\t") == xml.npos) {
    reading.inventory.error = fmt::format("nvidia-smi failed: exit status {}", status);
    return reading;
  }
  auto report = parse_smi_xml(xml);
  if (!report) {
    reading.inventory.error = report.error().message;
    return reading;
  }
  reading.inventory = std::move(report->inventory);
  reading.gpus = std::move(report->readings);
  for (model::GpuReading& gpu : reading.gpus) {
    for (model::ProcessSample& process : gpu.processes) {
      const auto known = std::ranges::find(facts, process.pid, &model::ProcessSample::pid);
      if (known == facts.end()) continue;
      model::ProcessSample whole = *known;
      whole.type = process.type;
      whole.mem_mb = process.mem_mb;
      if (!whole.name) whole.name = std::move(process.name);
      process = std::move(whole);
    }
  }
  return reading;
}

}  // namespace nvidb::agent
