// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// The folder of shared ssh connections (ControlMaster sockets) and their life beyond ours.
#include <string>

#include "base/result.h"

namespace nvidb::io {

// The longest control path OpenSSH can bind: it adds a suffix of 17 while it makes the socket.
inline constexpr std::size_t kMaxControlPath = 90;
inline constexpr std::size_t kControlNameSize = 16;  // of control_name()

// `home`/ssh; where that would make a path too long, or one that ssh does not take as it stands
// (blanks, quotes, %, $), a folder of ours under `runtime_dir` ("" if there is none) or /tmp, named
// after `home`. Pure.
std::string control_dir_of(const std::string& home, const std::string& runtime_dir);

// The same folder, made 0700 if missing; its owner, kind and mode are checked, so that nobody else
// can put a socket there. Sockets whose master is gone are removed. Errors: io, refused.
base::Result<std::string> open_control_dir(const std::string& home, const std::string& runtime_dir);

// Kills the ssh master that serves `control_path`, if one of this user's processes is one, and
// removes its socket: for a master that no longer answers. Other processes are never touched.
void kill_master(const std::string& control_path);

// True if something is bound at `control_path` and accepts connections, which a frozen master does
// too.
bool has_master(const std::string& control_path);

}  // namespace nvidb::io
