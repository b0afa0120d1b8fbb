// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Changing a small text file so that no reader and no crash ever sees half of it. Private to the
// room.
#include <functional>
#include <string>

#include "base/result.h"

namespace nvidb::config {

// Reads `path` ("" where it is missing), calls `change` and puts what it returns in the file's
// place: a temporary file in the same folder, fsync, rename. The mode is kept, and the owner where
// that is allowed; a symlink stays and its target is replaced; a missing file is made with 0600,
// its folder with 0700. Text that comes back unchanged writes nothing. One writer at a time (a lock
// on the folder, waited for up to 2 s); if somebody without the lock wrote meanwhile, `change` is
// called once more with the new text. Errors: those of `change`; busy (lock), conflict (changed
// twice meanwhile), refused (no write permission), io.
base::Result<void> edit_file(
    const std::string& path,
    const std::function<base::Result<std::string>(const std::string& text)>& change);

}  // namespace nvidb::config
