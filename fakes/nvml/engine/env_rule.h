// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// The rule that lets a test use simulated memory by starting any program: each process of this
// machine that has a variable, FAKE_VRAM_MB=4096 say, is a compute process holding that much on
// the cards it may see.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/scenario.h"

namespace nvidb::sim {

struct EnvProcess {
  std::uint32_t pid = 0;
  std::int64_t mem_mb = 0;
  std::optional<std::string> cards;  // the text of the rule's cards_env; absent: not set
};

// The value of `name` in a block of NUL-ended NAME=VALUE; absent where it is not set. Pure.
std::optional<std::string_view> find_variable(std::string_view environment, std::string_view name);

// Whether a process that was told `cards` sees the card. As CUDA reads it: a list of indices and of
// UUIDs or beginnings of UUIDs, ended by the first entry that names no card. Not set: card 0 alone,
// so that a test that says nothing is not on every card. Pure.
bool sees_card(const std::optional<std::string>& cards, std::size_t index,
               const std::vector<Card>& all);

// The processes of `proc_root` that the rule catches, by pid. Those whose environment may not be
// read are not among them.
std::vector<EnvProcess> scan_environments(const EnvRule& rule, const std::string& proc_root);

// The same, looked up at most every kScanMs. For one thread at a time.
class EnvScanner {
 public:
  static constexpr std::int64_t kScanMs = 200;

  explicit EnvScanner(std::string proc_root = "/proc") : proc_root_(std::move(proc_root)) {}
  const std::vector<EnvProcess>& processes(const EnvRule& rule, std::int64_t steady_ms);

 private:
  std::string proc_root_;
  std::optional<EnvRule> scanned_rule_;
  std::int64_t scanned_ms_ = 0;
  std::vector<EnvProcess> processes_;
};

}  // namespace nvidb::sim
