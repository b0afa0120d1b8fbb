// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "io/lines.h"

namespace nvidb::io {

void LineSplitter::feed(std::string_view bytes,
                        const std::function<void(std::string_view)>& on_line,
                        const std::function<void()>& on_too_long) {
  while (!bytes.empty()) {
    const std::size_t newline = bytes.find('\n');
    const std::string_view part = bytes.substr(0, newline);
    const bool ends = newline != std::string_view::npos;
    if (!dropping_ && rest_.size() + part.size() + 1 > max_bytes_) {
      dropping_ = true;
      rest_.clear();
      on_too_long();
    }
    if (!dropping_ && ends) {
      std::string_view line = part;
      if (!rest_.empty()) {
        rest_.append(part);
        line = rest_;
      }
      if (line.ends_with('\r')) line.remove_suffix(1);
      on_line(line);
      rest_.clear();
    } else if (!dropping_) {
      rest_.append(part);
    }
    if (!ends) return;
    dropping_ = false;
    bytes.remove_prefix(newline + 1);
  }
}

}  // namespace nvidb::io
