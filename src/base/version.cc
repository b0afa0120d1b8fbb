// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "base/version.h"

namespace nvidb::base {

const char* version() {
  return NVIDB_VERSION;
}

}  // namespace nvidb::base
