// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors

// NVML's functions on the machine and to find cards; and our own two.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "call.h"
#include "sim_abi.h"

namespace nvidb::sim {
namespace {

using nvml::Device;
using nvml::Return;

// The plain count and handles of old: a card we may not open does not exist.
std::vector<std::size_t> permitted(const Scenario& scenario) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < scenario.cards.size(); ++i) {
    if (!scenario.cards[i].no_permission) indices.push_back(i);
  }
  return indices;
}

Return open_card(const char* function, const Scenario& scenario, std::size_t index, Device* out) {
  if (out == nullptr || index >= scenario.cards.size()) return nvml::kInvalidArgument;
  const Card& card = scenario.cards[index];
  if (card.no_permission) return nvml::kNoPermission;
  if (const Return code = card_code(card, function)) return code;
  Session& session = Session::instance();
  if (session.first_attach(index)) {
    wait_ms(card.attach_delay_ms.value_or(scenario.attach_delay_ms));
  }
  *out = session.handle_of(index);
  return nvml::kSuccess;
}

Return initialise(const char* function) {
  Session& session = Session::instance();
  const auto scenario = session.scenario(!session.initialised());
  if (scenario) {
    if (const Return code = suffer(*scenario, function, false)) return code;
    if (!session.initialised()) wait_ms(scenario->init_delay_ms);
    make_noise(*scenario);
  }
  return session.init();
}

// "12.8" as 12080; absent where it is no version.
std::optional<double> cuda_number(const std::string& version) {
  int major = 0, minor = 0;
  if (std::sscanf(version.c_str(), "%4d.%2d", &major, &minor) < 1) return std::nullopt;
  return 1000 * major + 10 * minor;
}

const char* error_text(Return code) {
  switch (code) {
    case nvml::kSuccess:
      return "Success";
    case nvml::kUninitialized:
      return "Uninitialized";
    case nvml::kInvalidArgument:
      return "Invalid Argument";
    case nvml::kNotSupported:
      return "Not Supported";
    case nvml::kNoPermission:
      return "Insufficient Permissions";
    case nvml::kNotFound:
      return "Not Found";
    case nvml::kInsufficientSize:
      return "Insufficient Size";
    case nvml::kDriverNotLoaded:
      return "Driver Not Loaded";
    case nvml::kTimeout:
      return "Timeout";
    case nvml::kFunctionNotFound:
      return "Function Not Found";
    case nvml::kGpuIsLost:
      return "GPU is lost";
    case nvml::kVersionMismatch:
      return "Driver/library version mismatch";
    case nvml::kArgumentVersionMismatch:
      return "Argument Version Mismatch";
    case nvml::kDeprecated:
      return "Deprecated";
    default:
      return "Unknown Error";
  }
}

// The reader's view of the same bytes.
static_assert(sizeof(nvidb_sim_facts) == sizeof(nvml::SimProcessFacts));

template <std::size_t Size>
void copy_text(const std::string& text, char (&out)[Size]) {
  std::memset(out, 0, Size);
  std::memcpy(out, text.data(), std::min(text.size(), Size - 1));
}

int fill_facts(unsigned pid, nvidb_sim_facts& out) {
  Session& session = Session::instance();
  const auto scenario = session.scenario();
  const ProcessFacts* facts = scenario ? find_facts(*scenario, pid) : nullptr;
  if (facts == nullptr) return NVIDB_SIM_NOT_FOUND;
  const double at_s = session.now_s(*scenario);
  const auto number = [&](const std::optional<Curve>& curve) {
    return curve ? value_at(*curve, at_s) : -1.0;
  };
  const auto whole = [&](const std::optional<Curve>& curve) {
    return static_cast<std::int64_t>(std::clamp(number(curve), -1.0, 9e15));
  };
  out = {};
  copy_text(facts->user, out.user);
  copy_text(facts->name, out.name);
  copy_text(facts->command, out.command);
  out.cpu_percent = number(facts->cpu_percent);
  out.host_mem_percent = number(facts->host_mem_percent);
  out.rss_mb = whole(facts->rss_mb);
  out.elapsed_s = whole(facts->elapsed_s);
  out.threads = whole(facts->threads);
  out.start_ticks = whole(facts->start_ticks);
  out.state = facts->state;
  return NVIDB_SIM_FOUND;
}

}  // namespace
}  // namespace nvidb::sim

using namespace nvidb::sim;
using nvml::Device;
using nvml::Return;

