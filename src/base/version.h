// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

namespace nvidb::base {

// `X.Y.Z`, from the project's CMakeLists.txt.
const char* version();

}  // namespace nvidb::base
