// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "cli/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>

#include "base/nearest.h"
#include "base/units.h"
#include "base/version.h"
#include "model/agent_message.h"

namespace nvidb::cli {
namespace {

constexpr double kMinIntervalS = 0.1;
constexpr double kMaxIntervalS = 3600;
constexpr double kMinTimeoutS = 0.1;
constexpr double kMaxTimeoutS = 3600;

// What CLI11 writes into while it parses.
struct Words {
  bool once = false, json = false, csv = false, demo = false, compact = false, version = false;
  bool agent_once = false, remote = false, no_remote = false;
  int protocol = model::kProtocolVersion;
  std::string tag;
  std::string color = "auto";
  std::string interval, timeout, agent_interval;
  std::string shell;
  AddArguments add;
  ImportArguments import;
  LsArguments ls;
  std::string clean_what;
  bool clean_yes = false;
};

std::string seconds_between(double low, double high, const std::string& text) {
  const auto number = base::parse_positive_number(text, "it");
  if (number && *number >= low && *number <= high) return {};
  return fmt::format("'{}' is not a number of seconds from {} to {}", text, low, high);
}

CLI::Validator seconds(double low, double high) {
  return CLI::Validator([low, high](std::string& text) { return seconds_between(low, high, text); },
                        "");
}

std::int64_t to_ms(const std::string& text, std::int64_t when_empty) {
  const auto number = base::parse_positive_number(text, "it");
  return text.empty() || !number ? when_empty : std::llround(*number * 1000);
}

constexpr const char* kExamples = R"(Examples:
  nvidb --once                 every GPU of this machine, once
  nvidb --once --json | jq .   the same for programs
  nvidb --demo --once          simulated GPUs, for machines without one
  nvidb add                    one more server; nvidb import reads your ssh config
  nvidb info                   where the files are, which NVML was found

Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.
'nvidb COMMAND --help' tells more about a command.)";

constexpr const char* kInfoExamples = R"(Examples:
  nvidb info
  nvidb info --json)";

constexpr const char* kAgentExamples =
    R"(The collector: one line of JSON a sample on stdout, orders on stdin, until stdin ends.
The words it speaks are in docs/agent-protocol.md.

Examples:
  nvidb agent --once < /dev/null
  sleep 10 | nvidb agent --interval 0.5)";

constexpr const char* kCompletionExamples = R"(Examples:
  nvidb completion bash > ~/.local/share/bash-completion/completions/nvidb
  nvidb completion zsh > "${fpath[1]}/_nvidb"
  nvidb completion fish > ~/.config/fish/completions/nvidb.fish)";

constexpr const char* kAddExamples =
    R"(On a terminal it asks for what is not given, tries the login and asks before it writes.
ssh itself asks about the host key. Elsewhere only --host is needed, and a failed login is
an error unless --yes.

Examples:
  nvidb add
  nvidb add --host gpu1.example.com --username alice --nickname "Training A100"
  nvidb add --host 10.0.0.42 --proxyjump login --gpus 0,1 --no-test --yes)";

constexpr const char* kImportExamples =
    R"(Hosts of an OpenSSH configuration, chosen from a list; hosts that are there already are
skipped.

Examples:
  nvidb import
  nvidb import ~/.ssh/lab.conf --all)";

constexpr const char* kLsExamples = R"(Examples:
  nvidb ls
  nvidb ls --detail
  nvidb ls --json | jq -r '.servers[].name')";

constexpr const char* kCleanExamples =
    R"(A menu: remove servers, delete the GPU log, delete the queue's database. With 'all'
everything that nvidb made in its folder, after it was listed; nothing else is ever deleted.

Examples:
  nvidb clean
  nvidb clean all
  nvidb clean all --yes        for scripts)";

