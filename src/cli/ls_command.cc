// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
//
// `nvidb ls`: the configured servers.
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/nodes.h"
#include "cli/output.h"
#include "cli/servers_view.h"

namespace nvidb::cli {

int run_ls(const CommonArguments& common, const LsArguments& arguments) {
  const auto settings = load_settings();
  if (!settings) return print_error(settings.error(), common.json);
  print_warnings(settings->loaded.warnings);
  const auto& servers = settings->loaded.config.servers;
  if (common.json) return print(to_document({{"servers", servers_json(servers)}}));
  if (servers.empty())
    return print("no servers yet: nvidb add asks for one, nvidb import reads your ssh config\n");
  return print(servers_table(servers, arguments.detail, look_at_terminal(common.color)));
}

}  // namespace nvidb::cli
