// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "cli/server_answers.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <system_error>

#include "base/text.h"
#include "cli/prompt.h"
#include "config/paths.h"
#include "config/ssh_import.h"

namespace nvidb::cli {
namespace {

using base::ErrorKind;
using base::fail;
using config::ServerConfig;

constexpr int kMaxGpuIndex = 1023;  // as config.yml

std::string user_name() {
  std::array<char, 4096> buffer;
  passwd entry{};
  passwd* found = nullptr;
  const int code = ::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found);
  return code == 0 && found != nullptr ? entry.pw_name : "";
}

// ssh would look for a relative path in whatever folder nvidb is started next time, and say nothing
// where the file is not there.
base::Result<std::string> find_identityfile(const std::string& text) {
  if (const auto good = config::check_identityfile(text); !good) return fail(good.error());
  if (text.find_first_of("%$") != std::string::npos) return text;  // ssh fills these in
  std::error_code code;
  const std::string path = config::expand_home(text);
  if (!std::filesystem::is_regular_file(path, code)) {
    return fail(ErrorKind::invalid, fmt::format("'{}' is not a file", base::printable(text)),
                "write its path like ~/.ssh/id_ed25519");
  }
  if (text.starts_with('/') || text.starts_with("~/")) return text;
  return std::filesystem::absolute(path, code).lexically_normal().string();
}

base::Result<void> set_host(ServerConfig& server, const std::string& text) {
  server.hostname = text;
  return config::check_hostname(text);
}
base::Result<void> set_port(ServerConfig& server, const std::string& text) {
  const auto port = config::parse_port(text);
  if (!port) return fail(port.error());
  server.port = *port;
  return {};
}
base::Result<void> set_username(ServerConfig& server, const std::string& text) {
  server.username = text;
  return config::check_username(text);
}
base::Result<void> set_nickname(ServerConfig& server, const std::string& text) {
  server.nickname = text;
  return config::check_nickname(text);
}
base::Result<void> set_auth(ServerConfig& server, const std::string& text) {
  const auto auth = config::parse_auth(text);
  if (!auth) return fail(auth.error());
  server.auth = *auth;
  return {};
}
base::Result<void> set_identityfile(ServerConfig& server, const std::string& text) {
  auto path = find_identityfile(text);
  if (!path) return fail(path.error());
  server.identityfile = *std::move(path);
  return {};
}
base::Result<void> set_proxyjump(ServerConfig& server, const std::string& text) {
  server.proxyjump = text;
  const auto hops = config::parse_proxyjump(text);
  return hops ? base::Result<void>() : fail(hops.error());
}
base::Result<void> set_gpus(ServerConfig& server, const std::string& text) {
  auto gpus = parse_gpus(text);
  if (!gpus) return fail(gpus.error());
  server.gpus = *std::move(gpus);
  return {};
}

struct Question {
  const char* option;
  const char* prompt;  // nullptr: an option only
  base::Result<void> (*set)(ServerConfig&, const std::string&);
  std::string when_empty;  // also shown; "" = the key stays unset
  const char* empty_means = "";
};

// In the order in which they are asked.
std::vector<Question> questions() {
  return {{"host", "host name or address", set_host, ""},
          {"port", "ssh port", set_port, "22"},
          {"username", "user name there", set_username, user_name()},
          {"nickname", "nickname", set_nickname, "", "user@host:port"},
          {"auth", "login: auto, key or password", set_auth, "auto"},
          {"identityfile", "key file", set_identityfile, "", "what ssh tries by itself"},
          {"proxyjump", "jump host", set_proxyjump, "", "what your ssh config says"},
          {"gpus", nullptr, set_gpus, "all"}};
}

bool is_required(const Question& question) {
  return question.when_empty.empty() && *question.empty_means == '\0';
}

// With the option's value, or the default for an empty one.
base::Result<void> answer(const Question& question, const std::string& text, ServerConfig& server) {
  const std::string& value = text.empty() ? question.when_empty : text;
  if (!value.empty()) return question.set(server, value);
  if (!is_required(question)) return {};
  return fail(ErrorKind::invalid, "is missing");
}

base::Result<void> use_option(const Question& question, const GivenAnswers& given,
                              ServerConfig& server) {
  const auto found = given.find(question.option);
  const bool is_key_file = std::string_view(question.option) == "identityfile";
  if (is_key_file && found != given.end() && server.auth == config::Auth::password)
    return fail(ErrorKind::invalid, "--identityfile does not go with --auth password");
  const auto good = answer(question, found == given.end() ? "" : found->second, server);
  if (good) return {};
  return fail(ErrorKind::invalid, fmt::format("--{} {}", question.option, good.error().message),
              good.error().hint);
}

base::Result<void> refuse_same_target(const ServerConfig& server,
                                      const std::vector<ServerConfig>& servers) {
  for (const ServerConfig& other : servers) {
    if (!config::is_same_target(server, other)) continue;
    return fail(ErrorKind::conflict,
                fmt::format("{}@{}:{} is there already, as {}", server.username, server.hostname,
                            server.port, config::identity(other)));
  }
  return {};
}

// Two names for one machine are found as soon as they can be, before more is asked.
base::Result<void> refuse_early(const Question& question, const ServerConfig& server,
                                const std::vector<ServerConfig>& servers) {
  const std::string_view option = question.option;
  if (option == "username") return refuse_same_target(server, servers);
  return option == "nickname" ? refuse_duplicate(server, servers) : base::Result<void>();
}

// False: the person left.
base::Result<bool> ask_question(const Question& question, ServerConfig& server,
                                const std::vector<ServerConfig>& servers) {
  const bool shows = !question.when_empty.empty() || *question.empty_means != '\0';
  const std::string shown =
      question.when_empty.empty() ? question.empty_means : question.when_empty;
  const std::string prompt =
      fmt::format("{}{}: ", question.prompt, shows ? fmt::format(" [{}]", shown) : "");
  for (;;) {
    const auto text = ask(prompt);
    if (!text) return false;
    const ServerConfig before = server;
    auto good = answer(question, *text, server);
    if (good) {
      good = refuse_early(question, server, servers);
      // Another nickname helps, another user name is another server.
      if (!good && std::string_view(question.option) == "username") return fail(good.error());
    }
    if (good) return true;
    server = before;
    say("  " + base::to_text(good.error()));
  }
}

}  // namespace