#pragma GCC visibility push(default)
extern "C" {

int nvidb_sim_version(void) {
  return NVIDB_SIM_VERSION;
}

int nvidb_sim_process_facts(unsigned pid, struct nvidb_sim_facts* out) {
  return out == nullptr ? nvml::kInvalidArgument : fill_facts(pid, *out);
}

Return nvmlInit_v2() {
  return initialise(__func__);
}

Return nvmlInit() {
  return initialise(__func__);
}

Return nvmlInitWithFlags(std::uint32_t) {
  return initialise(__func__);
}

Return nvmlShutdown() {
  const auto scenario = Session::instance().scenario();
  if (scenario) {
    if (const Return code = suffer(*scenario, __func__, false)) return code;
  }
  return Session::instance().shutdown();
}

const char* nvmlErrorString(Return code) {
  return error_text(code);
}

Return nvmlSystemGetDriverVersion(char* out, std::uint32_t size) {
  return on_system(__func__, [&](const Scenario& scenario) {
    return put_text(scenario.driver_version, out, size, scenario.string_fill);
  });
}

Return nvmlSystemGetNVMLVersion(char* out, std::uint32_t size) {
  return on_system(__func__, [&](const Scenario& scenario) {
    return put_text(scenario.nvml_version, out, size, scenario.string_fill);
  });
}

Return nvmlSystemGetCudaDriverVersion(int* out) {
  return on_system(__func__, [&](const Scenario& scenario) {
    return put(cuda_number(scenario.cuda_version), out);
  });
}

Return nvmlSystemGetCudaDriverVersion_v2(int* out) {
  return on_system(__func__, [&](const Scenario& scenario) {
    return put(cuda_number(scenario.cuda_version), out);
  });
}

Return nvmlSystemGetProcessName(std::uint32_t pid, char* out, std::uint32_t size) {
  return on_system(__func__, [&](const Scenario& scenario) {
    const ProcessFacts* facts = find_facts(scenario, pid);
    if (facts == nullptr) return nvml::kNotFound;
    return put_text(facts->name, out, size, scenario.string_fill);
  });
}

Return nvmlDeviceGetCount_v2(std::uint32_t* out) {
  return on_system(__func__, [&](const Scenario& scenario) {
    return put(static_cast<double>(scenario.cards.size()), out);
  });
}

Return nvmlDeviceGetCount(std::uint32_t* out) {
  return on_system(__func__, [&](const Scenario& scenario) {
    return put(static_cast<double>(permitted(scenario).size()), out);
  });
}

Return nvmlDeviceGetHandleByIndex_v2(std::uint32_t index, Device* out) {
  return on_system(__func__, [&](const Scenario& scenario) {
    return open_card("nvmlDeviceGetHandleByIndex_v2", scenario, index, out);
  });
}

Return nvmlDeviceGetHandleByIndex(std::uint32_t index, Device* out) {
  return on_system(__func__, [&](const Scenario& scenario) {
    const auto indices = permitted(scenario);
    if (index >= indices.size()) return nvml::kInvalidArgument;
    return open_card("nvmlDeviceGetHandleByIndex", scenario, indices[index], out);
  });
}

Return nvmlDeviceGetHandleByUUID(const char* uuid, Device* out) {
  return on_system(__func__, [&](const Scenario& scenario) {
    if (uuid == nullptr || out == nullptr) return nvml::kInvalidArgument;
    for (std::size_t i = 0; i < scenario.cards.size(); ++i) {
      const Card& card = scenario.cards[i];
      if (card.uuid == uuid) return open_card("nvmlDeviceGetHandleByUUID", scenario, i, out);
      for (std::size_t k = 0; k < card.mig_devices.size(); ++k) {
        if (!card.mig_devices[k] || card.mig_devices[k]->uuid != uuid) continue;
        *out = Session::instance().handle_of(i, k);
        return nvml::kSuccess;
      }
    }
    return nvml::kNotFound;
  });
}

Return nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, Device* out) {
  return on_system(__func__, [&](const Scenario& scenario) {
    if (bus_id == nullptr || out == nullptr) return nvml::kInvalidArgument;
    for (std::size_t i = 0; i < scenario.cards.size(); ++i) {
      if (scenario.cards[i].pci_bus_id != bus_id) continue;
      return open_card("nvmlDeviceGetHandleByPciBusId_v2", scenario, i, out);
    }
    return nvml::kNotFound;
  });
}

}  // extern "C"
#pragma GCC visibility pop
