// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors

// The edge of config.h: settings files of this machine.
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "config/config.h"
#include "config/edit_yaml.h"
#include "config/load_yaml.h"
#include "config/replace_file.h"
#include "config/yaml_tree.h"
#include "io/files.h"

namespace nvidb::config {
namespace {

using base::ErrorKind;
using base::fail;

// A missing file is an empty one. Only regular files: opening a pipe or a terminal could wait for
// ever.
base::Result<SettingsText> read_settings(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return SettingsText{path, "", 0600};
    const ErrorKind kind = errno == EACCES ? ErrorKind::refused : ErrorKind::io;
    return fail(kind, fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  }
  if (path == "/dev/null") return SettingsText{path, "", 0600};
  if (!S_ISREG(status.st_mode))
    return fail(ErrorKind::invalid, fmt::format("{} is not a file", path));
  auto text = io::read_file(path, kMaxYamlBytes);
  if (!text && text.error().kind == ErrorKind::not_found) return SettingsText{path, "", 0600};
  if (!text) return fail(text.error());
  return SettingsText{path, std::move(*text), status.st_mode & 07777u};
}

}  // namespace

base::Result<LoadedConfig> load_config(const std::string& config_path) {
  const auto config_yml = read_settings(config_path);
  if (!config_yml) return fail(config_yml.error());
  return parse_config(*config_yml);
}

base::Result<LoadedConfig> load_queue_config(const std::string& config_path,
                                             const std::string& queue_path) {
  const auto config_yml = read_settings(config_path);
  if (!config_yml) return fail(config_yml.error());
  const auto queue_yml = read_settings(queue_path);
  if (!queue_yml) return fail(queue_yml.error());
  return parse_queue_config(*config_yml, *queue_yml);
}

FileStamp stamp_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  constexpr std::int64_t kNsPerS = 1'000'000'000;
  return {static_cast<std::int64_t>(status.st_dev), static_cast<std::int64_t>(status.st_ino),
          status.st_size, status.st_mtim.tv_sec * kNsPerS + status.st_mtim.tv_nsec};
}

base::Result<void> save_view(const std::string& path, const ViewSettings& view) {
  return edit_file(path, [&](const std::string& text) { return set_view(text, path, view); });
}

base::Result<void> add_servers(const std::string& path, const std::vector<ServerConfig>& servers) {
  return edit_file(path,
                   [&](const std::string& text) { return append_servers(text, path, servers); });
}

base::Result<void> remove_servers(const std::string& path,
                                  const std::vector<std::string>& identities) {
  return edit_file(path,
                   [&](const std::string& text) { return cut_servers(text, path, identities); });
}

}  // namespace nvidb::config