base::Result<std::optional<std::vector<int>>> parse_gpus(std::string_view text) {
  const auto wrong = [&] {
    return fail(ErrorKind::invalid,
                fmt::format("'{}' is not a list of GPU indices from 0 to {}", base::printable(text),
                            kMaxGpuIndex),
                "write it like 0,1, or all, or none for CPU jobs only");
  };
  if (text == "all") return std::optional<std::vector<int>>();
  std::vector<int> gpus;
  if (text == "none") return std::optional(gpus);
  for (std::string_view rest = text;;) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view word = rest.substr(0, comma);
    if (word.empty() || word.size() > 4) return wrong();
    int index = 0;
    for (const char c : word) {
      if (c < '0' || c > '9') return wrong();
      index = index * 10 + (c - '0');
    }
    if (index > kMaxGpuIndex) return wrong();
    gpus.push_back(index);
    if (comma == rest.size()) break;
    rest.remove_prefix(comma + 1);
  }
  std::ranges::sort(gpus);
  gpus.erase(std::ranges::unique(gpus).begin(), gpus.end());
  return std::optional(gpus);
}

base::Result<void> refuse_duplicate(const ServerConfig& server,
                                    const std::vector<ServerConfig>& servers) {
  if (auto good = refuse_same_target(server, servers); !good) return good;
  for (const ServerConfig& other : servers) {
    if (config::identity(server) != config::identity(other)) continue;
    return fail(ErrorKind::conflict,
                fmt::format("a server is called '{}' already", config::identity(other)),
                "choose another nickname");
  }
  return {};
}

base::Result<ServerConfig> server_from(const GivenAnswers& given) {
  ServerConfig server;
  for (const Question& question : questions()) {
    if (const auto good = use_option(question, given, server); !good) return fail(good.error());
  }
  return server;
}

base::Result<std::optional<ServerConfig>> ask_for_server(const GivenAnswers& given,
                                                         const std::vector<ServerConfig>& servers) {
  const std::vector<Question> all = questions();
  ServerConfig server;
  // Wrong words on the command line are told before anybody has typed an answer.
  ServerConfig trial;
  for (const Question& question : all) {
    if (given.count(question.option) == 0) continue;
    if (const auto good = use_option(question, given, trial); !good) return fail(good.error());
  }
  for (const Question& question : all) {
    const bool is_key_file = std::string_view(question.option) == "identityfile";
    const bool has_no_key = server.auth == config::Auth::password && is_key_file;
    if (given.count(question.option) > 0 || question.prompt == nullptr || has_no_key) {
      if (const auto good = use_option(question, given, server); !good) return fail(good.error());
      if (const auto good = refuse_early(question, server, servers); !good)
        return fail(good.error());
      continue;
    }
    const auto answered = ask_question(question, server, servers);
    if (!answered) return fail(answered.error());
    if (!*answered) return std::optional<ServerConfig>();
  }
  return std::optional(server);
}

}  // namespace nvidb::cli
