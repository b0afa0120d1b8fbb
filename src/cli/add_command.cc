// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
//
// `nvidb add`: one more server in config.yml, asked for, tried and confirmed.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/nodes.h"
#include "cli/output.h"
#include "cli/prompt.h"
#include "cli/server_answers.h"
#include "cli/servers_view.h"
#include "cli/try_server.h"

namespace nvidb::cli {
namespace {

using base::ErrorKind;

constexpr const char* kUsageLine = "usage: nvidb add [OPTIONS]   (nvidb add --help)";

// What a step of the dialogue came to: nothing to go on, or the exit code that ends it.
using Stop = std::optional<int>;

int stop_interrupted(const CommonArguments& common) {
  print_error({ErrorKind::io, "interrupted, nothing was written", ""}, common.json);
  return kInterrupted;
}

int stop_unwanted(const CommonArguments& common) {
  return print_error({ErrorKind::conflict, "nothing was written", ""}, common.json);
}

Stop collect_answers(const CommonArguments& common, const AddArguments& arguments, bool asks,
                     const std::vector<config::ServerConfig>& servers,
                     config::ServerConfig& server) {
  const auto stop = [&](const base::Error& error) {
    if (error.kind != ErrorKind::invalid) return print_error(error, common.json);
    return print_usage_error({base::to_text(error), kUsageLine}, common.json);
  };
  if (asks) {
    auto answered = ask_for_server(arguments.answers, servers);
    if (!answered) return stop(answered.error());
    if (!*answered) return stop_interrupted(common);
    server = **std::move(answered);
  } else {
    auto made = server_from(arguments.answers);
    if (!made) return stop(made.error());
    server = *std::move(made);
  }
  if (const auto good = refuse_duplicate(server, servers); !good) return stop(good.error());
  return {};
}

// A login that fails is no reason against a server that is only down: the person decides.
Stop try_login(const CommonArguments& common, const AddArguments& arguments, bool asks,
               const config::ServerConfig& server, std::optional<Found>& found) {
  const auto program = ssh_program();
  if (!program) return print_error(program.error(), common.json);
  if (can_ask()) say(fmt::format("trying {} ...", how_reached(server)));
  base::Result<Found> tried;
  {
    const HoldInterrupt hold;
    tried = try_server(server, *program, can_ask());
    if (hold.happened()) return stop_interrupted(common);
  }
  if (tried) {
    found = *std::move(tried);
    return {};
  }
  if (arguments.yes) {
    print_warnings({base::to_text(tried.error()) + "; added all the same"});
    return {};
  }
  if (!asks) return print_error(tried.error(), common.json);
  say("  " + base::to_text(tried.error()));
  const auto anyway = ask_yes("add it all the same?", false);
  if (!anyway) return stop_interrupted(common);
  return *anyway ? Stop() : stop_unwanted(common);
}

// Only where the person wants it; without one nvidb asks whenever it needs it.
Stop ask_for_password(const CommonArguments& common, const std::string& path,
                      config::ServerConfig& server) {
  if (server.auth != config::Auth::password) return {};
  say("nvidb asks for the password when it needs it. It can also be stored, but then as plain");
  say(fmt::format("text, for everyone who can read {} (and its backups)", path));
  const auto stores = ask_yes("store the password?", false);
  if (!stores) return stop_interrupted(common);
  if (!*stores) return {};
  const auto password = ask_secret("password (not shown): ");
  if (password && !password->empty()) server.password = config::Secret(*password);
  return {};
}

Stop confirm(const CommonArguments& common, const std::string& path,
             const config::ServerConfig& server) {
  say(fmt::format("{}: {}, auth {}{}", config::identity(server), how_reached(server),
                  config::to_word(server.auth),
                  server.identityfile.empty() ? "" : ", key " + server.identityfile));
  const auto agreed = ask_yes(fmt::format("add it to {}?", path), true);
  if (!agreed) return stop_interrupted(common);
  return *agreed ? Stop() : stop_unwanted(common);
}

nlohmann::ordered_json found_json(const std::optional<Found>& found) {
  if (!found) return nullptr;
  return {
      {"system", found->system},
      {"collector", found->collector ? nlohmann::ordered_json(model::to_string(*found->collector))
                                     : nlohmann::ordered_json(nullptr)},
      {"nvidia_smi", found->has_nvidia_smi}};
}

}  // namespace

int run_add(const CommonArguments& common, const AddArguments& arguments) {
  const auto settings = load_settings();
  if (!settings) return print_error(settings.error(), common.json);
  print_warnings(settings->loaded.warnings);
  const std::string& path = settings->paths.config_yml;
  const bool asks = can_ask() && !arguments.yes;

  config::ServerConfig server;
  std::optional<Found> found;
  const auto& servers = settings->loaded.config.servers;
  if (const Stop stop = collect_answers(common, arguments, asks, servers, server)) return *stop;
  if (!arguments.no_test) {
    if (const Stop stop = try_login(common, arguments, asks, server, found)) return *stop;
  }
  if (asks) {
    if (found) say("  " + to_text(*found));
    if (const Stop stop = ask_for_password(common, path, server)) return *stop;
    if (const Stop stop = confirm(common, path, server)) return *stop;
  }
  if (const auto added = config::add_servers(path, {server}); !added) {
    return print_error(added.error(), common.json);
  }
  print_warnings(password_warnings({server}, path));
  if (common.json) {
    return print(
        to_document({{"ok", true}, {"server", server_json(server)}, {"found", found_json(found)}}));
  }
  const std::string text = fmt::format("added {} to {}{}", config::identity(server), path,
                                       found && !asks ? ": " + to_text(*found) : "");
  return print(base::printable(text) + "\n");
}

}  // namespace nvidb::cli
