// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Tests against our simulator of the driver's library (fakes/nvml), steered through its scenario
// file.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/nvml_library.h"
#include "base/clock.h"
#include "io/child.h"

namespace nvidb::agent {

// Stands still until told, for ever: a thread of an earlier test may still look at it.
class StillClock : public base::Clock {
 public:
  static StillClock& instance() {
    static StillClock& clock = *new StillClock();
    return clock;
  }
  std::int64_t wall_ms() const override { return now_ms_.load(); }
  std::int64_t steady_ms() const override { return now_ms_.load(); }
  void advance(std::int64_t ms) { now_ms_ += ms; }

 private:
  std::atomic<std::int64_t> now_ms_{1'000'000};
};

class SimTest : public testing::Test {
 protected:
  static std::string sim_path() {
    return std::string(NVIDB_BINARY_DIR) + "/lib/nvidb/sim/libnvidia-ml.so.1";
  }

  // One folder and one scenario file for the whole program: a simulator that was loaded once keeps
  // its file's name.
  static const std::string& folder() {
    static const TempFolder folder;
    return folder.path;
  }

  void SetUp() override {
    ASSERT_TRUE(std::filesystem::exists(sim_path())) << "build the simulator first: " << sim_path();
    ::setenv("NVIDB_FAKE_NVML", (folder() + "/scenario.json").c_str(), 1);
    set_scenario("{}");
    // Whoever leaves a blocked call behind leaves the driver initialised; the simulator would then
    // take its time to look at a new scenario.
    const auto library = open(sim_path());
    for (int i = 0; i < 100 && library->shutdown() == nvml::kSuccess; ++i) {
    }
  }

  // By rename, so that the simulator never sees half of it.
  static void set_scenario(std::string_view json) {
    const std::string path = folder() + "/scenario.json";
    std::ofstream(path + ".new") << json;
    std::filesystem::rename(path + ".new", path);
  }

  // A copy of the simulator that lacks these functions, as older and newer drivers do.
  static std::string sim_without(std::initializer_list<std::string> symbols) {
    static int copies = 0;
    const std::string copy = folder() + "/libnvidia-ml-" + std::to_string(++copies) + ".so.1";
    std::vector<std::string> argv = {
        "python3", std::string(NVIDB_SOURCE_DIR) + "/fakes/nvml/hide_symbols.py", sim_path(), copy};
    argv.insert(argv.end(), symbols.begin(), symbols.end());
    const auto output =
        io::run_command({.program = "/usr/bin/python3", .argv = argv}, 60'000, 1 << 20);
    EXPECT_TRUE(output && output->status.code == 0) << (output ? output->err : "not run");
    return copy;
  }

  static std::shared_ptr<const NvmlLibrary> open(const std::string& path) {
    const std::vector<std::string> paths = {path};
    auto library = NvmlLibrary::open(paths);
    if (!library) {
      ADD_FAILURE() << library.error().message;
      return nullptr;
    }
    return *library;
  }

  StillClock& clock_ = StillClock::instance();

 private:
  struct TempFolder {
    TempFolder() {
      std::string name = testing::TempDir() + "/nvidb-agent-test-XXXXXX";
      path = ::mkdtemp(name.data());
    }
    ~TempFolder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
    std::string path;
  };
};

}  // namespace nvidb::agent
