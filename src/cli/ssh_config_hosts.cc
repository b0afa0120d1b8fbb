// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "cli/ssh_config_hosts.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "config/paths.h"
#include "config/ssh_import.h"
#include "io/child.h"
#include "io/loop.h"

namespace nvidb::cli {
namespace {

using base::ErrorKind;
using base::fail;

constexpr std::size_t kAtOnce = 16;
constexpr std::int64_t kAllMs = 30'000;  // `Match exec` may run anything
constexpr std::size_t kMaxOutputBytes = 1 << 20;

// Asks `ssh -G` about every alias, some at a time.
class Resolver {
 public:
  struct Answer {
    std::string out, err;
    std::optional<io::ExitStatus> status;  // absent: it did not end in time
  };

  Resolver(std::vector<std::string> argv, std::vector<config::SshAlias> aliases)
      : argv_(std::move(argv)), aliases_(std::move(aliases)), answers_(aliases_.size()) {}

  // Errors: those of Child::start().
  base::Result<void> run() {
    children_.resize(aliases_.size());
    loop_.on_interrupt([this](int) {
      interrupted_ = true;
      loop_.stop();
    });
    io::Timer limit(loop_);
    limit.set(kAllMs, [this] { loop_.stop(); });
    loop_.post([this] { start_more(); });
    loop_.run();
    children_.clear();  // ends those that still run
    if (failed_) return fail(*failed_);
    return {};
  }

  const std::vector<Answer>& answers() const { return answers_; }
  bool interrupted() const { return interrupted_; }

 private:
  void start_more() {
    while (!failed_ && next_ < aliases_.size() && running_ < kAtOnce) start(next_++);
    if (failed_ || (running_ == 0 && next_ == aliases_.size())) loop_.stop();
  }

  void start(std::size_t i) {
    std::vector<std::string> argv = argv_;
    argv.insert(argv.end(), {"-G", "--", aliases_[i].name});
    const auto append = [](std::string& text, std::string_view bytes) {
      text += bytes.substr(0, kMaxOutputBytes - std::min(text.size(), kMaxOutputBytes));
    };
    io::Child::Handlers handlers;
    handlers.on_stdout = [this, i, append](std::string_view b) { append(answers_[i].out, b); };
    handlers.on_stderr = [this, i, append](std::string_view b) { append(answers_[i].err, b); };
    handlers.on_exit = [this, i](io::ExitStatus status) {
      answers_[i].status = status;
      --running_;
      start_more();
    };
    auto child = io::Child::start(
        loop_, {.program = argv_.front(), .argv = std::move(argv), .env = {}, .unset_env = {}},
        std::move(handlers));
    if (!child) {
      failed_ = child.error();
      return;
    }
    ++running_;
    (*child)->close_stdin();
    children_[i] = *std::move(child);
  }

  io::Loop loop_;
  std::vector<std::string> argv_;
  std::vector<config::SshAlias> aliases_;
  std::vector<Answer> answers_;
  std::vector<std::shared_ptr<io::Child>> children_;
  std::optional<base::Error> failed_;
  std::size_t next_ = 0, running_ = 0;
  bool interrupted_ = false;
};

std::string first_line(const std::string& text) {
  return text.substr(0, text.find_first_of("\r\n"));
}

base::Result<config::ServerConfig> to_server(const config::SshAlias& alias,
                                             const Resolver::Answer& answer,
                                             std::vector<std::string>& via_ssh) {
  if (!answer.status) return fail(ErrorKind::timeout, "ssh -G did not answer in time");
  if (answer.status->code != 0) {
    const std::string said = first_line(answer.err);
    return fail(
        ErrorKind::protocol,
        fmt::format("ssh -G failed: {}", said.empty() ? io::to_text(*answer.status) : said));
  }
  const auto values = config::parse_ssh_g(answer.out);
  if (!values) return fail(values.error());
  if (values->has_proxycommand) via_ssh.push_back(alias.name);
  return config::to_server(alias, *values, [](const std::string& path) {
    return ::access(config::expand_home(path).c_str(), R_OK) == 0;
  });
}

// Why a host is not offered; "" if it is.
std::string reason_to_skip(const config::ServerConfig& server,
                           const std::vector<config::ServerConfig>& known,
                           const std::vector<config::ServerConfig>& found) {
  for (const config::ServerConfig& other : known) {
    if (config::is_same_target(server, other))
      return fmt::format("is there already, as {}", config::identity(other));
  }
  for (const config::ServerConfig& other : known) {
    if (config::identity(server) == config::identity(other))
      return "another server has this name already";
  }
  for (const config::ServerConfig& other : found) {
    if (config::is_same_target(server, other))
      return fmt::format("is the same as {}", config::identity(other));
  }
  return "";
}

}  // namespace

base::Result<SshHosts> find_ssh_hosts(const std::string& path, bool is_default,
                                      const std::vector<std::string>& ssh_program,
                                      const std::vector<config::ServerConfig>& known) {
  auto aliases = config::find_ssh_aliases(path, config::system_files(config::expand_home("~")));
  if (!aliases) return fail(aliases.error());
  std::vector<std::string> argv = ssh_program;
  if (!is_default) argv.insert(argv.end(), {"-F", path});
  Resolver resolver(std::move(argv), aliases->aliases);
  if (const auto ran = resolver.run(); !ran) return fail(ran.error());

  SshHosts hosts;
  hosts.warnings = std::move(aliases->warnings);
  hosts.interrupted = resolver.interrupted();
  std::vector<std::string> via_ssh;
  std::size_t failed_count = 0;
  for (std::size_t i = 0; i < aliases->aliases.size(); ++i) {
    const config::SshAlias& alias = aliases->aliases[i];
    auto server = to_server(alias, resolver.answers()[i], via_ssh);
    if (!server) {
      ++failed_count;
      hosts.skipped.push_back({alias.name, base::to_text(server.error())});
      continue;
    }
    std::string reason = reason_to_skip(*server, known, hosts.servers);
    if (reason.empty()) {
      hosts.servers.push_back(*std::move(server));
    } else {
      hosts.skipped.push_back({alias.name, std::move(reason)});
    }
  }
  hosts.all_failed = failed_count > 0 && failed_count == aliases->aliases.size();
  if (!is_default && !via_ssh.empty()) {
    hosts.warnings.push_back(
        fmt::format("{} has a ProxyCommand that only {} knows; put 'Include {}' into ~/.ssh/config",
                    via_ssh.front(), path, path));
  }
  return hosts;
}

}  // namespace nvidb::cli
