// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "ui/columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/builders.h"
#include "ui/bar.h"
#include "ui/page.h"

namespace nvidb::ui {
namespace {

using screen::Ink;
using test::GpuBuilder;
using testing::ElementsAre;
using testing::IsEmpty;
using test::operator""_GiB;

CellValue cell(ColumnId id, const GpuBuilder& gpu) {
  for (const GpuColumn& column : gpu_columns()) {
    if (column.id == id) return column.get(gpu.build());
  }
  return {};
}

GpuBuilder card() {
  return GpuBuilder(3, "NVIDIA A40");
}

TEST(Columns, KnownValues_AreWrittenAsPeopleReadThem) {
  EXPECT_EQ(cell(ColumnId::gpu, card()).text, "3");
  EXPECT_EQ(cell(ColumnId::util, card().util(86.6)).text, "87%");
  EXPECT_EQ(cell(ColumnId::mem, card().mem(36761, 48_GiB)).text, "35.9G/48.0G");
  EXPECT_EQ(cell(ColumnId::mem_percent, card().mem(36761, 48_GiB)).text, "75%");
  EXPECT_EQ(cell(ColumnId::temperature, card().temperature(60)).text, "60C");
  EXPECT_EQ(cell(ColumnId::power, card().power(116.7, 300)).text, "117/300W");
  EXPECT_EQ(cell(ColumnId::power, card().power(38)).text, "38W");
  EXPECT_EQ(cell(ColumnId::link, card().link(4, 16)).text, "4.0x16");
  EXPECT_EQ(cell(ColumnId::rx, card().traffic(1677722, 11981)).text, "1.60GB/s");
  EXPECT_EQ(cell(ColumnId::tx, card().traffic(1677722, 11981)).text, "11.7MB/s");
  EXPECT_EQ(cell(ColumnId::performance_state, card().state("P8")).text, "P8");
  EXPECT_EQ(cell(ColumnId::fan, card().fan(45)).text, "45%");
  EXPECT_EQ(cell(ColumnId::model, card().mig()).text, "A40 MIG");
}

TEST(Columns, UnknownValues_AreEmptyInEveryColumn) {
  for (const GpuColumn& column : gpu_columns()) {
    if (column.id == ColumnId::gpu) continue;
    EXPECT_EQ(column.get(model::Gpu{}).text, "") << column.header;
    EXPECT_EQ(column.get(model::Gpu{}).bar_percent, std::nullopt) << column.header;
  }
}

TEST(Columns, HalfKnownMemory_SaysWhichHalf) {
  GpuBuilder used_only = card();
  model::Gpu gpu = used_only.mem(512, 0).build();
  gpu.reading.mem_total_mb.reset();
  for (const GpuColumn& column : gpu_columns()) {
    if (column.id == ColumnId::mem) {
      EXPECT_EQ(column.get(gpu).text, "512M/?");
    }
  }
}

TEST(Columns, Inks_FollowTheThresholds) {
  EXPECT_EQ(cell(ColumnId::util, card().util(4)).ink, Ink::dim);
  EXPECT_EQ(cell(ColumnId::util, card().util(5)).ink, Ink::plain);
  EXPECT_EQ(cell(ColumnId::util, card().util(50)).ink, Ink::warn);
  EXPECT_EQ(cell(ColumnId::util, card().util(80)).ink, Ink::alarm);
  EXPECT_EQ(cell(ColumnId::util, card().util(5)).bar_ink, Ink::accent);
  EXPECT_EQ(cell(ColumnId::temperature, card().temperature(65)).ink, Ink::warn);
  EXPECT_EQ(cell(ColumnId::mem, card().mem(90, 100)).ink, Ink::alarm);
}

TEST(Columns, PcieRates_AreGreenUpToTheFirstThreshold) {
  const auto ink = [](std::int64_t rx) {
    return cell(ColumnId::rx, card().link(3, 1).traffic(rx, 0)).ink;
  };
  EXPECT_EQ(ink(5'000), Ink::dim);  // below 1 %
  EXPECT_EQ(ink(200'000), Ink::good);
  EXPECT_EQ(ink(500'000), Ink::warn);
  EXPECT_EQ(ink(800'000), Ink::alarm);
  EXPECT_EQ(cell(ColumnId::rx, card().traffic(800'000, 0)).ink, Ink::plain);  // unknown link
}

TEST(Columns, RanksOfTheSpec_FanFirstMemoryLast) {
  std::vector<std::pair<int, std::string>> ranks;
  for (const GpuColumn& column : gpu_columns()) {
    if (column.drop_rank < kNeverDropped && !column.is_tail) {
      ranks.emplace_back(column.drop_rank, column.header);
    }
  }
  std::ranges::sort(ranks);
  std::vector<std::string> order;
  for (const auto& [rank, header] : ranks) order.push_back(header);
  EXPECT_THAT(order, ElementsAre("PERF", "FAN", "PCIe", "TX", "RX", "POWER", "TEMP", "USERS",
                                 "MODEL", "VRAM"));
}

TEST(ShortModel, MakersWords_AreDroppedButNeverAll) {
  const auto short_name = [](const char* name) { return short_model({.name = std::string(name)}); };
  EXPECT_EQ(short_name("NVIDIA GeForce RTX 3090 Ti"), "RTX 3090 Ti");
  EXPECT_EQ(short_name("GeForce GTX 970"), "GTX 970");
  EXPECT_EQ(short_name("NVIDIA A100-SXM4-80GB"), "A100-SXM4-80GB");
  EXPECT_EQ(short_name("Quadro K620"), "Quadro K620");
  EXPECT_EQ(short_name("NVIDIA "), "NVIDIA ");
  EXPECT_EQ(short_name("NVIDIA \x1b[m"), "\\x1b[m");
  EXPECT_EQ(short_model({}), "");
}

TEST(UsersOn, SumsByUser_LargestFirstUnknownLast) {
  const auto users = [](const GpuBuilder& gpu) { return users_on(gpu.build().reading); };
  EXPECT_THAT(users(card()), IsEmpty());
  EXPECT_THAT(users(card()
                        .process(1, "bob", 300)
                        .process(2, "alice", 1_GiB)
                        .process(3, "alice", 1_GiB)
                        .process(4, std::nullopt, 20)
                        .process(5, "zoe", std::nullopt)),
              ElementsAre("alice 2.0G", "bob 300M", "? 20M", "zoe"));
}

TEST(FitItems, WhatDoesNotFit_IsCounted) {
  const std::vector<std::string> items{"alice 2.0G", "bob 300M", "carol 20M"};
  EXPECT_EQ(fit_items(items, 40, false), "alice 2.0G, bob 300M, carol 20M");
  EXPECT_EQ(fit_items(items, 31, false), "alice 2.0G, bob 300M, carol 20M");
  EXPECT_EQ(fit_items(items, 30, false), "alice 2.0G, bob 300M +1");
  EXPECT_EQ(fit_items(items, 14, false), "alice 2.0G +2");
  EXPECT_EQ(fit_items(items, 10, false), "alice … +2");
  EXPECT_EQ(fit_items(items, 10, true), "alice ~ +2");
  EXPECT_EQ(fit_items(items, 2, false), " …");
  EXPECT_EQ(fit_items({}, 10, false), "");
}

TEST(Bar, FullBlocks_RoundButShowThatThereIsSomething) {
  EXPECT_EQ(full_blocks(std::nullopt, 6), 0);
  EXPECT_EQ(full_blocks(0, 6), 0);
  EXPECT_EQ(full_blocks(0.4, 6), 0);
  EXPECT_EQ(full_blocks(1, 6), 1);
  EXPECT_EQ(full_blocks(74, 6), 4);
  EXPECT_EQ(full_blocks(90, 6), 5);
  EXPECT_EQ(full_blocks(100, 6), 6);
  EXPECT_EQ(full_blocks(250, 6), 6);
  EXPECT_EQ(full_blocks(-3, 6), 0);
  EXPECT_EQ(full_blocks(50, 0), 0);
}

TEST(Wrap, BreaksAtBlanks_AndWithinAWordOnlyWhereItMust) {
  EXPECT_THAT(wrap("one two three", 8), ElementsAre("one two", "three"));
  EXPECT_THAT(wrap("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(wrap("abcdefgh i", 3), ElementsAre("abc", "def", "gh", "i"));
  EXPECT_THAT(wrap("日本語", 3), ElementsAre("日", "本", "語"));
  EXPECT_THAT(wrap("a  b", 9), ElementsAre("a b"));
  EXPECT_THAT(wrap("a\nb", 9), ElementsAre("a\\nb"));
  EXPECT_THAT(wrap("", 9), ElementsAre(""));
}

}  // namespace
}  // namespace nvidb::ui
