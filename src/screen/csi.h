// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// What complete control sequences from a terminal mean; absent where we do not know or want it.
// Private to screen/; token.h finds where they end.
#include <optional>
#include <string_view>

#include "screen/input.h"

namespace nvidb::screen {

// ESC [ parameters final: keys with their modifiers, SGR mouse reports.
std::optional<Input> decode_csi(std::string_view parameters, char final);

// ESC O parameters final: the same keys from terminals in application mode, F1 to F4.
std::optional<Input> decode_ss3(std::string_view parameters, char final);

// ESC ] body: the answer to kAskBackground (tty.h).
std::optional<Input> decode_osc(std::string_view body);

}  // namespace nvidb::screen
