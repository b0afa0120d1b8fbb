// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Bytes from a terminal -> keys, mouse, pastes and answers. Pure; any bytes at all are fine.
//
// Source: xterm's control sequences (CSI, SS3, SGR mouse 1006, bracketed paste 2004, OSC 11), which
// tmux, screen, kitty, VTE and the Linux console send as well.
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace nvidb::screen {

enum class KeyCode {
  character,  // `text` holds it
  enter,
  escape,
  tab,
  backtab,
  backspace,
  del,
  insert,
  up,
  down,
  left,
  right,
  home,
  end,
  page_up,
  page_down,
  function,  // `number` 1 to 12
};

struct Key {
  KeyCode code = KeyCode::character;
  // One code point as UTF-8, never a control character; ctrl with a letter has the lower-case
  // letter. Space is " ".
  std::string text = {};
  int number = 0;
  bool ctrl = false, alt = false;
  bool shift = false;  // only for keys other than characters, whose text tells it already

  bool operator==(const Key&) const = default;
};

struct Mouse {
  enum class Kind { press, release, drag, wheel_up, wheel_down };
  Kind kind = Kind::press;
  int button = 0;    // 0 left, 1 middle, 2 right; 0 for the wheel
  int x = 0, y = 0;  // from 0
  bool ctrl = false, alt = false, shift = false;

  bool operator==(const Mouse&) const = default;
};

// What was pasted, as it came but for the brackets around it; at most kMaxPasteBytes, the rest is
// dropped.
struct Paste {
  std::string text;

  bool operator==(const Paste&) const = default;
};

// The terminal's answer to kAskBackground: its background colour.
struct BackgroundColor {
  std::uint8_t red = 0, green = 0, blue = 0;

  bool operator==(const BackgroundColor&) const = default;
};

using Input = std::variant<Key, Mouse, Paste, BackgroundColor>;

// How long a lone ESC may be the beginning of more.
inline constexpr std::int64_t kEscapeMs = 25;
inline constexpr std::size_t kMaxPasteBytes = 64 << 10;

class InputDecoder {
 public:
  // What `bytes` complete, in order. Unknown and malformed sequences give nothing, and never a part
  // of them as keys; invalid UTF-8 gives nothing.
  std::vector<Input> feed(std::string_view bytes);

  // A sequence has begun that may be over already: call flush() kEscapeMs after the last feed().
  // False within a paste, which ends with its own sequence only, and once there is more than a
  // person types: a slow line may pause there, and the rest must not become keys.
  bool is_waiting() const;
  // What has begun is all there is: a lone ESC is the key; anything else unfinished is dropped.
  std::vector<Input> flush();

 private:
  std::string pending_;  // bounded
  bool pasting_ = false;
  std::string paste_;
};

}  // namespace nvidb::screen
