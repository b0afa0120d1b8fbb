// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
//
// asio is compiled here once (ASIO_SEPARATE_COMPILATION), not in each file that uses it.
#include <asio/impl/src.hpp>
