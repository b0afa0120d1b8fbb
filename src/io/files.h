// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Small files, whole.
#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nvidb::io {

// The whole file. Errors: not_found, refused, io; invalid if it is a pipe or a device, or holds
// more than `max_bytes`. Works for /proc, whose files claim to be empty.
base::Result<std::string> read_file(const std::string& path, std::size_t max_bytes);

// Writes all of `bytes` to an open descriptor, waiting where it must. Errors: conflict where the
// reader is gone (EPIPE), else io; the message is the system's text.
base::Result<void> write_all(int fd, std::string_view bytes);

}  // namespace nvidb::io
