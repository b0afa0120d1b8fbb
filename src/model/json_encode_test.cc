// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "model/json.h"
#include "support/random_message.h"

namespace nvidb::model {
namespace {

using testing::HasSubstr;
using testing::Not;

// Reading back what was written must give the same again.
template <class Kind>
Kind read_back(const std::string& line) {
  const base::Result<AgentMessage> decoded = decode_message(line);
  EXPECT_TRUE(decoded) << (decoded ? "" : decoded.error().message) << "\n" << line;
  return decoded ? std::get<Kind>(*decoded) : Kind{};
}

template <class Kind>
Kind round_trip(const Kind& message) {
  return read_back<Kind>(encode_line(AgentMessage(message)));
}

GpuReading crowded_card(int index, int processes, std::size_t command_bytes) {
  GpuReading gpu;
  gpu.index = index;
  for (int i = 0; i < processes; ++i) {
    ProcessSample process;
    process.pid = 100 + i;
    process.mem_mb = processes - i;
    process.command = std::string(command_bytes, 'x');
    gpu.processes.push_back(process);
  }
  return gpu;
}

TEST(EncodeLine, RandomMessages_ComeBackEqual) {
  test::RandomMessage random(20261201);
  for (int i = 0; i < 500; ++i) {
    const AgentMessage message = random.next();
    const std::string line = encode_line(message);
    const base::Result<AgentMessage> decoded = decode_message(line);
    ASSERT_TRUE(decoded) << decoded.error().message << "\n" << line;
    ASSERT_EQ(*decoded, message) << line;
  }
}

TEST(EncodeLine, RandomCommands_ComeBackEqual) {
  test::RandomMessage random(7);
  for (int i = 0; i < 200; ++i) {
    const AgentCommand command = random.next_command();
    const std::string line = encode_line(command);
    const base::Result<AgentCommand> decoded = decode_command(line);
    ASSERT_TRUE(decoded) << decoded.error().message << "\n" << line;
    ASSERT_EQ(*decoded, command) << line;
  }
}

TEST(EncodeLine, RandomMessages_AreOneMarkedLineEach) {
  test::RandomMessage random(3);
  for (int i = 0; i < 200; ++i) {
    const std::string line = encode_line(random.next());
    ASSERT_TRUE(line.starts_with("nvidb1 {")) << line;
    ASSERT_EQ(line.find('\n'), line.size() - 1) << line;
    ASSERT_EQ(line.find('\x1b'), std::string::npos) << line;
  }
}

TEST(EncodeLine, AbsentMembers_AreOmitted) {
  Sample sample;
  sample.seq = 1;
  sample.at_ms = 1000;
  sample.read_ms = 3;
  sample.gpus = {GpuReading{}};
  EXPECT_EQ(encode_line(AgentMessage(sample)),
            "nvidb1 {\"type\":\"sample\",\"seq\":1,\"at_ms\":1000,\"read_ms\":3,\"host\":{},"
            "\"gpus\":[{\"index\":0}]}\n");
}

TEST(EncodeLine, Commands_AreSpelledAsDocumented) {
  EXPECT_EQ(encode_line(AgentCommand(SetInterval{2500})),
            "nvidb1 {\"type\":\"interval\",\"interval_ms\":2500}\n");
  EXPECT_EQ(encode_line(AgentCommand(WantProcesses{false})),
            "nvidb1 {\"type\":\"processes\",\"want\":false}\n");
  EXPECT_EQ(encode_line(AgentCommand(SignalProcess{1, 2, 3, 9})),
            "nvidb1 {\"type\":\"signal\",\"id\":1,\"pid\":2,\"start_ticks\":3,\"signal\":9}\n");
  EXPECT_EQ(encode_line(AgentCommand(Quit{})), "nvidb1 {\"type\":\"quit\"}\n");
}

TEST(EncodeLine, Decimals_AreRoundedToTwo) {
  const std::pair<double, const char*> kCases[] = {
      {0, "0"},
      {-0.001, "0"},
      {87, "87"},
      {12.5, "12.5"},
      {0.05, "0.05"},
      {99.999, "100"},
      {12.344, "12.34"},
      {12.346, "12.35"},
      {-0.254, "-0.25"},
      {-3.5, "-3.5"},
      {1234567.891, "1234567.89"},
  };
  for (const auto& [value, text] : kCases) {
    Sample sample;
    sample.host.load1 = value;
    EXPECT_THAT(encode_line(AgentMessage(sample)),
                HasSubstr(std::string("{\"load1\":") + text + "}"))
        << value;
  }
}

TEST(EncodeLine, NumbersThatJsonLacks_AreOmitted) {
  for (const double value : {std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity(), -1e300}) {
    Sample sample;
    sample.host.load1 = value;
    EXPECT_THAT(encode_line(AgentMessage(sample)), HasSubstr("\"host\":{}"));
  }
}

TEST(EncodeLine, InvalidUtf8_BecomesReplacementCharacter) {
  EXPECT_EQ(round_trip(Notice{"a\xff"
                              "b\xc3"})
                .text,
            "a\uFFFDb\uFFFD");
}

TEST(EncodeLine, EmptyOptionalText_IsAbsent) {
  Inventory inventory;
  inventory.error = "";
  EXPECT_EQ(round_trip(inventory).error, std::nullopt);
}

TEST(EncodeLine, LongTexts_AreCutBetweenCharacters) {
  GpuFacts gpu;
  gpu.name = std::string(255, 'n') + "é";  // The second byte of é would be the 257th.
  Inventory inventory;
  inventory.gpus = {gpu};
  inventory.error = std::string(5000, 'e');

  const Inventory read = round_trip(inventory);

  EXPECT_EQ(read.gpus[0].name, std::string(255, 'n'));
  EXPECT_EQ(read.error, std::string(4096, 'e'));
}

TEST(EncodeLine, LongCommand_IsCutAtItsLimit) {
  Sample sample;
  sample.gpus = {crowded_card(0, 1, kMaxCommandBytes + 1)};
  EXPECT_EQ(round_trip(sample).gpus[0].processes[0].command->size(), kMaxCommandBytes);
}

TEST(EncodeLine, CommandsBeyondTheLine_AreCutEvenly) {
  Sample sample;
  for (int index = 0; index < 8; ++index) {
    sample.gpus.push_back(crowded_card(index, 20, kMaxCommandBytes));
  }
  sample.gpus[0].processes[0].command = "short";

  const std::string line = encode_line(AgentMessage(sample));
  const Sample read = read_back<Sample>(line);

  EXPECT_LE(line.size(), kMaxLineBytes);
  EXPECT_GT(line.size(), kMaxLineBytes - 1000);  // As much as fits is kept.
  EXPECT_EQ(read.gpus[0].processes[0].command, "short");
  const std::size_t kept = read.gpus[0].processes[1].command->size();
  EXPECT_GT(kept, 6000u);
  EXPECT_EQ(read.gpus[7].processes[19].command->size(), kept);
}

TEST(EncodeLine, ProcessesBeyondTheLine_AreDroppedFromTheSmallest) {
  Sample sample;
  for (int index = 0; index < 8; ++index) sample.gpus.push_back(crowded_card(index, 4000, 10));

  const std::string line = encode_line(AgentMessage(sample));
  const Sample read = read_back<Sample>(line);

  EXPECT_LE(line.size(), kMaxLineBytes);
  ASSERT_GT(read.gpus[0].processes.size(), 1000u);
  EXPECT_EQ(read.gpus[0].processes.size(), read.gpus[7].processes.size());
  EXPECT_EQ(read.gpus[0].processes[0].mem_mb, 4000);
}

TEST(EncodeLine, EverythingTooLong_StillFits) {
  Sample sample;
  for (int index = 0; index < 1200; ++index) {
    GpuReading gpu = crowded_card(index, 2, 100);
    gpu.error = std::string(9000, '\x01');
    gpu.throttle_reasons.assign(100, std::string(300, 'r'));
    sample.gpus.push_back(gpu);
  }
  const std::string line = encode_line(AgentMessage(sample));
  EXPECT_LE(line.size(), kMaxLineBytes);
  EXPECT_EQ(read_back<Sample>(line).gpus.size(), kMaxGpus);
}

}  // namespace
}  // namespace nvidb::model
