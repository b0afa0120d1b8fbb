// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors

// A line of the agent protocol, from a host that nobody trusts. What is understood must survive
// being said again.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "model/json.h"

using namespace nvidb;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string line(reinterpret_cast<const char*>(data), size);
  // The readers ask for the mark; what follows is anybody's.
  if (!line.starts_with(model::kLineMark)) line.insert(0, model::kLineMark);

  if (const auto message = model::decode_message(line)) {
    const std::string said = model::encode_line(*message);
    CHECK(said.size() <= model::kMaxLineBytes);
    const auto again = model::decode_message(said);
    CHECK(again);
    CHECK(model::encode_line(*again) == said);
  } else {
    CHECK(message.error().kind == base::ErrorKind::protocol);
  }

  if (const auto command = model::decode_command(line)) {
    const std::string said = model::encode_line(*command);
    const auto again = model::decode_command(said);
    CHECK(again);
    CHECK(*again == *command);
  } else {
    CHECK(command.error().kind == base::ErrorKind::protocol);
  }
  return 0;
}
