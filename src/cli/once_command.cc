// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
//
// `nvidb --once`: every node once, as text, JSON or CSV.
#include <algorithm>

#include "base/clock.h"
#include "cli/collect.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "model/json.h"
#include "ui/once_view.h"

namespace nvidb::cli {
namespace {

std::string as_text(const model::FleetSnapshot& fleet, const CommonArguments& common, bool compact,
                    std::int64_t now_ms) {
  const Terminal terminal = look_at_terminal(common.color);
  const screen::Frame frame = ui::once_view(fleet, {.width = terminal.width,
                                                    .compact = compact,
                                                    .ascii = terminal.ascii,
                                                    .clock = base::format_local_time(now_ms),
                                                    .now_ms = now_ms});
  return screen::to_text(frame, terminal.depth) + "\n";
}

}  // namespace

int run_once(const CommonArguments& common, const OnceArguments& arguments) {
  const bool json = arguments.format == Format::json;
  const auto settings = load_settings();
  if (!settings) return print_error(settings.error(), json);
  print_warnings(settings->loaded.warnings);
  fleet::FleetOptions options;
  options.hello_timeout_ms = arguments.hello_timeout_ms;
  options.sample_timeout_ms = arguments.sample_timeout_ms;
  const bool remote = common.remote.value_or(settings->loaded.config.basic.remote);
  const auto collected = collect_once(*settings, remote, common.demo, options);
  if (!collected) return print_error(collected.error(), json);
  if (collected->interrupted) {
    print_error({base::ErrorKind::io, "interrupted", ""}, json);
    return kInterrupted;
  }
  if (remote && settings->loaded.config.servers.empty()) {
    print_note("no servers are configured; add some with: nvidb add, or nvidb import");
  }

  const model::FleetSnapshot& fleet = *collected->fleet;
  const std::int64_t now_ms = base::system_clock().wall_ms();
  const bool compact = common.compact || settings->loaded.config.basic.compact;
  const std::string text = json ? model::fleet_json(fleet, now_ms)
                           : arguments.format == Format::csv
                               ? model::fleet_csv(fleet)
                               : as_text(fleet, common, compact, now_ms);
  const int printed = print(text);
  // CSV has no room for a node's error, so it is told beside it.
  if (arguments.format == Format::csv) {
    for (const model::Node& node : fleet.nodes) {
      if (node.error) print_note(node.name + ": " + *node.error);
    }
  }
  const bool any_well =
      std::ranges::any_of(fleet.nodes, [](const model::Node& node) { return !node.error; });
  return printed == kDone && any_well ? kDone : kFailed;
}

}  // namespace nvidb::cli
