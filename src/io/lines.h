// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Bytes in, lines out, however the bytes were cut into reads. Pure.
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace nvidb::io {

class LineSplitter {
 public:
  // A line longer than `max_bytes` (newline included) is dropped whole and reported through
  // on_too_long once.
  explicit LineSplitter(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // Calls on_line for each line that is complete, without its newline (and without a trailing \r).
  void feed(std::string_view bytes, const std::function<void(std::string_view)>& on_line,
            const std::function<void()>& on_too_long);

  // What has come since the last newline; "" while an overlong line is being dropped.
  std::string_view rest() const { return rest_; }

 private:
  std::size_t max_bytes_;
  std::string rest_;
  bool dropping_ = false;
};

}  // namespace nvidb::io
