// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "screen/input.h"

#include <algorithm>
#include <utility>

#include "screen/token.h"

namespace nvidb::screen {
namespace {

constexpr std::string_view kPasteEnd = "\x1b[201~";

// How many bytes at the end of `text` may be the beginning of kPasteEnd.
std::size_t begun_paste_end(std::string_view text) {
  std::size_t length = std::min(text.size(), kPasteEnd.size() - 1);
  while (length > 0 && !kPasteEnd.starts_with(text.substr(text.size() - length))) --length;
  return length;
}

// `begun` is an unfinished sequence that is too long to be ours. What is left of it makes the rest,
// whenever it comes, complete the same kind of sequence, and an unknown one.
std::string shorten(std::string_view begun) {
  std::string out(begun.substr(0, begun.starts_with("\x1b\x1b") ? 3 : 2));
  out += '?';
  if (begun.back() == '\x1b') out += '\x1b';  // the first half of a string's end
  return out;
}

}  // namespace

std::vector<Input> InputDecoder::feed(std::string_view bytes) {
  pending_ += bytes;
  std::vector<Input> out;
  std::string_view rest = pending_;
  while (!rest.empty()) {
    if (pasting_) {
      const std::size_t end = rest.find(kPasteEnd);
      const bool ended = end != std::string_view::npos;
      const std::size_t length = ended ? end : rest.size() - begun_paste_end(rest);
      paste_ += rest.substr(0, std::min(length, kMaxPasteBytes - paste_.size()));
      rest.remove_prefix(ended ? end + kPasteEnd.size() : length);
      if (!ended) break;
      pasting_ = false;
      out.emplace_back(Paste{std::exchange(paste_, {})});
      continue;
    }
    Token token = read_token(rest);
    if (token.size == 0) break;
    rest.remove_prefix(token.size);
    pasting_ = token.begins_paste;
    if (token.input) out.push_back(*std::move(token.input));
  }
  // One byte more than a sequence may have, for the ESC that makes it alt.
  pending_ = rest.size() > kMaxSequenceBytes + 1 ? shorten(rest) : std::string(rest);
  return out;
}

bool InputDecoder::is_waiting() const {
  // Escape, or Alt with a character that begins sequences. After one byte more nobody types it.
  std::string_view begun = pending_;
  if (pasting_ || begun.empty() || begun[0] != '\x1b') return false;
  if (begun.size() > 1 && begun[1] == '\x1b') begun.remove_prefix(1);
  return begun.size() == 1 || (begun.size() == 2 && static_cast<unsigned char>(begun[1]) < 0x80);
}

std::vector<Input> InputDecoder::flush() {
  if (pasting_) return {};
  std::vector<Input> out;
  if (pending_.starts_with('\x1b') && is_waiting()) {
    if (pending_.size() == 1 || pending_[1] == '\x1b') out.emplace_back(Key{KeyCode::escape});
    if (pending_ == "\x1b\x1b") out.emplace_back(Key{KeyCode::escape});
  }
  pending_.clear();
  return out;
}

}  // namespace nvidb::screen
