// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
//
// fleet_bench AGENT COUNT SECONDS: what watching COUNT canned agents at 1 Hz costs this process, as
// JSON.
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "canned_sample.h"
#include "fleet/fleet.h"
#include "model/json.h"

namespace {

using namespace nvidb;

double cpu_ms() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto ms = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1000 + static_cast<double>(t.tv_usec) / 1000;
  };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

double peak_mib() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    double kb = 0;
    if (word == "VmHWM:" && status >> kb) return kb / 1024;
  }
  return 0;
}

std::string write(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
  return path;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const int count = std::atoi(argv[2]), seconds = std::atoi(argv[3]);
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);

  std::string folder = "/tmp/nvidb_bench_XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return 1;
  const std::string start =
      write(folder + "/start", model::encode_line(model::AgentMessage(model::Hello{})) +
                                   model::encode_line(model::AgentMessage(bench::inventory())));
  const std::string sample =
      write(folder + "/sample", model::encode_line(model::AgentMessage(bench::sample())));
  std::vector<fleet::NodeSpec> nodes;
  for (int i = 0; i < count; ++i) {
    fleet::NodeSpec node;
    node.name = fmt::format("node-{}", i);
    node.collector = {
        .program = argv[1], .argv = {"canned", start, sample}, .env = {}, .unset_env = {}};
    nodes.push_back(node);
  }

  io::Loop loop;
  std::shared_ptr<const model::FleetSnapshot> seen;
  fleet::Fleet fleet(loop, base::system_clock(), std::move(nodes), {},
                     [&](const auto& snapshot) { seen = snapshot; });
  fleet.start();
  // The start is not part of the figure: everybody has answered once before the clock runs.
  double begin_ms = 0;
  io::Timer warm(loop), end(loop);
  warm.set(3000 + count, [&] {
    begin_ms = cpu_ms();
    end.set(seconds * 1000, [&] { loop.stop(); });
  });
  loop.run();
  const double used_ms = cpu_ms() - begin_ms;
  const double samples = static_cast<double>(count) * seconds;
  for (const model::Node& node : seen->nodes) {
    if (node.state != model::NodeState::up) return 3;
  }
  fmt::print(
      "{{\"cpu_percent\":{:.3f},\"peak_mib\":{:.1f},\"us_per_sample\":{:.1f},\"samples\":{}}}\n",
      used_ms / seconds / 10, peak_mib(), used_ms * 1000 / samples, samples);
  std::remove(start.c_str());
  std::remove(sample.c_str());
  std::remove(folder.c_str());
  return 0;
}
