// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// The `queue` and `remote` sections. Private to the room.
#include "config/config.h"
#include "config/map_reader.h"
#include "config/yaml_tree.h"

namespace nvidb::config {

// Puts what `queue` names over `settings`, key by key, in `notify` and `backup` too; everything
// else stays. So a file is read by merging it over the defaults, and queue.yml by merging it over
// config.yml's.
void merge_queue(Source& source, const YamlUse& queue, QueueSettings& settings);

RemoteQueue read_remote(Source& source, const YamlUse& remote);

}  // namespace nvidb::config
