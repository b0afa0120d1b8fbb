// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// What `nvidia-smi -q -x` prints, drivers 418 to 595, told apart by its elements and never by its
// DTD. Pure. Private to agent/.
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/agent_message.h"
#include "model/gpu.h"

namespace nvidb::agent {

struct SmiReport {
  model::Inventory inventory;  // source nvidia_smi
  std::vector<model::GpuReading>
      readings;  // one a card, as inventory.gpus; processes have pid, type, name, mem_mb
};

// `output` is all that nvidia-smi printed on stdout: XML, perhaps after warning lines, or a failure
// in plain text. Errors: protocol (no XML, cut off, deeper or larger than it can honestly be);
// unsupported with nvidia-smi's own sentence where it printed a failure; `No devices were found` is
// not an error but a report without cards.
base::Result<SmiReport> parse_smi_xml(std::string_view output);

}  // namespace nvidb::agent
