// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "engine/parse_scenario.h"

#include <string>

#include "engine/json_fields.h"
#include "engine/parse_card.h"

namespace nvidb::sim {
namespace {

using base::ErrorKind;
using nlohmann::json;

constexpr std::int64_t kMaxDelayMs = 600'000;

void parse_names(JsonFields& fields, std::string_view key,
                 std::set<std::string, std::less<>>& names) {
  const json* list = fields.find(key);
  if (list == nullptr) return;
  if (!list->is_array()) return fields.wrong(key, "is not a list of function names");
  for (const json& name : *list) {
    if (!name.is_string()) return fields.wrong(key, "is not a list of function names");
    names.insert(name.get<std::string>());
  }
}

void parse_faults(JsonFields& fields, Faults& faults, std::string& error) {
  parse_names(fields, "block", faults.block);
  parse_names(fields, "crash", faults.crash);
  if (const json* codes = fields.find("codes")) {
    faults.codes = parse_codes(*codes, "codes", error);
  }
  if (const json* waits = fields.find("block_ms")) {
    JsonFields entries(*waits, "block_ms", error);
    if (!entries.ok()) return;
    for (const auto& [function, wait] : waits->items()) {
      entries.integer(function, faults.block_ms[function], 0, kMaxDelayMs);
    }
  }
}

void parse_env_rule(JsonFields& fields, Scenario& scenario, std::string& error) {
  const json* entry = fields.find("env_rule");
  if (entry == nullptr || entry->is_null()) return;
  JsonFields rule(*entry, "env_rule", error);
  scenario.env_rule.emplace();
  rule.text("env", scenario.env_rule->env);
  rule.text("cards_env", scenario.env_rule->cards_env);
  if (scenario.env_rule->env.empty()) rule.wrong("env", "is empty");
  rule.finish();
}

// `true` is one record, a number that many.
void parse_grow_lists(JsonFields& fields, Scenario& scenario) {
  const json* entry = fields.find("grow_lists");
  if (entry != nullptr && entry->is_boolean()) {
    scenario.grow_lists = entry->get<bool>() ? 1 : 0;
  } else {
    fields.integer("grow_lists", scenario.grow_lists, 0, 1024);
  }
}

void parse_all(const json& document, Scenario& scenario, std::string& error) {
  JsonFields fields(document, "", error);
  fields.text("driver_version", scenario.driver_version);
  fields.text("cuda_version", scenario.cuda_version);
  fields.text("nvml_version", scenario.nvml_version);
  fields.integer("init_code", scenario.init_code, 0, 0x7FFFFFFF);
  fields.integer("init_delay_ms", scenario.init_delay_ms, 0, kMaxDelayMs);
  fields.integer("attach_delay_ms", scenario.attach_delay_ms, 0, kMaxDelayMs);
  fields.integer("pcie_call_ms", scenario.pcie_call_ms, 0, kMaxDelayMs);
  fields.integer("check_ms", scenario.check_ms, 0, kMaxDelayMs);
  fields.text("noise", scenario.noise);
  fields.integer("record_bytes", scenario.record_bytes, 24, 32);
  if (scenario.record_bytes != 24 && scenario.record_bytes != 32) {
    fields.wrong("record_bytes", "is neither 24 nor 32");
  }
  parse_grow_lists(fields, scenario);
  fields.flag("string_fill", scenario.string_fill);
  std::optional<Curve> time_s;
  fields.curve("time_s", time_s);
  if (time_s) scenario.time_s = time_s->base;
  parse_faults(fields, scenario.faults, error);
  parse_env_rule(fields, scenario, error);
  const json* cards = fields.find("gpus");
  if (cards == nullptr) {
    scenario.cards = default_scenario().cards;
  } else if (!cards->is_array()) {
    fields.wrong("gpus", "is not a list");
  } else {
    for (std::size_t i = 0; i < cards->size() && fields.ok(); ++i) {
      parse_cards((*cards)[i], "gpus[" + std::to_string(i) + "]", scenario.cards, error);
    }
  }
  fields.finish();
}

}  // namespace

base::Result<Scenario> parse_scenario(std::string_view text) {
  try {
    const json document = json::parse(text);
    Scenario scenario;
    std::string error;
    parse_all(document, scenario, error);
    if (!error.empty()) return base::fail(ErrorKind::invalid, error);
    return scenario;
  } catch (const json::exception& trouble) {
    return base::fail(ErrorKind::invalid, trouble.what());
  }
}

Scenario default_scenario() {
  Scenario scenario;
  scenario.cards.push_back(make_card(presets().front(), 0));
  return scenario;
}

}  // namespace nvidb::sim
