// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors

// What the words of a server may be. All of them end up as arguments of ssh, some (through
// ProxyCommand) in a shell.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/text.h"
#include "config/config.h"
#include "config/map_reader.h"

namespace nvidb::config {
namespace {

using base::ErrorKind;
using base::fail;

constexpr std::size_t kMaxHostBytes = 255;
constexpr std::size_t kMaxWordBytes = 128;
constexpr std::size_t kMaxPathBytes = 1024;
constexpr std::size_t kMaxHops = 16;

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

bool is_host_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

bool is_ipv6_char(char c) {
  return is_host_char(c) || c == ':' || c == '%';
}

// A name, an IPv4 address or, with at least two colons, an IPv6 address with an optional zone.
bool is_host(std::string_view text) {
  if (text.empty() || text.size() > kMaxHostBytes || text[0] == '-') return false;
  if (std::all_of(text.begin(), text.end(), is_host_char)) return true;
  const std::size_t zone = std::min(text.find('%'), text.size());
  const std::string_view address = text.substr(0, zone);
  const auto colons = std::count(address.begin(), address.end(), ':');
  const auto is_address_char = [](char c) {
    return c == ':' || c == '.' || std::isxdigit(static_cast<unsigned char>(c)) != 0;
  };
  const std::string_view zone_name = text.substr(std::min(zone + 1, text.size()));
  return colons >= 2 && colons <= 7 &&
         std::all_of(address.begin(), address.end(), is_address_char) &&
         std::all_of(text.begin(), text.end(), is_ipv6_char) &&
         (zone == text.size() ||
          (!zone_name.empty() && std::all_of(zone_name.begin(), zone_name.end(), is_host_char)));
}

// The rules of OpenSSH 9.6 for user names; older versions lack them.
bool is_user(std::string_view text) {
  constexpr std::string_view kShellWords = "'`\";&<>|(){}";
  if (text.empty() || text.size() > kMaxWordBytes || text[0] == '-' || has_control(text))
    return false;
  if (text.ends_with('\\')) return false;
  return text.find_first_of(kShellWords) == std::string_view::npos &&
         text.find_first_of(" ,:/") == std::string_view::npos;
}

// `[user@]host[:port]`, an IPv6 host in brackets.
std::optional<JumpHop> parse_hop(std::string_view text) {
  constexpr std::string_view kScheme = "ssh://";
  if (text.starts_with(kScheme)) {
    text.remove_prefix(kScheme.size());
    if (text.ends_with('/')) text.remove_suffix(1);
  }
  JumpHop hop;
  if (const std::size_t at = text.rfind('@'); at != std::string_view::npos) {
    hop.user = text.substr(0, at);
    text.remove_prefix(at + 1);
    if (!is_user(hop.user)) return {};
  }
  std::string_view port;
  bool has_port = false;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return {};
    hop.host = text.substr(1, end - 1);
    const std::string_view rest = text.substr(end + 1);
    has_port = rest.starts_with(':');
    if (!rest.empty() && !has_port) return {};
    port = has_port ? rest.substr(1) : rest;
    if (hop.host.find(':') == std::string::npos) return {};
  } else {
    const std::size_t colon = text.find(':');
    hop.host = text.substr(0, colon);
    has_port = colon != std::string_view::npos;
    if (has_port) port = text.substr(colon + 1);
  }
  if (!is_host(hop.host)) return {};
  if (!has_port) return hop;
  const auto number = parse_port(port);
  if (!number) return {};
  hop.port = *number;
  return hop;
}

}  // namespace

std::string identity(const ServerConfig& server) {
  if (!server.nickname.empty()) return server.nickname;
  const bool is_ipv6 = server.hostname.find(':') != std::string::npos;
  const std::string host = is_ipv6 ? fmt::format("[{}]", server.hostname) : server.hostname;
  return fmt::format("{}@{}:{}", server.username, host, server.port);
}

base::Result<void> check_hostname(std::string_view text) {
  if (is_host(text)) return {};
  std::string hint = "write a name or an address, without user, port, brackets or spaces";
  if (text.find('@') != std::string_view::npos) {
    hint = "write the part before @ as username";
  } else if (std::count(text.begin(), text.end(), ':') == 1) {
    hint = "write the part after : as port";
  } else if (text.starts_with('[')) {
    hint = "write the IPv6 address without brackets";
  } else if (text.starts_with('-')) {
    hint = "ssh would take a word that begins with - for an option";
  }
  return fail(ErrorKind::invalid, fmt::format("{} is not a host name or address", shown(text)),
              hint);
}

base::Result<void> check_username(std::string_view text) {
  if (is_user(text)) return {};
  return fail(ErrorKind::invalid, fmt::format("{} is not a user name", shown(text)),
              "no spaces, colons, quotes or other special characters, no - at the front");
}

base::Result<void> check_nickname(std::string_view text) {
  const bool has_edges = text.starts_with(' ') || text.ends_with(' ');
  if (!text.empty() && text.size() <= kMaxWordBytes && !has_edges && base::printable(text) == text)
    return {};
  return fail(
      ErrorKind::invalid, fmt::format("{} is not a name", shown(text)),
      fmt::format("1 to {} bytes, no control characters, no spaces at the ends", kMaxWordBytes));
}

base::Result<void> check_identityfile(std::string_view text) {
  if (!text.empty() && text.size() <= kMaxPathBytes && !has_control(text) && text[0] != '-')
    return {};
  return fail(ErrorKind::invalid, fmt::format("{} is not the path of a key file", shown(text)),
              "write it like ~/.ssh/id_ed25519");
}

base::Result<int> parse_port(std::string_view text) {
  const auto number = parse_whole(text);
  if (number && *number >= 1 && *number <= 65535) return static_cast<int>(*number);
  return fail(ErrorKind::invalid,
              fmt::format("{} is not a port, a whole number from 1 to 65535", shown(text)));
}

base::Result<Auth> parse_auth(std::string_view text) {
  for (const Auth auth : {Auth::automatic, Auth::key, Auth::password}) {
    if (text == to_word(auth)) return auth;
  }
  return fail(ErrorKind::invalid, fmt::format("{} is not one of auto, key, password", shown(text)));
}

const char* to_word(Auth auth) {
  switch (auth) {
    case Auth::automatic:
      return "auto";
    case Auth::key:
      return "key";
    case Auth::password:
      return "password";
  }
  return "auto";
}

base::Result<std::vector<JumpHop>> parse_proxyjump(std::string_view text) {
  std::vector<JumpHop> hops;
  if (text == "none") return hops;
  const std::string_view whole = text;
  for (;;) {
    const std::size_t comma = text.find(',');
    const auto hop = parse_hop(text.substr(0, comma));
    if (!hop || hops.size() >= kMaxHops || hop->host == "none") {
      return fail(ErrorKind::invalid,
                  fmt::format("{} is not a jump host, chain or none", shown(whole)),
                  "write an alias, user@host:port, hops separated by commas without spaces, IPv6 "
                  "in brackets, or none");
    }
    hops.push_back(*hop);
    if (comma == std::string_view::npos) return hops;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace nvidb::config
