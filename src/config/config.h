// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// The user's settings as plain values: config.yml and queue.yml in, and the few changes nvidb
// itself writes back.
//
// Loading checks everything at once, so that nobody later meets a wrong value: every error names
// file, line, key and what is allowed. Unknown keys are warnings. No message ever holds a password.
// Any thread; no global state.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/view_settings.h"

namespace nvidb::config {

struct BasicSettings {
  bool compact = false;
  bool remote = false;

  bool operator==(const BasicSettings&) const = default;
};

// The layout that the monitor writes back with save_view().
using model::ViewFilter;
using model::ViewMode;
using model::ViewSettings;
using model::ViewSort;

// A word that must not be shown. It has no face for fmt or streams, so that printing it takes a
// visible reveal().
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string word) : word_(std::move(word)) {}
  const std::string& reveal() const { return word_; }

  bool operator==(const Secret&) const = default;

 private:
  std::string word_;
};

enum class Auth { automatic, key, password };  // `auto` is a word of the language

struct ServerConfig {
  std::string hostname;
  int port = 22;
  std::string username;
  std::string nickname;  // "" = none
  Auth auth = Auth::automatic;
  std::string identityfile;  // as written, `~` not expanded; "" = none
  std::optional<Secret> password;
  std::string proxyjump;  // "" = what the user's ssh says, "none" = direct
  std::optional<std::vector<int>>
      gpus;  // ascending, no index twice; absent = all, empty = CPU jobs only

  bool operator==(const ServerConfig&) const = default;
};

// What a node is called everywhere: its nickname, else `user@host:port` (an IPv6 address in
// brackets).
std::string identity(const ServerConfig& server);

enum class Severity { warning, error };

struct NotifySettings {
  bool enabled = true;
  bool desktop = true;
  bool log = true;
  std::string command;  // run by sh with the alert as JSON on stdin; "" = none
  Severity min_severity = Severity::warning;

  bool operator==(const NotifySettings&) const = default;
};

struct BackupSettings {
  bool enabled = false;
  std::int64_t interval_hours = 24;
  std::int64_t keep = 7;
  std::string directory;  // "" = NVIDB_HOME/backups

  bool operator==(const BackupSettings&) const = default;
};

enum class Placement { spread, pack };
enum class CudaDevices { index, uuid };

struct QueueSettings {
  std::int64_t headroom_mb = 512;
  std::int64_t max_jobs_per_gpu = 4;
  std::int64_t max_cpu_jobs_per_node = 4;  // 0 = no limit
  Placement placement = Placement::spread;
  std::int64_t default_vram_mb = 0;
  std::int64_t tick_min_interval_ms = 3'000;
  std::int64_t lock_ttl_ms = 180'000;
  std::int64_t probe_timeout_ms = 25'000;
  std::int64_t launch_timeout_ms = 60'000;
  std::string job_root = ".nvidb/jobs";  // relative to the node's $HOME
  std::int64_t starvation_after_ms = 3'600'000;
  std::int64_t keep_days = 0;  // 0 = for ever
  CudaDevices cuda_devices = CudaDevices::index;
  bool include_local = false;
  std::string local_node_name = "local";
  BackupSettings backup;
  NotifySettings notify;

  bool operator==(const QueueSettings&) const = default;
};

enum class Keeper { ensure, off };

// `remote:` of queue.yml: queue commands are forwarded to this host.
struct RemoteQueue {
  std::string host;
  std::optional<int> port;  // absent = what the user's ssh says
  std::string username;     // "" = what the user's ssh says
  std::string nvidb = "nvidb";
  Keeper keeper = Keeper::ensure;
  std::string nvidb_home;                // "" = the host's default
  std::vector<std::string> ssh_options;  // each one an argument of ssh, in order

  bool operator==(const RemoteQueue&) const = default;
};

struct Config {
  BasicSettings basic;
  ViewSettings view;
  std::vector<ServerConfig> servers;  // in the order of the file; identities differ
  QueueSettings queue;
  std::optional<RemoteQueue> remote;  // from queue.yml only

  bool operator==(const Config&) const = default;
};

// Each warning is one line for stderr.
struct LoadedConfig {
  Config config;
  std::vector<std::string> warnings;
};

// config.yml alone, for the monitor. A missing file gives the defaults.
// Errors: invalid (`PATH:LINE: KEY: ...`), refused or io where it cannot be read.
base::Result<LoadedConfig> load_config(const std::string& config_path);

// What the queue uses: config.yml with queue.yml over it. queue.yml's `servers` (or `nodes`)
// replaces the list, its `queue` is merged key by key, `remote` comes from it. Absent or empty:
// config.yml serves both. Errors as load_config; an error in either file is an error, since every
// server listed is a place work may be sent.
base::Result<LoadedConfig> load_queue_config(const std::string& config_path,
                                             const std::string& queue_path);

// Changes when a file does: another value means load it again. A missing file has a stamp as well.
struct FileStamp {
  std::int64_t device = 0, inode = 0, size_bytes = -1, modified_ns = 0;

  bool operator==(const FileStamp&) const = default;
};
FileStamp stamp_of(const std::string& path);

// One answer of a person or one value of a file. Errors: invalid, `'VALUE' is not a ...`, with what
// is allowed.
base::Result<void> check_hostname(
    std::string_view text);  // name, IPv4 or bare IPv6; nothing ssh could take for an option
base::Result<void> check_username(std::string_view text);
base::Result<void> check_nickname(std::string_view text);
base::Result<void> check_identityfile(std::string_view text);
base::Result<int> parse_port(std::string_view text);  // 1..65535
base::Result<Auth> parse_auth(std::string_view text);
const char* to_word(Auth auth);

// One hop of ProxyJump; port 0 and an empty user are what the user's ssh says.
struct JumpHop {
  std::string user, host;
  int port = 0;

  bool operator==(const JumpHop&) const = default;
};
// `none` is no hops; else `[user@]host[:port]` or `ssh://[user@]host[:port]`, by commas, IPv6 in
// brackets, at most 16.
base::Result<std::vector<JumpHop>> parse_proxyjump(std::string_view text);

// The changes below keep every other byte of the file, comments included, its mode, and a symlink a
// symlink. A missing file is made (0600, its folder 0700). Errors: invalid (the file does not
// load), conflict (it cannot be changed safely: the hint holds what to write by hand; or it kept
// changing meanwhile), busy, refused, io.

// Replaces the values of the `view` block that differ.
base::Result<void> save_view(const std::string& path, const ViewSettings& view);

// Appends to the list in this order. Also conflict: an identity is there already.
base::Result<void> add_servers(const std::string& path, const std::vector<ServerConfig>& servers);

// Removes by identity; comments between the items stay. Also not_found: no such identity (nothing
// is removed then).
base::Result<void> remove_servers(const std::string& path,
                                  const std::vector<std::string>& identities);

}  // namespace nvidb::config
