// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// The words of a command line as values. The one place that knows CLI11.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"

namespace nvidb::cli {

enum class ColorChoice { automatic, always, never };
enum class Format { text, json, csv };

// Options that several commands take.
struct CommonArguments {
  bool json = false;
  bool demo = false;
  bool compact = false;
  std::optional<bool> remote;  // absent: as basic.remote says
  ColorChoice color = ColorChoice::automatic;
};

struct MonitorArguments {
  std::int64_t interval_ms = 1000;
};
struct OnceArguments {
  Format format = Format::text;
  std::int64_t hello_timeout_ms = 10000;
  std::int64_t sample_timeout_ms = 30000;
};
struct InfoArguments {
  std::int64_t sample_timeout_ms = 30000;
};
struct AgentArguments {
  std::int64_t interval_ms = 1000;
  bool once = false;
};
struct CompletionArguments {
  std::string shell;  // bash, zsh or fish
};
struct AddArguments {
  std::map<std::string, std::string> answers;  // those given, by option name without dashes
  bool no_test = false;
  bool yes = false;
};
struct ImportArguments {
  std::string path;  // "" = ~/.ssh/config
  bool all = false;
};
struct LsArguments {
  bool detail = false;
};
struct CleanArguments {
  bool all = false;
  bool yes = false;
};
// --help and --version: text to print, then exit 0.
struct PrintArguments {
  std::string text;
};

struct Invocation {
  CommonArguments common;
  std::variant<MonitorArguments, OnceArguments, InfoArguments, AgentArguments, CompletionArguments,
               AddArguments, ImportArguments, LsArguments, CleanArguments, PrintArguments>
      command;
};

struct UsageError {
  std::string message;
  std::string usage;  // one line, `usage: nvidb ...`
};

tl::expected<Invocation, UsageError> parse_arguments(int argc, const char* const* argv);

// The commands and their options, for shell completion.
struct CommandWords {
  std::string name;  // "" for the program itself
  std::string description;
  struct Option {
    std::string name;  // `--json`
    std::string description;
    std::vector<std::string> values;  // allowed ones, where they are a fixed set
    bool takes_value = false;
  };
  std::vector<Option> options;
  std::vector<std::string> arguments;  // allowed values of its positional argument
  std::vector<CommandWords> commands;
};
CommandWords command_words();

}  // namespace nvidb::cli
