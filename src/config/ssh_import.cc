// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "config/ssh_import.h"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <set>

#include "base/text.h"
#include "config/map_reader.h"
#include "config/ssh_words.h"
#include "config/yaml_tree.h"
#include "io/files.h"

namespace nvidb::config {
namespace {

using base::ErrorKind;
using base::fail;

// OpenSSH's own limits are 16 for the depth and nothing for the rest.
constexpr std::size_t kMaxDepth = 16;
constexpr std::size_t kMaxFiles = 1'000;
constexpr std::size_t kMaxAliases = 10'000;
constexpr std::size_t kMaxWarnings = 50;

// Reads a file and all it includes; ssh itself is asked for values later, so only names matter
// here.
class AliasFinder {
 public:
  explicit AliasFinder(const ConfigFiles& files) : files_(files) {}

  base::Result<void> read(const std::string& path) {
    const auto text = files_.read(path);
    if (!text) return fail(text.error());
    chain_.push_back(path);
    read_text(path, *text);
    chain_.pop_back();
    return {};
  }

  SshAliases take() { return std::move(found_); }

 private:
  // A `Host` line around an `Include`: only names that match it can mean anything inside.
  using Patterns = std::vector<std::string>;

  void read_text(const std::string& path, std::string_view text) {
    const std::size_t outer_count = outer_.size();
    std::optional<Patterns> host;
    int number = 0;
    for (std::size_t start = 0; start < text.size();) {
      const std::size_t end = std::min(text.find('\n', start), text.size());
      ++number;
      const auto line = split_ssh_line(text.substr(start, end - start));
      start = end + 1;
      if (!line) {
        warn(path, number, "a quote is not closed; the line is left out");
      } else if (line->keyword == "host") {
        host = line->arguments;
        add_names(path, number, line->arguments);
      } else if (line->keyword == "match") {
        host.reset();
      } else if (line->keyword == "include") {
        if (host) outer_.push_back(*host);
        for (const std::string& pattern : line->arguments) include(path, number, pattern);
        outer_.resize(outer_count);
      }
    }
  }

  void add_names(const std::string& path, int line, const Patterns& patterns) {
    for (const std::string& name : patterns) {
      if (name.find_first_of("*?!") != std::string::npos) continue;
      const auto matches = [&](const Patterns& outer) { return matches_ssh_patterns(name, outer); };
      if (!matches_ssh_patterns(name, patterns)) continue;  // `Host a !a` is no host
      if (!std::all_of(outer_.begin(), outer_.end(), matches)) continue;
      if (!check_nickname(name) || name.starts_with('-')) {
        warn(path, line, fmt::format("{} cannot be the name of a server", shown(name)));
      } else if (names_.size() >= kMaxAliases) {
        warn(path, line, fmt::format("more than {} hosts; the rest is left out", kMaxAliases));
        return;
      } else if (names_.insert(name).second) {
        found_.aliases.push_back({name, path, line});
      }
    }
  }

  void include(const std::string& path, int line, const std::string& written) {
    if (written.empty()) return;
    std::string pattern = written;
    if (pattern.starts_with("~/")) pattern = files_.home + pattern.substr(1);
    // Relative names are below ~/.ssh whatever file they stand in.
    if (!pattern.starts_with('/')) pattern = files_.home + "/.ssh/" + pattern;
    for (const std::string& file : files_.glob(pattern)) {
      if (std::find(chain_.begin(), chain_.end(), file) != chain_.end()) {
        warn(path, line, fmt::format("{} includes itself; left out", shown(file)));
      } else if (chain_.size() > kMaxDepth) {
        warn(path, line,
             fmt::format("{} is included more than {} deep; left out", shown(file), kMaxDepth));
      } else if (++files_read_ > kMaxFiles) {
        warn(path, line, fmt::format("more than {} files; the rest is left out", kMaxFiles));
        return;
      } else if (const auto good = read(file); !good) {
        warn(path, line, good.error().message);
      }
    }
  }

