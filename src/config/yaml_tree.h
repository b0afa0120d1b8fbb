// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// YAML text as a small tree that knows where each value stands. Private to the room.
//
// Built from yaml-cpp's events and not from its nodes: those keep duplicate keys, forget where an
// alias was used, and cannot be told to stop. Scalars keep their literal text, so `no`, `0123` and
// `1e3` stay what was written. Limits: 1 MiB, 100,000 values, 64 levels. Pure; any thread.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nvidb::config {

inline constexpr std::size_t kMaxYamlBytes = 1u << 20;
inline constexpr std::size_t kMaxYamlValues = 100'000;
inline constexpr std::size_t kMaxYamlDepth = 64;

struct YamlNode;

// Where a node is used; several uses may share one node (aliases).
struct YamlUse {
  std::shared_ptr<const YamlNode> node;  // null only in a tree without a document
  int line = 0;                          // 1-based
  int column = 0;                        // 0-based, bytes
  bool is_alias = false;
};

struct YamlEntry {
  std::string key;
  int key_line = 0, key_column = 0;
  bool merged = false;  // came by `<<`
  YamlUse value;
};

enum class YamlKind { null, scalar, sequence, map };

struct YamlNode {
  YamlKind kind = YamlKind::null;
  std::string text;     // of a scalar
  bool quoted = false;  // a scalar in quotes or a block scalar: certainly text
  bool flow = false;    // a list or map in [] or {}
  std::vector<YamlUse> items;
  std::vector<YamlEntry> entries;
  std::uint64_t fingerprint = 0;  // equal for equal content, aliases followed
  bool closed = false;            // false while its end has not been read

  // The entry or nullptr.
  const YamlEntry* find(std::string_view key) const;
};

// The one document of `text`; an empty file gives a null node. `name` is what messages call the
// file. Errors: invalid, `NAME:LINE: ...`: broken YAML, several documents, duplicate keys, tags,
// control characters, invalid UTF-8, over a limit. Never quotes values.
base::Result<YamlUse> parse_yaml(std::string_view text, const std::string& name);

}  // namespace nvidb::config
