// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "agent/nvml_reader.h"

#include <algorithm>
#include <utility>

#include "agent/nvml_words.h"

namespace nvidb::agent {
namespace {

constexpr std::int64_t kPcieAgeIntervals = 2;
constexpr std::uint32_t kMaxMigDevices = 64;  // of one card; today's have 7

model::ProcessType process_type(const CardProcess& process) {
  if (!process.graphics) return model::ProcessType::compute;
  return process.compute ? model::ProcessType::both : model::ProcessType::graphics;
}

}  // namespace

tl::expected<std::unique_ptr<NvmlReader>, nvml::Return> NvmlReader::start(
    std::shared_ptr<const NvmlLibrary> library, const base::Clock& clock, OnWaking on_waking) {
  if (const nvml::Return code = library->init(); code != nvml::kSuccess) {
    return tl::unexpected(code);
  }
  std::unique_ptr<NvmlReader> reader(
      new NvmlReader(std::move(library), clock, std::move(on_waking)));
  std::uint32_t count = 0;
  nvml::Return code = reader->library_->count(&count);
  if (code == nvml::kSuccess) {
    reader->read_system_facts();
    code = reader->enumerate(count);
  }
  if (code != nvml::kSuccess) return tl::unexpected(code);
  return reader;
}

NvmlReader::NvmlReader(std::shared_ptr<const NvmlLibrary> library, const base::Clock& clock,
                       OnWaking on_waking)
    : library_(std::move(library)),
      clock_(clock),
      on_waking_(std::move(on_waking)),
      process_lists_(*library_) {}

NvmlReader::~NvmlReader() {
  // Shutting down under a blocked call would block as well, or crash; its initialisation is left
  // standing instead.
  if (pcie_ && !pcie_->stop()) return;
  library_->shutdown();
}

void NvmlReader::read_system_facts() {
  inventory_.source = model::GpuSource::nvml;
  inventory_.simulated = library_->simulated();
  inventory_.nvml_path = library_->path();
  char text[nvml::kVersionBytes] = {};
  if (library_->driver_version != nullptr &&
      library_->driver_version(text, sizeof text) == nvml::kSuccess) {
    inventory_.driver_version = driver_text(text);
  }
  std::fill(std::begin(text), std::end(text), '\0');
  if (library_->nvml_version != nullptr &&
      library_->nvml_version(text, sizeof text) == nvml::kSuccess) {
    inventory_.nvml_version = driver_text(text);
  }
  int cuda = 0;
  if (library_->cuda_version != nullptr && library_->cuda_version(&cuda) == nvml::kSuccess) {
    inventory_.cuda_version = cuda_version_text(cuda);
  }
}

nvml::Return NvmlReader::enumerate(std::uint32_t count) {
  card_count_ = count;
  count = std::min(count, static_cast<std::uint32_t>(model::kMaxGpus));
  if (count > 0) on_waking_(count);
  const std::vector<model::GpuFacts> before = std::exchange(inventory_.gpus, {});
  pcie_.reset();
  cards_.clear();
  cards_.reserve(count);
  std::vector<nvml::Device> handles;
  for (std::uint32_t i = 0; i < count; ++i) {
    nvml::Device handle = nullptr;
    const nvml::Return code = library_->handle_by_index(i, &handle);
    if (is_driver_gone_by_card(code)) return code;
    if (code != nvml::kSuccess) handle = nullptr;
    cards_.emplace_back(*library_, static_cast<int>(i), handle,
                        code != nvml::kSuccess ? code : nvml::kUnknown);
    handles.push_back(handle);
  }
  // A card that went away keeps the name it had, unless the driver has renumbered its cards.
  for (NvmlCard& card : cards_) {
    const auto index = static_cast<std::size_t>(card.facts().index);
    if (card.facts().uuid || before.size() != cards_.size() || !before[index].uuid) continue;
    const bool elsewhere = std::any_of(cards_.begin(), cards_.end(), [&](const NvmlCard& other) {
      return other.facts().uuid == before[index].uuid;
    });
    if (!elsewhere) card.set_facts(before[index]);
  }
  for (const NvmlCard& card : cards_) inventory_.gpus.push_back(card.facts());
  uuids_at_ms_ = clock_.steady_ms();
  if (library_->pcie_throughput != nullptr && !cards_.empty()) {
    // The library is held by the threads too: one that is blocked inside it keeps it loaded.
    pcie_ = std::make_unique<PcieSampler>(
        [library = library_](nvml::Device card, int counter, std::uint32_t* kb_s) {
          return library->pcie_throughput(card, counter, kb_s);
        },
        std::move(handles), clock_);
  }
  pcie_kicked_ = false;
  return nvml::kSuccess;
}

// Notices cards that came, went or changed places.
nvml::Return NvmlReader::look_again() {
  std::uint32_t count = 0;
  const nvml::Return code = library_->count(&count);
  if (is_driver_gone(code)) return code;
  bool changed = code == nvml::kSuccess && count != card_count_;
  if (!changed && clock_.steady_ms() - uuids_at_ms_ >= kUuidCheckMs) {
    uuids_at_ms_ = clock_.steady_ms();
    changed = uuids_changed();
  }
  return changed ? enumerate(code == nvml::kSuccess ? count : card_count_) : nvml::kSuccess;
}

bool NvmlReader::uuids_changed() {
  for (NvmlCard& card : cards_) {
    nvml::Device handle = card.handle();
    if (handle == nullptr) {
      const auto index = static_cast<std::uint32_t>(card.facts().index);
      if (library_->handle_by_index(index, &handle) == nvml::kSuccess) return true;
      continue;
    }
    const auto uuid = card.ask_uuid();
    if (uuid && uuid != card.facts().uuid) return true;
  }
  return false;
}

std::vector<model::GpuReading> NvmlReader::prime(bool want_processes) {
  if (pcie_) {
    pcie_->kick();
    pcie_kicked_ = true;
  }
  std::vector<model::GpuReading> readings(want_processes ? cards_.size() : 0);
  for (std::size_t i = 0; i < readings.size(); ++i)
    read_processes(cards_[i], readings[i].processes);
  return readings;
}

tl::expected<std::vector<model::GpuReading>, nvml::Return> NvmlReader::read(
    bool want_processes, std::int64_t interval_ms) {
  if (const nvml::Return code = look_again(); code != nvml::kSuccess) return tl::unexpected(code);
  if (pcie_ && !std::exchange(pcie_kicked_, false)) pcie_->kick();
  std::vector<model::GpuReading> readings;
  readings.reserve(cards_.size());
  for (NvmlCard& card : cards_) {
    readings.push_back(card.read(clock_.steady_ms()));
    if (is_driver_gone_by_card(card.fatal())) return tl::unexpected(card.fatal());
    if (want_processes && !readings.back().error) read_processes(card, readings.back().processes);
  }
  if (!pcie_) return readings;
  pcie_->wait(kPcieWaitMs);
  for (std::size_t i = 0; i < cards_.size(); ++i) {
    if (readings[i].error) continue;
    const auto traffic = pcie_->traffic(i, kPcieAgeIntervals * interval_ms);
    readings[i].pcie_rx_kb_s = traffic.rx_kb_s;
    readings[i].pcie_tx_kb_s = traffic.tx_kb_s;
  }
  return readings;
}

void NvmlReader::read_processes(NvmlCard& card, std::vector<model::ProcessSample>& samples) {
  const nvml::Device handle = card.handle();
  if (handle == nullptr) return;
  processes_.clear();
  process_lists_.add(handle, processes_);
  // A MIG parent names its processes only to privileged callers, and without memory; each instance
  // names its own.
  std::uint32_t slots = 0;
  if (card.mig() && library_->mig_handle != nullptr && library_->mig_count_max != nullptr &&
      library_->mig_count_max(handle, &slots) == nvml::kSuccess) {
    for (std::uint32_t i = 0; i < std::min(slots, kMaxMigDevices); ++i) {
      nvml::Device instance = nullptr;  // asked each time: these handles are reused for others
      if (library_->mig_handle(handle, i, &instance) != nvml::kSuccess) continue;
      process_lists_.add(instance, processes_);
    }
  }
  sort_by_memory(processes_);
  samples.reserve(processes_.size());
  for (const CardProcess& process : processes_) {
    model::ProcessSample& sample = samples.emplace_back();
    sample.pid = process.pid;
    sample.type = process_type(process);
    sample.mem_mb = process.mem_mb;
  }
}

}  // namespace nvidb::agent
