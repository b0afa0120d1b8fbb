// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors

// NVML's process lists, with their three record sizes and their count-in, count-out protocol.
#include "call.h"

namespace nvidb::sim {
namespace {

using nvml::Device;
using nvml::Return;

enum class List { compute, graphics, mps, all };

constexpr std::uint32_t kFirstGrownPid = 5'900'000;  // above every pid that Linux hands out
constexpr std::int64_t kGrownMemMb = 64;
constexpr std::uint32_t kHopper = 9;

bool is_in(List list, ProcessType type) {
  switch (list) {
    case List::compute:
      return type == ProcessType::compute || type == ProcessType::both;
    case List::graphics:
      return type == ProcessType::graphics || type == ProcessType::both;
    case List::mps:
      return type == ProcessType::mps;
    case List::all:
      return true;
  }
  return false;
}

std::vector<ListedProcess> list(const Target& target, List which) {
  std::vector<ListedProcess> listed = Session::instance().processes(target);
  std::erase_if(listed, [&](const ListedProcess& entry) { return !is_in(which, entry.type); });
  if (target.scenario->grow_lists == 0) return listed;
  const std::uint32_t grown = Session::instance().grown(target.index);
  for (std::uint32_t i = 0; i < grown; ++i) {
    listed.push_back({.pid = kFirstGrownPid + i, .mem_mb = kGrownMemMb});
  }
  return listed;
}

std::uint64_t used_bytes(const ListedProcess& process) {
  if (!process.mem_mb) return nvml::kNotAvailable64;
  return static_cast<std::uint64_t>(*process.mem_mb) << 20;
}

void write(const ListedProcess& process, nvml::ProcessInfoV1& out) {
  out = {.pid = process.pid, .used_bytes = used_bytes(process)};
}

void write(const ListedProcess& process, nvml::ProcessInfoV2& out) {
  out = {.pid = process.pid,
         .used_bytes = used_bytes(process),
         .gpu_instance = process.gpu_instance.value_or(nvml::kNotAvailable32),
         .compute_instance = process.compute_instance.value_or(nvml::kNotAvailable32)};
}

void write(const ListedProcess& process, nvml::ProcessInfoWide& out) {
  out = {.pid = process.pid,
         .used_bytes = used_bytes(process),
         .gpu_instance = process.gpu_instance.value_or(nvml::kNotAvailable32),
         .compute_instance = process.compute_instance.value_or(nvml::kNotAvailable32),
         .protected_bytes = 0};
}

// `count` comes in as what fits and goes out as what there is; too little room writes nothing.
template <typename Record>
Return put_list(const Target& target, List which, std::uint32_t* count, void* records) {
  if (count == nullptr || (records == nullptr && *count > 0)) return nvml::kInvalidArgument;
  const std::vector<ListedProcess> listed = list(target, which);
  const std::uint32_t room = *count;
  *count = static_cast<std::uint32_t>(listed.size());
  if (listed.size() > room) {
    Session::instance().grow(target.index, target.scenario->grow_lists);
    return nvml::kInsufficientSize;
  }
  auto* out = static_cast<Record*>(records);
  for (const ListedProcess& process : listed) write(process, *out++);
  return nvml::kSuccess;
}

template <typename Record>
Return answer_list(const char* function, Device device, List which, std::uint32_t* count,
                   void* records) {
  return on_device(function, device, [&](const Target& target) {
    return put_list<Record>(target, which, count, records);
  });
}

// The records of _v3 were wider in early 535 drivers.
Return answer_v3(const char* function, Device device, List which, std::uint32_t* count,
                 void* records) {
  return on_device(function, device, [&](const Target& target) {
    return target.scenario->record_bytes == sizeof(nvml::ProcessInfoWide)
               ? put_list<nvml::ProcessInfoWide>(target, which, count, records)
               : put_list<nvml::ProcessInfoV2>(target, which, count, records);
  });
}

}  // namespace
}  // namespace nvidb::sim

using namespace nvidb::sim;
using nvml::Device;
using nvml::Return;

#pragma GCC visibility push(default)
extern "C" {

Return nvmlDeviceGetComputeRunningProcesses_v3(Device device, std::uint32_t* count, void* out) {
  return answer_v3(__func__, device, List::compute, count, out);
}

Return nvmlDeviceGetGraphicsRunningProcesses_v3(Device device, std::uint32_t* count, void* out) {
  return answer_v3(__func__, device, List::graphics, count, out);
}

Return nvmlDeviceGetMPSComputeRunningProcesses_v3(Device device, std::uint32_t* count, void* out) {
  return answer_v3(__func__, device, List::mps, count, out);
}

Return nvmlDeviceGetComputeRunningProcesses_v2(Device device, std::uint32_t* count, void* out) {
  return answer_list<nvml::ProcessInfoV2>(__func__, device, List::compute, count, out);
}

Return nvmlDeviceGetGraphicsRunningProcesses_v2(Device device, std::uint32_t* count, void* out) {
  return answer_list<nvml::ProcessInfoV2>(__func__, device, List::graphics, count, out);
}

Return nvmlDeviceGetMPSComputeRunningProcesses_v2(Device device, std::uint32_t* count, void* out) {
  return answer_list<nvml::ProcessInfoV2>(__func__, device, List::mps, count, out);
}

Return nvmlDeviceGetComputeRunningProcesses(Device device, std::uint32_t* count, void* out) {
  return answer_list<nvml::ProcessInfoV1>(__func__, device, List::compute, count, out);
}

Return nvmlDeviceGetGraphicsRunningProcesses(Device device, std::uint32_t* count, void* out) {
  return answer_list<nvml::ProcessInfoV1>(__func__, device, List::graphics, count, out);
}

Return nvmlDeviceGetMPSComputeRunningProcesses(Device device, std::uint32_t* count, void* out) {
  return answer_list<nvml::ProcessInfoV1>(__func__, device, List::mps, count, out);
}

Return nvmlDeviceGetRunningProcessDetailList(Device device, nvml::ProcessDetailList* out) {
  return on_device(__func__, device, [&](const Target& target) {
    if (out == nullptr) return nvml::kInvalidArgument;
    if (out->version != nvml::struct_version<nvml::ProcessDetailList>(1)) {
      return nvml::kArgumentVersionMismatch;
    }
    if (out->mode > 3) return nvml::kInvalidArgument;
    if (target.card->architecture.value_or(0) < kHopper) return nvml::kNotSupported;
    constexpr List kLists[] = {List::compute, List::graphics, List::mps, List::all};
    return put_list<nvml::ProcessInfoWide>(target, kLists[out->mode], &out->count, out->records);
  });
}

}  // extern "C"
#pragma GCC visibility pop
