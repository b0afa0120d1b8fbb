// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "config/load_yaml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "config/queue_yaml.h"

namespace nvidb::config {
namespace {

using base::fail;

constexpr std::size_t kMaxServers = 10'000;
constexpr std::int64_t kMaxGpuIndex = 1023;

base::Result<void> check_jump(std::string_view text) {
  auto hops = parse_proxyjump(text);
  return hops ? base::Result<void>{} : fail(hops.error());
}

// `key` or, from older versions, `old_key`; both is an error, since one of them would be lost.
std::string_view either(MapReader& reader, std::string_view key, std::string_view old_key) {
  const YamlEntry* entry = reader.find_value(key);
  const YamlEntry* old = reader.find_value(old_key);
  if (entry != nullptr && old != nullptr) {
    reader.error(std::max(entry->key_line, old->key_line), old_key,
                 fmt::format("'{}' is given as well; keep one of them", key));
  }
  return entry == nullptr && old != nullptr ? old_key : key;
}

void read_password(Source& source, MapReader& reader, ServerConfig& server) {
  const YamlEntry* entry = reader.find_value("password");
  if (entry == nullptr) return;
  const YamlNode& node = *entry->value.node;
  const bool one_line = node.text.find_first_of("\r\n") == std::string::npos;
  if (node.kind != YamlKind::scalar || !one_line || node.text.size() > 1024) {
    reader.error(entry->key_line, "password", "one line of text is needed here",
                 "write it in quotes");
  } else if (!node.text.empty()) {
    server.password = Secret(node.text);
    if (server.auth == Auth::key) {
      source.warn(entry->key_line, fmt::format("{} is never used with auth: key; remove it",
                                               reader.path_of("password")));
    }
  }
}

void read_gpus(Source& source, MapReader& reader, ServerConfig& server) {
  const YamlEntry* entry = reader.find_value("gpus");
  if (entry == nullptr) return;
  const YamlNode& list = *entry->value.node;
  if (list.kind == YamlKind::scalar && list.text == "all") return;
  if (list.kind != YamlKind::sequence) {
    const std::string value = list.kind == YamlKind::scalar ? shown(list.text) : "a mapping";
    reader.error(entry->key_line, "gpus", fmt::format("{} is not a list of GPU indices", value),
                 "write it like [0, 1]; [] is CPU jobs only");
    return;
  }
  std::vector<int> gpus;
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const YamlNode& item = *list.items[i].node;
    const auto index = item.kind == YamlKind::scalar ? parse_whole(item.text) : std::nullopt;
    if (!index || *index > kMaxGpuIndex) {
      const std::string value = item.kind == YamlKind::scalar ? shown(item.text) : "this";
      reader.error(
          list.items[i].line, fmt::format("gpus[{}]", i),
          fmt::format("{} is not a GPU index, a whole number from 0 to {}", value, kMaxGpuIndex));
      return;
    }
    gpus.push_back(static_cast<int>(*index));
  }
  std::sort(gpus.begin(), gpus.end());
  const auto twice = std::adjacent_find(gpus.begin(), gpus.end());
  if (twice != gpus.end()) {
    source.warn(entry->key_line, fmt::format("{} names {} twice", reader.path_of("gpus"), *twice));
  }
  gpus.erase(std::unique(gpus.begin(), gpus.end()), gpus.end());
  server.gpus = std::move(gpus);
}

ServerConfig read_server(Source& source, const YamlUse& use, const std::string& path) {
  constexpr std::array<std::pair<std::string_view, Auth>, 3> kAuths = {
      {{"auto", Auth::automatic}, {"key", Auth::key}, {"password", Auth::password}}};
  ServerConfig server;
  MapReader reader(source, use, path);
  if (use.node->kind == YamlKind::null) {
    source.error(use.line, path, "the server is empty",
                 "write hostname and username, or remove the item");
    return server;
  }
  const std::string_view hostname_key = either(reader, "hostname", "host");
  const std::string_view nickname_key = either(reader, "nickname", "description");
  reader.text(hostname_key, server.hostname, check_hostname);
  reader.text("username", server.username, check_username);
  std::int64_t port = 22;
  reader.whole("port", port, 1, 65535);
  server.port = static_cast<int>(port);
  reader.optional_text(nickname_key, server.nickname, check_nickname);
  reader.word("auth", server.auth, kAuths);
  reader.optional_text("identityfile", server.identityfile, check_identityfile);
  reader.optional_text("proxyjump", server.proxyjump, check_jump);
  read_password(source, reader, server);
  read_gpus(source, reader, server);
  if (use.node->kind == YamlKind::map) {
    for (const std::string_view key : {hostname_key, std::string_view("username")}) {
      if (reader.find_value(key) == nullptr) reader.error(use.line, key, "is missing");
    }
  }
  if (server.auth == Auth::password && !server.identityfile.empty()) {
    source.warn(
        reader.find("identityfile")->key_line,
        fmt::format("{} is never used with auth: password", reader.path_of("identityfile")));
  }
  reader.finish();
  return server;
}

bool has_password(const std::vector<ServerConfig>& servers) {
  return std::any_of(servers.begin(), servers.end(),
                     [](const ServerConfig& server) { return server.password.has_value(); });
}

// Two servers under one name: the second is the error.
void check_identities(Source& source, const YamlUse& list, const std::vector<ServerConfig>& servers,
                      const std::string& path) {
  std::map<std::string, std::size_t> seen;
  for (std::size_t i = 0; i < servers.size(); ++i) {
    if (servers[i].hostname.empty() || servers[i].username.empty()) continue;  // an error already
    const auto [first, is_new] = seen.try_emplace(identity(servers[i]), i);
    if (is_new) continue;
    source.error(list.node->items[i].line, fmt::format("{}[{}]", path, i),
                 fmt::format("'{}' is also the name of {}[{}] in line {}", first->first, path,
                             first->second, list.node->items[first->second].line),
                 "give one of them another nickname");
  }
}

void warn_of_readers(Source& source, const SettingsText& file,
                     const std::vector<ServerConfig>& servers) {
  if ((file.mode & 077) == 0 || !has_password(servers)) return;
  source.warn(
      0, fmt::format("holds a password and others can read it (mode {:04o}); run: chmod 600 {}",
                     file.mode & 07777, file.name));
}

void read_config_yml(Source& source, const YamlUse& root, Config& config) {
  MapReader reader(source, root, "");
  if (const YamlEntry* basic = reader.find_value("basic")) {
    MapReader basic_reader(source, basic->value, "basic");
    basic_reader.flag("compact", config.basic.compact);
    basic_reader.flag("remote", config.basic.remote);
    basic_reader.finish();
  }
  if (const YamlEntry* view = reader.find_value("view"))
    config.view = read_view(source, view->value);
  if (const YamlEntry* list = reader.find_value("servers"))
    config.servers = read_servers(source, list->value, "servers");
  if (const YamlEntry* queue = reader.find_value("queue"))
    merge_queue(source, queue->value, config.queue);
  if (root.node->kind == YamlKind::map && root.node->find("remote") != nullptr) {
    source.warn(reader.find("remote")->key_line,
                "'remote' is ignored here; did you mean basic.remote, or remote in queue.yml");
  }
  reader.finish();
}

void read_queue_yml(Source& source, const YamlUse& root, const SettingsText& file, Config& config) {
  MapReader reader(source, root, "");
  const std::string list_key(either(reader, "servers", "nodes"));
  // A list with nothing in it is an empty list: whoever comments out the last node wants no work
  // sent anywhere.
  const YamlEntry* list = root.node->find(list_key);
  if (list == nullptr) list = root.node->find(list_key == "servers" ? "nodes" : "servers");
  if (list != nullptr) {
    config.servers = read_servers(source, list->value, list->key);
    warn_of_readers(source, file, config.servers);
  }
  if (const YamlEntry* queue = reader.find_value("queue"))
    merge_queue(source, queue->value, config.queue);
  if (const YamlEntry* remote = reader.find_value("remote"))
    config.remote = read_remote(source, remote->value);
  for (const std::string_view key : {"basic", "view"}) {
    if (const YamlEntry* entry = reader.find(key)) {
      source.warn(entry->key_line,
                  fmt::format("'{}' is ignored here; it belongs in config.yml", key));
    }
  }
  reader.finish();
}

// The list that holds the queue's servers, and the file it stands in.
struct ServerList {
  std::string file;
  YamlUse list;
};

ServerList find_list(const SettingsText& config_yml, const YamlUse& config_root,
                     const SettingsText& queue_yml, const YamlUse& queue_root) {
  for (const char* key : {"servers", "nodes"}) {
    if (const YamlEntry* entry = queue_root.node->find(key)) return {queue_yml.name, entry->value};
  }
  const YamlEntry* entry = config_root.node->find("servers");
  return entry == nullptr ? ServerList{} : ServerList{config_yml.name, entry->value};
}

// This machine as a node must not share a server's name either.
base::Result<void> check_local_name(const ServerList& list, const Config& config) {
  if (!config.queue.include_local) return {};
  for (std::size_t i = 0; i < config.servers.size(); ++i) {
    if (identity(config.servers[i]) != config.queue.local_node_name) continue;
    return fail(base::ErrorKind::invalid,
                fmt::format("{}:{}: servers[{}]: '{}' is also queue.local_node_name", list.file,
                            list.list.node->items[i].line, i, config.queue.local_node_name),
                "give one of them another name");
  }
  return {};
}

void append(std::vector<std::string>& all, std::vector<std::string> more) {
  for (std::string& one : more) all.push_back(std::move(one));
}

}  // namespace

