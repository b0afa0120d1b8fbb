// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
//
// `nvidb info`: where files are, their sizes, versions, which NVML was found.
#include <fmt/format.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "base/units.h"
#include "base/version.h"
#include "cli/collect.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/servers_view.h"
#include "config/paths.h"

namespace nvidb::cli {
namespace {

struct FileInfo {
  const char* key;
  std::string path;
  std::optional<std::int64_t> size_bytes;  // absent: not there
};

std::vector<FileInfo> look_at_files(const config::Paths& paths) {
  std::vector<FileInfo> files = {{"config", paths.config_yml, {}},
                                 {"queue_config", paths.queue_yml, {}},
                                 {"queue_db", paths.queue_db, {}},
                                 {"gpu_log_db", paths.gpu_log_db, {}},
                                 {"alerts_log", paths.home + "/alerts.log", {}}};
  for (FileInfo& file : files) {
    struct stat status {};
    if (::stat(file.path.c_str(), &status) == 0) file.size_bytes = status.st_size;
  }
  return files;
}

std::string as_json(const config::Paths& paths, const std::vector<FileInfo>& files,
                    const model::Node& node, const std::vector<config::ServerConfig>& servers) {
  using Json = nlohmann::ordered_json;
  const auto or_null = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
  Json list = Json::array();
  for (const FileInfo& file : files) {
    list.push_back(
        {{"name", file.key}, {"path", file.path}, {"size_bytes", or_null(file.size_bytes)}});
  }
  const Json document = {{"schema", 1},
                         {"version", base::version()},
                         {"home", paths.home},
                         {"files", list},
                         {"program", config::self_path()},
                         {"servers", servers_json(servers)},
                         {"node",
                          {{"name", node.name},
                           {"error", or_null(node.error)},
                           {"simulated", node.simulated},
                           {"source", model::to_string(node.source)},
                           {"nvml_path", or_null(node.nvml_path)},
                           {"nvml_version", or_null(node.nvml_version)},
                           {"driver_version", or_null(node.driver_version)},
                           {"cuda_version", or_null(node.cuda_version)},
                           {"gpu_count", node.gpus.size()}}}};
  return to_document(document);
}

std::string as_text(const config::Paths& paths, const std::vector<FileInfo>& files,
                    const model::Node& node) {
  std::string text = fmt::format("nvidb {}\n\n", base::version());
  text += fmt::format("{:<13} {}\n", "program", config::self_path());
  text += fmt::format("{:<13} {}\n", "home", paths.home);
  for (const FileInfo& file : files) {
    text += fmt::format("{:<13} {}  {}\n", file.key, file.path,
                        file.size_bytes ? base::format_bytes(*file.size_bytes) : "not there");
  }
  text += fmt::format("\n{:<13} {}{}\n", "machine", node.name, node.simulated ? "  SIMULATED" : "");
  text += fmt::format("{:<13} {}\n", "source", model::to_string(node.source));
  if (node.nvml_path) {
    text += fmt::format("{:<13} {}  {}\n", "nvml", *node.nvml_path,
                        node.nvml_version.value_or("version unknown"));
  } else {
    text += fmt::format("{:<13} not found\n", "nvml");
  }
  text += fmt::format("{:<13} {}\n", "driver", node.driver_version.value_or("none"));
  text += fmt::format("{:<13} {}\n", "cuda", node.cuda_version.value_or("none"));
  text += fmt::format("{:<13} {}\n", "gpus", node.gpus.size());
  if (node.error) text += fmt::format("{:<13} {}\n", "error", *node.error);
  std::string safe;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    safe += base::printable(std::string_view(text).substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return safe;
}

std::string servers_text(const std::vector<config::ServerConfig>& servers,
                         const Terminal& terminal) {
  if (servers.empty()) return "\nservers       none (nvidb add, nvidb import)\n";
  return fmt::format("\nservers       {}\n{}", servers.size(),
                     servers_table(servers, false, terminal));
}

}  // namespace

int run_info(const CommonArguments& common, const InfoArguments& arguments) {
  const auto settings = load_settings();
  if (!settings) return print_error(settings.error(), common.json);
  print_warnings(settings->loaded.warnings);
  const config::Paths& paths = settings->paths;
  const auto& servers = settings->loaded.config.servers;
  print_warnings(password_warnings(servers, paths.config_yml));
  fleet::FleetOptions options;
  options.sample_timeout_ms = arguments.sample_timeout_ms;
  options.hello_timeout_ms = std::min(options.hello_timeout_ms, arguments.sample_timeout_ms);
  const auto collected = collect_once(*settings, false, common.demo, options);
  if (!collected) return print_error(collected.error(), common.json);
  if (collected->interrupted) {
    print_error({base::ErrorKind::io, "interrupted", ""}, common.json);
    return kInterrupted;
  }
  const model::Node& node = collected->fleet->nodes.front();
  const auto files = look_at_files(paths);
  return print(common.json ? as_json(paths, files, node, servers)
                           : as_text(paths, files, node) +
                                 servers_text(servers, look_at_terminal(common.color)));
}

}  // namespace nvidb::cli
