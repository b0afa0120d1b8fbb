// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/json.h"
#include "support/random_message.h"

namespace nvidb::model {
namespace {

using testing::HasSubstr;

std::string marked(std::string_view json) {
  return fmt::format("nvidb1 {}\n", json);
}

// A sample with `gpus` as the text of its list.
std::string sample_line(std::string_view gpus) {
  return marked(fmt::format(
      R"({{"type":"sample","seq":1,"at_ms":2,"read_ms":3,"host":{{}},"gpus":{}}})", gpus));
}

std::string error_of(std::string_view line) {
  const base::Result<AgentMessage> decoded = decode_message(line);
  if (decoded) return "accepted";
  EXPECT_EQ(decoded.error().kind, base::ErrorKind::protocol);
  return decoded.error().message;
}

std::string command_error_of(std::string_view line) {
  const base::Result<AgentCommand> decoded = decode_command(line);
  if (decoded) return "accepted";
  EXPECT_EQ(decoded.error().kind, base::ErrorKind::protocol);
  return decoded.error().message;
}

// The only card of a sample that is expected to be well-formed.
GpuReading card(std::string_view members) {
  const std::string line = sample_line(fmt::format(R"([{{"index":0,{}}}])", members));
  const base::Result<AgentMessage> decoded = decode_message(line);
  EXPECT_TRUE(decoded) << (decoded ? "" : decoded.error().message) << "\n" << line;
  return decoded ? std::get<Sample>(*decoded).gpus.at(0) : GpuReading{};
}

struct Malformed {
  std::string line;
  std::string error;
};

TEST(DecodeMessage, Malformed_SaysWhatAndWhere) {
  const Malformed kCases[] = {
      // The line.
      {"", "a line without the protocol's mark"},
      {"{\"type\":\"notice\"}", "a line without the protocol's mark"},
      {"nvidb1 ", "a line that is not JSON"},
      {marked("{\"type\":\"notice\",\"text\":\"a"), "a line that is not JSON"},
      {marked("{\"type\":\"notice\",\"text\":\"a\"} x"), "a line that is not JSON"},
      {marked("{\"type\":\"notice\",\"text\":\"\\ud800\"}"), "a line that is not JSON"},
      {marked("[1]"), "a line that is not a JSON object"},
      {marked("null"), "a line that is not a JSON object"},
      // The type.
      {marked("{}"), "message: type is missing"},
      {marked(R"({"type":null})"), "message: type is missing"},
      {marked(R"({"type":1})"), "message: type is not a text"},
      {marked(R"({"type":"dance"})"), "unknown message type: dance"},
      // Keys that must be there.
      {marked(R"({"type":"notice"})"), "notice: text is missing"},
      {marked(R"({"type":"hello","collector":"native","version":"1","pid":1})"),
       "hello: protocol is missing"},
      {marked(R"({"type":"hello","protocol":1,"version":"1","pid":1})"),
       "hello: collector is missing"},
      {marked(R"({"type":"inventory","simulated":false,"gpus":[]})"),
       "inventory: source is missing"},
      {marked(R"({"type":"inventory","source":"nvml","gpus":[]})"),
       "inventory: simulated is missing"},
      {marked(R"({"type":"inventory","source":"none","simulated":false})"),
       "inventory: gpus is missing"},
      {marked(R"({"type":"sample","at_ms":2,"read_ms":3,"gpus":[]})"), "sample: seq is missing"},
      {marked(R"({"type":"sample","seq":1,"at_ms":2,"read_ms":3})"), "sample: gpus is missing"},
      {marked(R"({"type":"signal_reply"})"), "signal_reply: id is missing"},
      {sample_line("[{}]"), "sample: gpus[0].index is missing"},
      {sample_line(R"([{"index":0,"processes":[{"type":"C"}]}])"),
       "sample: gpus[0].processes[0].pid is missing"},
      {sample_line(R"([{"index":0,"processes":[{"pid":1,"type":"C"},{"pid":2}]}])"),
       "sample: gpus[0].processes[1].type is missing"},
      // Words.
      {marked(R"({"type":"hello","protocol":1,"collector":"perl","version":"1","pid":1})"),
       "hello: collector is an unknown word: perl"},
      {marked(R"({"type":"inventory","source":"amd","simulated":false,"gpus":[]})"),
       "inventory: source is an unknown word: amd"},
      {sample_line(R"([{"index":0,"processes":[{"pid":1,"type":"X"}]}])"),
       "sample: gpus[0].processes[0].type is an unknown word: X"},
      // Types.
      {sample_line("{}"), "sample: gpus is not a list"},
      {sample_line("[3]"), "sample: gpus[0].element is not an object"},
      {sample_line(R"([{"index":"0"}])"), "sample: gpus[0].index is not a whole number"},
      {sample_line(R"([{"index":0.5}])"), "sample: gpus[0].index is not a whole number"},
      {sample_line(R"([{"index":0,"util_percent":"87"}])"),
       "sample: gpus[0].util_percent is not a number"},
      {sample_line(R"([{"index":0,"util_percent":true}])"),
       "sample: gpus[0].util_percent is not a number"},
      {sample_line(R"([{"index":0,"mem_used_mb":"N/A"}])"),
       "sample: gpus[0].mem_used_mb is not a whole number"},
      {sample_line(R"([{"index":0,"mem_used_mb":1.5}])"),
       "sample: gpus[0].mem_used_mb is not a whole number"},
      {sample_line(R"([{"index":0,"error":5}])"), "sample: gpus[0].error is not a text"},
      {sample_line(R"([{"index":0,"mig":0}])"), "sample: gpus[0].mig is not true or false"},
      {sample_line(R"([{"index":0,"throttle_reasons":"a"}])"),
       "sample: gpus[0].throttle_reasons is not a list"},
      {sample_line(R"([{"index":0,"throttle_reasons":[1]}])"),
       "sample: gpus[0].throttle_reasons has an element that is not a text"},
      {marked(R"({"type":"sample","seq":1,"at_ms":2,"read_ms":3,"host":[],"gpus":[]})"),
       "sample: host is not an object"},
      {marked(R"({"type":"sample","seq":1,"at_ms":2,"read_ms":3,"host":{"load1":"1"},"gpus":[]})"),
       "sample: host.load1 is not a number"},
      // Numbers that a message stands on.
      {sample_line(R"([{"index":-1}])"), "sample: gpus[0].index is not within 0 and 65535"},
      {sample_line(R"([{"index":99999999999999999999}])"),
       "sample: gpus[0].index is not within 0 and 65535"},
      {sample_line(R"([{"index":0,"processes":[{"pid":-1,"type":"C"}]}])"),
       "sample: gpus[0].processes[0].pid is not within 0 and 4294967295"},
      {sample_line(R"([{"index":0,"power_w":1e999}])"), "a line that is not JSON"},
      {sample_line(R"([{"index":0,"power_w":NaN}])"), "a line that is not JSON"},
      // Each thing once.
      {sample_line(R"([{"index":1},{"index":0},{"index":1}])"), "sample: gpus has index 1 twice"},
      {marked(
           R"({"type":"inventory","source":"nvml","simulated":false,
               "gpus":[{"index":0},{"index":0}]})"),
       "inventory: gpus has index 0 twice"},
      {sample_line(R"([{"index":0,"processes":[{"pid":7,"type":"C","mem_mb":1},
                     {"pid":8,"type":"C"},{"pid":7,"type":"G","mem_mb":2}]}])"),
       "sample: processes has pid 7 twice"},
  };
  for (const auto& [line, error] : kCases) EXPECT_EQ(error_of(line), error) << line;
}

