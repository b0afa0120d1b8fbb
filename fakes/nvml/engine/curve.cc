// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "engine/curve.h"

#include <cmath>
#include <cstdint>
#include <numbers>

namespace nvidb::sim {
namespace {

// -1..1, the same for the same step (splitmix64).
double random_aim(double step) {
  std::uint64_t bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(step));
  bits += 0x9E3779B97F4A7C15u;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
  bits ^= bits >> 31;
  return static_cast<double>(bits >> 11) / 4503599627370496.0 - 1.0;
}

}  // namespace

double value_at(const Curve& curve, double at_s) {
  const double periods = (at_s + curve.phase_s) / curve.period_s;
  const double whole = std::floor(periods);
  const double part = periods - whole;
  switch (curve.shape) {
    case Shape::constant:
      return curve.base;
    case Shape::sine:
      return curve.base + curve.swing * std::sin(2 * std::numbers::pi * part);
    case Shape::square:
      return curve.base + (part < 0.5 ? curve.swing : -curve.swing);
    case Shape::saw:
      return curve.base + curve.swing * (2 * part - 1);
    case Shape::noise:
      return curve.base + curve.swing * std::lerp(random_aim(whole), random_aim(whole + 1), part);
  }
  return curve.base;
}

}  // namespace nvidb::sim
