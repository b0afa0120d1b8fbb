// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors

// What a terminal, or whoever can make it speak, sends. The inputs must be sound, and the same
// however the bytes are cut into reads. The first byte chooses the cuts.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "screen/input.h"

using namespace nvidb;

namespace {

void check_sound(const screen::Key& key) {
  const bool is_function = key.code == screen::KeyCode::function;
  CHECK(is_function ? key.number >= 1 && key.number <= 12 : key.number == 0);
  if (key.code != screen::KeyCode::character) {
    CHECK(key.text.empty());
    return;
  }
  CHECK(!key.shift);
  CHECK(base::valid_utf8(key.text) == key.text);
  const auto lead = static_cast<unsigned char>(key.text.at(0));
  const std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  CHECK(key.text.size() == length);
  CHECK(lead >= 0x20 && lead != 0x7f);
}

void check_sound(const screen::Mouse& mouse) {
  CHECK(mouse.x >= 0 && mouse.y >= 0);
  CHECK(mouse.button >= 0 && mouse.button <= 2);
}

void check_sound(const screen::Paste& paste) {
  CHECK(paste.text.size() <= screen::kMaxPasteBytes);
}

void check_sound(const screen::BackgroundColor&) {}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  screen::InputDecoder whole, parts;
  const std::vector<screen::Input> expected = whole.feed(bytes);
  for (const screen::Input& input : expected) {
    std::visit([](const auto& value) { check_sound(value); }, input);
  }
  std::vector<screen::Input> found;
  std::uint32_t cuts = data[0] + 1u;
  for (std::string_view rest = bytes; !rest.empty();) {
    cuts = cuts * 1103515245u + 12345u;
    const std::string_view part = rest.substr(0, 1 + (data[0] ? (cuts >> 16) % data[0] : 0));
    rest.remove_prefix(part.size());
    const auto some = parts.feed(part);
    found.insert(found.end(), some.begin(), some.end());
  }
  CHECK(found == expected);
  CHECK(parts.is_waiting() == whole.is_waiting());
  CHECK(parts.flush() == whole.flush());
  CHECK(!whole.is_waiting());
  return 0;
}
