// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Where the numbers come from right now: NVML, else nvidia-smi, else nowhere; and the way back to
// NVML.
//
// NVML is tried first and again after 1, 2, 5, 10 and then every 30 s. Without it `nvidia-smi -q
// -x` is run, at most every 5 s or interval, whichever is longer, and again after the same waits
// where it fails. A machine that has neither has no GPUs, and that is no error. One thread calls
// it.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/nvml_library.h"
#include "agent/nvml_reader.h"
#include "agent/proc.h"
#include "agent/smi_xml.h"
#include "base/clock.h"
#include "model/agent_message.h"

namespace nvidb::agent {

class GpuSource {
 public:
  static constexpr std::int64_t kSmiEveryMs = 5000;

  struct Options {
    std::vector<std::string> nvml_paths;  // not empty
    std::string proc_root;
    std::int64_t smi_deadline_ms = 25000;
  };

  // `proc` and `clock` outlive the source. `on_waking` is called before cards are attached.
  GpuSource(Options options, ProcReader& proc, const base::Clock& clock,
            NvmlReader::OnWaking on_waking);

  // Does what is due to have a source. May block as long as the driver or nvidia-smi does.
  void refresh(std::int64_t interval_ms);
  // So that a reading 100 ms later has CPU shares of processes, and PCIe traffic.
  void prime(bool want_processes);
  // One reading a card of inventory(), with processes and what /proc knows of them; without any
  // where the driver went away meanwhile. Between two runs of nvidia-smi its last readings are
  // repeated.
  std::vector<model::GpuReading> read(bool want_processes, std::int64_t interval_ms);

  // Changes only inside refresh() and read().
  const model::Inventory& inventory() const { return inventory_; }

 private:
  void try_nvml();
  void try_smi(std::int64_t interval_ms);
  void on_init_failure(nvml::Return code);
  model::Inventory describe() const;
  std::optional<std::string> kernel_version() const;
  std::optional<std::string> library_version() const;

  Options options_;
  ProcReader& proc_;
  const base::Clock& clock_;
  NvmlReader::OnWaking on_waking_;
  model::Inventory inventory_;

  std::shared_ptr<const NvmlLibrary> library_;
  std::unique_ptr<NvmlReader> reader_;
  std::optional<std::string> nvml_error_;  // absent where there simply is no library
  std::size_t nvml_failures_ = 0;          // in a row
  std::int64_t nvml_due_ms_ = 0;

  std::optional<SmiReport> smi_;
  std::optional<base::Error> smi_error_;
  std::size_t smi_failures_ = 0;
  std::int64_t smi_due_ms_ = 0;
};

// Fills in what /proc knows about the processes of all cards, each pid read once however many cards
// list it; a name that is there already stays where /proc has none. For pids that the simulator
// invented (`library` may be null) its own facts count instead.
void add_process_facts(ProcReader& proc, const NvmlLibrary* library,
                       std::vector<model::GpuReading>& readings);

}  // namespace nvidb::agent
