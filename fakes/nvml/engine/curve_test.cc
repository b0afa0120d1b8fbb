// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "engine/curve.h"

#include <gtest/gtest.h>

namespace nvidb::sim {
namespace {

Curve curve(Shape shape) {
  return {.base = 60, .swing = 30, .period_s = 40, .phase_s = 0, .shape = shape};
}

TEST(Curve, Constant_IsItsBaseAtAnyTime) {
  EXPECT_DOUBLE_EQ(value_at({.base = 7}, 0), 7);
  EXPECT_DOUBLE_EQ(value_at({.base = 7}, 1.7e9), 7);
}

TEST(Curve, Sine_TurnsAtQuarters) {
  EXPECT_NEAR(value_at(curve(Shape::sine), 0), 60, 1e-9);
  EXPECT_NEAR(value_at(curve(Shape::sine), 10), 90, 1e-9);
  EXPECT_NEAR(value_at(curve(Shape::sine), 30), 30, 1e-9);
  EXPECT_NEAR(value_at(curve(Shape::sine), 4'000'010), 90, 1e-6);
}

TEST(Curve, Square_IsHighThenLow) {
  EXPECT_DOUBLE_EQ(value_at(curve(Shape::square), 0), 90);
  EXPECT_DOUBLE_EQ(value_at(curve(Shape::square), 19.9), 90);
  EXPECT_DOUBLE_EQ(value_at(curve(Shape::square), 20), 30);
  EXPECT_DOUBLE_EQ(value_at(curve(Shape::square), 40), 90);
}

TEST(Curve, Saw_RisesAndFallsAtOnce) {
  EXPECT_DOUBLE_EQ(value_at(curve(Shape::saw), 0), 30);
  EXPECT_DOUBLE_EQ(value_at(curve(Shape::saw), 20), 60);
  EXPECT_NEAR(value_at(curve(Shape::saw), 39.999), 90, 0.01);
  EXPECT_DOUBLE_EQ(value_at(curve(Shape::saw), 40), 30);
}

TEST(Curve, Noise_StaysInReachAndIsTheSameAgain) {
  double least = 1e9, most = -1e9;
  for (int second = 0; second < 4000; ++second) {
    const double value = value_at(curve(Shape::noise), second);
    EXPECT_DOUBLE_EQ(value, value_at(curve(Shape::noise), second));
    least = std::min(least, value);
    most = std::max(most, value);
  }
  EXPECT_GE(least, 30);
  EXPECT_LE(most, 90);
  EXPECT_GT(most - least, 30);  // it does wander
}

TEST(Curve, Phase_MovesItInTime) {
  Curve later = curve(Shape::saw);
  later.phase_s = 20;
  EXPECT_DOUBLE_EQ(value_at(later, 0), 60);
  EXPECT_DOUBLE_EQ(value_at(curve(Shape::saw), -20), 60);  // times before 1970 are times
}

}  // namespace
}  // namespace nvidb::sim
