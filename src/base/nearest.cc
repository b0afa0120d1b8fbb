// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "base/nearest.h"

#include <algorithm>
#include <vector>

namespace nvidb::base {
namespace {

constexpr std::size_t kMaxWordBytes = 64;

// Letters to insert, remove, replace or swap with their neighbour.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  if (word.size() > kMaxWordBytes) return {};
  std::size_t limit = std::max<std::size_t>(1, word.size() / 3) + 1;
  std::string_view best;
  for (const std::string_view candidate : known) {
    const std::size_t needed = distance(word, candidate);
    if (needed < limit) {
      limit = needed;
      best = candidate;
    }
  }
  return best;
}

}  // namespace nvidb::base
