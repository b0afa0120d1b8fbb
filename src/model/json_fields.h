// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Typed, suspicious reading of a parsed JSON object: the reader's side of json_agent_fields.h.
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "model/json_agent_fields.h"

namespace nvidb::model {

// Where in a message something is; lives on the stack, so that only an error pays for the words.
struct Place {
  const Place* parent = nullptr;
  std::string_view name;
  std::optional<std::size_t> position;  // in a list
};

// The first thing wrong with a message, such as `sample: gpus[3].pid is missing`; later ones are
// not kept.
class Problem {
 public:
  bool found() const { return !text_.empty(); }
  const std::string& text() const { return text_; }
  void report(const Place& place, std::string_view key, std::string_view what);

 private:
  std::string text_;
};

// One object of a message. A key that is absent or null is not there.
class Fields {
 public:
  // All three outlive this.
  Fields(const nlohmann::json& object, const Place& place, Problem& problem)
      : object_(object), place_(place), problem_(problem) {}

  void report(std::string_view key, std::string_view what) { problem_.report(place_, key, what); }

  template <class Integer>
  void need_integer(std::string_view key, Integer& value, const Integers& range) {
    value = static_cast<Integer>(needed_integer(key, range));
  }
  void integer(std::string_view key, std::optional<std::int64_t>& value, const Integers& range);
  void number(std::string_view key, std::optional<double>& value, const Numbers& range);
  void need_text(std::string_view key, std::string& value, std::size_t limit);
  void text(std::string_view key, std::optional<std::string>& value, std::size_t limit);
  void command(std::string_view key, std::optional<std::string>& value) {
    text(key, value, kMaxCommandBytes);
  }
  void need_word(std::string_view key, ProcessType& value);
  void need_word(std::string_view key, CollectorKind& value);
  void need_word(std::string_view key, GpuSource& value);
  void need_flag(std::string_view key, bool& value);
  void flag(std::string_view key, std::optional<bool>& value);
  void words(std::string_view key, std::vector<std::string>& values, std::size_t limit);

  template <class Part>
  void object(std::string_view key, Part& part) {
    const nlohmann::json* found = find_object(key);
    if (!found) return;
    const Place place{&place_, key, {}};
    Fields face(*found, place, problem_);
    fields(face, part);
  }
  template <class Item>
  void list(std::string_view key, std::vector<Item>& items, std::size_t limit) {
    const nlohmann::json* found = find_list(key, limit);
    const std::size_t count = found ? size_of(*found) : 0;
    items.reserve(count);
    for (std::size_t i = 0; i < count && !problem_.found(); ++i) {
      const Place place{&place_, key, i};
      const nlohmann::json* element = object_at(*found, i, place);
      if (!element) return;
      Fields face(*element, place, problem_);
      fields(face, items.emplace_back());
    }
  }
  template <class Item>
  void need_list(std::string_view key, std::vector<Item>& items, std::size_t limit) {
    if (need(key)) list(key, items, limit);
  }

 private:
  const nlohmann::json* find(std::string_view key) const;
  const nlohmann::json* need(std::string_view key);
  const nlohmann::json* find_object(std::string_view key);
  const nlohmann::json* find_list(std::string_view key, std::size_t limit);
  const nlohmann::json* object_at(const nlohmann::json& list, std::size_t i, const Place& place);
  static std::size_t size_of(const nlohmann::json& list);
  std::int64_t needed_integer(std::string_view key, const Integers& range);
  template <class Word>
  void need_one_of(std::string_view key, Word& value, std::initializer_list<Word> words);

  const nlohmann::json& object_;
  const Place& place_;
  Problem& problem_;
};

}  // namespace nvidb::model
