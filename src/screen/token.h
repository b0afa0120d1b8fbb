// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// The first character or control sequence of what a terminal sent. Private to screen/; input.h puts
// the pieces of a stream together.
#include <cstddef>
#include <optional>
#include <string_view>

#include "screen/input.h"

namespace nvidb::screen {

// A longer sequence is none of ours, whatever it says.
inline constexpr std::size_t kMaxSequenceBytes = 128;

struct Token {
  std::size_t size = 0;        // bytes it took; 0: its end is not there yet
  std::optional<Input> input;  // absent: nothing that we know or want
  bool begins_paste = false;
};

// REQUIRES: `bytes` is not empty. What it says of complete bytes does not depend on what follows.
// Only two kinds can stay incomplete for more than 8 bytes: ESC [ (CSI), ended by one byte, and ESC
// with one of ]PX^_ (strings), ended by BEL or ESC \. A control character breaks either off.
Token read_token(std::string_view bytes);

}  // namespace nvidb::screen
