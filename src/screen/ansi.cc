// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "screen/ansi.h"

#include <string_view>

#include "screen/look.h"

namespace nvidb::screen {
namespace {

struct Codes {
  std::string_view basic16, palette256, true_color;

  std::string_view at(ColorDepth depth) const {
    switch (depth) {
      case ColorDepth::none:
        return "";
      case ColorDepth::basic16:
        return basic16;
      case ColorDepth::palette256:
        return palette256;
      case ColorDepth::true_color:
        return true_color;
    }
    return "";
  }
};

// The inks: quiet, and readable on a dark and on a light background alike.
Codes codes_of(Ink ink) {
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

Codes codes_of(Paper paper, Background background) {
  const bool dark = background == Background::dark;
  switch (paper) {
    case Paper::none:
      return {"", "", ""};
    case Paper::selected:
      return dark ? Codes{"", ";48;5;237", ";48;2;58;58;58"}
                  : Codes{"", ";48;5;254", ";48;2;228;228;228"};
    case Paper::good:
      return dark ? Codes{";30;42", ";48;5;22", ";48;2;20;76;36"}
                  : Codes{";30;42", ";48;5;194", ";48;2;208;240;212"};
    case Paper::warn:
      return dark ? Codes{";30;43", ";48;5;58", ";48;2;92;72;16"}
                  : Codes{";30;43", ";48;5;223", ";48;2;250;226;176"};
    case Paper::alarm:
      return dark ? Codes{";30;41", ";48;5;52", ";48;2;104;28;28"}
                  : Codes{";30;41", ";48;5;224", ";48;2;252;212;212"};
  }
  return {};
}

// A paper of ours brings its own plain ink: where the background was guessed wrong, the terminal's
// own would be black on dark grey.
Codes plain_on_paper(Background background) {
  return background == Background::dark ? Codes{"", ";38;5;253", ";38;2;218;218;218"}
                                        : Codes{"", ";38;5;235", ";38;2;38;38;38"};
}

void append_row(std::string& out, const Frame& frame, int y, const Palette& palette) {
  const auto style_at = [&](int x) { return look(frame.at(x, y).style, palette); };
  const auto is_nothing = [&](int x) {
    return is_blank(frame.at(x, y)) && same_on_blank(style_at(x), Style{});
  };
  int end = frame.width();
  while (end > 0 && is_nothing(end - 1)) --end;
  Style current;
  for (int x = 0; x < end; ++x) {
    const Cell& cell = frame.at(x, y);
    const Style style = style_at(x);
    // A blank looks the same in every ink, so it does not interrupt a run. The second half of a
    // wide grapheme is never drawn.
    const bool keeps = cell.text.empty() || (is_blank(cell) && same_on_blank(style, current));
    if (palette.depth != ColorDepth::none && !keeps && style != current) {
      out += sgr(style, palette);
      current = style;
    }
    out += cell.text;
  }
  if (current != Style{}) out += "\x1b[0m";
}

}  // namespace

std::string sgr(const Style& style, const Palette& palette) {
  const Style seen = look(style, palette);
  std::string out = "\x1b[0";
  if (seen.bold) out += ";1";
  if (seen.reverse) out += ";7";
  const bool own_plain = seen.ink == Ink::plain && seen.paper != Paper::none;
  out += (own_plain ? plain_on_paper(palette.background) : codes_of(seen.ink)).at(palette.depth);
  out += codes_of(seen.paper, palette.background).at(palette.depth);
  return out + "m";
}

std::string to_text(const Frame& frame, ColorDepth depth) {
  std::string out;
  for (int y = 0; y < frame.height(); ++y) {
    if (y > 0) out += '\n';
    append_row(out, frame, y, {depth, Background::dark});
  }
  return out;
}

}  // namespace nvidb::screen
