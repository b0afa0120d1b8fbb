// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// A number of the simulator as a function of time. Pure.

namespace nvidb::sim {

enum class Shape {
  constant,  // base
  sine,      // base +- swing
  square,    // base + swing for half a period, then base - swing
  saw,       // rises from base - swing to base + swing, then falls at once
  noise,     // wanders within base +- swing, a new aim each period; same time, same value
};

struct Curve {
  double base = 0;
  double swing = 0;
  double period_s = 60;
  double phase_s = 0;  // added to the time
  Shape shape = Shape::constant;
};

// REQUIRES: period_s > 0.
double value_at(const Curve& curve, double at_s);

// A number of a card: unless the scenario gives it, the preset says how it follows the load.
struct Setting {
  enum class Kind { by_preset, not_supported, given };
  Kind kind = Kind::by_preset;
  Curve curve;
};

}  // namespace nvidb::sim
