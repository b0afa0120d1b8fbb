// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// YAML text -> Config, without touching the machine. Private to the room; config.h is the door.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "config/map_reader.h"
#include "config/yaml_tree.h"

namespace nvidb::config {

// One settings file in memory.
struct SettingsText {
  std::string name;      // what messages call it
  std::string text;      // "" for a missing file
  unsigned mode = 0600;  // its permission bits
};

// config.yml. Errors: invalid, naming file, line, key and what is allowed.
base::Result<LoadedConfig> parse_config(const SettingsText& config_yml);

// config.yml with queue.yml over it; see load_queue_config().
base::Result<LoadedConfig> parse_queue_config(const SettingsText& config_yml,
                                              const SettingsText& queue_yml);

// The list below `path`; null is an empty list. Identities differ unless `source` has an error.
std::vector<ServerConfig> read_servers(Source& source, const YamlUse& list,
                                       const std::string& path);

ViewSettings read_view(Source& source, const YamlUse& view);

}  // namespace nvidb::config
