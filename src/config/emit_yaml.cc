// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "config/emit_yaml.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace nvidb::config {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Words that some YAML reader takes for true, false or null.
bool is_special_word(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  constexpr std::array<std::string_view, 9> kWords = {"true", "false", "yes", "no",  "on",
                                                      "off",  "y",     "n",   "null"};
  return std::find(kWords.begin(), kWords.end(), lower) != kWords.end();
}

// Digits with at least two dots are no number in YAML: an IPv4 address may stay plain.
bool is_address(std::string_view text) {
  return std::count(text.begin(), text.end(), '.') >= 2 &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_digit(c) || c == '.'; }) &&
         is_digit(text.front()) && is_digit(text.back());
}

bool is_plain(std::string_view text) {
  if (text.empty() || is_special_word(text)) return false;
  if (is_address(text)) return true;
  if (!is_letter(text[0]) && text[0] != '/' && !text.starts_with("~/")) return false;
  if (text.ends_with(':') || text.ends_with(' ') || text.find(": ") != std::string_view::npos)
    return false;
  constexpr std::string_view kPlainChars = "_./@:+~ -";
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return is_letter(c) || is_digit(c) || kPlainChars.find(c) != std::string_view::npos;
  });
}

const char* to_word(bool value) {
  return value ? "true" : "false";
}

}  // namespace

std::string emit_text(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      quoted += fmt::format("\\x{:02x}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::vector<YamlPair> emit_view(const ViewSettings& view) {
  return {{"mode", to_string(view.mode)},
          {"detailed", to_word(view.detailed)},
          {"processes", to_word(view.processes)},
          {"trends", to_word(view.trends)},
          {"sort", to_string(view.sort)},
          {"filter", to_string(view.filter)},
          {"group_by_node", to_word(view.group_by_node)},
          {"hide_unsupported", to_word(view.hide_unsupported)},
          {"mouse", to_word(view.mouse)}};
}

std::vector<YamlPair> emit_server(const ServerConfig& server, bool show_password) {
  std::vector<YamlPair> pairs = {{"hostname", emit_text(server.hostname)},
                                 {"port", std::to_string(server.port)},
                                 {"username", emit_text(server.username)}};
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) pairs.emplace_back(key, emit_text(value));
  };
  add("nickname", server.nickname);
  if (server.auth != Auth::automatic) pairs.emplace_back("auth", to_word(server.auth));
  add("identityfile", server.identityfile);
  if (server.password) add("password", show_password ? server.password->reveal() : "...");
  add("proxyjump", server.proxyjump);
  if (server.gpus) pairs.emplace_back("gpus", fmt::format("[{}]", fmt::join(*server.gpus, ", ")));
  return pairs;
}

std::vector<std::string> item_lines(const std::vector<YamlPair>& pairs, const std::string& dash) {
  std::vector<std::string> lines;
  for (const auto& [key, value] : pairs) {
    lines.push_back((lines.empty() ? dash : std::string(dash.size(), ' ')) + key + ": " + value);
  }
  return lines;
}

}  // namespace nvidb::config