TEST(DecodeMessage, EveryPrefixOfALine_IsAnErrorAndNothingWorse) {
  const std::string line = sample_line(
      R"([{"index":0,"error":"\u00e9","power_w":1.5e2,"processes":[{"pid":1,"type":"C"}]}])");
  ASSERT_TRUE(decode_message(line));
  for (std::size_t size = 0; size + 2 < line.size(); ++size) {
    EXPECT_FALSE(decode_message(std::string_view(line).substr(0, size))) << size;
  }
}

TEST(DecodeMessage, DamagedLines_AreRefusedOrCanBeSaidAgain) {
  test::RandomMessage random(11);
  int accepted = 0;
  for (int i = 0; i < 300; ++i) {
    std::string line = encode_line(random.next());
    for (std::int64_t damage = random.integer(1, 3); damage > 0; --damage) {
      const auto at = static_cast<std::size_t>(random.integer(7, std::ssize(line) - 1));
      line[at] = static_cast<char>(random.integer(0, 255));
    }
    const base::Result<AgentMessage> decoded = decode_message(line);
    if (!decoded) continue;
    ++accepted;
    const base::Result<AgentMessage> again = decode_message(encode_line(*decoded));
    ASSERT_TRUE(again) << again.error().message << "\n" << line;
  }
  EXPECT_GT(accepted, 30);
  EXPECT_LT(accepted, 270);
}

TEST(DecodeMessage, ValueOutsideItsPhysicalRange_IsAbsent) {
  const GpuReading gpu = card(
      R"("util_percent":101,"mem_util_percent":-1,"mem_used_mb":18446744073709551615,
         "mem_total_mb":0,"mem_reserved_mb":-5,"temperature_c":100000,
         "fan_percent":300,"power_w":1e30,
         "sm_clock_mhz":1e300,"pcie_gen":0,"pcie_width":255,"ecc_uncorrected":-1,
         "processes":[{"pid":1,"type":"C","mem_mb":17592186044415,"cpu_percent":-3,"threads":0,
                       "host_mem_percent":100.5,"start_ticks":9223372036854775808}])");
  GpuReading expected;
  expected.processes = {ProcessSample{}};
  expected.processes[0].pid = 1;
  EXPECT_EQ(gpu, expected);
}

