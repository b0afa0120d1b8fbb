// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "screen/token.h"

#include "base/text.h"
#include "screen/csi.h"

namespace nvidb::screen {
namespace {

constexpr char kEsc = '\x1b', kBell = '\a', kCancel = '\x18', kSubstitute = '\x1a';

bool is_control(char byte) {
  return static_cast<unsigned char>(byte) < 0x20;
}

Token key(std::size_t size, KeyCode code) {
  return {size, Key{code}};
}

Token ctrl(char letter) {
  Key pressed{KeyCode::character, std::string(1, letter)};
  pressed.ctrl = true;
  return {1, pressed};
}

Token read_control(char byte) {
  switch (byte) {
    case '\0':  // Ctrl-Space
      return {1};
    case '\t':
      return key(1, KeyCode::tab);
    case '\r':
    case '\n':
      return key(1, KeyCode::enter);
    case '\b':
    case '\x7f':
      return key(1, KeyCode::backspace);
    case kEsc:
      return key(1, KeyCode::escape);
    default:
      break;
  }
  // 1 to 26 are Ctrl with a letter, 28 to 31 with \ ] ^ _.
  const char letter = static_cast<char>(byte + '@');
  return ctrl(letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter);
}

std::size_t utf8_length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  if (byte < 0x80) return 1;
  if (byte >= 0xc2 && byte <= 0xdf) return 2;
  if (byte >= 0xe0 && byte <= 0xef) return 3;
  if (byte >= 0xf0 && byte <= 0xf4) return 4;
  return 0;
}

// A broken character is dropped with the bytes that were meant to continue it.
Token read_character(std::string_view bytes) {
  if (is_control(bytes[0]) || bytes[0] == '\x7f') return read_control(bytes[0]);
  const std::size_t length = utf8_length(bytes[0]);
  if (length == 0) return {1};
  for (std::size_t i = 1; i < length; ++i) {
    if (i >= bytes.size()) return {};
    if ((static_cast<unsigned char>(bytes[i]) & 0xc0) != 0x80) return {i};
  }
  const std::string text(bytes.substr(0, length));
  const bool is_c1 = length == 2 && text[0] == '\xc2' && static_cast<unsigned char>(text[1]) < 0xa0;
  if (is_c1 || base::valid_utf8(text) != text) return {length};
  return {length, Key{KeyCode::character, text}};
}

// ESC [ M and three bytes: a mouse report without SGR, wrong beyond column 223. We ask for the
// better one; this is only kept from becoming keys.
Token read_old_mouse(std::string_view bytes) {
  for (std::size_t i = 3; i < 6; ++i) {
    if (i >= bytes.size()) return {};
    if (is_control(bytes[i])) return {i};
  }
  return {6};
}

// ESC [ [ and a letter: F1 to F5 of the Linux console.
Token read_linux_function(std::string_view bytes) {
  if (bytes.size() < 4) return {};
  const char letter = bytes[3];
  if (is_control(letter) || static_cast<unsigned char>(letter) >= 0x7f) return {3};
  if (letter < 'A' || letter > 'E') return {4};
  return {4, Key{KeyCode::function, "", letter - 'A' + 1}};
}

Token read_csi(std::string_view bytes) {
  if (bytes.size() > 2 && bytes[2] == 'M') return read_old_mouse(bytes);
  if (bytes.size() > 2 && bytes[2] == '[') return read_linux_function(bytes);
  for (std::size_t i = 2; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (byte < 0x20 || byte >= 0x7f) return {i};
    if (byte < 0x40) continue;
    Token token{i + 1};
    if (token.size > kMaxSequenceBytes) return token;
    const std::string_view parameters = bytes.substr(2, i - 2);
    token.begins_paste = bytes[i] == '~' && parameters == "200";
    token.input = decode_csi(parameters, bytes[i]);
    return token;
  }
  return {};
}

// ESC O, perhaps modifiers, and a letter: cursor and function keys.
Token read_ss3(std::string_view bytes) {
  for (std::size_t i = 2; i < bytes.size() && i < 8; ++i) {
    const char byte = bytes[i];
    if (is_control(byte) || static_cast<unsigned char>(byte) >= 0x7f) return {i};
    if ((byte >= '0' && byte <= '9') || byte == ';') {
      if (i == 7) return {8};
      continue;
    }
    return {i + 1, decode_ss3(bytes.substr(2, i - 2), byte)};
  }
  return {};
}

// OSC, DCS, SOS, PM and APC: text for programs.
Token read_string(std::string_view bytes) {
  for (std::size_t i = 2; i < bytes.size(); ++i) {
    if (!is_control(bytes[i])) continue;
    std::size_t end_size = 1;
    if (bytes[i] == kEsc) {
      if (i + 1 >= bytes.size()) return {};
      if (bytes[i + 1] != '\\') return {i};
      end_size = 2;
    } else if (bytes[i] == kCancel || bytes[i] == kSubstitute) {
      return {i + 1};
    } else if (bytes[i] != kBell) {
      return {i};  // a key that was pressed after a string without an end
    }
    Token token{i + end_size};
    if (bytes[1] == ']' && token.size <= kMaxSequenceBytes)
      token.input = decode_osc(bytes.substr(2, i - 2));
    return token;
  }
  return {};
}

// Two ESC: alt with an arrow or the like, as rxvt and PuTTY send it, or the key Escape and then
// whatever comes.
Token read_double_escape(std::string_view bytes) {
  if (bytes.size() == 2) return {};
  if (bytes[2] == '[' || bytes[2] == 'O') {
    Token inner = read_token(bytes.substr(1));
    if (inner.size == 0) return {};
    Key* pressed = inner.input ? std::get_if<Key>(&*inner.input) : nullptr;
    if (pressed && !pressed->alt) {
      pressed->alt = true;
      ++inner.size;
      return inner;
    }
  }
  return key(1, KeyCode::escape);
}

}  // namespace

Token read_token(std::string_view bytes) {
  if (bytes[0] != kEsc) return read_character(bytes);
  if (bytes.size() == 1) return {};
  switch (bytes[1]) {
    case '[':
      return read_csi(bytes);
    case 'O':
      return read_ss3(bytes);
    case ']':
    case 'P':
    case 'X':
    case '^':
    case '_':
      return read_string(bytes);
    case kEsc:
      return read_double_escape(bytes);
    default:
      break;
  }
  Token token = read_character(bytes.substr(1));
  if (token.size == 0) return {};
  ++token.size;
  if (token.input) std::get<Key>(*token.input).alt = true;
  return token;
}

}  // namespace nvidb::screen
