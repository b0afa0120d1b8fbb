// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Passwords for ssh, by way of SSH_ASKPASS.
//
// ssh starts a helper (this program again), which fetches the secret from a private unix socket.
// The socket's path and whom it is for are all that stands in the environment; the secret is never
// in argv, environment, log or file. The helper answers a question for the password of exactly that
// user and host, once a connection; any other question (a jump host's password, a passphrase,
// yes/no to a host key) it refuses.
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "io/loop.h"

namespace nvidb::io {

inline constexpr const char* kAskpassSocketVariable = "NVIDB_ASKPASS_SOCKET";
inline constexpr const char* kAskpassForVariable = "NVIDB_ASKPASS_FOR";

// Hands `secret` to processes of this user that connect to its socket in `folder`, while it lives.
class AskpassServer {
 public:
  // Errors: io.
  static base::Result<std::unique_ptr<AskpassServer>> start(Loop& loop, const std::string& folder,
                                                            std::string secret);
  ~AskpassServer();
  // For the ssh that may ask: `program` is this program, `users` the names it may be asked for,
  // `user@host`.
  std::vector<std::pair<std::string, std::string>> environment(
      const std::string& program, const std::vector<std::string>& users) const;

 private:
  struct State;
  explicit AskpassServer(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

// True if `prompt` asks for the password of one of `users` (separated by blanks). Pure.
bool may_answer(std::string_view prompt, std::string_view users);

// The helper's whole life: fetches the secret and prints it on stdout. Returns its exit code; 1
// refuses.
int askpass_main(const std::string& prompt, const std::string& socket_path,
                 const std::string& users);

}  // namespace nvidb::io
