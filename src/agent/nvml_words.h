// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Plain words for what the driver says in numbers, and the sanity of its numbers. docs/nvml.md
// lists the words. Pure.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/nvml_abi.h"

namespace nvidb::agent {

// `GPU is lost`, `no permission`; a number we do not know is `NVML error 77`.
std::string code_words(nvml::Return code);

// The driver has gone from under us: handles are worthless and only a new initialisation helps. For
// codes of initialisation and of counting; a code 15 or 999 of one card's call concerns that card
// or that call alone.
bool is_driver_gone(nvml::Return code);
// The same, for the calls that ask one card.
bool is_driver_gone_by_card(nvml::Return code);
// The card has gone, the others may be well.
bool is_card_gone(nvml::Return code);

// Why initialisation failed and what to do about it. For code 18 the two versions are named where
// known.
std::string init_failure_words(nvml::Return code, const std::optional<std::string>& kernel_version,
                               const std::optional<std::string>& library_version);

// `Ampere`; absent for a number we do not know.
std::optional<std::string> architecture_name(std::uint32_t number);

// The set bits as words, lowest first; an idle card is not held down, so that bit has no word.
std::vector<std::string> throttle_words(std::uint64_t reasons);

// The text at the front of a buffer that the driver filled, up to the first NUL if there is one, as
// valid UTF-8; absent where nothing is left.
std::optional<std::string> driver_text(std::span<const char> buffer);

// The first `535.54.03` in the text of /proc/driver/nvidia/version, or in a library's file name.
std::optional<std::string> find_version(std::string_view text);

// `12.4` from 12040; absent for numbers below 1000.
std::optional<std::string> cuda_version_text(int number);

// 0 to 100; a little more is rounding and becomes 100; the rest is no percentage and absent.
std::optional<double> sane_percent(std::uint32_t value);
// The value where it is within [lowest, highest].
std::optional<std::int64_t> sane(std::int64_t value, std::int64_t lowest, std::int64_t highest);
// Whole MiB of a number of bytes; absent for all ones and for more than any card can have.
std::optional<std::int64_t> sane_mb(std::uint64_t bytes);

}  // namespace nvidb::agent
