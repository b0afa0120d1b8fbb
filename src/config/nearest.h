// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// The known key that somebody probably meant. Pure.
#include <span>
#include <string_view>

namespace nvidb::config {

// base::nearest(), or what other programs call the key: `user` means `username`.
std::string_view nearest_key(std::string_view key, std::span<const std::string_view> known);

}  // namespace nvidb::config