TEST(DecodeMessage, EdgesOfTheRange_AreTaken) {
  const GpuReading gpu = card(
      R"("util_percent":100,"mem_util_percent":0,"temperature_c":-40,"fan_percent":120,
         "mem_used_mb":12.0,"ecc_uncorrected":9223372036854775807)");
  EXPECT_EQ(gpu.util_percent, 100);
  EXPECT_EQ(gpu.mem_util_percent, 0);
  EXPECT_EQ(gpu.temperature_c, -40);
  EXPECT_EQ(gpu.fan_percent, 120);
  EXPECT_EQ(gpu.mem_used_mb, 12);
  EXPECT_EQ(gpu.ecc_uncorrected, INT64_MAX);
}

TEST(DecodeMessage, NullAndEmptyText_AreAbsent) {
  const GpuReading gpu = card(
      R"("util_percent":null,"error":null,"mig":null,"throttle_reasons":null,"processes":null,
         "performance_state":"")");
  EXPECT_EQ(gpu, GpuReading{});
}

TEST(DecodeMessage, UnknownKeys_AreIgnored) {
  const base::Result<AgentMessage> decoded = decode_message(
      marked(R"({"type":"notice","text":"waking 8 GPUs","later":{"deep":[[[[1]]]]},"more":-1e5})"));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(std::get<Notice>(*decoded), Notice{"waking 8 GPUs"});
}

TEST(DecodeMessage, AnyProtocolNumber_IsLeftToTheCaller) {
  const base::Result<AgentMessage> decoded = decode_message(
      marked(R"({"type":"hello","protocol":99,"collector":"shell","version":"9","pid":5})"));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(std::get<Hello>(*decoded), (Hello{99, CollectorKind::shell, "9", 5, {}}));
}

TEST(DecodeMessage, CardsAndProcessesOutOfOrder_ArePutInOrder) {
  const base::Result<AgentMessage> decoded = decode_message(sample_line(
      R"([{"index":3},{"index":1,"processes":[{"pid":9,"type":"C"},{"pid":5,"type":"C","mem_mb":10},
          {"pid":4,"type":"C","mem_mb":10},{"pid":3,"type":"C","mem_mb":20}]}])"));
  ASSERT_TRUE(decoded);
  const std::vector<GpuReading>& gpus = std::get<Sample>(*decoded).gpus;
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0].index, 1);
  EXPECT_EQ(gpus[1].index, 3);
  std::vector<std::int64_t> pids;
  for (const ProcessSample& process : gpus[0].processes) pids.push_back(process.pid);
  EXPECT_THAT(pids, testing::ElementsAre(3, 4, 5, 9));
}

TEST(DecodeMessage, InvalidUtf8_CostsACharacterNotTheLine) {
  const base::Result<AgentMessage> decoded =
      decode_message(marked("{\"type\":\"notice\",\"text\":\"a\xff"
                            "b\"}"));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(std::get<Notice>(*decoded).text, "a\uFFFDb");
}

TEST(DecodeMessage, LongTexts_AreCutBetweenCharacters) {
  const std::string name = std::string(255, 'n') + "\u00e9";
  const std::string command = std::string(kMaxCommandBytes - 1, 'c') + "\u6f22";
  const GpuReading gpu = card(fmt::format(
      R"("performance_state":"{}","error":"{}",
         "processes":[{{"pid":1,"type":"C","command":"{}"}}])",
      name, std::string(5000, 'e'), command));
  EXPECT_EQ(gpu.performance_state, std::string(255, 'n'));
  EXPECT_EQ(gpu.error, std::string(4096, 'e'));
  EXPECT_EQ(gpu.processes[0].command, std::string(kMaxCommandBytes - 1, 'c'));
}

TEST(DecodeMessage, DeepNesting_IsRefusedBeforeItIsBuilt) {
  const auto nested = [](std::size_t levels) {
    return marked(R"({"type":"notice","text":"t","x":)" + std::string(levels, '[') +
                  std::string(levels, ']') + "}");
  };
  EXPECT_EQ(error_of(nested(31)), "accepted");
  EXPECT_EQ(error_of(nested(32)), "the JSON is nested too deep");
  EXPECT_EQ(error_of("nvidb1 " + std::string(kMaxLineBytes - 10, '[')),
            "the JSON is nested too deep");
  // Brackets within a text do not nest, whatever quotes it holds.
  EXPECT_EQ(error_of(marked(R"({"type":"notice","text":"\"\\)" + std::string(100, '[') + "\"}")),
            "accepted");
}

