// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "ui/once_view.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "base/text.h"
#include "screen/ansi.h"
#include "support/builders.h"
#include "support/frame_text.h"
#include "support/golden.h"

namespace nvidb::ui {
namespace {

using model::FleetSnapshot;
using model::NodeState;
using test::fleet_of;
using test::GpuBuilder;
using test::NodeBuilder;
using testing::HasSubstr;
using testing::Not;
using test::operator""_GiB;

GpuBuilder a_3090(int index) {
  return GpuBuilder(index, "NVIDIA GeForce RTX 3090 Ti")
      .util(0)
      .mem(18, 24_GiB)
      .temperature(34)
      .power(16, 450)
      .state("P8")
      .fan(0)
      .link(1, 16)
      .traffic(500, 450);
}

NodeBuilder workstation() {
  return NodeBuilder("ws-3090ti")
      .driver("570.195.03", "12.8")
      .host(1.2, 12, 4_GiB, 63_GiB)
      .gpu(a_3090(0).process(812, "gdm", 14));
}

NodeBuilder mixed_cards() {
  const auto a6000 = [](int index) {
    return GpuBuilder(index, "NVIDIA RTX A6000").state("P0").link(4, 16).fan(45);
  };
  return NodeBuilder("lab-mixed")
      .driver("570.195.03", "12.8")
      .host(43, 64, 281_GiB, 755_GiB)
      .gpu(a6000(0)
               .util(0)
               .mem(18, 48_GiB)
               .temperature(35)
               .power(16, 300)
               .traffic(500, 450)
               .process(812, "gdm", 4))
      .gpu(a6000(1)
               .util(90)
               .mem(36761, 48_GiB)
               .temperature(60)
               .power(117, 300)
               .traffic(1677722, 519168)
               .process(1201, "alice", 36700))
      .gpu(a6000(2)
               .util(93)
               .mem(36352, 48_GiB)
               .temperature(75)
               .power(295, 300)
               .traffic(2160066, 11981)
               .process(1202, "alice", 36044)
               .process(1310, "bob", 300))
      .gpu(a_3090(3)
               .util(51)
               .mem(19_GiB, 24_GiB)
               .temperature(66)
               .power(430, 450)
               .link(4, 4)
               .traffic(6451200, 2100)
               .process(2201, "carol", 12_GiB)
               .process(2202, "dave", 4_GiB)
               .process(2203, "erin", 2_GiB))
      .gpu(a_3090(4).util(7).mem(2500, 24_GiB).process(2300, std::nullopt, 2400))
      .gpu(GpuBuilder(5, "NVIDIA H200")
               .util(100)
               .mem(139_GiB, 140.4_GiB)
               .temperature(83)
               .power(691, 700)
               .state("P0")
               .link(5, 16)
               .traffic(45000000, 8000000)
               .process(3001, "alice", 138_GiB))
      .gpu(GpuBuilder(6, "NVIDIA RTX PRO 6000 Blackwell")
               .util(64)
               .mem(72.5_GiB, 96_GiB)
               .temperature(71)
               .power(512, 600)
               .state("P1")
               .fan(70)
               .link(5, 8)
               .traffic(900, 880)
               .process(3100, "bob", 72_GiB))
      .gpu(GpuBuilder(7, "Quadro K620").util(0).mem(3, 2_GiB).temperature(41).state("P8").fan(30));
}

NodeBuilder mig_and_unified() {
  return NodeBuilder("dgx")
      .driver("580.95", "13.0")
      .host(12, 20, 40_GiB, 120_GiB)
      .gpu(GpuBuilder(0, "NVIDIA A100-SXM4-80GB")
               .mem(41_GiB, 80_GiB)
               .temperature(48)
               .power(210, 400)
               .state("P0")
               .link(4, 16)
               .traffic(120000, 90000)
               .mig()
               .process(501, "alice", std::nullopt))
      .gpu(GpuBuilder(1, "NVIDIA GB10")
               .util(37)
               .temperature(55)
               .power(38)
               .state("P0")
               .process(502, "bob", 20_GiB));
}

NodeBuilder lost_card() {
  return NodeBuilder("lab-a40")
      .driver("550.54", "12.4")
      .host(3, 32, 20_GiB, 251_GiB)
      .gpu(GpuBuilder(0, "NVIDIA A40").util(12).mem(4_GiB, 45_GiB).temperature(50).power(80, 300))
      .gpu(GpuBuilder(1, "NVIDIA A40")
               .lost("GPU is lost: it fell off the bus; reboot the machine to get it back"))
      .gpu(GpuBuilder(2, "NVIDIA A40").util(0).mem(1, 45_GiB).temperature(38).power(22, 300));
}

NodeBuilder broken_driver() {
  return NodeBuilder("lab-old")
      .host(2, 16, 9_GiB, 125_GiB)
      .error(
          "driver and library differ: the kernel module is 535.183.01, the library is 550.54.14; "
          "reboot, or reload the module with rmmod nvidia and modprobe nvidia");
}

FleetSnapshot no_gpu() {
  FleetSnapshot fleet = fleet_of(NodeBuilder("thinkpad").host(7, 8, 5.5_GiB, 15_GiB));
  fleet.nodes[0].edit().host_facts.os = "Debian GNU/Linux 12 (bookworm)";
  fleet.nodes[0].edit().host.load1 = 0.42;
  fleet.nodes[0].edit().host.uptime_s = 273000;
  return fleet;
}

FleetSnapshot hostile() {
  const std::string nasty =
      "\x1b[2J\r\n\xff\xc2\x9b"
      "31m\u202e";
  NodeBuilder node("节点" + nasty + std::string(100, 'n'));
  node.driver("570\n" + nasty, "12.8\x1b]0;x\a")
      .host(1, 8, 1_GiB, 8_GiB)
      .error("bad\n" + nasty + "日本語");
  node.gpu(a_3090(0).process(1, "爱丽丝" + nasty, 3_GiB).process(2, std::string(100, 'u'), 1_GiB));
  node.gpu(
      GpuBuilder(1, "NVIDIA 显卡😀 e\u0301" + nasty).util(99).mem(1_GiB, 24_GiB).state("\x1b[1m"));
  node.gpu(GpuBuilder(2, "x").lost("GPU\nis\tlost " + nasty));
  return fleet_of(node);
}

FleetSnapshot several() {
  return fleet_of(mixed_cards(), workstation().remote("10.0.0.7"),
                  NodeBuilder("rack-12")
                      .remote("rack-12")
                      .state(NodeState::connecting)
                      .never_sampled()
                      .notice("waking 8 GPUs"),
                  NodeBuilder("rack-13")
                      .remote("10.0.0.13")
                      .state(NodeState::hostkey)
                      .never_sampled()
                      .error("host key changed: ssh-keygen -R rack-13, then ssh rack-13"));
}

FleetSnapshot simulated() {
  return fleet_of(mixed_cards().simulated());
}

OnceOptions options(int width) {
  return {.width = width, .clock = "10:52:58", .now_ms = NodeBuilder::kSampledAtMs + 1000};
}

struct Case {
  const char* name;
  FleetSnapshot (*fleet)();
  std::vector<int> widths;
};

const Case kCases[] = {
    {"one_card", [] { return fleet_of(workstation()); }, {40, 60, 80, 120, 200}},
    {"mixed", simulated, {40, 60, 80, 100, 120, 200}},
    {"mig_unified", [] { return fleet_of(mig_and_unified()); }, {60, 120}},
    {"lost", [] { return fleet_of(lost_card()); }, {60, 120}},
    {"broken_driver", [] { return fleet_of(broken_driver()); }, {60, 120}},
    {"no_gpu", no_gpu, {60, 120}},
    {"hostile", hostile, {60, 120}},
    {"several", several, {60, 80, 120}},
};

TEST(OnceViewGolden, EachCaseAndWidth_LooksAsReviewed) {
  for (const Case& c : kCases) {
    for (const int width : c.widths) {
      const screen::Frame frame = once_view(c.fleet(), options(width));
      test::expect_golden(fmt::format("once/{}_{}.txt", c.name, width), test::frame_text(frame));
    }
  }
}

TEST(OnceViewGolden, Ascii_LooksAsReviewed) {
  OnceOptions ascii = options(120);
  ascii.ascii = true;
  test::expect_golden("once/several_ascii_120.txt", test::frame_text(once_view(several(), ascii)));
}

TEST(OnceViewGolden, Compact_LooksAsReviewed) {
  OnceOptions compact = options(200);
  compact.compact = true;
  test::expect_golden("once/mixed_compact_200.txt",
                      test::frame_text(once_view(simulated(), compact)));
}

std::string text_of(const screen::Frame& frame) {
  return screen::to_text(frame, screen::ColorDepth::none);
}

TEST(OnceView, Ascii_HasNoOtherByte) {
  OnceOptions ascii = options(100);
  ascii.ascii = true;
  for (const FleetSnapshot& fleet :
       {several(), no_gpu(), fleet_of(mig_and_unified(), lost_card())}) {
    for (int width = 40; width <= 200; width += 7) {
      ascii.width = width;
      for (const char c : text_of(once_view(fleet, ascii))) {
        ASSERT_LT(static_cast<unsigned char>(c), 0x80) << width;
      }
    }
  }
}

TEST(OnceView, ColumnsLeaveInTheOrderOfTheirRank) {
  const FleetSnapshot fleet = fleet_of(workstation());
  const auto shows = [&](int width, const char* header) {
    return text_of(once_view(fleet, options(width))).find(header) != std::string::npos;
  };
  std::vector<int> first_width;
  for (const char* header :
       {"VRAM ", "MODEL", "USERS", "TEMP", "POWER", "  RX ", "  TX ", "PCIe", "FAN"}) {
    int width = 40;
    while (width < 200 && !shows(width, header)) ++width;
    ASSERT_LT(width, 200) << header;
    first_width.push_back(width);
  }
  EXPECT_TRUE(std::ranges::is_sorted(first_width)) << testing::PrintToString(first_width);
}

TEST(OnceView, ModelNames_AreNeverCutFrom60ColumnsOn) {
  const std::string name = "RTX PRO 6000 Blackwell Max-Q Workstation Edition";
  const FleetSnapshot fleet = fleet_of(
      NodeBuilder("a").gpu(GpuBuilder(0, "NVIDIA " + name).util(3).mem(9, 96_GiB).temperature(40)),
      NodeBuilder("b").gpu(a_3090(0)).gpu(a_3090(1)));
  for (int width = 60; width <= 200; ++width) {
    const std::string text = text_of(once_view(fleet, options(width)));
    ASSERT_THAT(text, HasSubstr(name)) << width;
    ASSERT_THAT(text, HasSubstr("RTX 3090 Ti")) << width;
    ASSERT_THAT(text, HasSubstr("40C")) << width;
  }
  EXPECT_THAT(text_of(once_view(fleet, options(60))), HasSubstr("models  0-1 RTX 3090 Ti"));
}

TEST(OnceView, Errors_AreNeverCut) {
  const std::string error = "one two three four five six seven eight nine ten eleven twelve end";
  for (const int width : {40, 60, 200}) {
    std::string words;
    const FleetSnapshot fleet = fleet_of(NodeBuilder("a").error(error));
    for (const char c : text_of(once_view(fleet, options(width)))) {
      if (c != '\n' && c != ' ') words += c;
    }
    EXPECT_THAT(words, HasSubstr("onetwothreefourfivesixseveneightnineteneleventwelveend"))
        << width;
  }
}

TEST(OnceView, OldValues_AreDimAndTheirAgeIsNot) {
  const FleetSnapshot fleet =
      fleet_of(NodeBuilder("a").state(NodeState::stale).gpu(a_3090(0).util(99).temperature(90)));
  OnceOptions late = options(100);
  late.now_ms += 720'000;
  const screen::Frame frame = once_view(fleet, late);
  EXPECT_THAT(text_of(frame), HasSubstr("12 min ago"));
  for (int y = 0; y < frame.height(); ++y) {
    for (int x = 0; x < frame.width(); ++x) ASSERT_NE(frame.at(x, y).style.ink, screen::Ink::alarm);
  }
}

TEST(OnceView, SampleOfTheFuture_HasAgeZero) {
  OnceOptions early = options(100);
  early.now_ms = 0;
  EXPECT_THAT(text_of(once_view(fleet_of(workstation()), early)), HasSubstr(" 0s ago"));
}

TEST(OnceView, OneNode_HasNoSumOfUsers) {
  EXPECT_THAT(text_of(once_view(fleet_of(workstation()), options(100))),
              Not(HasSubstr("over all")));
}

TEST(OnceView, NoNodes_IsAHeader) {
  EXPECT_EQ(text_of(once_view({}, options(100))), "nvidb 10:52:58 · 0 nodes");
}

template <class T>
std::optional<T> maybe(std::mt19937& random, T value) {
  return random() % 4 == 0 ? std::nullopt : std::optional<T>(value);
}

std::string random_name(std::mt19937& random) {
  const char* pieces[] = {"NVIDIA ", "RTX 6000", "显卡", "e\u0301",    "\x1b[2J",
                          "\n",      "\xff",     "😀",    "long name ", ""};
  std::string name;
  for (auto n = random() % 12; n > 0; --n) name += pieces[random() % std::size(pieces)];
  return name;
}

model::Gpu random_gpu(std::mt19937& random, int index) {
  model::Gpu gpu;
  gpu.facts.index = gpu.reading.index = index;
  gpu.facts.name = maybe(random, random_name(random));
  if (random() % 8 == 0) {
    gpu.reading.error = random_name(random);
    return gpu;
  }
  const auto number = [&](std::int64_t limit) {
    return maybe<std::int64_t>(random, static_cast<std::int64_t>(random()) % limit);
  };
  gpu.reading.util_percent = maybe<double>(random, random() % 101);
  gpu.reading.mem_used_mb = number(200000);
  gpu.reading.mem_total_mb = number(200000);
  gpu.reading.temperature_c = number(120);
  gpu.reading.fan_percent = number(101);
  gpu.reading.power_w = maybe<double>(random, random() % 1000);
  gpu.reading.power_limit_w = maybe<double>(random, random() % 1000);
  gpu.reading.performance_state = maybe(random, random_name(random));
  gpu.reading.pcie_gen = number(9);
  gpu.reading.pcie_width = number(33);
  gpu.reading.pcie_rx_kb_s = number(std::int64_t{1} << 40);
  gpu.reading.pcie_tx_kb_s = number(std::int64_t{1} << 40);
  for (auto n = random() % 4; n > 0; --n) {
    gpu.reading.processes.push_back(
        {.pid = 7, .mem_mb = number(100000), .user = maybe(random, random_name(random))});
  }
  return gpu;
}

FleetSnapshot random_fleet(std::mt19937& random) {
  FleetSnapshot fleet;
  for (auto nodes = random() % 4; nodes > 0; --nodes) {
    NodeBuilder builder(random_name(random));
    builder.state(static_cast<NodeState>(random() % 6));
    if (random() % 2) builder.driver(random_name(random), random_name(random));
    if (random() % 2) builder.error(random_name(random));
    if (random() % 2) builder.host(50, 64, 20_GiB, 800_GiB);
    const int cards = static_cast<int>(random() % 5);
    for (int i = 0; i < cards; ++i) builder.gpu(random_gpu(random, 100 + i));
    fleet.nodes.push_back(builder.build());
  }
  return fleet;
}

TEST(OnceViewProperty, AnyFleetAtAnyWidth_ShowsEveryCardOnceWithinTheFrame) {
  std::mt19937 random(4);
  for (int width = 40; width <= 200; ++width) {
    const FleetSnapshot fleet = random_fleet(random);
    OnceOptions any = options(width);
    any.compact = random() % 2;
    any.ascii = random() % 2;
    const screen::Frame frame = once_view(fleet, any);
    ASSERT_EQ(frame.width(), width);
    std::vector<std::string> shown;
    for (int y = 0; y < frame.height(); ++y) {
      std::string row;
      for (int x = 0; x < width; ++x) row += frame.at(x, y).text;
      ASSERT_EQ(base::display_width(row), width);
      // The index stands alone in columns 2 to 4; a wrapped name may not look like one, for none
      // has digits there.
      if (row.compare(0, 4, "  10") == 0 && row[5] == ' ') shown.push_back(row.substr(2, 3));
    }
    std::vector<std::string> expected;
    for (const model::Node& node : fleet.nodes) {
      for (const model::Gpu& gpu : node.gpus) expected.push_back(std::to_string(gpu.facts.index));
    }
    ASSERT_EQ(shown, expected) << "width " << width << "\n" << text_of(frame);
  }
}

}  // namespace
}  // namespace nvidb::ui