ViewSettings read_view(Source& source, const YamlUse& use) {
  constexpr std::array<std::pair<std::string_view, ViewMode>, 2> kModes = {
      {{"nodes", ViewMode::nodes}, {"unified", ViewMode::unified}}};
  constexpr std::array<std::pair<std::string_view, ViewSort>, 3> kSorts = {
      {{"node", ViewSort::node},
       {"available", ViewSort::available},
       {"utilization", ViewSort::utilization}}};
  constexpr std::array<std::pair<std::string_view, ViewFilter>, 4> kFilters = {
      {{"all", ViewFilter::all},
       {"available", ViewFilter::available},
       {"busy", ViewFilter::busy},
       {"errors", ViewFilter::errors}}};
  ViewSettings view;
  MapReader reader(source, use, "view");
  reader.word("mode", view.mode, kModes);
  reader.flag("detailed", view.detailed);
  reader.flag("processes", view.processes);
  reader.flag("trends", view.trends);
  reader.word("sort", view.sort, kSorts);
  reader.word("filter", view.filter, kFilters);
  reader.flag("group_by_node", view.group_by_node);
  reader.flag("hide_unsupported", view.hide_unsupported);
  reader.flag("mouse", view.mouse);
  reader.finish();
  return view;
}

std::vector<ServerConfig> read_servers(Source& source, const YamlUse& list,
                                       const std::string& path) {
  std::vector<ServerConfig> servers;
  if (list.node->kind == YamlKind::null) return servers;
  if (list.node->kind != YamlKind::sequence) {
    source.error(list.line, path, "a list of servers is needed here",
                 "begin each server with '- hostname: NAME'");
    return servers;
  }
  if (list.node->items.size() > kMaxServers) {
    source.error(list.line, path, fmt::format("more than {} servers", kMaxServers));
    return servers;
  }
  for (std::size_t i = 0; i < list.node->items.size(); ++i) {
    servers.push_back(read_server(source, list.node->items[i], fmt::format("{}[{}]", path, i)));
  }
  check_identities(source, list, servers, path);
  return servers;
}

