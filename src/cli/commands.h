// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// One function a command, each in a file of its own (<name>_command.cc). Each returns the exit
// code.
#include "cli/arguments.h"

namespace nvidb::cli {

int run_monitor(const CommonArguments& common, const MonitorArguments& arguments);
int run_once(const CommonArguments& common, const OnceArguments& arguments);
int run_info(const CommonArguments& common, const InfoArguments& arguments);
int run_agent(const CommonArguments& common, const AgentArguments& arguments);
int run_add(const CommonArguments& common, const AddArguments& arguments);
int run_import(const CommonArguments& common, const ImportArguments& arguments);
int run_ls(const CommonArguments& common, const LsArguments& arguments);
int run_clean(const CommonArguments& common, const CleanArguments& arguments);
int run_completion(const CommonArguments& common, const CompletionArguments& arguments);

}  // namespace nvidb::cli
