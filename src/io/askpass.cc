// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "io/askpass.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <asio/local/stream_protocol.hpp>
#include <asio/write.hpp>
#include <cctype>
#include <cstring>

#include "io/fd.h"
#include "io/files.h"

namespace nvidb::io {
namespace {

using Protocol = asio::local::stream_protocol;

constexpr std::size_t kMaxSecretBytes = 4096;

bool is_ours(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         peer.uid == ::geteuid();
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

}  // namespace

struct AskpassServer::State : std::enable_shared_from_this<AskpassServer::State> {
  State(asio::io_context& context, std::string socket_path, std::string kept)
      : path(std::move(socket_path)), secret(std::move(kept)), acceptor(context) {}

  void accept() {
    acceptor.async_accept(
        [self = shared_from_this()](asio::error_code error, Protocol::socket socket) {
          if (error) return;
          if (is_ours(socket.native_handle())) {
            auto connection = std::make_shared<Protocol::socket>(std::move(socket));
            asio::async_write(*connection, asio::buffer(self->secret),
                              [self, connection](asio::error_code, std::size_t) {});
          }
          self->accept();
        });
  }

  const std::string path;
  std::string secret;
  Protocol::acceptor acceptor;
};

base::Result<std::unique_ptr<AskpassServer>> AskpassServer::start(Loop& loop,
                                                                  const std::string& folder,
                                                                  std::string secret) {
  static int count = 0;  // tidy: names sockets of one process apart; loop thread only
  const std::string path = fmt::format("{}/ask-{}-{}", folder, ::getpid(), ++count);
  auto state = std::make_shared<State>(loop.context(), path, std::move(secret));
  ::unlink(path.c_str());
  asio::error_code error;
  state->acceptor.open(Protocol(), error);
  const mode_t before = ::umask(0177);
  if (!error) state->acceptor.bind(Protocol::endpoint(path), error);
  ::umask(before);
  if (!error) state->acceptor.listen(16, error);
  if (error)
    return base::fail(base::ErrorKind::io,
                      fmt::format("cannot listen at {}: {}", path, error.message()));
  state->accept();
  return std::unique_ptr<AskpassServer>(new AskpassServer(std::move(state)));
}

AskpassServer::AskpassServer(std::shared_ptr<State> state) : state_(std::move(state)) {}

AskpassServer::~AskpassServer() {
  asio::error_code ignored;
  state_->acceptor.close(ignored);
  ::unlink(state_->path.c_str());
  ::explicit_bzero(state_->secret.data(), state_->secret.size());
}

std::vector<std::pair<std::string, std::string>> AskpassServer::environment(
    const std::string& program, const std::vector<std::string>& users) const {
  return {{"SSH_ASKPASS", program},
          {"SSH_ASKPASS_REQUIRE", "force"},
          {kAskpassSocketVariable, state_->path},
          {kAskpassForVariable, fmt::format("{}", fmt::join(users, " "))}};
}

bool may_answer(std::string_view prompt, std::string_view users) {
  // `alice@host's password: `, or `(alice@host) Password: ` where the server words the question.
  std::string text = lower(prompt);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0)
    text.pop_back();
  if (!text.ends_with("password:")) return false;
  while (!users.empty()) {
    const std::size_t blank = users.find(' ');
    const std::string user = lower(users.substr(0, blank));
    if (!user.empty() && (text.starts_with(user + "'s ") || text.starts_with("(" + user + ") ")))
      return true;
    users = blank == std::string_view::npos ? std::string_view() : users.substr(blank + 1);
  }
  return false;
}

int askpass_main(const std::string& prompt, const std::string& socket_path,
                 const std::string& users) {
  if (!may_answer(prompt, users)) return 1;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_path.size() >= sizeof address.sun_path) return 1;
  std::memcpy(address.sun_path, socket_path.c_str(), socket_path.size() + 1);
  const Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid() ||
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      !is_ours(socket.get())) {
    return 1;
  }
  std::string secret;
  char buffer[512];
  for (;;) {
    const ssize_t count = ::read(socket.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    secret.append(buffer, static_cast<std::size_t>(count));
    if (secret.size() > kMaxSecretBytes) return 1;
  }
  const bool written = write_all(STDOUT_FILENO, secret + "\n").has_value();
  ::explicit_bzero(secret.data(), secret.size());
  return written && !secret.empty() ? 0 : 1;
}

}  // namespace nvidb::io
