// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "engine/scenario.h"

namespace nvidb::sim {
namespace {

// `nvmlDeviceGetCount_v2` without its `_v2`.
std::string_view without_version(std::string_view function) {
  const std::size_t mark = function.rfind("_v");
  if (mark == std::string_view::npos || mark + 3 != function.size()) return function;
  return function.substr(0, mark);
}

template <typename Map>
auto find_name(const Map& map, std::string_view function) {
  const auto exact = map.find(function);
  return exact != map.end() ? exact : map.find(without_version(function));
}

}  // namespace

Fault find_fault(const Faults& faults, std::string_view function, bool on_card) {
  Fault fault;
  fault.crash = find_name(faults.crash, function) != faults.crash.end();
  fault.block = find_name(faults.block, function) != faults.block.end();
  const auto wait = find_name(faults.block_ms, function);
  if (wait != faults.block_ms.end()) fault.block_ms = wait->second;
  auto code = find_name(faults.codes, function);
  if (code == faults.codes.end() && on_card) code = faults.codes.find("*");
  if (code != faults.codes.end()) fault.code = code->second;
  return fault;
}

int card_code(const Card& card, std::string_view function) {
  if (card.lost) return kGpuIsLost;
  auto code = find_name(card.codes, function);
  if (code == card.codes.end()) code = card.codes.find("*");
  return code == card.codes.end() ? 0 : code->second;
}

}  // namespace nvidb::sim