  void warn(const std::string& path, int line, const std::string& what) {
    if (found_.warnings.size() < kMaxWarnings)
      found_.warnings.push_back(fmt::format("{}:{}: {}", path, line, what));
  }

  const ConfigFiles& files_;
  SshAliases found_;
  std::set<std::string> names_;
  std::vector<std::string> chain_;  // files being read, outermost first
  std::vector<Patterns> outer_;     // Host lines around the includes being read
  std::size_t files_read_ = 0;
};

// Keys that ssh tries without being told; copying them would only freeze today's defaults.
bool is_default_key(std::string_view path) {
  constexpr std::array<std::string_view, 7> kNames = {
      "id_rsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk", "id_xmss", "id_dsa"};
  constexpr std::string_view kFolder = "~/.ssh/";
  if (!path.starts_with(kFolder)) return false;
  return std::find(kNames.begin(), kNames.end(), path.substr(kFolder.size())) != kNames.end();
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

}  // namespace

ConfigFiles system_files(std::string home) {
  ConfigFiles files;
  files.read = [](const std::string& path) { return io::read_file(path, kMaxYamlBytes); };
  files.glob = [](const std::string& pattern) {
    glob_t found{};
    std::vector<std::string> paths;
    if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
      paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    ::globfree(&found);
    return paths;
  };
  files.home = std::move(home);
  return files;
}

base::Result<SshAliases> find_ssh_aliases(const std::string& path, const ConfigFiles& files) {
  AliasFinder finder(files);
  if (auto read = finder.read(path); !read) return fail(read.error());
  return finder.take();
}

base::Result<SshValues> parse_ssh_g(std::string_view text) {
  SshValues values;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    std::string_view line = text.substr(start, end - start);
    start = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) continue;
    const std::string_view key = line.substr(0, space), value = line.substr(space + 1);
    if (key == "hostname") {
      values.hostname = value;
    } else if (key == "user") {
      values.user = value;
    } else if (key == "identityfile" && value != "none" && values.identityfiles.size() < 100) {
      values.identityfiles.emplace_back(value);
    } else if (key == "proxyjump" && value != "none") {
      values.proxyjump = value;
    } else if (key == "proxycommand" && value != "none") {
      values.has_proxycommand = true;
    } else if (key == "port") {
      const auto port = parse_port(value);
      if (!port)
        return fail(ErrorKind::protocol, fmt::format("ssh -G names port {}", shown(value)));
      values.port = *port;
    }
  }
  if (values.hostname.empty() || values.user.empty()) {
    return fail(ErrorKind::protocol, "ssh -G names no host or no user");
  }
  return values;
}

base::Result<ServerConfig> to_server(const SshAlias& alias, const SshValues& values,
                                     const std::function<bool(const std::string& path)>& exists) {
  ServerConfig server;
  server.nickname = alias.name;
  server.hostname = values.has_proxycommand ? alias.name : values.hostname;
  server.port = values.port;
  server.username = values.user;
  server.proxyjump = values.proxyjump;
  for (const std::string& file : values.identityfiles) {
    if (is_default_key(file) || !exists(file) || !check_identityfile(file)) continue;
    server.identityfile = file;
    break;
  }
  const std::array<base::Result<void>, 3> checks = {check_nickname(server.nickname),
                                                    check_hostname(server.hostname),
                                                    check_username(server.username)};
  for (const base::Result<void>& check : checks) {
    if (!check)
      return fail(ErrorKind::invalid,
                  fmt::format("host {}: {}", shown(alias.name), check.error().message),
                  check.error().hint);
  }
  if (!server.proxyjump.empty()) {
    const auto hops = parse_proxyjump(server.proxyjump);
    if (!hops)
      return fail(ErrorKind::invalid,
                  fmt::format("host {}: {}", shown(alias.name), hops.error().message),
                  hops.error().hint);
  }
  return server;
}

bool is_same_target(const ServerConfig& a, const ServerConfig& b) {
  return a.port == b.port && a.username == b.username &&
         equal_ignoring_case(a.hostname, b.hostname);
}

}  // namespace nvidb::config
