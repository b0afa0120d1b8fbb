// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Loads the built simulator as a reader does, and plays scenarios to it.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "agent/nvml_abi.h"

namespace nvidb::sim {

namespace nvml = agent::nvml;

inline const std::string kLibraryFolder = std::string(NVIDB_BINARY_DIR) + "/lib/nvidb/sim";
inline const std::string kLibraryPath = kLibraryFolder + "/libnvidia-ml.so.1";

class LibraryTest : public testing::Test {
 protected:
  LibraryTest() {
    std::string name = testing::TempDir() + "/nvidb-sim-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    load(kLibraryPath);
  }
  ~LibraryTest() override {
    while (call<nvml::CallFn>("nvmlShutdown") == nvml::kSuccess) {
    }
    ::dlclose(library_);
    ::unsetenv("NVIDB_FAKE_NVML");
    std::filesystem::remove_all(folder_);
  }

  void load(const std::string& path) {
    library_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) {
      ADD_FAILURE() << ::dlerror();
      std::abort();
    }
  }

  void write(std::string_view scenario) {
    const std::string path = folder_ + "/scenario.json";
    std::ofstream(path + ".new") << scenario;
    std::filesystem::rename(path + ".new", path);
    ::setenv("NVIDB_FAKE_NVML", path.c_str(), 1);
  }

  // Writes the scenario and initialises.
  nvml::Return play(std::string_view scenario) {
    write(scenario);
    return call<nvml::CallFn>("nvmlInit_v2");
  }
  nvml::Return play_profile(const std::string& name) {
    ::setenv("NVIDB_FAKE_NVML", (kLibraryFolder + "/profiles/" + name + ".json").c_str(), 1);
    return call<nvml::CallFn>("nvmlInit_v2");
  }

  bool has(const char* name) const { return ::dlsym(library_, name) != nullptr; }

  template <typename Fn, typename... Args>
  nvml::Return call(const char* name, Args... args) const {
    auto* function = reinterpret_cast<Fn*>(::dlsym(library_, name));
    if (function == nullptr) return nvml::kFunctionNotFound;
    return function(args...);
  }

  nvml::Device card(std::uint32_t index) const {
    nvml::Device device = nullptr;
    EXPECT_EQ(call<nvml::HandleByIndexFn>("nvmlDeviceGetHandleByIndex_v2", index, &device),
              nvml::kSuccess);
    return device;
  }
  std::uint32_t count() const {
    std::uint32_t count = 0;
    EXPECT_EQ(call<nvml::SystemU32Fn>("nvmlDeviceGetCount_v2", &count), nvml::kSuccess);
    return count;
  }
  // The number, or minus the code.
  std::int64_t number(const char* name, nvml::Device device) const {
    std::uint32_t value = 0;
    const nvml::Return code = call<nvml::U32Fn>(name, device, &value);
    return code == nvml::kSuccess ? std::int64_t{value} : -code;
  }
  // The text, or `code N`.
  std::string text(const char* name, nvml::Device device) const {
    std::array<char, nvml::kNameBytes> buffer = {};
    const nvml::Return code = call<nvml::TextFn>(name, device, buffer.data(), nvml::kNameBytes);
    return code == nvml::kSuccess ? buffer.data() : "code " + std::to_string(code);
  }
  // How many records a process list has, or minus the code.
  std::int64_t list_size(const char* name, nvml::Device device) const {
    std::array<nvml::ProcessInfoWide, 64> records;
    std::uint32_t count = records.size();
    const auto code =
        call<nvml::ProcessListFn>(name, device, &count, static_cast<void*>(records.data()));
    return code == nvml::kSuccess ? std::int64_t{count} : -code;
  }

  void* library_ = nullptr;
  std::string folder_;
};

}  // namespace nvidb::sim
