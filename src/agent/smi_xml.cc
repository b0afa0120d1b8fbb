// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "agent/smi_xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <pugixml.hpp>
#include <string>
#include <utility>

#include "agent/smi_card.h"
#include "agent/smi_values.h"
#include "base/text.h"

namespace nvidb::agent {
namespace {

using base::ErrorKind;
using base::fail;

constexpr std::size_t kMaxOutputBytes = std::size_t{64} << 20;
constexpr int kMaxDepth = 64;  // real ones have 7
constexpr std::size_t kMaxSentenceBytes = 512;
constexpr std::size_t kMaxLeadBytes = 64 << 10;  // of text that is searched without XML
constexpr std::string_view kRoot = "nvidia_smi_log";

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool has_word(std::string_view text, std::string_view lower_word) {
  return std::search(text.begin(), text.end(), lower_word.begin(), lower_word.end(),
                     [](char a, char b) { return lower(a) == b; }) != text.end();
}

// Calls f with each line that is not blank until it returns false.
template <class F>
void each_line(std::string_view text, F f) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r')) {
      line.remove_suffix(1);
    }
    if (!line.empty() && !f(line)) return;
  }
}

std::string sentence(std::string_view line) {
  while (line.ends_with('.')) line.remove_suffix(1);
  return base::valid_utf8(line.substr(0, kMaxSentenceBytes));
}

// nvidia-smi printed no XML: a failure in its own words, no cards, or rubbish.
base::Result<SmiReport> read_plain_text(std::string_view output) {
  // `NVIDIA-SMI has failed because ...`, `Failed to initialize NVML: ...`, `Unable to determine the
  // device handle for GPU 0000:01:00.0: GPU is lost. ...`, `Insufficient permissions`, `couldn't
  // communicate with the NVIDIA driver`.
  constexpr std::string_view kFailureWords[] = {
      "fail", "unable", "error", "gpu is lost", "not found", "permission", "couldn't", "mismatch"};
  std::string_view first;
  std::string_view failure;
  bool no_devices = false;
  each_line(output.substr(0, kMaxLeadBytes), [&](std::string_view line) {
    if (first.empty()) first = line;
    no_devices = line.starts_with("No devices were found");
    const bool warning = line.starts_with("WARNING") || line.starts_with("Warning");
    if (!warning && std::any_of(std::begin(kFailureWords), std::end(kFailureWords),
                                [&](std::string_view word) { return has_word(line, word); })) {
      failure = line;
    }
    return !no_devices && failure.empty();
  });
  if (no_devices) {
    SmiReport report;
    report.inventory.source = model::GpuSource::nvidia_smi;
    return report;
  }
  if (!failure.empty()) return fail(ErrorKind::unsupported, sentence(failure));
  if (first.empty()) return fail(ErrorKind::protocol, "nvidia-smi printed nothing");
  return fail(ErrorKind::protocol, fmt::format("nvidia-smi printed no XML: '{}'", sentence(first)));
}

// A program may have `<` in its name, and nvidia-smi is not known to escape it. One such process
// must not cost the numbers of every card.
void mend_process_names(std::string& xml) {
  constexpr std::string_view kOpen = "<process_name>";
  constexpr std::string_view kClose = "</process_name>";
  std::size_t at = 0;
  while ((at = xml.find(kOpen, at)) != xml.npos) {
    at += kOpen.size();
    const std::size_t end = xml.find(kClose, at);
    if (end == xml.npos) return;
    std::replace(xml.begin() + static_cast<std::ptrdiff_t>(at),
                 xml.begin() + static_cast<std::ptrdiff_t>(end), '<', '?');
    at = end + kClose.size();
  }
}

bool is_too_deep(pugi::xml_document& document) {
  struct Depth : pugi::xml_tree_walker {
    bool for_each(pugi::xml_node&) override { return depth() <= kMaxDepth; }
  } walker;
  return !document.traverse(walker);
}

}  // namespace

base::Result<SmiReport> parse_smi_xml(std::string_view output) {
  if (output.size() > kMaxOutputBytes) {
    return fail(ErrorKind::protocol, fmt::format("nvidia-smi printed {} MiB, more than {} MiB",
                                                 output.size() >> 20, kMaxOutputBytes >> 20));
  }
  std::size_t begin = output.find("<?xml");
  if (begin == output.npos) begin = output.find(fmt::format("<{}", kRoot));
  if (begin == output.npos) return read_plain_text(output);

  std::string xml(output.substr(begin));
  mend_process_names(xml);
  pugi::xml_document document;
  // The encoding is fixed because names may hold any bytes, and nothing that follows may change
  // what they mean.
  const pugi::xml_parse_result parsed = document.load_buffer_inplace(
      xml.data(), xml.size(), pugi::parse_escapes | pugi::parse_trim_pcdata, pugi::encoding_utf8);
  if (!parsed) {
    return fail(ErrorKind::protocol,
                fmt::format("nvidia-smi's XML is broken or cut off at byte {}: {}", parsed.offset,
                            parsed.description()));
  }
  if (is_too_deep(document)) {
    return fail(ErrorKind::protocol,
                fmt::format("nvidia-smi's XML is deeper than {} levels", kMaxDepth));
  }
  const pugi::xml_node root = document.child(kRoot.data());
  if (!root) {
    return fail(ErrorKind::protocol, fmt::format("nvidia-smi's XML has no <{}>", kRoot));
  }

  SmiReport report;
  report.inventory.source = model::GpuSource::nvidia_smi;
  report.inventory.driver_version = smi_text(root.child("driver_version").child_value());
  report.inventory.cuda_version = smi_text(root.child("cuda_version").child_value());
  // nvidia-smi lists all cards in the order in which NVML counts them.
  int index = 0;
  for (const pugi::xml_node gpu : root.children("gpu")) {
    if (report.readings.size() >= model::kMaxGpus) {
      return fail(ErrorKind::protocol,
                  fmt::format("nvidia-smi lists more than {} GPUs", model::kMaxGpus));
    }
    model::Gpu card = read_smi_card(gpu, index++);
    report.inventory.gpus.push_back(std::move(card.facts));
    report.readings.push_back(std::move(card.reading));
  }
  return report;
}

}  // namespace nvidb::agent
