// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
//
// `nvidb clean`: a menu. `nvidb clean all`: everything that nvidb made in its folder.
#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "base/text.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/nodes.h"
#include "cli/output.h"
#include "cli/own_files.h"
#include "cli/prompt.h"
#include "cli/servers_view.h"
#include "config/paths.h"
#include "io/ssh_sockets.h"

namespace nvidb::cli {
namespace {

using base::ErrorKind;
using base::fail;

constexpr const char* kUsageLine = "usage: nvidb clean [all] [OPTIONS]   (nvidb clean --help)";

// Why the queue's files must stay; absent where nothing stands against deleting them.
// TODO(#5): running jobs and a keeper that is up. There is no queue yet, so nothing can be running.
std::optional<std::string> queue_is_busy(const config::Paths&) {
  return {};
}

// What has been done so far, for the last word.
struct Done {
  std::vector<std::string> deleted, removed_servers, kept;
  bool home_removed = false;
};

struct House {
  config::Paths paths;
  std::string control_dir;  // "" where it lies in the home
};

base::Result<House> find_house() {
  auto paths = config::find_paths();
  if (!paths) return fail(paths.error());
  House house = {*std::move(paths), ""};
  const std::string folder =
      io::control_dir_of(house.paths.home, config::env("XDG_RUNTIME_DIR").value_or(""));
  if (folder != house.paths.home + "/ssh") house.control_dir = folder;
  return house;
}

std::string describe(const OwnFile& file) {
  if (file.is_link) return file.path() + "  (the link alone)";
  if (file.part == Part::connection) return file.path() + "  (a connection)";
  return fmt::format("{}  {}", file.path(), base::format_bytes(file.size_bytes));
}

std::string as_json(const Done& done) {
  return to_document({{"ok", true},
                      {"deleted", done.deleted},
                      {"removed_servers", done.removed_servers},
                      {"kept", done.kept},
                      {"home_removed", done.home_removed}});
}

int stop_interrupted(const CommonArguments& common) {
  print_error({ErrorKind::io, "interrupted", ""}, common.json);
  return kInterrupted;
}

// Errors: that of the first file that stays; the others are deleted all the same.
base::Result<void> delete_files(const std::vector<OwnFile>& files, Done& done) {
  base::Result<void> result;
  for (const OwnFile& file : files) {
    auto deleted = delete_own_file(file);
    if (deleted) {
      done.deleted.push_back(base::valid_utf8(file.path()));
    } else if (result) {
      result = std::move(deleted);
    }
  }
  return result;
}

// y/N and then a word that nobody types by habit. Absent: the person left.
std::optional<bool> ask_twice(const std::string& question) {
  const auto agreed = ask_yes(question, false);
  if (!agreed || !*agreed) return agreed;
  const auto word = ask("type DELETE to go on: ");
  if (!word) return {};
  return *word == "DELETE";
}

int clean_all(const CommonArguments& common, const CleanArguments& arguments) {
  if (!arguments.yes && !can_ask()) {
    return print_usage_error({"clean all needs --yes where nobody can be asked", kUsageLine},
                             common.json);
  }
  const auto house = find_house();
  if (!house) return print_error(house.error(), common.json);
  const std::string& home = house->paths.home;
  if (const auto reason = queue_is_busy(house->paths))
    return print_error({ErrorKind::busy, *reason, ""}, common.json);
  const auto files = find_own_files(home, house->control_dir);
  if (!files) return print_error(files.error(), common.json);

  if (!arguments.yes && !files->empty()) {
    say("this will be deleted:");
    for (const OwnFile& file : *files) say("  " + describe(file));
    const auto agreed = ask_twice(fmt::format("delete these {} files?", files->size()));
    if (!agreed) return stop_interrupted(common);
    if (!*agreed) return print_error({ErrorKind::conflict, "nothing was deleted", ""}, common.json);
  }
  Done done;
  const auto deleted = delete_files(*files, done);
  done.kept = remove_empty_folders(home, house->control_dir, !done.deleted.empty());
  std::error_code code;
  done.home_removed = !std::filesystem::exists(home, code);
  for (std::string& name : done.kept) name = base::valid_utf8(name);
  if (!deleted) return print_error(deleted.error(), common.json);
  if (common.json) return print(as_json(done));

  std::string text;
  const auto add_line = [&](const std::string& line) { text += base::printable(line) + "\n"; };
  for (const std::string& path : done.deleted) add_line("deleted " + path);
  if (done.deleted.empty()) add_line("nothing of nvidb's was in " + home);
  if (!done.kept.empty()) {
    add_line(fmt::format("kept {}, for what else is in it:", home));
    for (const std::string& name : done.kept) add_line("  " + name);
  }
  return print(text);
}

// ---- the menu ----

std::vector<OwnFile> of_part(const std::vector<OwnFile>& files, std::string_view database) {
  std::vector<OwnFile> found;
  for (const OwnFile& file : files) {
    const bool is_there = file.in_home && file.name.starts_with(database);
    if (is_there) found.push_back(file);
  }
  return found;
}

std::string with_size(const char* what, const std::vector<OwnFile>& files) {
  std::int64_t size_bytes = 0;
  for (const OwnFile& file : files) size_bytes += file.size_bytes;
  return fmt::format("{} ({}, {})", what, files.front().path(), base::format_bytes(size_bytes));
}

// An action of the menu: false where the person left.
using Action = std::function<bool(Done&)>;
struct Entry {
  std::string text;
  Action action;
};

bool remove_servers(const std::string& path, const std::vector<config::ServerConfig>& servers,
                    Done& done) {
  for (std::size_t i = 0; i < servers.size(); ++i) {
    say(fmt::format("{:>3}  {}  {}", i + 1, config::identity(servers[i]), how_reached(servers[i])));
  }
  const auto text = ask("remove which? (1,3-5; a for all; Enter for none) ");
  if (!text) return false;
  const auto chosen = parse_choice(*text, servers.size());
  if (!chosen) {
    say("  " + base::to_text(chosen.error()));
    return true;
  }
  if (chosen->empty()) return true;
  std::vector<std::string> names;
  for (const std::size_t i : *chosen) names.push_back(config::identity(servers[i]));
  const auto agreed = ask_yes(
      fmt::format("remove {} of {} servers from {}?", names.size(), servers.size(), path), false);
  if (!agreed) return false;
  if (!*agreed) return true;
  const auto removed = config::remove_servers(path, names);
  if (!removed) {
    say("  " + base::to_text(removed.error()));
    return true;
  }
  done.removed_servers.insert(done.removed_servers.end(), names.begin(), names.end());
  say(fmt::format("  removed {} {}", names.size(), names.size() == 1 ? "server" : "servers"));
  return true;
}

bool delete_database(const std::vector<OwnFile>& files, bool is_queue, const config::Paths& paths,
                     Done& done) {
  if (const auto reason = is_queue ? queue_is_busy(paths) : std::nullopt) {
    say("  " + *reason);
    return true;
  }
  for (const OwnFile& file : files) say("  " + describe(file));
  const auto agreed = is_queue ? ask_twice("delete the queue with all its jobs?")
                               : ask_yes("delete the GPU log?", false);
  if (!agreed) return false;
  if (!*agreed) return true;
  const auto deleted = delete_files(files, done);
  say(deleted ? "  deleted" : "  " + base::to_text(deleted.error()));
  return true;
}

// What there is at this moment. Errors: those of find_own_files().
base::Result<std::vector<Entry>> entries(const House& house) {
  const auto files = find_own_files(house.paths.home, house.control_dir);
  if (!files) return fail(files.error());
  std::vector<Entry> menu;
  const std::string& path = house.paths.config_yml;
  const auto loaded = config::load_config(path);
  if (!loaded) {
    say("  " + base::to_text(loaded.error()));
  } else if (const auto& servers = loaded->config.servers; !servers.empty()) {
    menu.push_back({fmt::format("remove servers ({} in {})", servers.size(), path),
                    [path, servers](Done& done) { return remove_servers(path, servers, done); }});
  }
  if (const auto log = of_part(*files, "gpu_log.db"); !log.empty()) {
    menu.push_back({with_size("delete the GPU log", log), [log, house](Done& done) {
                      return delete_database(log, false, house.paths, done);
                    }});
  }
  if (const auto queue = of_part(*files, "queue.db"); !queue.empty()) {
    menu.push_back({with_size("delete the queue's database", queue), [queue, house](Done& done) {
                      return delete_database(queue, true, house.paths, done);
                    }});
  }
  return menu;
}

int finish(const CommonArguments& common, const Done& done) {
  return common.json ? print(as_json(done)) : kDone;
}

int show_menu(const CommonArguments& common) {
  if (!can_ask()) {
    return print_usage_error(
        {"clean needs a terminal; 'clean all --yes' deletes everything without one", kUsageLine},
        common.json);
  }
  const auto house = find_house();
  if (!house) return print_error(house.error(), common.json);
  Done done;
  for (;;) {
    const auto menu = entries(*house);
    if (!menu) return print_error(menu.error(), common.json);
    if (menu->empty()) {
      say("nothing to clean in " + house->paths.home);
      return finish(common, done);
    }
    say("");
    for (std::size_t i = 0; i < menu->size(); ++i)
      say(fmt::format("{:>3}  {}", i + 1, (*menu)[i].text));
    say("  0  leave");
    const auto answer = ask("> ");
    if (!answer) return stop_interrupted(common);
    if (*answer == "0" || answer->empty()) return finish(common, done);
    const auto chosen = parse_choice(*answer, menu->size());
    if (!chosen || chosen->size() != 1) {
      say(fmt::format("  type one number from 0 to {}", menu->size()));
    } else if (!(*menu)[chosen->front()].action(done)) {
      return stop_interrupted(common);
    }
  }
}

}  // namespace

int run_clean(const CommonArguments& common, const CleanArguments& arguments) {
  return arguments.all ? clean_all(common, arguments) : show_menu(common);
}

}  // namespace nvidb::cli
