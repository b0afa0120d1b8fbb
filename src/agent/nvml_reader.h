// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// All cards of this machine through NVML: which there are, and a reading of each.
//
// Lives from one initialisation of the driver to its end. The number of cards is checked at each
// reading, their uuids every 5 s; any change makes it look at all cards anew. A card that is lost
// keeps its row. One thread calls it.
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "agent/nvml_card.h"
#include "agent/nvml_library.h"
#include "agent/nvml_processes.h"
#include "agent/pcie_sampler.h"
#include "base/clock.h"
#include "model/agent_message.h"

namespace nvidb::agent {

class NvmlReader {
 public:
  static constexpr std::int64_t kUuidCheckMs = 5000;
  static constexpr std::int64_t kPcieWaitMs = 50;

  // Called before cards are attached, which may take seconds each, with their number (above 0).
  using OnWaking = std::function<void(std::size_t)>;

  // Initialises the driver and attaches to every card. `clock` outlives the reader and the
  // process's threads. The error is NVML's code; nothing then stays initialised.
  static tl::expected<std::unique_ptr<NvmlReader>, nvml::Return> start(
      std::shared_ptr<const NvmlLibrary> library, const base::Clock& clock, OnWaking on_waking);
  // Lets the driver go, unless a call is blocked inside it.
  ~NvmlReader();

  // Changes only inside start() and read().
  const model::Inventory& inventory() const { return inventory_; }

  // Starts the PCIe measurement, so that a reading soon after need not wait for it. Hands back
  // readings that hold nothing but processes, so that whoever measures CPU shares knows of them.
  std::vector<model::GpuReading> prime(bool want_processes);

  // One reading a card, as inventory().gpus; processes have pid, type and mem_mb. `interval_ms`
  // says how old a PCIe value may be: two of it. The error is the code with which the driver went
  // away; the reader is then of no more use.
  tl::expected<std::vector<model::GpuReading>, nvml::Return> read(bool want_processes,
                                                                  std::int64_t interval_ms);

 private:
  NvmlReader(std::shared_ptr<const NvmlLibrary> library, const base::Clock& clock,
             OnWaking on_waking);
  nvml::Return look_again();
  nvml::Return enumerate(std::uint32_t count);
  void read_system_facts();
  bool uuids_changed();
  void read_processes(NvmlCard& card, std::vector<model::ProcessSample>& samples);

  std::shared_ptr<const NvmlLibrary> library_;
  const base::Clock& clock_;
  OnWaking on_waking_;
  model::Inventory inventory_;
  std::vector<NvmlCard> cards_;
  std::uint32_t card_count_ = 0;  // as the driver counts; cards_ has at most kMaxGpus
  std::int64_t uuids_at_ms_ = 0;
  ProcessLists process_lists_;
  std::vector<CardProcess> processes_;  // of one card; kept to spare allocations
  std::unique_ptr<PcieSampler> pcie_;   // null where the driver has no such function
  bool pcie_kicked_ = false;
};

}  // namespace nvidb::agent
