// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "config/map_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/text.h"
#include "base/units.h"
#include "config/nearest.h"

namespace nvidb::config {
namespace {

constexpr std::size_t kMaxWarnings = 50;
constexpr std::size_t kMaxTextBytes = 4096;

const YamlNode& empty_map() {
  static const YamlNode node{YamlKind::map, {}, false, false, {}, {}, 0, true};
  return node;
}

// Where a word begins that may be followed by a secret, else npos.
std::size_t find_secret_word(std::string_view text) {
  constexpr std::string_view kStem = "passw";
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  const auto found = std::search(text.begin(), text.end(), kStem.begin(), kStem.end(), same);
  return found == text.end() ? std::string_view::npos
                             : static_cast<std::size_t>(found - text.begin());
}

}  // namespace

void Source::error(int line, std::string_view key, std::string_view message, std::string hint) {
  if (error_ && error_line_ <= line) return;
  error_line_ = line;
  error_ = base::Error{base::ErrorKind::invalid,
                       key.empty() ? fmt::format("{}:{}: {}", name_, line, message)
                                   : fmt::format("{}:{}: {}: {}", name_, line, key, message),
                       std::move(hint)};
}

void Source::warn(int line, std::string_view message) {
  if (warnings_.size() >= kMaxWarnings) {
    ++warnings_dropped_;
    return;
  }
  warnings_.push_back(line > 0 ? fmt::format("{}:{}: {}", name_, line, message)
                               : fmt::format("{}: {}", name_, message));
}

std::vector<std::string> Source::take_warnings() {
  if (warnings_dropped_ > 0) {
    warnings_.push_back(fmt::format("{}: {} more warnings", name_, warnings_dropped_));
  }
  return std::move(warnings_);
}

std::string shown(std::string_view text) {
  constexpr std::size_t kStemBytes = 8;  // `password`
  const std::size_t secret = find_secret_word(text);
  const bool hides = secret != std::string_view::npos && secret + kStemBytes < text.size();
  if (hides) text = text.substr(0, secret + kStemBytes);
  return fmt::format("'{}{}'", base::cut(base::printable(text), 60), hides ? "…" : "");
}

std::optional<bool> parse_bool_word(std::string_view text) {
  for (const std::string_view word :
       {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"}) {
    if (text == word) return true;
  }
  for (const std::string_view word :
       {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"}) {
    if (text == word) return false;
  }
  return {};
}

std::optional<std::int64_t> parse_whole(std::string_view text) {
  if (text.empty() || text.size() > 18 || (text.size() > 1 && text[0] == '0')) return {};
  std::int64_t number = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9') return {};
    number = number * 10 + (digit - '0');
  }
  return number;
}

MapReader::MapReader(Source& source, const YamlUse& use, std::string path)
    : source_(source), map_(&empty_map()), path_(std::move(path)) {
  if (use.node->kind == YamlKind::map) {
    map_ = use.node.get();
  } else if (use.node->kind != YamlKind::null) {
    // The text itself stays unshown: a mapping with a forgotten space may hold a password.
    const bool is_list = use.node->kind == YamlKind::sequence;
    source_.error(
        use.line, path_,
        fmt::format("a mapping of keys is needed here, not {}", is_list ? "a list" : "text"),
        is_list ? "" : "write a space after each colon");
  }
}

std::string MapReader::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

const YamlEntry* MapReader::find(std::string_view key) {
  known_.push_back(key);
  return map_->find(key);
}

const YamlEntry* MapReader::find_value(std::string_view key) {
  const YamlEntry* entry = find(key);
  return entry != nullptr && entry->value.node->kind != YamlKind::null ? entry : nullptr;
}

const std::string* MapReader::scalar(std::string_view key, const YamlEntry& entry,
                                     std::string_view wanted) {
  const YamlNode& node = *entry.value.node;
  if (node.kind == YamlKind::scalar) return &node.text;
  error(entry.key_line, key,
        fmt::format("{} is not {}", node.kind == YamlKind::map ? "a mapping" : "a list", wanted));
  return nullptr;
}

void MapReader::flag(std::string_view key, bool& out) {
  const YamlEntry* entry = find_value(key);
  const std::string* text = entry == nullptr ? nullptr : scalar(key, *entry, "true or false");
  if (text == nullptr) return;
  const auto value = parse_bool_word(*text);
  if (!value) {
    error(entry->key_line, key, fmt::format("{} is not true or false", shown(*text)));
  } else if (entry->value.node->quoted) {
    error(entry->key_line, key,
          fmt::format("{} in quotes is text, not true or false", shown(*text)),
          "write it without quotes");
  } else {
    out = *value;
  }
}

void MapReader::whole(std::string_view key, std::int64_t& out, std::int64_t min, std::int64_t max) {
  const YamlEntry* entry = find_value(key);
  const std::string wanted = fmt::format("a whole number from {} to {}", min, max);
  const std::string* text = entry == nullptr ? nullptr : scalar(key, *entry, wanted);
  if (text == nullptr) return;
  const auto value = parse_whole(*text);
  if (value && *value >= min && *value <= max) {
    out = *value;
  } else {
    error(entry->key_line, key, fmt::format("{} is not {}", shown(*text), wanted));
  }
}

void MapReader::seconds(std::string_view key, std::int64_t& out_ms, std::int64_t min_s,
                        std::int64_t max_s) {
  const YamlEntry* entry = find_value(key);
  const std::string wanted = fmt::format("a number of seconds from {} to {}", min_s, max_s);
  const std::string* text = entry == nullptr ? nullptr : scalar(key, *entry, wanted);
  if (text == nullptr) return;
  const auto value = base::parse_positive_number(*text, key);
  if (value && *value >= static_cast<double>(min_s) && *value <= static_cast<double>(max_s)) {
    out_ms = std::llround(*value * 1000.0);
  } else {
    error(entry->key_line, key, fmt::format("{} is not {}", shown(*text), wanted));
  }
}

void MapReader::size(std::string_view key, std::int64_t& out_mb) {
  const YamlEntry* entry = find_value(key);
  constexpr std::string_view kWanted = "a size";
  const std::string* text = entry == nullptr ? nullptr : scalar(key, *entry, kWanted);
  if (text == nullptr) return;
  if (const auto value = base::parse_size_mb(*text)) {
    out_mb = *value;
  } else {
    error(entry->key_line, key, fmt::format("{} is not a size", shown(*text)),
          "write it like 20G or 512M; a bare number is MiB");
  }
}

void MapReader::text(std::string_view key, std::string& out, const Check& check) {
  const YamlEntry* entry = find_value(key);
  const std::string* text = entry == nullptr ? nullptr : scalar(key, *entry, "text");
  if (text == nullptr) return;
  if (text->size() > kMaxTextBytes) {
    error(entry->key_line, key, fmt::format("longer than {} bytes", kMaxTextBytes));
    return;
  }
  const auto good = check ? check(*text) : base::Result<void>{};
  if (good) {
    out = *text;
  } else {
    error(entry->key_line, key, good.error().message, good.error().hint);
  }
}

void MapReader::optional_text(std::string_view key, std::string& out, const Check& check) {
  const YamlEntry* entry = find(key);
  if (entry == nullptr) return;
  const YamlNode& node = *entry->value.node;
  if (node.kind == YamlKind::null || (node.kind == YamlKind::scalar && node.text.empty())) {
    out.clear();
  } else {
    text(key, out, check);
  }
}

std::optional<std::size_t> MapReader::word_index(std::string_view key,
                                                 std::span<const std::string_view> names) {
  const YamlEntry* entry = find_value(key);
  const std::string wanted = fmt::format("one of {}", fmt::join(names, ", "));
  const std::string* text = entry == nullptr ? nullptr : scalar(key, *entry, wanted);
  if (text == nullptr) return {};
  const auto found = std::find(names.begin(), names.end(), *text);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  error(entry->key_line, key, fmt::format("{} is not {}", shown(*text), wanted));
  return {};
}

void MapReader::finish() {
  for (const YamlEntry& entry : map_->entries) {
    if (std::find(known_.begin(), known_.end(), entry.key) != known_.end()) continue;
    // `password:word`, its space forgotten, is a key too.
    const std::string name = shown(std::string_view(entry.key).substr(0, entry.key.find(':')));
    const std::string_view meant = nearest_key(entry.key, known_);
    const std::string place = path_.empty() ? "" : fmt::format(" of {}", path_);
    source_.warn(entry.key_line,
                 meant.empty()
                     ? fmt::format("{} is not a known key{}; it is ignored", name, place)
                     : fmt::format("{} is not a known key{}; did you mean {}", name, place, meant));
  }
}

}  // namespace nvidb::config
