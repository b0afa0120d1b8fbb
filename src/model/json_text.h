// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

#include <cstddef>
#include <string_view>

namespace nvidb::model {

// At most `limit` bytes from the front of `text`, never ending within a character of it.
inline std::string_view cut_bytes(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  const auto continues = [&](std::size_t i) {
    return (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80;
  };
  std::size_t end = limit;
  // A character has at most three continuation bytes; more of them is not UTF-8, and cut anywhere.
  for (int i = 0; i < 3 && end > 0 && continues(end); ++i) --end;
  return text.substr(0, continues(end) ? limit : end);
}

}  // namespace nvidb::model
