// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
//
// `nvidb completion SHELL`: completion scripts, made from the same table of commands that parses
// the words.
#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/output.h"

namespace nvidb::cli {
namespace {

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

// What may follow a command: its options, its argument's values, and (for the program itself) the
// commands.
std::vector<std::string> words_after(const CommandWords& command, const CommandWords& program) {
  std::vector<std::string> words = command.arguments;
  for (const auto& option : command.options) words.push_back(option.name);
  if (&command != &program) {
    for (const auto& option : program.options) {
      if (std::ranges::find(words, option.name) == words.end()) words.push_back(option.name);
    }
  }
  for (const auto& sub : command.commands) words.push_back(sub.name);
  return words;
}

std::string bash_script(const CommandWords& program) {
  std::string cases, values;
  for (const auto& command : program.commands) {
    cases += fmt::format("    {}) words=\"{}\" ;;\n", command.name,
                         joined(words_after(command, program)));
  }
  for (const auto& option : program.options) {
    if (!option.values.empty()) {
      values += fmt::format("    {}) COMPREPLY=($(compgen -W \"{}\" -- \"$current\")); return ;;\n",
                            option.name, joined(option.values));
    } else if (option.takes_value) {
      values += fmt::format("    {}) return ;;\n", option.name);
    }
  }
  return fmt::format(R"(# bash completion for nvidb
_nvidb() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}"
  local words command="" i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "${{COMP_WORDS[i]}}" in
      -*) ;;
      *) command="${{COMP_WORDS[i]}}"; break ;;
    esac
  done
  case "$previous" in
{}  esac
  case "$command" in
{}    *) words="{}" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -F _nvidb nvidb
)",
                     values, cases, joined(words_after(program, program)));
}

// Quotes for a zsh _describe/_arguments entry, and for fish.
std::string without_quotes(std::string text) {
  std::erase_if(text, [](char c) { return c == '\'' || c == '[' || c == ']' || c == ':'; });
  return text;
}

std::string zsh_script(const CommandWords& program) {
  std::string commands, options, cases;
  for (const auto& command : program.commands) {
    commands += fmt::format("    '{}:{}'\n", command.name, without_quotes(command.description));
    std::string own;
    for (const auto& option : command.options) {
      own += fmt::format(" '{}[{}]{}'", option.name, without_quotes(option.description),
                         option.takes_value ? ":value:" : "");
    }
    if (!command.arguments.empty())
      own += fmt::format(" '1:value:({})'", joined(command.arguments));
    cases += fmt::format("        {}) _arguments{} ;;\n", command.name, own);
  }
  for (const auto& option : program.options) {
    const std::string value = !option.values.empty()
                                  ? fmt::format(":value:({})", joined(option.values))
                              : option.takes_value ? ":value:"
                                                   : "";
    options +=
        fmt::format("    '{}[{}]{}' \\\n", option.name, without_quotes(option.description), value);
  }
  return fmt::format(R"(#compdef nvidb
_nvidb() {{
  local -a commands
  commands=(
{}  )
  local context state line
  _arguments -C \
{}    '1:command:->command' '*::argument:->argument'
  case $state in
    command) _describe command commands ;;
    argument)
      case $line[1] in
{}      esac ;;
  esac
}}
_nvidb "$@"
)",
                     commands, options, cases);
}

std::string fish_script(const CommandWords& program) {
  std::string script = "# fish completion for nvidb\ncomplete -c nvidb -f\n";
  const auto add_options = [&](const CommandWords& command, const std::string& condition) {
    for (const auto& option : command.options) {
      script +=
          fmt::format("complete -c nvidb -n '{}' -l {} -d '{}'{}\n", condition,
                      option.name.substr(2), without_quotes(option.description),
                      !option.values.empty() ? fmt::format(" -x -a '{}'", joined(option.values))
                      : option.takes_value   ? " -x"
                                             : "");
    }
  };
  add_options(program, "__fish_use_subcommand");
  for (const auto& command : program.commands) {
    script += fmt::format("complete -c nvidb -n __fish_use_subcommand -a {} -d '{}'\n",
                          command.name, without_quotes(command.description));
    const std::string condition = "__fish_seen_subcommand_from " + command.name;
    add_options(command, condition);
    if (!command.arguments.empty()) {
      script +=
          fmt::format("complete -c nvidb -n '{}' -a '{}'\n", condition, joined(command.arguments));
    }
  }
  return script;
}

}  // namespace

int run_completion(const CommonArguments&, const CompletionArguments& arguments) {
  const CommandWords program = command_words();
  if (arguments.shell == "bash") return print(bash_script(program));
  if (arguments.shell == "zsh") return print(zsh_script(program));
  return print(fish_script(program));
}

}  // namespace nvidb::cli
