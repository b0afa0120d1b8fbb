// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors

// A config.yml as a hand, an editor or a broken disk left it, and an ssh configuration. Loading
// must end; a changed file must mean what was wanted and nothing else.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "config/edit_yaml.h"
#include "config/load_yaml.h"
#include "config/ssh_import.h"

using namespace nvidb;

namespace {

config::Config must_load(const std::string& text) {
  auto loaded = config::parse_config({"f", text, 0600});
  CHECK(loaded);
  return loaded->config;
}

void edit(const std::string& text, const config::Config& before) {
  config::Config wanted = before;
  wanted.view.mode = before.view.mode == config::ViewMode::nodes ? config::ViewMode::unified
                                                                 : config::ViewMode::nodes;
  wanted.view.sort = config::ViewSort::available;
  if (const auto after = config::set_view(text, "f", wanted.view))
    CHECK(must_load(*after) == wanted);

  config::ServerConfig server;
  server.hostname = "fuzz.example.com";
  server.username = "u";
  server.nickname = "#yes: '\"";
  server.gpus = {0, 1};
  wanted = before;
  wanted.servers.push_back(server);
  if (const auto after = config::append_servers(text, "f", {server}))
    CHECK(must_load(*after) == wanted);

  if (before.servers.empty()) return;
  wanted = before;
  const auto middle =
      wanted.servers.begin() + static_cast<std::ptrdiff_t>(wanted.servers.size() / 2);
  const std::string name = identity(*middle);
  wanted.servers.erase(middle);
  if (const auto after = config::cut_servers(text, "f", {name})) CHECK(must_load(*after) == wanted);
}

void read_as_ssh(const std::string& text) {
  config::ConfigFiles files;
  files.home = "/home/u";
  files.read = [&](const std::string&) -> base::Result<std::string> { return text; };
  // Everything includes two files that are the same text again, until the parser says stop.
  files.glob = [](const std::string& pattern) {
    const std::string path = pattern.substr(0, 64);
    return std::vector<std::string>{path + "1", path + "2"};
  };
  const auto found = config::find_ssh_aliases("/home/u/.ssh/config", files);
  CHECK(found);
  for (const config::SshAlias& alias : found->aliases) {
    CHECK(config::check_nickname(alias.name));
    CHECK(alias.name.find_first_of("*?!") == std::string::npos);
  }
  const auto values = config::parse_ssh_g(text);
  if (values) CHECK(!values->hostname.empty() && values->port >= 1 && values->port <= 65535);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 20'000) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto loaded = config::parse_config({"f", text, 0644});
  if (loaded) {
    edit(text, loaded->config);
  } else {
    CHECK(loaded.error().kind == base::ErrorKind::invalid);
  }
  static_cast<void>(config::parse_queue_config({"f", text, 0600}, {"g", text, 0600}));
  static_cast<void>(config::parse_proxyjump(text));
  if (size < 500) read_as_ssh(text);
  return 0;
}
