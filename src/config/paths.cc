// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "config/paths.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>

namespace nvidb::config {
namespace {

using base::ErrorKind;
using base::fail;

bool is_readable(const std::string& path) {
  return ::access(path.c_str(), R_OK) == 0;
}

std::optional<std::string> home_of_user() {
  if (const auto home = env("HOME")) return home;
  std::array<char, 4096> buffer;
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found) != 0 ||
      found == nullptr)
    return {};
  return std::string(entry.pw_dir);
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

}  // namespace

std::optional<std::string> env(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return {};
  return std::string(value);
}

std::string expand_home(const std::string& path) {
  if (path != "~" && !path.starts_with("~/")) return path;
  const auto home = home_of_user();
  return home ? *home + path.substr(1) : path;
}

base::Result<Paths> find_paths() {
  Paths paths;
  if (const auto home = env("NVIDB_HOME")) {
    paths.home = expand_home(*home);
  } else if (const auto user_home = home_of_user()) {
    paths.home = *user_home + "/.nvidb";
  } else {
    return fail(ErrorKind::invalid, "this user has no home directory",
                "set NVIDB_HOME to a folder of yours");
  }
  while (paths.home.size() > 1 && paths.home.ends_with('/')) paths.home.pop_back();
  paths.config_yml = paths.home + "/config.yml";
  paths.queue_yml = expand_home(env("NVIDB_QUEUE_CONFIG").value_or(paths.home + "/queue.yml"));
  paths.queue_db = expand_home(env("NVIDB_QUEUE_DB").value_or(paths.home + "/queue.db"));
  paths.gpu_log_db = paths.home + "/gpu_log.db";
  return paths;
}

std::string self_path() {
  std::array<char, PATH_MAX> buffer;
  const ssize_t count = ::readlink("/proc/self/exe", buffer.data(), buffer.size());
  return count > 0 ? std::string(buffer.data(), static_cast<std::size_t>(count)) : "nvidb";
}

base::Result<DemoFiles> find_demo_files() {
  const std::string program_dir = directory_of(self_path());
  // Beside the program in a build tree, PREFIX/lib for PREFIX/bin when installed.
  const std::array<std::string, 2> folders = {program_dir + "/lib/nvidb/sim",
                                              program_dir + "/../lib/nvidb/sim"};
  for (const std::string& folder : folders) {
    DemoFiles files{folder + "/libnvidia-ml.so.1", folder + "/profiles/demo.json"};
    if (is_readable(files.nvml_path) && is_readable(files.scenario_path)) return files;
  }
  return fail(ErrorKind::not_found,
              fmt::format("the simulator is neither in {} nor in {}", folders[0], folders[1]),
              "build or install nvidb again: ./dev build");
}

}  // namespace nvidb::config
