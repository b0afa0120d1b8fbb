// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors

// Any two frames: the bytes between them must turn a terminal that shows the first into one that
// shows the second. The input is the choices that make the frames.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "screen/diff.h"
#include "support/random_frame.h"
#include "support/tiny_vt.h"

using namespace nvidb;

namespace {

void check_shows(const test::TinyVt& vt, const screen::Frame& frame,
                 const screen::Palette& palette) {
  CHECK(!vt.trouble());
  CHECK(vt.difference(frame, palette).empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::size_t at = 0;
  test::RandomFrame any(
      [&](std::uint32_t limit) -> std::uint32_t { return at < size ? data[at++] % limit : 0; });
  const auto next = [&] { return at < size ? static_cast<int>(data[at++]) : 0; };
  const screen::Palette palette = any.palette();
  const int width = next() % 40, height = next() % 6;
  screen::Frame frame(width, height);
  any.change(frame, 20);
  test::TinyVt vt(frame.width(), frame.height());
  vt.feed(screen::repaint(frame, palette));
  check_shows(vt, frame, palette);
  for (int step = 0; step < 3; ++step) {
    screen::Frame wanted = frame;
    any.change(wanted, 10);
    vt.feed(screen::diff(frame, wanted, palette));
    check_shows(vt, wanted, palette);
    CHECK(screen::diff(wanted, wanted, palette).empty());
    frame = wanted;
  }
  return 0;
}
