// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "agent/nvml_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../fakes/nvml/sim_abi.h"
#include "agent/sim_test_support.h"

namespace nvidb::agent {
namespace {

using testing::HasSubstr;

// Our copy of the simulator's own structure is the same.
static_assert(sizeof(nvml::SimProcessFacts) == sizeof(nvidb_sim_facts));
static_assert(offsetof(nvml::SimProcessFacts, cpu_percent) ==
              offsetof(nvidb_sim_facts, cpu_percent));
static_assert(offsetof(nvml::SimProcessFacts, state) == offsetof(nvidb_sim_facts, state));

class NvmlLibraryTest : public SimTest {
 protected:
  base::Result<std::shared_ptr<const NvmlLibrary>> open_first(std::vector<std::string> paths) {
    return NvmlLibrary::open(paths);
  }
};

TEST_F(NvmlLibraryTest, FirstPathThatOpens_IsUsed) {
  const auto library = open_first({folder() + "/nothing.so.1", sim_path(), folder() + "/other.so"});
  ASSERT_TRUE(library);
  EXPECT_EQ((*library)->path(), sim_path());
  EXPECT_TRUE((*library)->simulated());
}

TEST_F(NvmlLibraryTest, NoFileAnywhere_NotFound) {
  const auto library = open_first({folder() + "/nothing.so.1", folder() + "/neither.so.1"});
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().kind, base::ErrorKind::not_found);
}

TEST_F(NvmlLibraryTest, FileThatIsNoLibrary_SaysWhy) {
  const std::string path = folder() + "/text.so.1";
  std::ofstream(path) << "not a library";
  const auto library = open_first({path});
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().kind, base::ErrorKind::unsupported);
  EXPECT_THAT(library.error().message, HasSubstr("text.so.1"));
}

TEST_F(NvmlLibraryTest, NecessaryFunctionMissing_NextPathIsTried) {
  const std::string broken = sim_without({"nvmlShutdown"});
  const auto alone = open_first({broken});
  ASSERT_FALSE(alone);
  EXPECT_THAT(alone.error().message, HasSubstr("nvmlShutdown"));
  EXPECT_TRUE(open_first({broken, sim_path()}));
}

TEST_F(NvmlLibraryTest, OldCountOnly_HandlesAreOldToo) {
  const auto library = open(sim_without({"nvmlDeviceGetCount_v2"}));
  const auto newest = open(sim_path());
  ASSERT_TRUE(library && newest);
  EXPECT_NE(library->count, nullptr);
  EXPECT_NE(library->handle_by_index, nullptr);
}

TEST_F(NvmlLibraryTest, FileNamedByItsVersion_VersionIsKnown) {
  const std::string path = folder() + "/libnvidia-ml.so.535.54.03";
  std::filesystem::copy_file(sim_path(), path, std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(open(path)->file_version(), "535.54.03");
  EXPECT_EQ(open(sim_path())->file_version(), std::nullopt);
}

}  // namespace
}  // namespace nvidb::agent
