// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// The hosts of an OpenSSH client configuration, for `nvidb import`.
//
// Names come from reading the files (ssh cannot list them), values from `ssh -G NAME`, because only
// ssh itself knows what Match, Include, tokens and first-value-wins make of them. Pure: files and
// globs are reached through ConfigFiles.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/config.h"

namespace nvidb::config {

// How the parser reaches files.
struct ConfigFiles {
  // The whole text of a file. Errors: not_found, refused, io, invalid (too large).
  std::function<base::Result<std::string>(const std::string& path)> read;
  // Paths that match a pattern, sorted; empty if none does.
  std::function<std::vector<std::string>(const std::string& pattern)> glob;
  std::string home;  // for `~` in Include
};

// The machine's own files, at most 1 MiB each.
ConfigFiles system_files(std::string home);

struct SshAlias {
  std::string name;
  std::string path;  // the file and line that names it first
  int line = 0;

  bool operator==(const SshAlias&) const = default;
};

struct SshAliases {
  std::vector<SshAlias> aliases;      // in reading order, no name twice
  std::vector<std::string> warnings;  // `PATH:LINE: ...`: what was left out and why
};

// Concrete aliases of `Host` lines: no pattern (`*`, `?`), no negation (`!x`), no Match. `Include`
// is followed (relative to ~/.ssh, globs, depth <= 16, each file once a chain), also under Host and
// Match, where it is conditional for ssh but names hosts all the same. Errors: those of reading
// `path` itself; an unreadable include is a warning.
base::Result<SshAliases> find_ssh_aliases(const std::string& path, const ConfigFiles& files);

// What `ssh -G ALIAS` prints, lower case keys, one a line. Absent values are "" and 22.
struct SshValues {
  std::string hostname;
  int port = 22;
  std::string user;
  std::vector<std::string> identityfiles;  // in the order ssh tries them
  std::string proxyjump;                   // "" where there is none
  bool has_proxycommand = false;           // needs the alias itself: nvidb cannot copy it

  bool operator==(const SshValues&) const = default;
};
// Errors: protocol where hostname or user is missing or a value cannot be one.
base::Result<SshValues> parse_ssh_g(std::string_view text);

// A server with the alias as nickname. identityfile is the first for which `exists` says yes and
// which is not one of ssh's own defaults (those need no copying). With a ProxyCommand hostname is
// the alias, so that ssh finds it again. Errors: invalid where a value cannot be a server's
// (check_hostname and friends).
base::Result<ServerConfig> to_server(const SshAlias& alias, const SshValues& values,
                                     const std::function<bool(const std::string& path)>& exists);

// Already configured: same host (letters' case aside), port and user.
bool is_same_target(const ServerConfig& a, const ServerConfig& b);

}  // namespace nvidb::config
