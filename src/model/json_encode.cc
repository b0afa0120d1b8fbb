// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
// Messages and commands to lines.
#include <algorithm>
#include <utility>

#include "model/json.h"
#include "model/json_agent_fields.h"
#include "model/json_text.h"
#include "model/json_writer.h"

namespace nvidb::model {
namespace {

// What a message may take. Lowered, one after the other, for a message that would not fit a line.
struct Caps {
  std::size_t command = kMaxCommandBytes;  // bytes of a command line
  std::size_t processes = kMaxProcesses;   // on a card
  std::size_t text = kMaxErrorBytes;       // bytes of any other text
};

class Writing {
 public:
  Writing(JsonWriter& json, const Caps& caps) : json_(json), caps_(caps) {}

  void need_integer(std::string_view key, std::int64_t value, const Integers&) {
    json_.key(key);
    json_.integer(value);
  }
  void integer(std::string_view key, const std::optional<std::int64_t>& value,
               const Integers& range) {
    if (value) need_integer(key, *value, range);
  }
  void number(std::string_view key, const std::optional<double>& value, const Numbers&) {
    if (!value || !JsonWriter::is_writable(*value)) return;
    json_.key(key);
    json_.decimal(*value);
  }
  void need_text(std::string_view key, std::string_view value, std::size_t limit) {
    json_.key(key);
    json_.text(cut_bytes(value, std::min(limit, caps_.text)));
  }
  void text(std::string_view key, const std::optional<std::string>& value, std::size_t limit) {
    if (value && !value->empty()) need_text(key, *value, limit);
  }
  void command(std::string_view key, const std::optional<std::string>& value) {
    if (!value || value->empty() || caps_.command == 0) return;
    json_.key(key);
    json_.text(cut_bytes(*value, caps_.command));
  }
  template <class Word>
  void need_word(std::string_view key, Word value) {
    json_.key(key);
    json_.text(to_string(value));
  }
  void need_flag(std::string_view key, bool value) {
    json_.key(key);
    json_.boolean(value);
  }
  void flag(std::string_view key, const std::optional<bool>& value) {
    if (value) need_flag(key, *value);
  }
  void words(std::string_view key, const std::vector<std::string>& values, std::size_t limit) {
    if (values.empty()) return;
    json_.key(key);
    json_.begin_array();
    for (std::size_t i = 0; i < std::min(values.size(), limit); ++i) {
      json_.text(cut_bytes(values[i], std::min(kMaxNameBytes, caps_.text)));
    }
    json_.end_array();
  }
  template <class Part>
  void object(std::string_view key, const Part& part) {
    json_.key(key);
    json_.begin_object();
    fields(*this, part);
    json_.end_object();
  }
  template <class Item>
  void need_list(std::string_view key, const std::vector<Item>& items, std::size_t limit) {
    if constexpr (std::is_same_v<Item, ProcessSample>) limit = std::min(limit, caps_.processes);
    json_.key(key);
    json_.begin_array();
    for (std::size_t i = 0; i < std::min(items.size(), limit); ++i) {
      // A message too long already is only measured, never sent: enough is known.
      if (json_.size() > kMaxLineBytes) break;
      json_.begin_object();
      fields(*this, items[i]);
      json_.end_object();
    }
    json_.end_array();
  }
  template <class Item>
  void list(std::string_view key, const std::vector<Item>& items, std::size_t limit) {
    if (!items.empty()) need_list(key, items, limit);
  }

 private:
  JsonWriter& json_;
  const Caps& caps_;
};

template <class Variant>
std::string write(const Variant& message, const Caps& caps) {
  JsonWriter json(JsonWriter::Style::compact, std::string(kLineMark));
  json.begin_object();
  std::visit(
      [&]<class Alternative>(const Alternative& alternative) {
        json.key("type");
        json.text(kTypeName<Alternative>);
        Writing face(json, caps);
        fields(face, alternative);
      },
      message);
  json.end_object();
  return json.take() + '\n';
}

bool fits(const std::string& line) {
  return line.size() <= kMaxLineBytes;
}

// The line with the largest `cap` (one of caps' members) that fits, or with 0 where none does.
std::string shrink(const AgentMessage& message, Caps& caps, std::size_t& cap) {
  std::size_t good = 0;
  std::size_t bad = cap;  // known not to fit
  cap = 0;
  std::string line = write(message, caps);
  if (!fits(line)) return line;
  while (bad - good > 1) {
    cap = good + (bad - good) / 2;
    std::string longer = write(message, caps);
    if (fits(longer)) {
      good = cap;
      line = std::move(longer);
    } else {
      bad = cap;
    }
  }
  cap = good;
  return line;
}

}  // namespace

std::string encode_line(const AgentMessage& message) {
  Caps caps;
  std::string line = write(message, caps);
  if (!fits(line)) line = shrink(message, caps, caps.command);
  if (!fits(line)) line = shrink(message, caps, caps.processes);
  if (!fits(line)) line = shrink(message, caps, caps.text);
  return line;
}

std::string encode_line(const AgentCommand& command) {
  return write(command, Caps{});
}

}  // namespace nvidb::model
