// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// One <gpu> element of `nvidia-smi -q -x`. Pure. Private to agent/.
#include "model/gpu.h"

namespace pugi {
class xml_node;
}

namespace nvidb::agent {

// Each value is taken from the first element that has one, new names first, so no driver version is
// ever asked for.
model::Gpu read_smi_card(const pugi::xml_node& gpu, int index);

}  // namespace nvidb::agent