TEST(DecodeMessage, LineBeyondItsLimit_IsRefused) {
  const auto line_of = [](std::size_t size) {
    const std::string head = "nvidb1 {\"type\":\"notice\",\"text\":\"";
    return head + std::string(size - head.size() - 3, 'x') + "\"}\n";
  };
  EXPECT_EQ(error_of(line_of(kMaxLineBytes)), "accepted");
  EXPECT_EQ(error_of(line_of(kMaxLineBytes + 1)), "a line of 1048577 bytes is too long");
}

TEST(DecodeMessage, TooManyElements_AreRefused) {
  const auto cards = [](std::size_t count) {
    std::string list;
    for (std::size_t i = 0; i < count; ++i)
      list += fmt::format(R"({}{{"index":{}}})", i ? "," : "", i);
    return sample_line("[" + list + "]");
  };
  EXPECT_EQ(error_of(cards(kMaxGpus)), "accepted");
  EXPECT_EQ(error_of(cards(kMaxGpus + 1)), "sample: gpus has 1025 elements, more than 1024");

  const auto processes = [](std::size_t count) {
    std::string list;
    for (std::size_t i = 0; i < count; ++i) {
      list += fmt::format(R"({}{{"pid":{},"type":"C"}})", i ? "," : "", i);
    }
    return sample_line(R"([{"index":0,"processes":[)" + list + "]}]");
  };
  EXPECT_EQ(error_of(processes(kMaxProcesses)), "accepted");
  EXPECT_EQ(error_of(processes(kMaxProcesses + 1)),
            "sample: gpus[0].processes has 16385 elements, more than 16384");

  std::string reasons = "\"r\"";
  for (int i = 0; i < 64; ++i) reasons += ",\"r\"";
  EXPECT_THAT(error_of(sample_line(R"([{"index":0,"throttle_reasons":[)" + reasons + "]}]")),
              HasSubstr("has 65 elements, more than 64"));
}

TEST(DecodeCommand, Malformed_SaysWhatAndWhere) {
  const Malformed kCases[] = {
      {"quit", "a line without the protocol's mark"},
      {marked("quit"), "a line that is not JSON"},
      {marked(R"({"type":"sample"})"), "unknown message type: sample"},
      {marked(R"({"type":"interval"})"), "interval: interval_ms is missing"},
      {marked(R"({"type":"interval","interval_ms":99})"),
       "interval: interval_ms is not within 100 and 3600000"},
      {marked(R"({"type":"interval","interval_ms":3600001})"),
       "interval: interval_ms is not within 100 and 3600000"},
      {marked(R"({"type":"interval","interval_ms":"1s"})"),
       "interval: interval_ms is not a whole number"},
      {marked(R"({"type":"processes"})"), "processes: want is missing"},
      {marked(R"({"type":"processes","want":1})"), "processes: want is not true or false"},
      {marked(R"({"type":"signal","pid":2,"start_ticks":1,"signal":9})"), "signal: id is missing"},
      {marked(R"({"type":"signal","id":1,"start_ticks":1,"signal":9})"), "signal: pid is missing"},
      {marked(R"({"type":"signal","id":1,"pid":2,"signal":9})"), "signal: start_ticks is missing"},
      {marked(R"({"type":"signal","id":1,"pid":2,"start_ticks":1})"), "signal: signal is missing"},
      {marked(R"({"type":"signal","id":1,"pid":1,"start_ticks":1,"signal":9})"),
       "signal: pid is not within 2 and 4294967295"},
      {marked(R"({"type":"signal","id":1,"pid":-2,"start_ticks":1,"signal":9})"),
       "signal: pid is not within 2 and 4294967295"},
      {marked(R"({"type":"signal","id":1,"pid":2,"start_ticks":-1,"signal":9})"),
       "signal: start_ticks is not within 0 and 9223372036854775807"},
      {marked(R"({"type":"signal","id":1,"pid":2,"start_ticks":1,"signal":19})"),
       "signal: signal is not 2, 9 or 15"},
      {marked(R"({"type":"signal","id":1,"pid":2,"start_ticks":1,"signal":0})"),
       "signal: signal is not within 1 and 64"},
  };
  for (const auto& [line, error] : kCases) EXPECT_EQ(command_error_of(line), error) << line;
}

TEST(DecodeCommand, UnknownKeys_AreIgnored) {
  const base::Result<AgentCommand> decoded =
      decode_command(marked(R"({"type":"quit","why":"because"})"));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(*decoded, AgentCommand(Quit{}));
}

}  // namespace
}  // namespace nvidb::model
