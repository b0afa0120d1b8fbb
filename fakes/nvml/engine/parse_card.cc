// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "engine/parse_card.h"

#include <array>
#include <cstdio>

#include "engine/json_fields.h"
#include "engine/parse_scenario.h"

namespace nvidb::sim {
namespace {

using nlohmann::json;

struct NumberKey {
  std::string_view key;
  Setting Card::*member;
};

constexpr std::array kNumbers = {
    NumberKey{"mem_total_mb", &Card::mem_total_mb},
    NumberKey{"mem_used_mb", &Card::mem_used_mb},
    NumberKey{"mem_reserved_mb", &Card::mem_reserved_mb},
    NumberKey{"util_percent", &Card::util_percent},
    NumberKey{"mem_util_percent", &Card::mem_util_percent},
    NumberKey{"encoder_util_percent", &Card::encoder_util_percent},
    NumberKey{"decoder_util_percent", &Card::decoder_util_percent},
    NumberKey{"temperature_c", &Card::temperature_c},
    NumberKey{"mem_temperature_c", &Card::mem_temperature_c},
    NumberKey{"fan_percent", &Card::fan_percent},
    NumberKey{"power_w", &Card::power_w},
    NumberKey{"power_limit_w", &Card::power_limit_w},
    NumberKey{"performance_state", &Card::performance_state},
    NumberKey{"sm_clock_mhz", &Card::sm_clock_mhz},
    NumberKey{"mem_clock_mhz", &Card::mem_clock_mhz},
    NumberKey{"throttle_mask", &Card::throttle_mask},
    NumberKey{"ecc_uncorrected", &Card::ecc_uncorrected},
    NumberKey{"ecc_corrected", &Card::ecc_corrected},
};

constexpr std::array kPcieNumbers = {
    NumberKey{"gen", &Card::pcie_gen},         NumberKey{"width", &Card::pcie_width},
    NumberKey{"gen_max", &Card::pcie_gen_max}, NumberKey{"width_max", &Card::pcie_width_max},
    NumberKey{"rx_kb_s", &Card::pcie_rx_kb_s}, NumberKey{"tx_kb_s", &Card::pcie_tx_kb_s},
};

constexpr std::int64_t kMaxU32 = 0xFFFFFFFF;
constexpr std::int64_t kMaxDelayMs = 600'000;
constexpr std::size_t kMaxNameBytes = 96;
constexpr std::size_t kMaxMigDevices = 64;

template <typename... Numbers>
std::string format(const char* form, Numbers... numbers) {
  char text[80];
  std::snprintf(text, sizeof text, form, numbers...);
  return text;
}

// An identity of its own for each place, stable from run to run.
std::string make_uuid(const char* prefix, std::size_t index, unsigned part) {
  const auto place = static_cast<unsigned>(index);
  const unsigned mixed = (place * 0x9E3779B9u + part * 0x85EBCA6Bu) ^ 0x5A17C0DEu;
  return format("%s-%08x-%04x-%04x-%04x-%06x%06x", prefix, mixed, (mixed >> 7) & 0xFFFF,
                0x5000 + (part & 0xFFF), 0x9000 + (place & 0xFFF), (mixed * 31) & 0xFFFFFF,
                place & 0xFFFFFF);
}

std::optional<ProcessType> parse_type(std::string_view text) {
  if (text == "C") return ProcessType::compute;
  if (text == "G") return ProcessType::graphics;
  if (text == "CG") return ProcessType::both;
  if (text == "MPS") return ProcessType::mps;
  return std::nullopt;
}

ProcessFacts parse_facts(const json& entry, const std::string& where, std::string& error) {
  JsonFields fields(entry, where, error);
  ProcessFacts facts;
  fields.text("user", facts.user);
  fields.text("name", facts.name);
  fields.text("command", facts.command);
  fields.curve("cpu_percent", facts.cpu_percent);
  fields.curve("host_mem_percent", facts.host_mem_percent);
  fields.curve("rss_mb", facts.rss_mb);
  fields.curve("elapsed_s", facts.elapsed_s);
  fields.curve("threads", facts.threads);
  fields.curve("start_ticks", facts.start_ticks);
  std::string state;
  fields.text("state", state);
  if (state.size() > 1) fields.wrong("state", "is not one letter");
  if (!state.empty()) facts.state = state.front();
  fields.finish();
  return facts;
}

Process parse_process(const json& entry, const std::string& where, std::string& error) {
  JsonFields fields(entry, where, error);
  Process process;
  if (fields.find("pid") == nullptr) fields.wrong("pid", "is missing");
  fields.integer("pid", process.pid, 0, kMaxU32);
  std::string type = "C";
  fields.text("type", type);
  if (const auto parsed = parse_type(type)) {
    process.type = *parsed;
  } else {
    fields.wrong("type", "is not one of C, G, CG, MPS");
  }
  fields.curve("mem_mb", process.mem_mb);
  fields.flag("while_alive", process.while_alive);
  std::int64_t instance = -1;
  fields.integer("gpu_instance", instance, 0, kMaxU32);
  if (instance >= 0) process.gpu_instance = static_cast<std::uint32_t>(instance);
  instance = -1;
  fields.integer("compute_instance", instance, 0, kMaxU32);
  if (instance >= 0) process.compute_instance = static_cast<std::uint32_t>(instance);
  if (const json* facts = fields.find("facts")) {
    process.facts = parse_facts(*facts, fields.place("facts"), error);
  }
  fields.finish();
  return process;
}

std::vector<Process> parse_processes(JsonFields& fields, std::string& error) {
  std::vector<Process> processes;
  const json* list = fields.find("processes");
  if (list == nullptr) return processes;
  if (!list->is_array() || list->size() > kMaxProcessesPerCard) {
    fields.wrong("processes", "is not a list of at most " + std::to_string(kMaxProcessesPerCard));
    return processes;
  }
  for (std::size_t i = 0; i < list->size() && fields.ok(); ++i) {
    const std::string where = fields.place("processes[" + std::to_string(i) + "]");
    processes.push_back(parse_process((*list)[i], where, error));
  }
  return processes;
}

MigDevice parse_mig_device(const json& entry, const std::string& where, const Card& card,
                           std::size_t card_index, std::size_t position, std::string& error) {
  JsonFields fields(entry, where, error);
  MigDevice device;
  device.name = card.name.value_or("MIG") + " MIG 1g.10gb";
  device.uuid = make_uuid("MIG", card_index, static_cast<unsigned>(position) + 1);
  device.gpu_instance = static_cast<std::uint32_t>(position) + 7;
  device.mem_total_mb = 9728;
  fields.text("name", device.name);
  fields.text("uuid", device.uuid);
  fields.integer("gpu_instance", device.gpu_instance, 0, kMaxU32);
  fields.integer("compute_instance", device.compute_instance, 0, kMaxU32);
  fields.integer("mem_total_mb", device.mem_total_mb, 0, std::int64_t{1} << 40);
  device.processes = parse_processes(fields, error);
  fields.finish();
  return device;
}

// `mig` is null (cannot), true, false, or a list of the MIG devices with null for holes.
void parse_mig(JsonFields& fields, Card& card, std::size_t index, std::string& error) {
  const json* mig = fields.find("mig");
  if (mig == nullptr) return;
  if (mig->is_null()) return card.mig.reset();
  if (mig->is_boolean()) {
    card.mig = mig->get<bool>();
    return;
  }
  if (!mig->is_array() || mig->size() > kMaxMigDevices) {
    return fields.wrong("mig", "is not null, true, false or a list of MIG devices");
  }
  card.mig = true;
  for (std::size_t i = 0; i < mig->size(); ++i) {
    const json& entry = (*mig)[i];
    const std::string where = fields.place("mig[" + std::to_string(i) + "]");
    auto& device = card.mig_devices.emplace_back();
    if (!entry.is_null()) device = parse_mig_device(entry, where, card, index, i, error);
  }
}

void parse_name_bytes(JsonFields& fields, Card& card) {
  std::string hex;
  fields.text("name_bytes", hex);
  if (hex.empty()) return;
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const int high = digit(hex[i]);
    const int low = i + 1 < hex.size() ? digit(hex[i + 1]) : -1;
    if (high < 0 || low < 0 || bytes.size() >= kMaxNameBytes) {
      return fields.wrong("name_bytes", "is not at most 96 bytes in hexadecimal");
    }
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  card.name = std::move(bytes);
}

void parse_numbers(JsonFields& fields, Card& card, std::string& error) {
  for (const NumberKey& number : kNumbers) fields.setting(number.key, card.*number.member);
  if (const json* pcie = fields.find("pcie")) {
    JsonFields link(*pcie, fields.place("pcie"), error);
    for (const NumberKey& number : kPcieNumbers) link.setting(number.key, card.*number.member);
    link.finish();
  }
}

// How a copy differs from the card before it.
struct Steps {
  std::int64_t pid = 0;
  double phase_s = 0;
};

// `original` as the copy `copy` (from 0) of it, standing at `index`.
Card copy_card(const Card& original, std::size_t index, std::size_t copy, const Steps& steps) {
  const Card made = make_card(*original.preset, index);
  Card card = original;
  if (copy > 0) {
    // What the driver does not say of the first it does not say of the others.
    if (card.uuid) card.uuid = made.uuid;
    if (card.pci_bus_id) card.pci_bus_id = made.pci_bus_id;
    if (card.serial) card.serial = made.serial;
  }
  const double shift_s = static_cast<double>(copy) * steps.phase_s;
  for (const NumberKey& number : kNumbers) (card.*number.member).curve.phase_s += shift_s;
  for (const NumberKey& number : kPcieNumbers) (card.*number.member).curve.phase_s += shift_s;
  for (Process& process : card.processes) {
    process.pid += static_cast<std::uint32_t>(static_cast<std::int64_t>(copy) * steps.pid);
  }
  return card;
}

}  // namespace

Card make_card(const Preset& preset, std::size_t index) {
  const auto place = static_cast<unsigned>(index);
  Card card;
  card.preset = &preset;
  card.name = preset.name;
  card.uuid = make_uuid("GPU", index, 0);
  // As the driver writes it: eight digits of domain, then bus, device, function. Each domain has
  // room for 255 cards.
  card.pci_bus_id = format("%08X:%02X:00.0", preset.pci_domain + place / 255, place % 255 + 1);
  card.serial = format("13%08u", 20'000'000 + place);
  card.architecture = preset.architecture;
  if (preset.can_mig) card.mig = preset.mig_on;
  return card;
}

std::map<std::string, int, std::less<>> parse_codes(const json& entry, const std::string& where,
                                                    std::string& error) {
  std::map<std::string, int, std::less<>> codes;
  JsonFields fields(entry, where, error);
  if (!fields.ok()) return codes;
  for (const auto& [function, code] : entry.items()) {
    fields.integer(function, codes[function], 0, 0x7FFFFFFF);
  }
  return codes;
}

void parse_cards(const json& entry, const std::string& where, std::vector<Card>& cards,
                 std::string& error) {
  JsonFields fields(entry, where, error);
  std::string model = "RTX 3090 Ti";
  fields.text("model", model);
  const Preset* preset = find_preset(model);
  if (preset == nullptr) {
    std::string all;
    for (const Preset& known : presets())
      all += (all.empty() ? "" : ", ") + std::string(known.model);
    return fields.wrong("model", "is not one of " + all);
  }
  const std::size_t index = cards.size();
  Card card = make_card(*preset, index);
  fields.text("name", card.name);
  parse_name_bytes(fields, card);
  fields.text("uuid", card.uuid);
  fields.text("pci_bus_id", card.pci_bus_id);
  fields.text("serial", card.serial);
  if (const json* architecture = fields.find("architecture")) {
    card.architecture.reset();
    if (!architecture->is_null()) {
      fields.integer("architecture", card.architecture.emplace(), 0, kMaxU32);
    }
  }
  parse_numbers(fields, card, error);
  parse_mig(fields, card, index, error);
  card.processes = parse_processes(fields, error);
  fields.flag("lost", card.lost);
  fields.flag("no_permission", card.no_permission);
  fields.flag("string_fill", card.string_fill);
  std::int64_t attach_delay_ms = -1;
  fields.integer("attach_delay_ms", attach_delay_ms, 0, kMaxDelayMs);
  if (attach_delay_ms >= 0) card.attach_delay_ms = attach_delay_ms;
  if (const json* codes = fields.find("codes")) {
    card.codes = parse_codes(*codes, fields.place("codes"), error);
  }
  std::size_t count = 1;
  Steps steps;
  fields.integer("count", count, 0, static_cast<std::int64_t>(kMaxCards));
  fields.integer("pid_step", steps.pid, 0, 1'000'000);
  std::optional<Curve> phase_step;
  fields.curve("phase_step_s", phase_step);
  if (phase_step) steps.phase_s = phase_step->base;
  fields.finish();
  if (cards.size() + count > kMaxCards) {
    fields.wrong("count", "makes more than " + std::to_string(kMaxCards) + " cards");
  }
  for (std::size_t copy = 0; copy < count && fields.ok(); ++copy) {
    cards.push_back(copy_card(card, index + copy, copy, steps));
  }
}

}  // namespace nvidb::sim
