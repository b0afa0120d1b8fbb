// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
// The document of `nvidb --once --json`; docs/json.md tells what each key means.
#include <algorithm>

#include "base/clock.h"
#include "base/version.h"
#include "model/gpu_columns.h"
#include "model/json.h"
#include "model/json_writer.h"

namespace nvidb::model {
namespace {

constexpr std::int64_t kSchema = 1;

// Every key is always there; what is unknown is null.
class Document {
 public:
  void open() { json_.begin_object(); }
  void open(std::string_view key) {
    json_.key(key);
    json_.begin_object();
  }
  void close() { json_.end_object(); }
  void open_list(std::string_view key) {
    json_.key(key);
    json_.begin_array();
  }
  void close_list() { json_.end_array(); }

  void text(std::string_view key, std::string_view value) {
    json_.key(key);
    json_.text(value);
  }
  void flag(std::string_view key, bool value) {
    json_.key(key);
    json_.boolean(value);
  }
  template <class Value>
  void column(std::string_view key, const std::optional<Value>& value) {
    json_.key(key);
    if (value) {
      put(*value);
    } else {
      json_.null();
    }
  }
  void column(std::string_view key, const std::vector<std::string>& words) {
    open_list(key);
    for (const std::string& word : words) json_.text(word);
    close_list();
  }

  std::string take() { return json_.take() + '\n'; }

 private:
  void put(std::int64_t value) { json_.integer(value); }
  void put(double value) { json_.decimal(value); }
  void put(bool value) { json_.boolean(value); }
  void put(const std::string& value) { json_.text(value); }

  JsonWriter json_{JsonWriter::Style::pretty};
};

void write_users(Document& json, const std::vector<UserVram>& users) {
  json.open_list("users");
  for (const UserVram& user : users) {
    json.open();
    json.text("user", user.user);
    json.column("mem_mb", std::optional(user.mem_mb));
    json.close();
  }
  json.close_list();
}

void write_process(Document& json, const ProcessSample& process, const GpuReading& gpu) {
  json.open();
  json.column("pid", std::optional(process.pid));
  json.text("type", to_string(process.type));
  json.column("name", process.name);
  json.column("command", process.command);
  json.column("user", process.user);
  json.column("mem_mb", process.mem_mb);
  json.column("mem_percent", to_tenths(mem_percent(process, gpu)));
  json.column("cpu_percent", process.cpu_percent);
  json.column("host_mem_percent", process.host_mem_percent);
  json.column("rss_mb", process.rss_mb);
  json.column("elapsed_s", process.elapsed_s);
  json.column("state", process.state);
  json.column("threads", process.threads);
  json.close();
}

void write_gpu(Document& json, const Gpu& gpu) {
  json.open();
  gpu_columns(json, gpu);
  json.open_list("processes");
  for (const ProcessSample& process : gpu.reading.processes) {
    write_process(json, process, gpu.reading);
  }
  json.close_list();
  json.close();
}

void write_host(Document& json, const Node& node) {
  json.open("host");
  json.column("os", node.host_facts.os);
  json.column("cpu_percent", node.host.cpu_percent);
  json.column("cpu_cores", node.host_facts.cpu_cores);
  json.column("load1", node.host.load1);
  json.column("mem_used_mb", node.host.mem_used_mb);
  json.column("mem_total_mb", node.host.mem_total_mb);
  json.column("swap_used_mb", node.host.swap_used_mb);
  json.column("swap_total_mb", node.host.swap_total_mb);
  json.column("uptime_s", node.host.uptime_s);
  json.close();
}

std::optional<std::int64_t> age_s(const Node& node, std::int64_t now_ms) {
  if (!node.sampled_at_ms) return std::nullopt;
  // The wall clock may have stepped back since.
  return std::max<std::int64_t>(0, (now_ms - *node.sampled_at_ms) / 1000);
}

void write_node(Document& json, const Node& node, std::int64_t now_ms) {
  std::optional<std::string> collector, sampled_at;
  if (node.collector) collector = to_string(*node.collector);
  if (node.sampled_at_ms) sampled_at = base::format_utc(*node.sampled_at_ms);

  json.open();
  json.text("name", node.name);
  json.text("address", node.address);
  json.column("port", node.port);
  json.column("username", node.username);
  json.flag("local", node.local);
  json.text("state", to_string(node.state));
  json.column("age_s", age_s(node, now_ms));
  json.column("error", node.error);
  json.text("source", to_string(node.source));
  json.column("collector", collector);
  json.column("driver_version", node.driver_version);
  json.column("cuda_version", node.cuda_version);
  json.column("sampled_at", sampled_at);
  json.column("sample_ms", node.sample_ms);
  write_host(json, node);
  json.open_list("gpus");
  for (const Gpu& gpu : node.gpus) write_gpu(json, gpu);
  json.close_list();
  write_users(json, users_of(node));
  json.close();
}

}  // namespace

std::string fleet_json(const FleetSnapshot& fleet, std::int64_t now_ms) {
  Document json;
  json.open();
  json.column("schema", std::optional(kSchema));
  json.text("version", base::version());
  json.text("generated_at", base::format_utc(now_ms));
  json.flag("simulated", std::ranges::any_of(fleet.nodes, &Node::simulated));
  json.open_list("nodes");
  for (const Node& node : fleet.nodes) write_node(json, node, now_ms);
  json.close_list();
  write_users(json, users_of(fleet));
  json.close();
  return json.take();
}

std::string error_json(std::string_view message) {
  Document json;
  json.open();
  json.flag("ok", false);
  json.text("error", message);
  json.close();
  return json.take();
}

}  // namespace nvidb::model