// The commands that set nvidb up and take it down.
std::vector<CLI::App*> describe_set_up(CLI::App& app, Words& words) {
  CLI::App* add = app.add_subcommand("add", "add a server to config.yml");
  add->footer(kAddExamples);
  constexpr std::array<std::array<const char*, 3>, 8> kAnswers = {
      {{"host", "NAME", "host name or address"},
       {"port", "N", "ssh port (22)"},
       {"username", "NAME", "user name there (yours here)"},
       {"nickname", "NAME", "what the server is called (user@host:port)"},
       {"auth", "HOW", "auto, key or password (auto)"},
       {"identityfile", "FILE", "private key (what ssh tries by itself)"},
       {"proxyjump", "HOST", "jump host, a chain, or none (what your ssh config says)"},
       {"gpus", "LIST", "cards for new queue jobs: all, none or 0,1 (all)"}}};
  for (const auto& [name, type, description] : kAnswers) {
    add->add_option("--" + std::string(name), words.add.answers[name], description)
        ->type_name(type);
  }
  add->add_flag("--no-test", words.add.no_test, "do not try the login")->disable_flag_override();
  add->add_flag("--yes", words.add.yes, "ask nothing, add it even if the login fails")
      ->disable_flag_override();

  CLI::App* import = app.add_subcommand("import", "add servers from an OpenSSH configuration");
  import->footer(kImportExamples);
  import->add_option("PATH", words.import.path, "the file (~/.ssh/config)")->type_name("");
  import->add_flag("--all", words.import.all, "every host, without asking")
      ->disable_flag_override();

  CLI::App* ls = app.add_subcommand("ls", "the configured servers");
  ls->footer(kLsExamples);
  ls->add_flag("--detail", words.ls.detail, "key files too, and which passwords are stored")
      ->disable_flag_override();

  CLI::App* clean = app.add_subcommand("clean", "remove servers, delete nvidb's data");
  clean->footer(kCleanExamples);
  clean->add_option("WHAT", words.clean_what, "all: everything that nvidb made")
      ->check(CLI::IsMember(std::vector<std::string>{"all"}))
      ->type_name("");
  clean->add_flag("--yes", words.clean_yes, "with all: ask nothing")->disable_flag_override();
  return {add, import, ls, clean};
}

void describe(CLI::App& app, Words& words) {
  app.name("nvidb");
  app.description(
      "Every NVIDIA GPU, live: what is free, who holds the rest, whether something is wrong.");
  app.footer(kExamples);
  app.fallthrough();
  app.allow_extras();
  app.set_help_flag("-h,--help", "show this help and exit");
  app.add_flag("--version", words.version, "print 'nvidb X.Y.Z' and exit")->disable_flag_override();
  app.add_flag("--once", words.once, "print every GPU once and exit")->disable_flag_override();
  app.add_flag("--json", words.json, "print one JSON document (docs/json.md)")
      ->disable_flag_override();
  app.add_flag("--csv", words.csv, "with --once: print one row a GPU as CSV")
      ->disable_flag_override();
  app.add_flag("--demo", words.demo, "simulated GPUs in place of this machine's")
      ->disable_flag_override();
  app.add_flag("--remote", words.remote, "the configured servers too (basic.remote)")
      ->disable_flag_override();
  app.add_flag("--no-remote", words.no_remote, "this machine alone")->disable_flag_override();
  app.add_flag("--compact", words.compact, "tables no wider than their content")
      ->disable_flag_override();
  app.add_option("--color", words.color, "auto, always or never")
      ->check(CLI::IsMember(std::vector<std::string>{"auto", "always", "never"}))
      ->type_name("WHEN");
  app.add_option("--interval", words.interval, "seconds between two samples (1)")
      ->check(seconds(kMinIntervalS, kMaxIntervalS))
      ->type_name("S");
  app.add_option("--timeout", words.timeout,
                 "with --once: seconds to wait (10 for an answer, 30 for GPUs to wake)")
      ->check(seconds(kMinTimeoutS, kMaxTimeoutS))
      ->type_name("S");

  CLI::App* info =
      app.add_subcommand("info", "where files are, their sizes, versions, which NVML was found");
  info->footer(kInfoExamples);
  CLI::App* agent =
      app.add_subcommand("agent", "the collector: samples of this machine as lines of JSON");
  agent->footer(kAgentExamples);
  agent->add_option("--interval", words.agent_interval, "seconds between two samples (1)")
      ->check(seconds(kMinIntervalS, kMaxIntervalS))
      ->type_name("S");
  agent->add_flag("--once", words.agent_once, "one sample, then exit")->disable_flag_override();
  // For the command line that starts a collector over ssh: group "" keeps them out of the help.
  agent->add_option("--protocol", words.protocol)->group("");
  agent->add_option("--tag", words.tag)->group("");
  CLI::App* completion = app.add_subcommand("completion", "print a completion script for a shell");
  completion->footer(kCompletionExamples);
  completion->add_option("SHELL", words.shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember(std::vector<std::string>{"bash", "zsh", "fish"}))
      ->type_name("");
  std::vector<CLI::App*> commands = describe_set_up(app, words);
  commands.insert(commands.end(), {info, agent, completion});
  for (CLI::App* command : commands) command->set_help_flag("-h,--help", "show this help and exit");
  app.require_subcommand(0, 1);
}

