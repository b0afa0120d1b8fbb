// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "agent/gpu_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agent/nvml_words.h"
#include "base/check.h"
#include "base/text.h"
#include "io/child.h"
#include "io/files.h"

namespace nvidb::agent {
namespace {

using base::ErrorKind;
using base::fail;

constexpr std::int64_t kRetryMs[] = {1000, 2000, 5000, 10000, 30000};
constexpr std::size_t kMaxSmiBytes = 16
                                     << 20;  // a card takes some 30 KiB, more with many processes
constexpr std::size_t kMaxVersionFileBytes = 64 << 10;
constexpr std::size_t kMaxWordsBytes = 300;  // of what nvidia-smi prints, in an error

std::int64_t retry_after_ms(std::size_t failures) {
  return kRetryMs[std::min(failures, std::size(kRetryMs)) - 1];
}

// Its first line that says something, cut.
std::string first_words(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \r\n\t");
  if (begin == std::string_view::npos) return {};
  text = text.substr(begin, kMaxWordsBytes);
  return base::valid_utf8(text.substr(0, text.find_first_of("\r\n")));
}

// What the simulator says of a process that is none of this machine's.
void add_simulated_facts(nvml::SimProcessFactsFn* ask, model::ProcessSample& process) {
  nvml::SimProcessFacts facts = {};
  if (ask(static_cast<unsigned>(process.pid), &facts) != 0) return;
  const auto number = [](auto value) {
    return value < 0 ? std::nullopt : std::optional<decltype(value)>(value);
  };
  process.user = driver_text(facts.user);
  process.name = driver_text(facts.name);
  process.command = driver_text(facts.command);
  process.cpu_percent = number(facts.cpu_percent);
  process.host_mem_percent = number(facts.host_mem_percent);
  process.rss_mb = number(facts.rss_mb);
  process.elapsed_s = number(facts.elapsed_s);
  process.threads = number(facts.threads);
  process.start_ticks = number(facts.start_ticks);
  process.state.reset();
  if (facts.state != 0) process.state = std::string(1, facts.state);
}

base::Result<SmiReport> ask_smi(std::int64_t deadline_ms) {
  base::Result<io::Output> output = fail(ErrorKind::not_found, "no nvidia-smi");
  // In WSL it is where no login through ssh looks for it.
  for (const char* program : {"nvidia-smi", "/usr/lib/wsl/lib/nvidia-smi"}) {
    output = io::run_command({.program = program, .argv = {"nvidia-smi", "-q", "-x"}}, deadline_ms,
                             kMaxSmiBytes);
    if (output || output.error().kind != ErrorKind::not_found) break;
  }
  if (!output) return fail(output.error());
  if (first_words(output->out).empty()) {
    const std::string words = first_words(output->err);
    return fail(ErrorKind::unsupported,
                "nvidia-smi failed: " + (words.empty() ? to_text(output->status) : words));
  }
  return parse_smi_xml(output->out);
}

}  // namespace

GpuSource::GpuSource(Options options, ProcReader& proc, const base::Clock& clock,
                     NvmlReader::OnWaking on_waking)
    : options_(std::move(options)),
      proc_(proc),
      clock_(clock),
      on_waking_(std::move(on_waking)),
      nvml_due_ms_(clock.steady_ms()),
      smi_due_ms_(nvml_due_ms_) {}

void GpuSource::refresh(std::int64_t interval_ms) {
  if (reader_) return;
  if (clock_.steady_ms() >= nvml_due_ms_) try_nvml();
  if (!reader_ && clock_.steady_ms() >= smi_due_ms_) try_smi(interval_ms);
  inventory_ = reader_ ? reader_->inventory() : describe();
}

void GpuSource::try_nvml() {
  if (!library_) {
    auto opened = NvmlLibrary::open(options_.nvml_paths);
    if (!opened) {
      nvml_error_.reset();
      if (opened.error().kind != ErrorKind::not_found) nvml_error_ = opened.error().message;
      nvml_due_ms_ = clock_.steady_ms() + retry_after_ms(++nvml_failures_);
      return;
    }
    library_ = *opened;
  }
  auto started = NvmlReader::start(library_, clock_, on_waking_);
  if (!started) return on_init_failure(started.error());
  reader_ = std::move(*started);
  nvml_failures_ = 0;
  nvml_error_.reset();
  smi_.reset();
  smi_error_.reset();
  smi_failures_ = 0;
}

void GpuSource::on_init_failure(nvml::Return code) {
  nvml_error_ = init_failure_words(code, kernel_version(), library_version());
  nvml_due_ms_ = clock_.steady_ms() + retry_after_ms(++nvml_failures_);
  // The driver was changed under us: the file on disk may be the one that fits by now.
  if (code == nvml::kVersionMismatch) library_.reset();
}

void GpuSource::try_smi(std::int64_t interval_ms) {
  auto report = ask_smi(options_.smi_deadline_ms);
  smi_.reset();
  smi_error_.reset();
  if (report) {
    smi_ = std::move(*report);
    smi_failures_ = 0;
    smi_due_ms_ = clock_.steady_ms() + std::max(interval_ms, kSmiEveryMs);
    return;
  }
  smi_error_ = report.error();
  smi_due_ms_ = clock_.steady_ms() + retry_after_ms(++smi_failures_);
}

// What there is without NVML.
model::Inventory GpuSource::describe() const {
  if (smi_ && (!smi_->inventory.gpus.empty() || !nvml_error_)) return smi_->inventory;
  model::Inventory inventory;
  inventory.error = nvml_error_;
  if (library_) inventory.nvml_path = library_->path();
  if (nvml_error_) inventory.driver_version = kernel_version();
  if (smi_error_ && smi_error_->kind != ErrorKind::not_found) {
    if (!inventory.error) {
      inventory.error = smi_error_->message;
    } else if (smi_error_->kind == ErrorKind::timeout) {
      *inventory.error += "; " + smi_error_->message;
    }
  }
  return inventory;
}

std::optional<std::string> GpuSource::kernel_version() const {
  const auto text =
      io::read_file(options_.proc_root + "/driver/nvidia/version", kMaxVersionFileBytes);
  if (!text) return std::nullopt;
  return find_version(*text);
}

std::optional<std::string> GpuSource::library_version() const {
  if (auto version = library_->file_version()) return version;
  char text[nvml::kVersionBytes] = {};
  if (library_->nvml_version == nullptr ||
      library_->nvml_version(text, sizeof text) != nvml::kSuccess) {
    return std::nullopt;
  }
  return driver_text(text);
}

void GpuSource::prime(bool want_processes) {
  if (reader_) {
    auto readings = reader_->prime(want_processes);
    if (want_processes) add_process_facts(proc_, library_.get(), readings);
  } else if (smi_ && want_processes) {
    auto readings = smi_->readings;
    add_process_facts(proc_, nullptr, readings);
  }
}

std::vector<model::GpuReading> GpuSource::read(bool want_processes, std::int64_t interval_ms) {
  if (reader_) {
    auto readings = reader_->read(want_processes, interval_ms);
    if (readings) {
      inventory_ = reader_->inventory();
      if (want_processes) add_process_facts(proc_, library_.get(), *readings);
      return std::move(*readings);
    }
    reader_.reset();
    on_init_failure(readings.error());
    smi_due_ms_ = nvml_due_ms_;  // the driver is in trouble; it is not asked at once by another way
    inventory_ = describe();
    return {};
  }
  if (!smi_) return {};
  std::vector<model::GpuReading> readings = smi_->readings;
  if (want_processes) {
    add_process_facts(proc_, nullptr, readings);
  } else {
    for (model::GpuReading& reading : readings) reading.processes.clear();
  }
  // As describe() has it: no cards where NVML knows better why there are none.
  return inventory_.gpus.size() == readings.size() ? readings : std::vector<model::GpuReading>();
}

void add_process_facts(ProcReader& proc, const NvmlLibrary* library,
                       std::vector<model::GpuReading>& readings) {
  std::vector<std::int64_t> pids;
  for (const model::GpuReading& reading : readings) {
    for (const model::ProcessSample& process : reading.processes) pids.push_back(process.pid);
  }
  std::sort(pids.begin(), pids.end());
  pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
  std::vector<model::ProcessSample> facts = proc.read_processes(pids);
  CHECK(facts.size() == pids.size());
  if (library != nullptr && library->sim_process_facts != nullptr) {
    for (std::size_t i = 0; i < facts.size(); ++i) {
      facts[i].pid = pids[i];
      add_simulated_facts(library->sim_process_facts, facts[i]);
    }
  }
  for (model::GpuReading& reading : readings) {
    for (model::ProcessSample& process : reading.processes) {
      const auto at = std::lower_bound(pids.begin(), pids.end(), process.pid);
      model::ProcessSample known = facts[static_cast<std::size_t>(at - pids.begin())];
      known.pid = process.pid;
      known.type = process.type;
      known.mem_mb = process.mem_mb;
      if (!known.name) known.name = std::move(process.name);
      process = std::move(known);
    }
  }
}

}  // namespace nvidb::agent
