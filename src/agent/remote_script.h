// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// How a collector is started on a server where nothing of ours need be installed: one command line,
// and the two scripts that it may ask for.
//
// What the reader does with it is in docs/agent-protocol.md, "Starting over ssh". Pure.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/agent_message.h"

namespace nvidb::agent {

// The texts of src/agent/remote, whole.
struct RemoteScripts {
  std::string_view python;  // agent.py
  std::string_view shell;   // collector.sh
};
RemoteScripts remote_scripts();

// The command line for the server's login shell, whichever it is: bash, dash, zsh, fish, tcsh,
// busybox. It prints an empty line, so that noise without a newline cannot glue to ours, and runs
// the first of these that works:
//   1. `nvidb agent` of our protocol version, where nvidb is a program (an ELF file, so never the
//      Python program of the same name) on the PATH, in ~/.local/bin or in /usr/local/bin;
//   2. python3, 3.8 or later: prints `nvidb1 {"type":"want","script":"python"}` and runs the script
//      that comes on stdin, of exactly as many bytes as remote_scripts().python has;
//   3. sh: the same with `"shell"`.
// The script is answered to the message, and nothing else is sent before the hello. One that ends
// in trouble (a broken Python, a driver that crashes it) is followed by the next, so `want` may
// come again later. Its processes have the word `nvidb-agent` in their argv.
// REQUIRES: interval_ms > 0.
std::string remote_command(std::int64_t interval_ms);

// What a collector in sh sent as `smi_xml`, taken apart: the cards and one reading of each.
struct SmiReading {
  model::Inventory inventory;  // source none, error and no cards where nvidia-smi failed
  std::vector<model::GpuReading> gpus;
};
// `xml` is what nvidia-smi printed, perhaps a failure in words; `status` its exit status; `facts`
// what /proc there knows of the processes that `xml` names (their type and memory mean nothing).
SmiReading read_smi(std::string_view xml, std::int64_t status,
                    const std::vector<model::ProcessSample>& facts);

}  // namespace nvidb::agent
