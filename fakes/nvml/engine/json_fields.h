// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Reads the keys of one JSON object and remembers the first thing that is wrong. Once something is
// wrong the readers do nothing, so callers check once, at the end.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "engine/curve.h"

namespace nvidb::sim {

class JsonFields {
 public:
  // REQUIRES: both outlive this. `where` is the object's place, empty for the whole file.
  JsonFields(const nlohmann::json& object, std::string where, std::string& error);

  bool ok() const { return error_.empty(); }
  void wrong(std::string_view key, std::string_view what);
  std::string place(std::string_view key) const;

  // Null where the key is absent (a JSON null is not), and once something is wrong.
  const nlohmann::json* find(std::string_view key);

  // Each leaves its target alone where the key is absent.
  void text(std::string_view key, std::string& target);
  void text(std::string_view key, std::optional<std::string>& target);  // null: absent
  void flag(std::string_view key, bool& target);
  void setting(std::string_view key, Setting& target);             // null: not supported
  void curve(std::string_view key, std::optional<Curve>& target);  // null: absent
  template <typename Integer>
  void integer(std::string_view key, Integer& target, std::int64_t lowest, std::int64_t highest) {
    if (const auto number = whole(key, lowest, highest)) target = static_cast<Integer>(*number);
  }

  // Every key must have been asked for; "comment" is free.
  void finish();

 private:
  std::optional<std::int64_t> whole(std::string_view key, std::int64_t lowest,
                                    std::int64_t highest);
  std::optional<Curve> as_curve(std::string_view key, const nlohmann::json& value);

  const nlohmann::json& object_;
  std::string where_;
  std::string& error_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace nvidb::sim
