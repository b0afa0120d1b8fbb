// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "agent/remote_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "base/version.h"
#include "support/golden.h"

namespace nvidb::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string file(const std::string& name) {
  std::ifstream in(std::string(NVIDB_SOURCE_DIR) + "/src/agent/remote/" + name, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != text.npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
  return text;
}

TEST(RemoteScripts, Embedded_AreTheFilesToTheByte) {
  EXPECT_EQ(remote_scripts().python, file("agent.py"));
  EXPECT_EQ(remote_scripts().shell, file("collector.sh"));
}

TEST(RemoteScripts, Version_IsThatOfTheProgram) {
  const std::string version = base::version();
  EXPECT_THAT(std::string(remote_scripts().python), HasSubstr("VERSION = \"" + version + "\"\n"));
  EXPECT_THAT(std::string(remote_scripts().shell), HasSubstr("\nversion=" + version + "\n"));
}

// tests/twin gives this text to real shells, with the sizes of the files filled in.
TEST(RemoteCommand, EverySecond_IsTheKnownLine) {
  std::string line = remote_command(1000) + "\n";
  line = replaced(line, " " + std::to_string(remote_scripts().python.size()) + " $i",
                  " PYTHON_BYTES $i");
  line = replaced(line, "count=" + std::to_string(remote_scripts().shell.size()) + " ",
                  "count=SHELL_BYTES ");
  test::expect_golden("agent/remote_command.txt", line);
}

TEST(RemoteCommand, Interval_IsSecondsForNvidbAndMillisecondsForScripts) {
  const std::string line = remote_command(2050);
  EXPECT_THAT(line, HasSubstr(" --interval 2.050 "));
  EXPECT_THAT(line, HasSubstr(";i=2050;"));
}

// The rules of quoting that all login shells share; the word is what is between the outer quotes.
TEST(RemoteCommand, QuotedWord_HasNothingThatALoginShellWouldChange) {
  const std::string line = remote_command(1000);
  const std::string opening = "exec sh -c '";
  const std::string closing = "' nvidb-agent";
  ASSERT_TRUE(line.starts_with(opening));
  ASSERT_TRUE(line.ends_with(closing));
  const std::string word =
      line.substr(opening.size(), line.size() - opening.size() - closing.size());
  EXPECT_THAT(word, Not(HasSubstr("'")));
  EXPECT_THAT(word, Not(HasSubstr("\n")));
  EXPECT_THAT(word, Not(HasSubstr("!")));
  EXPECT_THAT(word, Not(HasSubstr("\\\\")));
  EXPECT_FALSE(word.ends_with("\\"));
  EXPECT_LT(word.size(), 1024u);
}

constexpr const char* kXml = R"(<?xml version="1.0" ?>
<nvidia_smi_log><driver_version>550.90.07</driver_version>
<gpu id="00000000:01:00.0"><product_name>RTX</product_name><processes>
<process_info><pid>12</pid><type>G</type><process_name>/usr/bin/x</process_name>
<used_memory>7 MiB</used_memory></process_info>
<process_info><pid>13</pid><type>C</type><process_name>y</process_name>
<used_memory>5 MiB</used_memory></process_info></processes></gpu></nvidia_smi_log>)";

TEST(ReadSmi, ProcessThatProcKnows_HasItsFactsAndTheCardsMemory) {
  model::ProcessSample facts;
  facts.pid = 12;
  facts.mem_mb = 99;
  facts.user = "alice";
  facts.name = "x11";
  const SmiReading reading = read_smi(kXml, 0, {facts});
  EXPECT_EQ(reading.inventory.source, model::GpuSource::nvidia_smi);
  EXPECT_EQ(reading.inventory.driver_version, "550.90.07");
  ASSERT_EQ(reading.gpus.size(), 1u);
  ASSERT_EQ(reading.gpus[0].processes.size(), 2u);
  const model::ProcessSample& known = reading.gpus[0].processes[0];
  EXPECT_EQ(known.type, model::ProcessType::graphics);
  EXPECT_EQ(known.mem_mb, 7);
  EXPECT_EQ(known.user, "alice");
  EXPECT_EQ(known.name, "x11");
  EXPECT_EQ(reading.gpus[0].processes[1].name, "y");
  EXPECT_EQ(reading.gpus[0].processes[1].user, std::nullopt);
}

TEST(ReadSmi, FailureInWords_IsTheError) {
  const SmiReading reading = read_smi("Failed to initialize NVML: Unknown Error\n", 255, {});
  EXPECT_EQ(reading.inventory.source, model::GpuSource::none);
  EXPECT_EQ(reading.inventory.error, "Failed to initialize NVML: Unknown Error");
  EXPECT_TRUE(reading.gpus.empty());
}

TEST(ReadSmi, Nothing_IsTheExitStatus) {
  EXPECT_EQ(read_smi(" \n", 127, {}).inventory.error, "nvidia-smi failed: exit status 127");
}

}  // namespace
}  // namespace nvidb::agent
