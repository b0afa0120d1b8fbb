// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "config/queue_yaml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "config/load_yaml.h"

namespace nvidb::config {
namespace {

using base::ErrorKind;
using base::fail;

constexpr std::int64_t kDayS = 86'400;
constexpr std::int64_t kMaxDays = 36'500;
constexpr std::size_t kMaxSshOptions = 64;

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

base::Result<void> check_line(std::string_view text) {
  if (!text.empty() && !has_control(text)) return {};
  return fail(ErrorKind::invalid, fmt::format("{} is not one line of text", shown(text)));
}

// A folder below the node's home: jobs of several clients must agree on it, and nothing may lead
// out of it.
base::Result<void> check_job_root(std::string_view text) {
  bool climbs = false;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find('/', start), text.size());
    climbs = climbs || text.substr(start, end - start) == "..";
    start = end + 1;
  }
  const bool leaves_home = text.starts_with('/') || text.starts_with('~') || text.starts_with('-');
  if (!text.empty() && !climbs && !leaves_home && !has_control(text)) return {};
  return fail(ErrorKind::invalid,
              fmt::format("{} is not a folder relative to the node's $HOME", shown(text)),
              "write it like .nvidb/jobs, without .. and ~");
}

// `key: true` is short for `key: {enabled: true}`. True where the value was such a word or absent.
bool read_switch(MapReader& reader, std::string_view key, bool& enabled) {
  const YamlEntry* entry = reader.find_value(key);
  if (entry == nullptr) return true;
  if (entry->value.node->kind == YamlKind::map) return false;
  const YamlNode& node = *entry->value.node;
  const auto word =
      node.kind == YamlKind::scalar && !node.quoted ? parse_bool_word(node.text) : std::nullopt;
  if (word) {
    enabled = *word;
  } else {
    reader.error(entry->key_line, key,
                 node.kind == YamlKind::scalar
                     ? fmt::format("{} is not true, false or a mapping", shown(node.text))
                     : "a list is not true, false or a mapping");
  }
  return true;
}

void merge_backup(Source& source, MapReader& queue, BackupSettings& backup) {
  if (read_switch(queue, "backup", backup.enabled)) return;
  const YamlEntry& entry = *queue.find("backup");
  MapReader reader(source, entry.value, queue.path_of("backup"));
  reader.flag("enabled", backup.enabled);
  reader.whole("interval_hours", backup.interval_hours, 1, 24 * kMaxDays);
  reader.whole("keep", backup.keep, 1, 10'000);
  reader.optional_text("directory", backup.directory, check_line);
  if (!backup.enabled && reader.find("enabled") == nullptr) {
    source.warn(entry.key_line,
                "queue.backup has settings but no 'enabled: true', so no backups are made");
  }
  reader.finish();
}

void merge_notify(Source& source, MapReader& queue, NotifySettings& notify) {
  constexpr std::array<std::pair<std::string_view, Severity>, 2> kSeverities = {
      {{"warning", Severity::warning}, {"error", Severity::error}}};
  if (read_switch(queue, "notify", notify.enabled)) return;
  MapReader reader(source, queue.find("notify")->value, queue.path_of("notify"));
  reader.flag("enabled", notify.enabled);
  reader.flag("desktop", notify.desktop);
  reader.flag("log", notify.log);
  reader.optional_text("command", notify.command);
  reader.word("min_severity", notify.min_severity, kSeverities);
  reader.finish();
}

void read_ssh_options(MapReader& reader, std::vector<std::string>& options) {
  const YamlEntry* entry = reader.find_value("ssh_options");
  if (entry == nullptr) return;
  const YamlNode& list = *entry->value.node;
  if (list.kind != YamlKind::sequence) {
    reader.error(entry->key_line, "ssh_options", "a list of arguments for ssh is needed here",
                 "write it like [\"-J\", login]");
    return;
  }
  if (list.items.size() > kMaxSshOptions) {
    reader.error(entry->key_line, "ssh_options",
                 fmt::format("more than {} arguments", kMaxSshOptions));
    return;
  }
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const YamlNode& item = *list.items[i].node;
    const std::string key = fmt::format("ssh_options[{}]", i);
    if (item.kind != YamlKind::scalar || !check_line(item.text)) {
      reader.error(list.items[i].line, key, "one line of text is needed here");
    } else {
      options.push_back(item.text);
    }
  }
}

}  // namespace

void merge_queue(Source& source, const YamlUse& queue, QueueSettings& settings) {
  constexpr std::array<std::pair<std::string_view, Placement>, 2> kPlacements = {
      {{"spread", Placement::spread}, {"pack", Placement::pack}}};
  constexpr std::array<std::pair<std::string_view, CudaDevices>, 2> kCudaDevices = {
      {{"index", CudaDevices::index}, {"uuid", CudaDevices::uuid}}};
  MapReader reader(source, queue, "queue");
  reader.size("headroom_mb", settings.headroom_mb);
  reader.whole("max_jobs_per_gpu", settings.max_jobs_per_gpu, 1, 10'000);
  reader.whole("max_cpu_jobs_per_node", settings.max_cpu_jobs_per_node, 0, 10'000);
  reader.word("placement", settings.placement, kPlacements);
  reader.size("default_vram", settings.default_vram_mb);
  reader.seconds("tick_min_interval", settings.tick_min_interval_ms, 0, 3600);
  reader.seconds("lock_ttl", settings.lock_ttl_ms, 1, kDayS);
  reader.seconds("probe_timeout", settings.probe_timeout_ms, 1, 3600);
  reader.seconds("launch_timeout", settings.launch_timeout_ms, 1, 3600);
  reader.text("job_root", settings.job_root, check_job_root);
  reader.seconds("starvation_after", settings.starvation_after_ms, 0, kMaxDays * kDayS);
  reader.whole("keep_days", settings.keep_days, 0, kMaxDays);
  reader.word("cuda_devices", settings.cuda_devices, kCudaDevices);
  reader.flag("include_local", settings.include_local);
  reader.text("local_node_name", settings.local_node_name, check_nickname);
  merge_backup(source, reader, settings.backup);
  merge_notify(source, reader, settings.notify);
  reader.finish();
}

RemoteQueue read_remote(Source& source, const YamlUse& use) {
  constexpr std::array<std::pair<std::string_view, Keeper>, 2> kKeepers = {
      {{"ensure", Keeper::ensure}, {"off", Keeper::off}}};
  RemoteQueue remote;
  MapReader reader(source, use, "remote");
  reader.text("host", remote.host, check_hostname);
  if (use.node->kind == YamlKind::map && reader.find_value("host") == nullptr) {
    reader.error(use.line, "host", "the queue host is missing", "add 'host: NAME'");
  }
  std::int64_t port = 0;
  reader.whole("port", port, 1, 65535);
  if (port != 0) remote.port = static_cast<int>(port);
  reader.optional_text("username", remote.username, check_username);
  reader.text("nvidb", remote.nvidb, check_line);
  reader.word("keeper", remote.keeper, kKeepers);
  reader.optional_text("nvidb_home", remote.nvidb_home, check_line);
  read_ssh_options(reader, remote.ssh_options);
  reader.finish();
  return remote;
}

}  // namespace nvidb::config
