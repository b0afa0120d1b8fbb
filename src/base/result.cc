// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "base/result.h"

namespace nvidb::base {

std::string to_text(const Error& error) {
  if (error.hint.empty()) return error.message;
  return error.message + " (" + error.hint + ")";
}

}  // namespace nvidb::base
