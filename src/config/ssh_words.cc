// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "config/ssh_words.h"

#include <algorithm>
#include <cctype>

namespace nvidb::config {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

std::string_view skip_space(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  return text;
}

// Takes one argument off the front. Absent where a quote is not closed.
std::optional<std::string> take_argument(std::string_view& text) {
  std::string argument;
  char quote = '\0';
  std::size_t i = 0;
  for (; i < text.size() && (quote != '\0' || !is_space(text[i])); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (c == '\\' &&
        (next == '"' || next == '\'' || next == '\\' || (quote == '\0' && next == ' '))) {
      argument += next;
      ++i;
    } else if (quote == '\0' && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = '\0';
    } else {
      argument += c;
    }
  }
  if (quote != '\0') return {};
  text.remove_prefix(i);
  return argument;
}

// `*` and `?` against the whole name, remembering only the last `*`.
bool matches(std::string_view name, std::string_view pattern) {
  std::size_t n = 0, p = 0, star = std::string_view::npos, star_n = 0;
  while (n < name.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || (pattern[p] != '*' && pattern[p] == name[n]))) {
      ++n;
      ++p;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_n = n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++star_n;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace

std::optional<SshLine> split_ssh_line(std::string_view line) {
  SshLine result;
  line = skip_space(line);
  if (line.starts_with("\xef\xbb\xbf")) line = skip_space(line.substr(3));
  if (line.empty() || line[0] == '#') return result;
  std::size_t end = 0;
  while (end < line.size() && !is_space(line[end]) && line[end] != '=' && line[end] != '"') ++end;
  std::transform(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(end),
                 std::back_inserter(result.keyword),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  line = skip_space(line.substr(end));
  if (line.starts_with('=')) line = skip_space(line.substr(1));
  while (!line.empty() && line[0] != '#') {
    auto argument = take_argument(line);
    if (!argument) return {};
    result.arguments.push_back(std::move(*argument));
    line = skip_space(line);
  }
  return result;
}

bool matches_ssh_patterns(std::string_view name, const std::vector<std::string>& patterns) {
  bool any = false;
  for (const std::string& pattern : patterns) {
    if (pattern.starts_with('!')) {
      if (matches(name, std::string_view(pattern).substr(1))) return false;
    } else {
      any = any || matches(name, pattern);
    }
  }
  return any;
}

}  // namespace nvidb::config
