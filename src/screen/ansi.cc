// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "screen/ansi.h"

#include <string_view>

namespace nvidb::screen {
namespace {

// The palette: quiet, and readable on a dark and on a light background alike.
struct InkCodes {
  std::string_view basic16, palette256, true_color;
};

InkCodes codes_of(Ink ink) {
  switch (ink) {
    case Ink::plain:
      return {"", "", ""};
    case Ink::dim:
      return {";90", ";38;5;244", ";38;2;128;128;128"};
    case Ink::accent:
      return {";36", ";38;5;37", ";38;2;46;163;176"};
    case Ink::good:
      return {";32", ";38;5;71", ";38;2;95;170;95"};
    case Ink::warn:
      return {";33", ";38;5;172", ";38;2;207;142;36"};
    case Ink::alarm:
      return {";31", ";38;5;167", ";38;2;214;84;84"};
  }
  return {};
}

std::string sgr(const Style& style, ColorDepth depth) {
  std::string out = "\x1b[0";
  if (style.bold) out += ";1";
  if (style.reverse) out += ";7";
  const InkCodes codes = codes_of(style.ink);
  switch (depth) {
    case ColorDepth::none:
      break;
    case ColorDepth::basic16:
      out += codes.basic16;
      break;
    case ColorDepth::palette256:
      out += codes.palette256;
      break;
    case ColorDepth::true_color:
      out += codes.true_color;
      break;
  }
  return out + "m";
}

bool is_blank(const Cell& cell) {
  return cell.text == " " && !cell.style.reverse;
}

void append_row(std::string& out, const Frame& frame, int y, ColorDepth depth) {
  int end = frame.width();
  while (end > 0 && is_blank(frame.at(end - 1, y))) --end;
  Style current;
  for (int x = 0; x < end; ++x) {
    const Cell& cell = frame.at(x, y);
    // A blank looks the same in every ink, so it does not interrupt a run.
    const bool visible = !is_blank(cell) || current.reverse;
    if (depth != ColorDepth::none && visible && cell.style != current) {
      out += sgr(cell.style, depth);
      current = cell.style;
    }
    out += cell.text;
  }
  if (current != Style{}) out += "\x1b[0m";
}

}  // namespace

std::string to_text(const Frame& frame, ColorDepth depth) {
  std::string out;
  for (int y = 0; y < frame.height(); ++y) {
    if (y > 0) out += '\n';
    append_row(out, frame, y, depth);
  }
  return out;
}

}  // namespace nvidb::screen
