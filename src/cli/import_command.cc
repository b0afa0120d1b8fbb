// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
//
// `nvidb import [PATH]`: servers from an OpenSSH configuration.
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/nodes.h"
#include "cli/output.h"
#include "cli/prompt.h"
#include "cli/servers_view.h"
#include "cli/ssh_config_hosts.h"
#include "config/paths.h"

namespace nvidb::cli {
namespace {

using base::ErrorKind;

constexpr const char* kDefaultPath = "~/.ssh/config";
constexpr const char* kUsageLine = "usage: nvidb import [PATH] [OPTIONS]   (nvidb import --help)";

int stop_interrupted(const CommonArguments& common) {
  print_error({ErrorKind::io, "interrupted, nothing was written", ""}, common.json);
  return kInterrupted;
}

// The file that ssh reads unasked: it goes by the password database, not by $HOME.
std::string file_of_ssh() {
  std::array<char, 4096> buffer;
  passwd entry{};
  passwd* found = nullptr;
  const int code = ::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found);
  return code == 0 && found != nullptr ? fmt::format("{}/.ssh/config", entry.pw_dir) : "";
}

// ssh takes a relative -F as it is, but the warnings and later runs need the whole path.
std::string whole_path(const std::string& path) {
  std::error_code code;
  const auto whole = std::filesystem::absolute(config::expand_home(path), code);
  return code ? path : whole.lexically_normal().string();
}

void show_list(const SshHosts& hosts) {
  int name_width = 0;
  const auto name_of = [](const auto& server) { return base::printable(config::identity(server)); };
  for (const auto& server : hosts.servers)
    name_width = std::max(name_width, base::display_width(name_of(server)));
  for (const SkippedHost& host : hosts.skipped)
    say(fmt::format("     {} {}", host.name, host.reason));
  for (std::size_t i = 0; i < hosts.servers.size(); ++i) {
    say(fmt::format("{:>3}  {}  {}", i + 1, base::pad_right(name_of(hosts.servers[i]), name_width),
                    how_reached(hosts.servers[i])));
  }
}

// The hosts the person wants. Absent: they left.
std::optional<std::vector<config::ServerConfig>> choose(const SshHosts& hosts) {
  show_list(hosts);
  for (;;) {
    const auto text = ask("which? (1,3-5; a for all; Enter for none) ");
    if (!text) return {};
    const auto chosen = parse_choice(*text, hosts.servers.size());
    if (!chosen) {
      say("  " + base::to_text(chosen.error()));
      continue;
    }
    std::vector<config::ServerConfig> servers;
    for (const std::size_t i : *chosen) servers.push_back(hosts.servers[i]);
    return servers;
  }
}

std::string as_json(const std::vector<config::ServerConfig>& imported, const SshHosts& hosts) {
  nlohmann::ordered_json skipped = nlohmann::ordered_json::array();
  for (const SkippedHost& host : hosts.skipped)
    skipped.push_back({{"name", host.name}, {"reason", host.reason}});
  return to_document({{"ok", true}, {"imported", servers_json(imported)}, {"skipped", skipped}});
}

std::string as_text(const std::vector<config::ServerConfig>& imported, const SshHosts& hosts,
                    const std::string& path, bool was_listed) {
  std::string text;
  const auto add_line = [&](const std::string& line) { text += base::printable(line) + "\n"; };
  if (!was_listed) {
    for (const SkippedHost& host : hosts.skipped)
      add_line(fmt::format("skipped {}: {}", host.name, host.reason));
  }
  for (const auto& server : imported)
    add_line(fmt::format("added {} ({})", config::identity(server), how_reached(server)));
  add_line(imported.empty() ? "nothing was added to " + path
                            : fmt::format("{} added to {}", imported.size(), path));
  return text;
}

}  // namespace

int run_import(const CommonArguments& common, const ImportArguments& arguments) {
  const bool asks = !arguments.all;
  if (asks && !can_ask()) {
    return print_usage_error({"import needs --all where nobody can choose from a list", kUsageLine},
                             common.json);
  }
  const auto settings = load_settings();
  if (!settings) return print_error(settings.error(), common.json);
  print_warnings(settings->loaded.warnings);
  const auto program = ssh_program();
  if (!program) return print_error(program.error(), common.json);
  const std::string ssh_path = whole_path(arguments.path.empty() ? kDefaultPath : arguments.path);

  const auto hosts = find_ssh_hosts(ssh_path, ssh_path == file_of_ssh(), *program,
                                    settings->loaded.config.servers);
  if (!hosts) return print_error(hosts.error(), common.json);
  if (hosts->interrupted) return stop_interrupted(common);
  print_warnings(hosts->warnings);
  if (hosts->all_failed) {
    const SkippedHost& first = hosts->skipped.front();
    return print_error(
        {ErrorKind::protocol,
         fmt::format("no host of {} can be used; {}: {}", ssh_path, first.name, first.reason), ""},
        common.json);
  }

  std::vector<config::ServerConfig> servers = hosts->servers;
  const bool was_listed = asks && !servers.empty();
  if (was_listed) {
    auto chosen = choose(*hosts);
    if (!chosen) return stop_interrupted(common);
    servers = *std::move(chosen);
  }
  const std::string& path = settings->paths.config_yml;
  if (!servers.empty()) {
    if (const auto added = config::add_servers(path, servers); !added)
      return print_error(added.error(), common.json);
  }
  return print(common.json ? as_json(servers, *hosts) : as_text(servers, *hosts, path, was_listed));
}

}  // namespace nvidb::cli
