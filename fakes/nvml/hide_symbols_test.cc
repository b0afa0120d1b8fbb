// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors

// Older drivers made of the simulator by hide_symbols.py, loaded for real.
#include <sys/wait.h>

#include "library_test_support.h"

namespace nvidb::sim {
namespace {

class HideSymbolsTest : public LibraryTest {
 protected:
  // The tool's exit code; the copy lies at copy().
  int hide(const std::string& arguments) const {
    const auto word = [](const std::string& path) { return "'" + path + "' "; };
    const std::string command =
        word(NVIDB_PYTHON3) + word(std::string(NVIDB_SOURCE_DIR) + "/fakes/nvml/hide_symbols.py") +
        word(kLibraryPath) + word(copy()) + arguments + " 2>/dev/null";
    return WEXITSTATUS(std::system(command.c_str()));
  }
  std::string copy() const { return folder_ + "/libnvidia-ml.so.1"; }
  void load_copy() {
    ::dlclose(library_);
    load(copy());
  }
};

TEST_F(HideSymbolsTest, NamedSymbol_IsGoneAndTheRestWorks) {
  ASSERT_TRUE(has("nvmlDeviceGetMemoryInfo_v2"));
  ASSERT_EQ(hide("nvmlDeviceGetMemoryInfo_v2 nvmlInit"), 0);
  load_copy();
  EXPECT_FALSE(has("nvmlDeviceGetMemoryInfo_v2"));
  EXPECT_FALSE(has("nvmlInit"));
  EXPECT_TRUE(has("nvmlDeviceGetMemoryInfo"));
  EXPECT_TRUE(has("nvmlInit_v2"));
  ASSERT_EQ(play_profile("a6000x5"), nvml::kSuccess);
  EXPECT_EQ(count(), 5u);
}

TEST_F(HideSymbolsTest, R450_HasOldListsOnly) {
  ASSERT_EQ(hide("--old r450"), 0);
  load_copy();
  EXPECT_FALSE(has("nvmlDeviceGetComputeRunningProcesses_v3"));
  EXPECT_FALSE(has("nvmlDeviceGetComputeRunningProcesses_v2"));
  EXPECT_FALSE(has("nvmlDeviceGetCurrentClocksEventReasons"));
  EXPECT_TRUE(has("nvmlDeviceGetCurrentClocksThrottleReasons"));
  ASSERT_EQ(play_profile("rtx3090ti"), nvml::kSuccess);
  EXPECT_EQ(list_size("nvmlDeviceGetComputeRunningProcesses", card(0)), 1);
}

TEST_F(HideSymbolsTest, EarlyR535_IsTheOneWithWideRecords) {
  ASSERT_EQ(hide("--old r535_early"), 0);
  load_copy();
  EXPECT_TRUE(has("nvmlDeviceGetComputeRunningProcesses_v3"));
  EXPECT_TRUE(has("nvmlDeviceGetConfComputeMemSizeInfo"));
  EXPECT_FALSE(has("nvmlDeviceGetRunningProcessDetailList"));
}

TEST_F(HideSymbolsTest, UnknownSymbol_IsAnErrorAndNoFile) {
  EXPECT_EQ(hide("nvmlNoSuchThing"), 1);
  EXPECT_FALSE(std::filesystem::exists(copy()));
}

}  // namespace
}  // namespace nvidb::sim
