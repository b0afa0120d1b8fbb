// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "screen/csi.h"

#include <array>

namespace nvidb::screen {
namespace {

constexpr int kMaxNumber = 0x10ffff;  // the largest that means something: a code point
constexpr int kAbsent = -1;

struct Parameters {
  char marker = 0;  // one of <=>? before the numbers
  std::array<int, 4> numbers{kAbsent, kAbsent, kAbsent, kAbsent};
  std::size_t count = 0;

  int number(std::size_t i, int otherwise) const {
    return numbers[i] == kAbsent ? otherwise : numbers[i];
  }
};

// Absent for anything but numbers between semicolons, not too many and not too large.
std::optional<Parameters> parse(std::string_view text) {
  Parameters found;
  if (!text.empty() && text[0] >= '<' && text[0] <= '?') {
    found.marker = text[0];
    text.remove_prefix(1);
  }
  if (text.empty()) return found;
  found.count = 1;
  for (const char byte : text) {
    if (byte == ';') {
      if (++found.count > found.numbers.size()) return std::nullopt;
      continue;
    }
    if (byte < '0' || byte > '9') return std::nullopt;
    int& number = found.numbers[found.count - 1];
    number = (number == kAbsent ? 0 : number * 10) + (byte - '0');
    if (number > kMaxNumber) return std::nullopt;
  }
  return found;
}

// `modifiers` is 1 plus a sum of 1 shift, 2 alt, 4 ctrl; the bits above are keys that we have not.
std::optional<Input> with_modifiers(Key key, int modifiers) {
  const int bits = modifiers < 1 ? 0 : modifiers - 1;
  key.shift = (bits & 1) != 0;
  key.alt = (bits & 2) != 0;
  key.ctrl = (bits & 4) != 0;
  return key;
}

std::optional<Key> letter_key(char letter) {
  switch (letter) {
    case 'A':
      return Key{KeyCode::up};
    case 'B':
      return Key{KeyCode::down};
    case 'C':
      return Key{KeyCode::right};
    case 'D':
      return Key{KeyCode::left};
    case 'F':
      return Key{KeyCode::end};
    case 'H':
      return Key{KeyCode::home};
    case 'P':
    case 'Q':
    case 'R':
    case 'S':
      return Key{KeyCode::function, "", letter - 'P' + 1};
    default:
      return std::nullopt;
  }
}

// The keys of ESC [ number ~. F1 to F12 have gaps in their numbers, as on the VT220's keyboard.
std::optional<Key> numbered_key(int number) {
  switch (number) {
    case 1:
    case 7:
      return Key{KeyCode::home};
    case 2:
      return Key{KeyCode::insert};
    case 3:
      return Key{KeyCode::del};
    case 4:
    case 8:
      return Key{KeyCode::end};
    case 5:
      return Key{KeyCode::page_up};
    case 6:
      return Key{KeyCode::page_down};
    default:
      break;
  }
  if (number >= 11 && number <= 15) return Key{KeyCode::function, "", number - 10};
  if (number >= 17 && number <= 21) return Key{KeyCode::function, "", number - 11};
  if (number == 23 || number == 24) return Key{KeyCode::function, "", number - 12};
  return std::nullopt;
}

std::string encode_utf8(int code_point) {
  const auto byte = [](int value) { return static_cast<char>(value); };
  const auto continuation = [&](int value) { return byte(0x80 | (value & 0x3f)); };
  std::string out;
  if (code_point < 0x80) return {byte(code_point)};
  if (code_point < 0x800) return {byte(0xc0 | (code_point >> 6)), continuation(code_point)};
  if (code_point < 0x10000) {
    return {byte(0xe0 | (code_point >> 12)), continuation(code_point >> 6),
            continuation(code_point)};
  }
  return {byte(0xf0 | (code_point >> 18)), continuation(code_point >> 12),
          continuation(code_point >> 6), continuation(code_point)};
}

// A key by the code point it types, as kitty's ESC [ code ; modifiers u and xterm's
// ESC [ 27 ; modifiers ; code ~ tell those that the old codes cannot.
std::optional<Input> code_point_key(int code, int modifiers) {
  const auto found = with_modifiers({KeyCode::character}, modifiers);
  Key key = std::get<Key>(*found);
  switch (code) {
    case 8:
    case 127:
      key.code = KeyCode::backspace;
      return key;
    case 9:
      key.code = key.shift ? KeyCode::backtab : KeyCode::tab;
      key.shift = false;
      return key;
    case 13:
      key.code = KeyCode::enter;
      return key;
    case 27:
      key.code = KeyCode::escape;
      return key;
    default:
      break;
  }
  // Kitty has its other keys, e.g. shift alone, in the private area.
  const bool types = code >= 0x20 && !(code >= 0x7f && code < 0xa0) &&
                     !(code >= 0xd800 && code < 0xf900) && code <= 0x10ffff;
  if (!types) return std::nullopt;
  const bool lower = code >= 'a' && code <= 'z', upper = code >= 'A' && code <= 'Z';
  if (lower && key.shift && !key.ctrl) code += 'A' - 'a';
  if (upper && key.ctrl) code += 'a' - 'A';
  key.shift = false;
  key.text = encode_utf8(code);
  return key;
}

// Buttons: 0 to 2, 3 for none, 64 and 65 the wheel; plus 4 shift, 8 alt, 16 ctrl, 32 motion.
std::optional<Input> sgr_mouse(const Parameters& parameters, bool released) {
  const int code = parameters.number(0, 0);
  const int x = parameters.number(1, 0), y = parameters.number(2, 0);
  if (parameters.count != 3 || x < 1 || y < 1) return std::nullopt;
  Mouse mouse;
  mouse.x = x - 1;
  mouse.y = y - 1;
  mouse.shift = (code & 4) != 0;
  mouse.alt = (code & 8) != 0;
  mouse.ctrl = (code & 16) != 0;
  const int button = code & 3;
  if (code >= 128) return std::nullopt;  // the buttons at the side
  if (code & 64) {
    if (button > 1 || released) return std::nullopt;
    mouse.kind = button == 0 ? Mouse::Kind::wheel_up : Mouse::Kind::wheel_down;
    return mouse;
  }
  if (button == 3) return std::nullopt;
  mouse.button = button;
  mouse.kind = released      ? Mouse::Kind::release
               : (code & 32) ? Mouse::Kind::drag
                             : Mouse::Kind::press;
  return mouse;
}

std::optional<std::uint8_t> parse_channel(std::string_view hex) {
  if (hex.empty() || hex.size() > 4) return std::nullopt;
  int value = 0, most = 0;
  for (const char digit : hex) {
    int nibble = 0;
    if (digit >= '0' && digit <= '9') {
      nibble = digit - '0';
    } else if (digit >= 'a' && digit <= 'f') {
      nibble = digit - 'a' + 10;
    } else if (digit >= 'A' && digit <= 'F') {
      nibble = digit - 'A' + 10;
    } else {
      return std::nullopt;
    }
    value = value * 16 + nibble;
    most = most * 16 + 15;
  }
  return static_cast<std::uint8_t>((value * 255 + most / 2) / most);
}

}  // namespace

std::optional<Input> decode_csi(std::string_view parameters, char final) {
  const auto parsed = parse(parameters);
  if (!parsed) return std::nullopt;
  if (parsed->marker == '<' && (final == 'M' || final == 'm')) {
    return sgr_mouse(*parsed, final == 'm');
  }
  if (parsed->marker != 0) return std::nullopt;
  const int first = parsed->number(0, 1), modifiers = parsed->number(1, 1);
  switch (final) {
    case 'Z':
      return Key{KeyCode::backtab};
    case 'u':
      if (parsed->count < 1 || parsed->count > 2) return std::nullopt;
      return code_point_key(first, modifiers);
    case '~':
      if (first == 27 && parsed->count == 3) {
        return code_point_key(parsed->number(2, 0), modifiers);
      }
      if (const auto key = numbered_key(parsed->number(0, 0)); key && parsed->count <= 2) {
        return with_modifiers(*key, modifiers);
      }
      return std::nullopt;
    default:
      break;
  }
  // ESC [ row ; column R is a cursor position, not F3.
  if (first != 1 || parsed->count > 2) return std::nullopt;
  if (const auto key = letter_key(final)) return with_modifiers(*key, modifiers);
  return std::nullopt;
}

std::optional<Input> decode_ss3(std::string_view parameters, char final) {
  const auto parsed = parse(parameters);
  if (!parsed || parsed->count > 2) return std::nullopt;
  // Old terminals have the modifiers alone, others a 1 before them.
  const int modifiers = parsed->number(parsed->count == 2 ? 1 : 0, 1);
  if (final == 'M') return with_modifiers({KeyCode::enter}, modifiers);  // of the number pad
  if (const auto key = letter_key(final)) return with_modifiers(*key, modifiers);
  return std::nullopt;
}

std::optional<Input> decode_osc(std::string_view body) {
  std::size_t channels = 3;
  if (body.starts_with("11;rgba:")) {
    channels = 4;
  } else if (!body.starts_with("11;rgb:")) {
    return std::nullopt;
  }
  body.remove_prefix(body.find(':') + 1);
  std::array<std::uint8_t, 4> values{};
  for (std::size_t i = 0; i < channels; ++i) {
    const std::size_t end = i + 1 < channels ? body.find('/') : body.size();
    if (end == std::string_view::npos) return std::nullopt;
    const auto value = parse_channel(body.substr(0, end));
    if (!value) return std::nullopt;
    values[i] = *value;
    body.remove_prefix(i + 1 < channels ? end + 1 : end);
  }
  return BackgroundColor{values[0], values[1], values[2]};
}

}  // namespace nvidb::screen
