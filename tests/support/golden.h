// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Compares a text with a file under tests/golden/. NVIDB_UPDATE_GOLDEN=1 writes the file instead;
// read the diff.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace nvidb::test {

// `name` is relative to tests/golden/.
inline void expect_golden(const std::string& name, const std::string& actual) {
  const std::filesystem::path path =
      std::filesystem::path(NVIDB_SOURCE_DIR) / "tests" / "golden" / name;
  const char* update = std::getenv("NVIDB_UPDATE_GOLDEN");
  if (update && std::string(update) == "1") {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << actual;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << "no " << path << "; NVIDB_UPDATE_GOLDEN=1 writes it";
  std::ostringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(expected.str(), actual)
      << "differs from " << path << "; NVIDB_UPDATE_GOLDEN=1 rewrites it";
}

}  // namespace nvidb::test
