// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Frames with everything in them that is hard to draw, from any source of numbers: a generator, or
// the bytes of a fuzzer.
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "screen/ansi.h"
#include "screen/frame.h"

namespace nvidb::test {

class RandomFrame {
 public:
  // `below(n)` gives a number from 0 to n - 1.
  explicit RandomFrame(std::function<std::uint32_t(std::uint32_t)> below)
      : below_(std::move(below)) {}

  screen::Palette palette() {
    return {static_cast<screen::ColorDepth>(below_(4)), static_cast<screen::Background>(below_(2))};
  }

  screen::Style style() {
    return {static_cast<screen::Ink>(below_(6)), below_(3) == 0, below_(4) == 0,
            below_(2) ? screen::Paper::none : static_cast<screen::Paper>(below_(5))};
  }

  // Writes, paints and blanks parts of `frame` up to `count` times.
  void change(screen::Frame& frame, std::uint32_t count) {
    for (std::uint32_t i = below_(count + 1); i > 0; --i) {
      const auto area = rect(frame);
      switch (below_(6)) {
        case 0:
          frame.clear(area);
          break;
        case 1:
          frame.set_paper(area, static_cast<screen::Paper>(below_(5)));
          break;
        default:
          frame.put(area.x, area.y, text(), below_(3) ? style() : screen::Style{});
          break;
      }
    }
  }

 private:
  screen::Rect rect(const screen::Frame& frame) {
    const auto within = [&](int size) {
      return static_cast<int>(below_(static_cast<std::uint32_t>(size) + 4)) - 2;
    };
    return {within(frame.width()), within(frame.height()), within(frame.width()),
            within(frame.height())};
  }

  std::string text() {
    static constexpr std::array<std::string_view, 14> kPieces = {
        "a",          "gpu 0",   " ",          "          ",   "\u2588\u2588\u2591",   "日本",
        "한",         "e\u0301", "\U0001f600", "\u2601\ufe0f", "\U0001f1e9\U0001f1ea", "\u0301",
        "\U0001f1ea", "87%"};
    std::string out;
    for (std::uint32_t i = below_(5); i > 0; --i) out += kPieces[below_(kPieces.size())];
    return out;
  }

  std::function<std::uint32_t(std::uint32_t)> below_;
};

}  // namespace nvidb::test
