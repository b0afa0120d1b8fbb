// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
//
// ssh_bench SSH_CONFIG HOST FOLDER: a warm one-shot command as nvidb runs it, beside plain ssh with
// ControlMaster, as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "io/child.h"
#include "io/ssh.h"

namespace {

using namespace nvidb;

constexpr int kRuns = 41;

double run_ms(const std::vector<std::string>& argv) {
  const auto begin = std::chrono::steady_clock::now();
  const auto output = io::run_command(
      {.program = argv.front(), .argv = argv, .env = {}, .unset_env = {}}, 20000, 1 << 20);
  if (!output || output->status.code != 0) {
    fmt::print(stderr, "{}\n", output ? output->err : output.error().message);
    std::exit(1);
  }
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::string config = argv[1], host = argv[2], folder = argv[3];
  const std::vector<std::string> plain = {"ssh",
                                          "-F",
                                          config,
                                          "-o",
                                          "ControlMaster=auto",
                                          "-o",
                                          "ControlPersist=60",
                                          "-o",
                                          "ControlPath=" + folder + "/plain",
                                          host,
                                          "true"};
  io::SshTarget target;
  target.host = host;
  io::SshOptions options;
  options.program = {"ssh", "-F", config};
  options.control_path = folder + "/ours";
  const std::vector<std::string> ours =
      io::ssh_argv(target, options, "exec sh -c 'true' nvidb-agent");
  run_ms(plain);
  run_ms(ours);
  std::vector<double> plain_ms, ours_ms;
  for (int i = 0; i < kRuns; ++i) {
    plain_ms.push_back(run_ms(plain));
    ours_ms.push_back(run_ms(ours));
  }
  fmt::print("{{\"plain_ms\":{:.2f},\"ours_ms\":{:.2f}}}\n", median(plain_ms), median(ours_ms));
  return 0;
}
