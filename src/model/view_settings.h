// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// The layout of the monitor that outlives a run: the `view` block of config.yml.
namespace nvidb::model {

enum class ViewMode { nodes, unified };
enum class ViewSort { node, available, utilization };
enum class ViewFilter { all, available, busy, errors };

struct ViewSettings {
  ViewMode mode = ViewMode::nodes;
  bool detailed = false;
  bool processes = false;
  bool trends = false;
  ViewSort sort = ViewSort::node;
  ViewFilter filter = ViewFilter::all;
  bool group_by_node = true;
  bool hide_unsupported = true;
  bool mouse = true;

  bool operator==(const ViewSettings&) const = default;
};

// The words of config.yml: `nodes`, `available`, ...
const char* to_string(ViewMode mode);
const char* to_string(ViewSort sort);
const char* to_string(ViewFilter filter);

}  // namespace nvidb::model
