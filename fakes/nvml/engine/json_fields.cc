// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "engine/json_fields.h"

#include <cmath>

namespace nvidb::sim {
namespace {

using nlohmann::json;

constexpr double kMostAnyNumber = 1e19;  // above every 64-bit integer

std::optional<Shape> parse_shape(std::string_view text) {
  if (text == "sine") return Shape::sine;
  if (text == "square") return Shape::square;
  if (text == "saw") return Shape::saw;
  if (text == "noise") return Shape::noise;
  return std::nullopt;
}

}  // namespace

JsonFields::JsonFields(const json& object, std::string where, std::string& error)
    : object_(object), where_(std::move(where)), error_(error) {
  known_.insert("comment");
  if (ok() && !object_.is_object()) error_ = where_ + " is not an object";
}

std::string JsonFields::place(std::string_view key) const {
  return where_.empty() ? std::string(key) : where_ + "." + std::string(key);
}

void JsonFields::wrong(std::string_view key, std::string_view what) {
  if (ok()) error_ = place(key) + " " + std::string(what);
}

const json* JsonFields::find(std::string_view key) {
  known_.emplace(key);
  if (!ok()) return nullptr;
  const auto entry = object_.find(key);
  return entry == object_.end() ? nullptr : &*entry;
}

void JsonFields::text(std::string_view key, std::string& target) {
  const json* value = find(key);
  if (value == nullptr) return;
  if (!value->is_string()) return wrong(key, "is not a text");
  target = value->get<std::string>();
}

void JsonFields::text(std::string_view key, std::optional<std::string>& target) {
  const json* value = find(key);
  if (value == nullptr) return;
  if (value->is_null()) return target.reset();
  text(key, target.emplace());
}

void JsonFields::flag(std::string_view key, bool& target) {
  const json* value = find(key);
  if (value == nullptr) return;
  if (!value->is_boolean()) return wrong(key, "is not true or false");
  target = value->get<bool>();
}

std::optional<std::int64_t> JsonFields::whole(std::string_view key, std::int64_t lowest,
                                              std::int64_t highest) {
  const json* value = find(key);
  if (value == nullptr) return std::nullopt;
  // A number above 2^63 would turn negative, so it is compared before it is converted.
  const bool too_large =
      value->is_number_unsigned() &&
      value->get<std::uint64_t>() > static_cast<std::uint64_t>(std::max<std::int64_t>(0, highest));
  if (!value->is_number_integer() || too_large || value->get<std::int64_t>() < lowest ||
      value->get<std::int64_t>() > highest) {
    wrong(key, "is not a whole number from " + std::to_string(lowest) + " to " +
                   std::to_string(highest));
    return std::nullopt;
  }
  return value->get<std::int64_t>();
}

std::optional<Curve> JsonFields::as_curve(std::string_view key, const json& value) {
  if (value.is_number()) {
    const Curve constant{.base = value.get<double>()};
    if (std::abs(constant.base) <= kMostAnyNumber) return constant;
    wrong(key, "is too large");
    return std::nullopt;
  }
  if (!value.is_object()) {
    wrong(key, "is neither a number nor a load curve");
    return std::nullopt;
  }
  JsonFields fields(value, place(key), error_);
  Curve curve;
  std::string shape = "sine";
  const auto number = [&](std::string_view name, double& target) {
    const json* entry = fields.find(name);
    if (entry == nullptr) return;
    if (!entry->is_number() || std::abs(entry->get<double>()) > kMostAnyNumber) {
      return fields.wrong(name, "is not a number");
    }
    target = entry->get<double>();
  };
  number("base", curve.base);
  number("swing", curve.swing);
  number("period_s", curve.period_s);
  number("phase_s", curve.phase_s);
  fields.text("shape", shape);
  fields.finish();
  if (curve.period_s < 1e-3) fields.wrong("period_s", "is not above 0.001");
  if (const auto parsed = parse_shape(shape)) {
    curve.shape = *parsed;
  } else {
    fields.wrong("shape", "is not one of sine, square, saw, noise");
  }
  return curve;
}

void JsonFields::setting(std::string_view key, Setting& target) {
  const json* value = find(key);
  if (value == nullptr) return;
  if (value->is_null()) {
    target = {.kind = Setting::Kind::not_supported, .curve = {}};
  } else if (const auto curve = as_curve(key, *value)) {
    target = {.kind = Setting::Kind::given, .curve = *curve};
  }
}

void JsonFields::curve(std::string_view key, std::optional<Curve>& target) {
  const json* value = find(key);
  if (value == nullptr) return;
  target = value->is_null() ? std::nullopt : as_curve(key, *value);
}

void JsonFields::finish() {
  if (!ok()) return;
  for (const auto& [key, value] : object_.items()) {
    if (!known_.contains(key)) return wrong(key, "is not a known key");
  }
}

}  // namespace nvidb::sim
