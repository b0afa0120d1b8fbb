// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// How OpenSSH's client is called, and what it meant when it failed. Pure.
//
// The user's own configuration decides who they are and which way leads there; what it says for
// people (a remote command, a tty, forwardings, a banner, an escape character) is switched off, and
// host keys are always checked.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/child.h"

namespace nvidb::io {

enum class SshAuth { automatic, key, password };

// One server as the configuration names it. Values were checked there: none begins with '-'.
struct SshTarget {
  std::string host;  // name, address, or an alias of the user's ssh configuration
  std::optional<std::int64_t> port;
  std::string user;
  SshAuth auth = SshAuth::automatic;
  std::string identity_file;  // "" is the user's default
  std::string proxy_jump;     // "" is the user's default, `none` is direct

  bool operator==(const SshTarget&) const = default;
};

struct SshOptions {
  std::vector<std::string> program = {"ssh"};  // NVIDB_SSH_COMMAND, split into words
  std::string control_path;                    // "" shares no connection
  std::int64_t connect_timeout_s = 8;
  bool can_answer = false;  // an askpass helper is set up in the environment: prompts may come
};

// argv of a call without a terminal that runs `command` through the login shell there.
std::vector<std::string> ssh_argv(const SshTarget& target, const SshOptions& options,
                                  std::string_view command);

// What a person types, in a shell, to talk to the same server.
std::string by_hand(const SshTarget& target);

// The file name of a target's shared connection: equal for equal targets, different for different
// ones. ssh's own %C does not know the jump host before OpenSSH 9.6, so two hosts with one private
// address would share a connection.
std::string control_name(const SshTarget& target, const std::vector<std::string>& program);

// Splits a command line as a shell would: blanks, '...', "...", backslash. Errors: invalid (an open
// quote).
base::Result<std::vector<std::string>> split_words(std::string_view text);

enum class SshFailure {
  auth,         // the server refused us
  host_key,     // unknown or changed
  unreachable,  // no connection, or it broke
  command,      // ssh worked; what it ran there did not
};
// Why ssh ended with exit status `code` after saying `text` on stderr, in one sentence with the
// next step. `name` is what the user calls the server.
struct SshVerdict {
  SshFailure kind = SshFailure::unreachable;
  base::Error error;
};
SshVerdict judge_ssh_failure(const SshTarget& target, std::string_view name, int code,
                             std::string_view text);

}  // namespace nvidb::io
