// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Typed reading of one YAML mapping. Private to the room.
//
// A Source collects what is wrong with a file instead of returning at each value, so that reading a
// section is a list of its keys. Of several errors the one nearest to the top of the file counts.
// Pure; one thread.
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "config/yaml_tree.h"

namespace nvidb::config {

// The file being read.
class Source {
 public:
  explicit Source(std::string name) : name_(std::move(name)) {}

  // `message` follows `NAME:LINE: KEY: `.
  void error(int line, std::string_view key, std::string_view message, std::string hint = {});
  void warn(int line, std::string_view message);
  const std::optional<base::Error>& first_error() const { return error_; }
  std::vector<std::string> take_warnings();

 private:
  std::string name_;
  std::optional<base::Error> error_;
  int error_line_ = 0;
  std::vector<std::string> warnings_;
  std::size_t warnings_dropped_ = 0;
};

// `'text'`, printable, at most 60 columns, cut at anything that looks like a password.
std::string shown(std::string_view text);

// `true, yes, on` and their opposites as YAML 1.1 has them; absent for anything else.
std::optional<bool> parse_bool_word(std::string_view text);

// A whole number without sign, unit or leading zero, at most 18 digits.
std::optional<std::int64_t> parse_whole(std::string_view text);

using Check = std::function<base::Result<void>(std::string_view text)>;

class MapReader {
 public:
  // `path` is the dotted name of the mapping, "" for the whole file. What is no mapping is an error
  // of `source` and reads as empty; null reads as empty. `source` and `use` must outlive the
  // reader.
  MapReader(Source& source, const YamlUse& use, std::string path);

  // The entry, null or not; makes the key known.
  const YamlEntry* find(std::string_view key);
  // As find(), but null counts as absent.
  const YamlEntry* find_value(std::string_view key);

  // Each leaves `out` alone where the key is absent or null.
  void flag(std::string_view key, bool& out);
  void whole(std::string_view key, std::int64_t& out, std::int64_t min, std::int64_t max);
  void seconds(std::string_view key, std::int64_t& out_ms, std::int64_t min_s, std::int64_t max_s);
  void size(std::string_view key, std::int64_t& out_mb);
  void text(std::string_view key, std::string& out, const Check& check = {});
  // As text(), but null or "" makes `out` empty.
  void optional_text(std::string_view key, std::string& out, const Check& check = {});
  template <class Enum, std::size_t N>
  void word(std::string_view key, Enum& out,
            const std::array<std::pair<std::string_view, Enum>, N>& words) {
    std::array<std::string_view, N> names;
    for (std::size_t i = 0; i < N; ++i) names[i] = words[i].first;
    if (const auto index = word_index(key, names)) out = words[*index].second;
  }

  // Warns of every entry that nobody asked for.
  void finish();

  std::string path_of(std::string_view key) const;
  void error(int line, std::string_view key, std::string_view message, std::string hint = {}) {
    source_.error(line, path_of(key), message, std::move(hint));
  }

 private:
  // The scalar's text; an error where it is a list or a mapping.
  const std::string* scalar(std::string_view key, const YamlEntry& entry, std::string_view wanted);
  std::optional<std::size_t> word_index(std::string_view key,
                                        std::span<const std::string_view> names);

  Source& source_;
  const YamlNode* map_;
  std::string path_;
  std::vector<std::string_view> known_;
};

}  // namespace nvidb::config
