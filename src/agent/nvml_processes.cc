// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "agent/nvml_processes.h"

#include <algorithm>
#include <cstring>

#include "agent/nvml_words.h"
#include "model/agent_message.h"

namespace nvidb::agent {
namespace {

// Lists grow between the call that names the size and the next; slack and a few tries are enough
// for any real one.
constexpr int kMaxTries = 5;
constexpr std::uint32_t kSlackRecords = 16;
constexpr std::uint32_t kMaxRecords = model::kMaxProcesses;
constexpr std::size_t kWordsPerRecord = sizeof(nvml::ProcessInfoWide) / sizeof(std::uint64_t);

std::size_t record_words(ProcessRecord record) {
  switch (record) {
    case ProcessRecord::v1_16_bytes:
      return sizeof(nvml::ProcessInfoV1) / sizeof(std::uint64_t);
    case ProcessRecord::v2_24_bytes:
      return sizeof(nvml::ProcessInfoV2) / sizeof(std::uint64_t);
    case ProcessRecord::wide_32_bytes:
      return kWordsPerRecord;
  }
  return kWordsPerRecord;
}

void merge(const nvml::ProcessInfoV1& record, bool graphics, std::vector<CardProcess>& processes) {
  if (record.pid == 0) return;
  const std::int64_t pid = record.pid;
  auto known = std::find_if(processes.begin(), processes.end(),
                            [&](const CardProcess& process) { return process.pid == pid; });
  if (known == processes.end()) known = processes.insert(known, CardProcess{.pid = pid});
  known->graphics |= graphics;
  known->compute |= !graphics;
  // An empty optional is less than any number.
  known->mem_mb = std::max(known->mem_mb, sane_mb(record.used_bytes));
}

}  // namespace

nvml::Return ProcessLists::add(nvml::Device device, std::vector<CardProcess>& processes) {
  nvml::Return last = nvml::kSuccess;
  const auto note = [&](nvml::Return code) {
    if (code != nvml::kSuccess) last = code;
  };
  note(add_list(library_.compute_processes, device, false, processes));
  note(add_list(library_.mps_processes, device, false, processes));
  note(add_list(library_.graphics_processes, device, true, processes));
  return last;
}

nvml::Return ProcessLists::add_list(const ProcessListCall& list, nvml::Device device, bool graphics,
                                    std::vector<CardProcess>& processes) {
  if (list.call == nullptr) return nvml::kFunctionNotFound;
  for (int i = 0; i < kMaxTries; ++i) {
    records_.assign(capacity_ * kWordsPerRecord, 0);
    std::uint32_t count = capacity_;
    const nvml::Return code = list.call(device, &count, records_.data());
    if (code == nvml::kSuccess) {
      const std::size_t stride = record_words(list.record);
      for (std::uint32_t k = 0; k < std::min(count, capacity_); ++k) {
        nvml::ProcessInfoV1 record;  // every layout begins like this one
        std::memcpy(&record, records_.data() + k * stride, sizeof record);
        if (processes.size() < kMaxRecords) merge(record, graphics, processes);
      }
      return code;
    }
    if (code != nvml::kInsufficientSize || capacity_ == kMaxRecords) return code;
    const std::uint32_t wanted = std::min(std::max(count, capacity_), kMaxRecords);
    capacity_ = std::min(wanted + wanted / 2 + kSlackRecords, kMaxRecords);
  }
  return nvml::kInsufficientSize;
}

void sort_by_memory(std::vector<CardProcess>& processes) {
  std::sort(processes.begin(), processes.end(), [](const CardProcess& a, const CardProcess& b) {
    return a.mem_mb != b.mem_mb ? a.mem_mb > b.mem_mb : a.pid < b.pid;
  });
}

}  // namespace nvidb::agent
