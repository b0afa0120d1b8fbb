// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "cli/nodes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>

#include "agent/remote_script.h"
#include "base/text.h"
#include "cli/output.h"
#include "cli/prompt.h"
#include "config/ssh_import.h"
#include "io/files.h"
#include "io/ssh_sockets.h"

namespace nvidb::cli {
namespace {

using base::ErrorKind;
using base::fail;

constexpr std::int64_t kDefaultPort = 22;
constexpr std::int64_t kSshConfigMs = 5000;
constexpr std::size_t kMaxSshConfigBytes = 1 << 20;

std::string host_name() {
  std::array<char, 256> buffer{};
  if (::gethostname(buffer.data(), buffer.size() - 1) != 0 || buffer[0] == '\0') return "localhost";
  return buffer.data();
}

io::SshAuth to_ssh(config::Auth auth) {
  switch (auth) {
    case config::Auth::automatic:
      return io::SshAuth::automatic;
    case config::Auth::key:
      return io::SshAuth::key;
    case config::Auth::password:
      return io::SshAuth::password;
  }
  return io::SshAuth::automatic;
}

// The names under which ssh may ask for this server's password: as configured, and as the user's
// ssh configuration resolves them.
std::vector<std::string> asked_names(const io::SshTarget& target,
                                     const std::vector<std::string>& program) {
  std::vector<std::string> names = {fmt::format("{}@{}", target.user, target.host)};
  std::vector<std::string> argv = program;
  argv.insert(argv.end(), {"-G", "--", target.host});
  const auto output =
      io::run_command({.program = program.front(), .argv = argv, .env = {}, .unset_env = {}},
                      kSshConfigMs, kMaxSshConfigBytes);
  if (output && output->status.code == 0) {
    const auto values = config::parse_ssh_g(output->out);
    if (values) names.push_back(fmt::format("{}@{}", target.user, values->hostname));
  }
  return names;
}

// The stored password, or the answer to one question where the server takes nothing else.
base::Result<config::Secret> password_of(const config::ServerConfig& server) {
  if (server.password) return *server.password;
  const std::string name = config::identity(server);
  const auto answer =
      ask_secret(fmt::format("password of {}@{} ({}): ", server.username, server.hostname, name));
  if (answer && !answer->empty()) return config::Secret(*answer);
  return fail(ErrorKind::refused, fmt::format("{} needs a password", name),
              answer ? "none was given" : "run nvidb on a terminal, or use a key");
}

}  // namespace

base::Result<Settings> load_settings() {
  auto paths = config::find_paths();
  if (!paths) return fail(paths.error());
  auto loaded = config::load_config(paths->config_yml);
  if (!loaded) return fail(loaded.error());
  return Settings{*std::move(paths), *std::move(loaded)};
}

void print_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) print_note("warning: " + warning);
}

io::SshTarget ssh_target(const config::ServerConfig& server) {
  io::SshTarget target;
  target.host = server.hostname;
  // 22 is also what a server has that does not say: the user's ssh configuration may know better.
  if (server.port != kDefaultPort) target.port = server.port;
  target.user = server.username;
  target.auth = to_ssh(server.auth);
  if (server.auth != config::Auth::password) {
    target.identity_file = config::expand_home(server.identityfile);
  }
  target.proxy_jump = server.proxyjump;
  return target;
}

base::Result<std::vector<std::string>> ssh_program() {
  const auto text = config::env("NVIDB_SSH_COMMAND");
  if (!text) return std::vector<std::string>{"ssh"};
  auto words = io::split_words(*text);
  if (!words) {
    return fail(ErrorKind::invalid, "NVIDB_SSH_COMMAND: " + words.error().message);
  }
  if (words->empty()) return std::vector<std::string>{"ssh"};
  return words;
}

base::Result<fleet::NodeSpec> local_node(bool demo) {
  fleet::NodeSpec node;
  node.name = host_name();
  // The name in argv[0] is how every collector of ours can be found among a machine's processes.
  const std::string program = config::env("NVIDB_COLLECTOR").value_or(config::self_path());
  node.collector = {
      .program = program, .argv = {"nvidb-agent", "agent"}, .env = {}, .unset_env = {}};
  if (demo) {
    const auto files = config::find_demo_files();
    if (!files) return fail(files.error());
    node.collector.env = {{"NVIDB_NVML", files->nvml_path},
                          {"NVIDB_FAKE_NVML", files->scenario_path}};
  }
  return node;
}

namespace {

struct Ssh {
  std::vector<std::string> program;
  base::Result<std::string> control_dir;  // without one, connections are not shared
  std::string command;
};

// Adds one server; where its password is needed and cannot be had, the node says so.
void add_server(Watched& watched, io::Loop& loop, const Ssh& ssh,
                const config::ServerConfig& server) {
  const io::SshTarget target = ssh_target(server);
  fleet::NodeSpec node;
  node.name = config::identity(server);
  node.address = server.hostname;
  node.port = server.port;
  node.username = server.username;
  node.local = false;
  node.ssh = target;
  if (ssh.control_dir) {
    node.control_path = *ssh.control_dir + "/" + io::control_name(target, ssh.program);
  }
  node.script = [](model::CollectorKind kind) {
    const agent::RemoteScripts scripts = agent::remote_scripts();
    return kind == model::CollectorKind::shell ? scripts.shell : scripts.python;
  };
  node.read_smi = [](const model::SmiXml& message) {
    agent::SmiReading reading = agent::read_smi(message.xml, message.status, message.processes);
    return fleet::SmiTables{std::move(reading.inventory), std::move(reading.gpus)};
  };
  io::SshOptions options;
  options.program = ssh.program;
  options.control_path = node.control_path;
  const bool may_use_password =
      server.auth == config::Auth::password ||
      (server.auth == config::Auth::automatic && server.password.has_value());
  // Over a connection that is there already nobody will ask.
  const bool is_connected = !node.control_path.empty() && io::has_master(node.control_path);
  if (may_use_password && (server.password || !is_connected)) {
    const auto set_up = [&]() -> base::Result<void> {
      if (!ssh.control_dir) return fail(ssh.control_dir.error());
      const auto password = password_of(server);
      if (!password) return fail(password.error());
      auto secret = io::AskpassServer::start(loop, *ssh.control_dir, password->reveal());
      if (!secret) return fail(secret.error());
      node.collector.env =
          (*secret)->environment(config::self_path(), asked_names(target, ssh.program));
      watched.secrets.push_back(*std::move(secret));
      return {};
    };
    if (const auto done = set_up()) {
      options.can_answer = true;
    } else {
      node.refused = done.error();
    }
  }
  node.collector.program = ssh.program.front();
  node.collector.argv = io::ssh_argv(target, options, ssh.command);
  watched.nodes.push_back(std::move(node));
}

}  // namespace

base::Result<Watched> watched_servers(io::Loop& loop, const Settings& settings,
                                      const std::vector<config::ServerConfig>& servers,
                                      std::int64_t interval_ms) {
  Watched watched;
  if (servers.empty()) return watched;
  const auto program = ssh_program();
  if (!program) return fail(program.error());
  const Ssh ssh = {
      *program,
      io::open_control_dir(settings.paths.home, config::env("XDG_RUNTIME_DIR").value_or("")),
      agent::remote_command(interval_ms)};
  if (!ssh.control_dir) {
    print_note("warning: ssh connections are not shared: " +
               base::to_text(ssh.control_dir.error()));
  }
  for (const config::ServerConfig& server : servers) add_server(watched, loop, ssh, server);
  return watched;
}

}  // namespace nvidb::cli