base::Result<LoadedConfig> parse_config(const SettingsText& config_yml) {
  const auto root = parse_yaml(config_yml.text, config_yml.name);
  if (!root) return fail(root.error());
  Source source(config_yml.name);
  LoadedConfig loaded;
  read_config_yml(source, *root, loaded.config);
  if (source.first_error()) return fail(*source.first_error());
  warn_of_readers(source, config_yml, loaded.config.servers);
  loaded.warnings = source.take_warnings();
  return loaded;
}

base::Result<LoadedConfig> parse_queue_config(const SettingsText& config_yml,
                                              const SettingsText& queue_yml) {
  auto loaded = parse_config(config_yml);
  if (!loaded) return loaded;
  const auto root = parse_yaml(queue_yml.text, queue_yml.name);
  if (!root) return fail(root.error());
  Source source(queue_yml.name);
  read_queue_yml(source, *root, queue_yml, loaded->config);
  if (source.first_error()) return fail(*source.first_error());
  const auto config_root = parse_yaml(config_yml.text, config_yml.name);
  if (!config_root) return fail(config_root.error());
  const auto distinct =
      check_local_name(find_list(config_yml, *config_root, queue_yml, *root), loaded->config);
  if (!distinct) return fail(distinct.error());
  append(loaded->warnings, source.take_warnings());
  return loaded;
}

}  // namespace nvidb::config
