// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "config/text_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nvidb::config {
namespace {

TEST(TextLines, LinesAndNewline_AreThoseOfTheFile) {
  const TextLines lines("a\r\n\r\n # b\r\nlast");
  EXPECT_EQ(lines.count(), 4);
  EXPECT_EQ(lines.line(1), "a");
  EXPECT_EQ(lines.line(4), "last");
  EXPECT_EQ(lines.newline(), "\r\n");
  EXPECT_TRUE(lines.is_blank(2));
  EXPECT_TRUE(lines.is_comment(3));
  EXPECT_EQ(lines.indent(3), 1);
  EXPECT_EQ(lines.start(5), lines.text().size());
  EXPECT_EQ(TextLines("").count(), 0);
  EXPECT_EQ(TextLines("a\n").count(), 1);
}

TEST(Splices, OverlappingChanges_AreRefused) {
  const TextLines lines("abcdef");
  Splices good(lines);
  good.replace(1, 3, "X");
  good.insert(1, "<");
  good.insert(6, ">");
  EXPECT_EQ(good.apply(), "a<Xdef>");
  Splices bad(lines);
  bad.replace(1, 3, "X");
  bad.replace(2, 4, "Y");
  EXPECT_EQ(bad.apply(), std::nullopt);
}

TEST(Splices, LinesAfterALastLineWithoutBreak_AddTheBreak) {
  const TextLines lines("a");
  Splices splices(lines);
  splices.insert_lines_after(1, {"b", "c"});
  EXPECT_EQ(splices.apply(), "a\nb\nc\n");
  const TextLines dos("a\r\nb\r\n");
  Splices middle(dos);
  middle.insert_lines_after(1, {"x"});
  middle.remove_lines(2, 2);
  EXPECT_EQ(middle.apply(), "a\r\nx\r\n");
}

TEST(TokenEnd, WordsQuotesAndAliases) {
  EXPECT_EQ(token_end("a: true # x", 3, "true"), 7u);
  EXPECT_EQ(token_end("'it''s' x", 0, "it's"), 7u);
  EXPECT_EQ(token_end("\"a\\\"b\" x", 0, "a\"b"), 6u);
  EXPECT_EQ(token_end("*a, b", 0, "zzz"), 2u);
  EXPECT_EQ(token_end("&a true", 0, "true"), std::nullopt);
  EXPECT_EQ(token_end("|\n  true", 0, "true"), std::nullopt);
  EXPECT_EQ(token_end("\"a\nb\"", 0, "a b"), std::nullopt);
  EXPECT_EQ(token_end("'open", 0, "open"), std::nullopt);
  EXPECT_EQ(token_end("", 0, "a"), std::nullopt);
}

std::vector<std::string> items_of(std::string_view text) {
  std::vector<std::string> items;
  const auto list = scan_flow_list(text, 0);
  if (!list) return {"none"};
  for (const auto& item : list->items)
    items.emplace_back(text.substr(item.begin, item.end - item.begin));
  return items;
}

TEST(FlowList, ItemsWithQuotesBracketsAndComments) {
  using testing::ElementsAre;
  EXPECT_THAT(items_of("[]"), ElementsAre());
  EXPECT_THAT(items_of("[ a , b ]"), ElementsAre("a", "b"));
  EXPECT_THAT(items_of("[{a: [1, 2]}, \"x],\", 'y''],', it's]"),
              ElementsAre("{a: [1, 2]}", "\"x],\"", "'y''],'", "it's"));
  EXPECT_THAT(items_of("[a, # one]\n b, # two\n]"), ElementsAre("a", "b"));
  EXPECT_THAT(items_of("[a#b]"), ElementsAre("a#b"));
  EXPECT_THAT(items_of("[a"), ElementsAre("none"));
  EXPECT_THAT(items_of("[,]"), ElementsAre("none"));
  EXPECT_THAT(items_of("['a]"), ElementsAre("none"));
  EXPECT_EQ(scan_flow_list("[a, b,]", 0)->commas.size(), 2u);
}

}  // namespace
}  // namespace nvidb::config
