// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
// Lines to messages and commands.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"
#include "model/json.h"
#include "model/json_fields.h"
#include "model/json_text.h"

namespace nvidb::model {
namespace {

using base::ErrorKind;
using base::fail;
using base::Result;
using nlohmann::json;

// Ours nest four deep. What an unknown key may hold is bounded too: each level costs the parser
// memory.
constexpr int kMaxDepth = 32;

bool is_too_deep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxDepth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

json parse(std::string_view text) {
  return json::parse(text, nullptr, /*allow_exceptions=*/false);
}

Result<json> parse_line(std::string_view line) {
  if (line.size() > kMaxLineBytes) {
    return fail(ErrorKind::protocol, fmt::format("a line of {} bytes is too long", line.size()));
  }
  if (!line.starts_with(kLineMark)) {
    return fail(ErrorKind::protocol, "a line without the protocol's mark");
  }
  const std::string_view text = line.substr(kLineMark.size());
  if (is_too_deep(text)) return fail(ErrorKind::protocol, "the JSON is nested too deep");
  json document = parse(text);
  if (document.is_discarded()) {
    // One odd byte in one name is no reason to lose a sample. Rare, so only tried when all else
    // failed.
    if (const std::string valid = base::valid_utf8(text); valid != text) document = parse(valid);
  }
  if (document.is_discarded()) return fail(ErrorKind::protocol, "a line that is not JSON");
  if (!document.is_object()) return fail(ErrorKind::protocol, "a line that is not a JSON object");
  return document;
}

// What every reader may count on beyond the types: cards in order, each once.
template <class Card>
void settle_cards(Fields& face, std::vector<Card>& cards) {
  if (!std::ranges::is_sorted(cards, {}, &Card::index)) {
    std::ranges::stable_sort(cards, {}, &Card::index);
  }
  const auto twice = std::ranges::adjacent_find(cards, {}, &Card::index);
  if (twice != cards.end()) face.report("gpus", fmt::format("has index {} twice", twice->index));
}

bool is_before(const ProcessSample& a, const ProcessSample& b) {
  // An absent memory compares below 0, so those come last.
  if (a.mem_mb != b.mem_mb) return a.mem_mb > b.mem_mb;
  return a.pid < b.pid;
}

void settle_processes(Fields& face, std::vector<ProcessSample>& processes) {
  if (!std::ranges::is_sorted(processes, is_before)) std::ranges::sort(processes, is_before);
  std::vector<std::int64_t> pids;
  pids.reserve(processes.size());
  for (const ProcessSample& process : processes) pids.push_back(process.pid);
  std::ranges::sort(pids);
  const auto twice = std::ranges::adjacent_find(pids);
  if (twice != pids.end()) face.report("processes", fmt::format("has pid {} twice", *twice));
}

void settle(Fields&, auto&) {}
void settle(Fields& face, Inventory& inventory) {
  settle_cards(face, inventory.gpus);
}
void settle(Fields& face, Sample& sample) {
  settle_cards(face, sample.gpus);
  for (GpuReading& gpu : sample.gpus) settle_processes(face, gpu.processes);
}
void settle(Fields& face, SignalProcess& command) {
  if (command.signal != 2 && command.signal != 9 && command.signal != 15) {
    face.report("signal", "is not 2, 9 or 15");
  }
}

template <class Alternative, class Variant>
bool read_if(std::string_view type, const json& document, Variant& into, Problem& problem) {
  if (type != kTypeName<Alternative>) return false;
  const Place place{nullptr, type, {}};
  Fields face(document, place, problem);
  Alternative alternative;
  fields(face, alternative);
  if (!problem.found()) settle(face, alternative);
  into = std::move(alternative);
  return true;
}

template <class... Alternatives>
Result<std::variant<Alternatives...>> read(std::string_view line,
                                           std::in_place_type_t<std::variant<Alternatives...>>) {
  const Result<json> document = parse_line(line);
  if (!document) return fail(document.error());
  Problem problem;
  const Place place{nullptr, "message", {}};
  std::string type;
  Fields(*document, place, problem).need_text("type", type, kMaxNameBytes);
  if (problem.found()) return fail(ErrorKind::protocol, problem.text());

  std::variant<Alternatives...> message;
  const bool known = (read_if<Alternatives>(type, *document, message, problem) || ...);
  if (!known) return fail(ErrorKind::protocol, fmt::format("unknown message type: {}", type));
  if (problem.found()) return fail(ErrorKind::protocol, problem.text());
  return message;
}

}  // namespace

Result<AgentMessage> decode_message(std::string_view line) {
  return read(line, std::in_place_type<AgentMessage>);
}

Result<AgentCommand> decode_command(std::string_view line) {
  return read(line, std::in_place_type<AgentCommand>);
}

}  // namespace nvidb::model