// CLI11 begins its sentences with the option's name or a capital; ours are lower case.
std::string tidy_message(const CLI::ParseError& error) {
  std::string message = error.what();
  while (!message.empty() && (message.back() == '\n' || message.back() == '.')) message.pop_back();
  if (message.size() > 1 && message[1] >= 'a' && message[1] <= 'z') {
    message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
  }
  return message;
}

std::string usage_of(const CLI::App& app) {
  const auto used = app.get_subcommands();
  return used.empty() ? "usage: nvidb [OPTIONS] [COMMAND]   (nvidb --help)"
                      : fmt::format("usage: nvidb {0} [OPTIONS]   (nvidb {0} --help)",
                                    used.front()->get_name());
}

std::vector<std::string> known_words(const CLI::App& app) {
  std::vector<std::string> known;
  const auto add = [&](const CLI::App& some) {
    for (const CLI::Option* option : some.get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
  };
  add(app);
  for (const CLI::App* used : app.get_subcommands()) add(*used);
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    known.push_back(command->get_name());
  }
  return known;
}

std::string unknown_word(const CLI::App& app, const std::string& word) {
  const bool is_option = word.starts_with("-");
  const std::string name = word.substr(0, word.find('='));
  const std::vector<std::string> known = known_words(app);
  const std::string_view near =
      base::nearest(name, std::vector<std::string_view>(known.begin(), known.end()));
  const std::string hint = near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
  if (is_option) return fmt::format("unknown option '{}'{}", name, hint);
  const bool after_command = !app.get_subcommands().empty();
  return after_command ? fmt::format("unexpected argument '{}'", word)
                       : fmt::format("unknown command '{}'{}", word, hint);
}

