// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "engine/env_rule.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "engine/parse_scenario.h"

namespace nvidb::sim {
namespace {

using namespace std::string_literals;

// A /proc of our own.
class EnvRuleTest : public testing::Test {
 protected:
  EnvRuleTest() {
    std::string name = testing::TempDir() + "/nvidb-env-rule-XXXXXX";
    root_ = ::mkdtemp(name.data());
  }
  ~EnvRuleTest() override { std::filesystem::remove_all(root_); }

  void process(const std::string& pid, const std::string& environment) {
    std::filesystem::create_directories(root_ + "/" + pid);
    std::ofstream(root_ + "/" + pid + "/environ", std::ios::binary) << environment;
  }

  std::string root_;
  const EnvRule rule_;
};

std::vector<Card> three_cards() {
  return parse_scenario(R"({"gpus":[{"uuid":"GPU-aa11"},{"uuid":"GPU-aa22"},{"uuid":"GPU-bb33"}]})")
      ->cards;
}

TEST(FindVariable, OnlyWholeNamesCount) {
  const std::string block = "XFAKE=1\0FAKE=2\0FAKE_VRAM_MB=3\0EMPTY=\0"s;
  EXPECT_EQ(find_variable(block, "FAKE"), "2");
  EXPECT_EQ(find_variable(block, "EMPTY"), "");
  EXPECT_EQ(find_variable(block, "FAKE_VRAM"), std::nullopt);
  EXPECT_EQ(find_variable("", "FAKE"), std::nullopt);
}

TEST(SeesCard, ReadsTheListAsCudaDoes) {
  const auto cards = three_cards();
  const auto seen = [&](const std::optional<std::string>& list) {
    std::string indices;
    for (std::size_t i = 0; i < cards.size(); ++i) {
      if (sees_card(list, i, cards)) indices += std::to_string(i);
    }
    return indices;
  };
  EXPECT_EQ(seen(std::nullopt), "0");
  EXPECT_EQ(seen(""), "");
  EXPECT_EQ(seen("2,0"), "02");
  EXPECT_EQ(seen(" 1 , 2"), "12");
  EXPECT_EQ(seen("GPU-bb33"), "2");
  EXPECT_EQ(seen("GPU-b,1"), "12");
  EXPECT_EQ(seen("1,7,0"), "1");  // nothing after an entry that names no card
  EXPECT_EQ(seen("-1"), "");
  EXPECT_EQ(seen("NoDevFiles"), "");
}

TEST_F(EnvRuleTest, ProcessesWithTheVariable_AreFoundByPid) {
  process("31", "A=1\0FAKE_VRAM_MB=4096\0CUDA_VISIBLE_DEVICES=1\0"s);
  process("7", "FAKE_VRAM_MB=12"s);
  process("8", "HOME=/\0"s);
  process("9", "FAKE_VRAM_MB=lots\0"s);
  process("10", "FAKE_VRAM_MB=-5\0"s);
  process("self", "FAKE_VRAM_MB=1\0"s);
  const auto found = scan_environments(rule_, root_);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].pid, 7u);
  EXPECT_EQ(found[0].mem_mb, 12);
  EXPECT_EQ(found[0].cards, std::nullopt);
  EXPECT_EQ(found[1].pid, 31u);
  EXPECT_EQ(found[1].cards, "1");
}

TEST_F(EnvRuleTest, NoProc_IsNoProcess) {
  EXPECT_TRUE(scan_environments(rule_, root_ + "/none").empty());
}

TEST_F(EnvRuleTest, Scanner_LooksAgainAfterItsTimeAndForAnotherRule) {
  EnvScanner scanner(root_);
  process("7", "FAKE_VRAM_MB=12\0OTHER=5\0"s);
  EXPECT_EQ(scanner.processes(rule_, 1000).size(), 1u);
  process("8", "FAKE_VRAM_MB=13\0"s);
  EXPECT_EQ(scanner.processes(rule_, 1000 + EnvScanner::kScanMs - 1).size(), 1u);
  EXPECT_EQ(scanner.processes(rule_, 1000 + EnvScanner::kScanMs).size(), 2u);
  const EnvRule other{.env = "OTHER", .cards_env = "CARDS"};
  EXPECT_EQ(scanner.processes(other, 1000 + EnvScanner::kScanMs).size(), 1u);
}

}  // namespace
}  // namespace nvidb::sim
