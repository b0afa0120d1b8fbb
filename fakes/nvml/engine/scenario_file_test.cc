// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "engine/scenario_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace nvidb::sim {
namespace {

using testing::HasSubstr;

class ScenarioFileTest : public testing::Test {
 protected:
  ScenarioFileTest() {
    std::string name = testing::TempDir() + "/nvidb-scenario-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~ScenarioFileTest() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return folder_ + "/scenario.json"; }
  void write(std::string_view text) {
    std::ofstream(path() + ".new") << text;
    std::filesystem::rename(path() + ".new", path());
  }

  std::string folder_;
};

TEST_F(ScenarioFileTest, NoPath_IsTheDefault) {
  ScenarioFile file("");
  EXPECT_EQ(file.look(0)->cards.size(), 1u);
  EXPECT_FALSE(file.take_complaint());
}

TEST_F(ScenarioFileTest, ChangedFile_IsReadAgainOnceItsTimeHasCome) {
  write(R"({"gpus":[{"count":1}]})");
  ScenarioFile file(path());
  EXPECT_EQ(file.look(1000)->cards.size(), 1u);
  write(R"({"gpus":[{"count":2}]})");
  EXPECT_EQ(file.look(1049)->cards.size(), 1u);
  EXPECT_EQ(file.look(1050)->cards.size(), 2u);
}

TEST_F(ScenarioFileTest, Now_LooksAtOnce) {
  write(R"({"gpus":[{"count":1}]})");
  ScenarioFile file(path());
  EXPECT_EQ(file.look(1000)->cards.size(), 1u);
  write(R"({"gpus":[{"count":2}]})");
  EXPECT_EQ(file.look(1000, true)->cards.size(), 2u);
}

TEST_F(ScenarioFileTest, CheckMsZero_LooksEveryTime) {
  write(R"({"check_ms":0,"gpus":[{"count":1}]})");
  ScenarioFile file(path());
  EXPECT_EQ(file.look(1000)->cards.size(), 1u);
  write(R"({"check_ms":0,"gpus":[{"count":2}]})");
  EXPECT_EQ(file.look(1000)->cards.size(), 2u);
}

TEST_F(ScenarioFileTest, UnchangedFile_IsTheSameScenario) {
  write("{}");
  ScenarioFile file(path());
  const auto first = file.look(1000);
  EXPECT_EQ(file.look(2000).get(), first.get());
}

TEST_F(ScenarioFileTest, BrokenFile_KeepsTheLastGoodOneAndSaysSoOnce) {
  write(R"({"gpus":[{"count":3}]})");
  ScenarioFile file(path());
  file.look(1000);
  write(R"({"gpus":[{"count":)");
  EXPECT_EQ(file.look(2000)->cards.size(), 3u);
  const auto complaint = file.take_complaint();
  ASSERT_TRUE(complaint);
  EXPECT_THAT(*complaint, HasSubstr(path()));
  EXPECT_EQ(file.look(3000)->cards.size(), 3u);
  EXPECT_FALSE(file.take_complaint());
  write(R"({"gpus":[{"count":4}]})");
  EXPECT_EQ(file.look(4000)->cards.size(), 4u);
  EXPECT_FALSE(file.take_complaint());
}

TEST_F(ScenarioFileTest, VanishedFile_KeepsTheLastGoodOne) {
  write("{}");
  ScenarioFile file(path());
  file.look(1000);
  std::filesystem::remove(path());
  EXPECT_EQ(file.look(2000)->cards.size(), 1u);
  EXPECT_TRUE(file.take_complaint());
}

TEST_F(ScenarioFileTest, NeverGood_IsNoScenarioUntilItIs) {
  ScenarioFile file(path());
  EXPECT_EQ(file.look(1000), nullptr);
  EXPECT_TRUE(file.take_complaint());
  write("{}");
  EXPECT_NE(file.look(1001), nullptr);
}

}  // namespace
}  // namespace nvidb::sim
