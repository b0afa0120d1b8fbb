// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "model/json_fields.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "model/json_text.h"

namespace nvidb::model {
namespace {

using nlohmann::json;

constexpr std::string_view kMissing = "is missing";
constexpr std::string_view kNotText = "is not a text";
constexpr std::string_view kNotWhole = "is not a whole number";

std::string path_of(const Place& place) {
  std::string path = place.parent ? path_of(*place.parent) : std::string{};
  path += place.name;
  if (place.position) path += fmt::format("[{}]", *place.position);
  path += place.parent ? "." : ": ";
  return path;
}

struct Whole {
  bool whole = false;                  // of a type and value that counts something
  std::optional<std::int64_t> number;  // absent beyond 64 bits
};

Whole whole_number(const json& value) {
  switch (value.type()) {
    case json::value_t::number_unsigned: {
      const auto number = *value.get_ptr<const json::number_unsigned_t*>();
      if (number > static_cast<std::uint64_t>(kMaxInt)) return {true, {}};
      return {true, static_cast<std::int64_t>(number)};
    }
    case json::value_t::number_integer:
      return {true, *value.get_ptr<const json::number_integer_t*>()};
    case json::value_t::number_float: {
      // JSON has one kind of number: a writer may well say 12.0.
      const double number = *value.get_ptr<const json::number_float_t*>();
      if (number != std::floor(number)) return {};
      if (std::abs(number) >= 9.2e18) return {true, {}};
      return {true, static_cast<std::int64_t>(number)};
    }
    default:
      return {};
  }
}

std::string cut_text(const json& value, std::size_t limit) {
  return std::string(cut_bytes(*value.get_ptr<const json::string_t*>(), limit));
}

}  // namespace

void Problem::report(const Place& place, std::string_view key, std::string_view what) {
  if (!found()) text_ = fmt::format("{}{} {}", path_of(place), key, what);
}

const json* Fields::find(std::string_view key) const {
  const auto found = object_.find(key);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

const json* Fields::need(std::string_view key) {
  const json* found = find(key);
  if (!found) report(key, kMissing);
  return found;
}

const json* Fields::find_object(std::string_view key) {
  const json* found = find(key);
  if (!found || found->is_object()) return found;
  report(key, "is not an object");
  return nullptr;
}

const json* Fields::find_list(std::string_view key, std::size_t limit) {
  const json* found = find(key);
  if (!found) return nullptr;
  if (!found->is_array()) {
    report(key, "is not a list");
    return nullptr;
  }
  if (found->size() > limit) {
    report(key, fmt::format("has {} elements, more than {}", found->size(), limit));
    return nullptr;
  }
  return found;
}

const json* Fields::object_at(const json& list, std::size_t i, const Place& place) {
  const json& element = list[i];
  if (element.is_object()) return &element;
  problem_.report(place, "element", "is not an object");
  return nullptr;
}

std::size_t Fields::size_of(const json& list) {
  return list.size();
}

std::int64_t Fields::needed_integer(std::string_view key, const Integers& range) {
  const json* found = need(key);
  if (!found) return range.low;
  const Whole value = whole_number(*found);
  if (!value.whole) {
    report(key, kNotWhole);
    return range.low;
  }
  if (!value.number || *value.number < range.low || *value.number > range.high) {
    report(key, fmt::format("is not within {} and {}", range.low, range.high));
    return range.low;
  }
  return *value.number;
}

void Fields::integer(std::string_view key, std::optional<std::int64_t>& value,
                     const Integers& range) {
  const json* found = find(key);
  if (!found) return;
  const Whole read = whole_number(*found);
  if (!read.whole) return report(key, kNotWhole);
  if (read.number && *read.number >= range.low && *read.number <= range.high) value = read.number;
}

void Fields::number(std::string_view key, std::optional<double>& value, const Numbers& range) {
  const json* found = find(key);
  if (!found) return;
  if (!found->is_number()) return report(key, "is not a number");
  const double read = found->get<double>();
  if (read >= range.low && read <= range.high) value = read;
}

void Fields::need_text(std::string_view key, std::string& value, std::size_t limit) {
  const json* found = need(key);
  if (!found) return;
  if (!found->is_string()) return report(key, kNotText);
  value = cut_text(*found, limit);
}

void Fields::text(std::string_view key, std::optional<std::string>& value, std::size_t limit) {
  const json* found = find(key);
  if (!found) return;
  if (!found->is_string()) return report(key, kNotText);
  std::string text = cut_text(*found, limit);
  if (!text.empty()) value = std::move(text);
}

void Fields::need_flag(std::string_view key, bool& value) {
  std::optional<bool> read;
  flag(key, read);
  if (!read) return report(key, kMissing);
  value = *read;
}

void Fields::flag(std::string_view key, std::optional<bool>& value) {
  const json* found = find(key);
  if (!found) return;
  if (!found->is_boolean()) return report(key, "is not true or false");
  value = found->get<bool>();
}

void Fields::words(std::string_view key, std::vector<std::string>& values, std::size_t limit) {
  const json* found = find_list(key, limit);
  if (!found) return;
  values.reserve(found->size());
  for (const json& element : *found) {
    if (!element.is_string()) return report(key, "has an element that is not a text");
    values.push_back(cut_text(element, kMaxNameBytes));
  }
}

template <class Word>
void Fields::need_one_of(std::string_view key, Word& value, std::initializer_list<Word> words) {
  const json* found = need(key);
  if (!found) return;
  if (!found->is_string()) return report(key, kNotText);
  const std::string& text = *found->get_ptr<const json::string_t*>();
  for (const Word word : words) {
    if (text == to_string(word)) {
      value = word;
      return;
    }
  }
  report(key, fmt::format("is an unknown word: {}", cut_bytes(text, kMaxNameBytes)));
}

void Fields::need_word(std::string_view key, ProcessType& value) {
  need_one_of(key, value, {ProcessType::compute, ProcessType::graphics, ProcessType::both});
}

void Fields::need_word(std::string_view key, CollectorKind& value) {
  need_one_of(key, value, {CollectorKind::native, CollectorKind::python, CollectorKind::shell});
}

void Fields::need_word(std::string_view key, GpuSource& value) {
  need_one_of(key, value, {GpuSource::nvml, GpuSource::nvidia_smi, GpuSource::none});
}

}  // namespace nvidb::model
