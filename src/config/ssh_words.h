// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Lines and patterns of an OpenSSH client configuration. Private to the room. Pure. Source:
// ssh_config(5).
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nvidb::config {

struct SshLine {
  std::string keyword;  // lower case; "" for a blank or comment line
  std::vector<std::string> arguments;
};

// `Keyword a "b c"`, `Keyword=a`, `Keyword = a`, with a comment at the end. Backslash escapes
// quotes, backslashes and, outside quotes, spaces. Absent where a quote is not closed.
std::optional<SshLine> split_ssh_line(std::string_view line);

// At least one pattern matches (`*`, `?`) and no negated one (`!x`) does. Cost: length of name x
// length of pattern.
bool matches_ssh_patterns(std::string_view name, const std::vector<std::string>& patterns);

}  // namespace nvidb::config
