// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "model/agent_message.h"
#include "model/fleet.h"
#include "model/view_settings.h"
#include "model/gpu.h"

namespace nvidb::model {

const char* to_string(ProcessType type) {
  switch (type) {
    case ProcessType::compute:
      return "C";
    case ProcessType::graphics:
      return "G";
    case ProcessType::both:
      return "CG";
  }
  return "?";
}

const char* to_string(CollectorKind kind) {
  switch (kind) {
    case CollectorKind::native:
      return "native";
    case CollectorKind::python:
      return "python";
    case CollectorKind::shell:
      return "shell";
  }
  return "?";
}

const char* to_string(GpuSource source) {
  switch (source) {
    case GpuSource::nvml:
      return "nvml";
    case GpuSource::nvidia_smi:
      return "nvidia-smi";
    case GpuSource::none:
      return "none";
  }
  return "?";
}

const char* to_string(NodeState state) {
  switch (state) {
    case NodeState::connecting:
      return "connecting";
    case NodeState::up:
      return "up";
    case NodeState::stale:
      return "stale";
    case NodeState::down:
      return "down";
    case NodeState::auth:
      return "auth";
    case NodeState::hostkey:
      return "hostkey";
  }
  return "?";
}

const char* to_string(ViewMode mode) {
  switch (mode) {
    case ViewMode::nodes:
      return "nodes";
    case ViewMode::unified:
      return "unified";
  }
  return "?";
}

const char* to_string(ViewSort sort) {
  switch (sort) {
    case ViewSort::node:
      return "node";
    case ViewSort::available:
      return "available";
    case ViewSort::utilization:
      return "utilization";
  }
  return "?";
}

const char* to_string(ViewFilter filter) {
  switch (filter) {
    case ViewFilter::all:
      return "all";
    case ViewFilter::available:
      return "available";
    case ViewFilter::busy:
      return "busy";
    case ViewFilter::errors:
      return "errors";
  }
  return "?";
}

}  // namespace nvidb::model
