// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors

// What nvidia-smi printed, or a script that calls itself so. Whatever is read from it must fit into
// a message and come out of it unchanged: names within limits and valid UTF-8, numbers within their
// ranges, cards and rows in order.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "agent/smi_xml.h"
#include "base/check.h"
#include "base/text.h"
#include "model/json.h"

using namespace nvidb;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto report = agent::parse_smi_xml(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!report) {
    const base::Error& error = report.error();
    CHECK(error.kind == base::ErrorKind::protocol || error.kind == base::ErrorKind::unsupported);
    CHECK(!error.message.empty());
    CHECK(error.message == base::valid_utf8(error.message));
    return 0;
  }
  CHECK(report->readings.size() == report->inventory.gpus.size());
  for (std::size_t i = 0; i < report->readings.size(); ++i) {
    CHECK(report->inventory.gpus[i].index == static_cast<int>(i));
    CHECK(report->readings[i].index == static_cast<int>(i));
  }

  const auto inventory = model::decode_message(model::encode_line(report->inventory));
  CHECK(inventory);
  CHECK(*inventory == model::AgentMessage(report->inventory));
  model::Sample sample;
  sample.seq = 1;
  sample.gpus = std::move(report->readings);
  const auto again = model::decode_message(model::encode_line(sample));
  CHECK(again);
  CHECK(*again == model::AgentMessage(sample));
  return 0;
}