tl::expected<Invocation, UsageError> to_invocation(const CLI::App& app, const Words& words) {
  const auto wrong = [&](std::string message) {
    return tl::unexpected<UsageError>(UsageError{std::move(message), usage_of(app)});
  };
  Invocation result;
  result.common = {words.json,
                   words.demo,
                   words.compact,
                   {},
                   words.color == "always"  ? ColorChoice::always
                   : words.color == "never" ? ColorChoice::never
                                            : ColorChoice::automatic};
  if (words.remote && words.no_remote) return wrong("--remote and --no-remote do not go together");
  if (words.remote || words.no_remote) result.common.remote = words.remote;
  const auto used = app.get_subcommands();
  const std::string command = used.empty() ? "" : used.front()->get_name();
  if (!command.empty() && words.once)
    return wrong(fmt::format("--once does not go with '{}'", command));
  if (words.csv && words.json) return wrong("--csv and --json do not go together");
  if (words.csv && !words.once) return wrong("--csv needs --once");
  const std::int64_t timeout_ms = to_ms(words.timeout, 0);
  if (timeout_ms != 0 && !words.once && command != "info") return wrong("--timeout needs --once");
  if (command == "agent") {
    if (words.demo || words.json) return wrong("'agent' takes neither --demo nor --json");
    if (words.protocol != model::kProtocolVersion) {
      return wrong(fmt::format("this nvidb speaks agent protocol {}", model::kProtocolVersion));
    }
    result.command = AgentArguments{
        to_ms(words.agent_interval.empty() ? words.interval : words.agent_interval, 1000),
        words.agent_once};
  } else if (command == "info") {
    result.command =
        InfoArguments{timeout_ms != 0 ? timeout_ms : InfoArguments{}.sample_timeout_ms};
  } else if (command == "add") {
    AddArguments add = words.add;
    std::erase_if(add.answers, [&](const auto& answer) {
      return used.front()->count("--" + answer.first) == 0;
    });
    result.command = std::move(add);
  } else if (command == "import") {
    result.command = words.import;
  } else if (command == "ls") {
    result.command = words.ls;
  } else if (command == "clean") {
    if (words.clean_yes && words.clean_what.empty()) return wrong("--yes needs 'clean all'");
    result.command = CleanArguments{!words.clean_what.empty(), words.clean_yes};
  } else if (command == "completion") {
    result.command = CompletionArguments{words.shell};
  } else if (words.once) {
    OnceArguments once;
    once.format = words.json ? Format::json : words.csv ? Format::csv : Format::text;
    if (timeout_ms != 0) {
      once.sample_timeout_ms = timeout_ms;
      once.hello_timeout_ms = std::min(once.hello_timeout_ms, timeout_ms);
    }
    result.command = once;
  } else if (words.json) {
    return wrong("--json needs --once or a command");
  } else {
    result.command = MonitorArguments{to_ms(words.interval, 1000)};
  }
  return result;
}

}  // namespace

tl::expected<Invocation, UsageError> parse_arguments(int argc, const char* const* argv) {
  Words words;
  CLI::App app;
  describe(app, words);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const auto used = app.get_subcommands();
    return Invocation{{}, PrintArguments{used.empty() ? app.help() : used.front()->help("nvidb")}};
  } catch (const CLI::ParseError& error) {
    return tl::unexpected<UsageError>(UsageError{tidy_message(error), usage_of(app)});
  }
  // CLI11's own word for these has no suggestion.
  if (const auto extras = app.remaining(true); !extras.empty()) {
    return tl::unexpected<UsageError>(UsageError{unknown_word(app, extras.front()), usage_of(app)});
  }
  if (words.version)
    return Invocation{{}, PrintArguments{fmt::format("nvidb {}\n", base::version())}};
  return to_invocation(app, words);
}

CommandWords command_words() {
  Words words;
  CLI::App app;
  describe(app, words);
  const auto collect = [](const CLI::App& from, auto& self) -> CommandWords {
    CommandWords result{
        from.get_parent() == nullptr ? "" : from.get_name(), from.get_description(), {}, {}, {}};
    for (const CLI::Option* option : from.get_options()) {
      CommandWords::Option words_of{"", option->get_description(), {}, option->get_type_size() > 0};
      if (option->get_description() == "auto, always or never")
        words_of.values = {"auto", "always", "never"};
      if (option->get_positional()) {
        if (from.get_name() == "completion") result.arguments = {"bash", "zsh", "fish"};
        if (from.get_name() == "clean") result.arguments = {"all"};
        continue;
      }
      for (const std::string& name : option->get_lnames()) {
        words_of.name = "--" + name;
        result.options.push_back(words_of);
      }
    }
    for (const CLI::App* command : from.get_subcommands([](const CLI::App*) { return true; })) {
      result.commands.push_back(self(*command, self));
    }
    return result;
  };
  return collect(app, collect);
}

}  // namespace nvidb::cli
