// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "config/nearest.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/nearest.h"

namespace nvidb::config {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kOtherWords = {{
    {"user", "username"},
    {"login", "username"},
    {"name", "nickname"},
    {"ip", "hostname"},
    {"address", "hostname"},
    {"key", "identityfile"},
    {"keyfile", "identityfile"},
    {"key_file", "identityfile"},
    {"jump", "proxyjump"},
    {"jumphost", "proxyjump"},
    {"hosts", "servers"},
    {"nodes", "servers"},
    {"authentication", "auth"},
    {"hook", "command"},
}};

}  // namespace

std::string_view nearest_key(std::string_view key, std::span<const std::string_view> known) {
  if (const std::string_view near = base::nearest(key, known); !near.empty()) return near;
  for (const auto& [word, meant] : kOtherWords) {
    if (word == key && std::find(known.begin(), known.end(), meant) != known.end()) return meant;
  }
  return {};
}

}  // namespace nvidb::config
