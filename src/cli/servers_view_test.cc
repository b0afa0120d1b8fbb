// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "cli/servers_view.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/text.h"

namespace nvidb::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

config::ServerConfig server(const std::string& nickname) {
  config::ServerConfig made;
  made.hostname = "gpu1.example.com";
  made.username = "alice";
  made.nickname = nickname;
  return made;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

TEST(ServerJson, StoredPassword_IsToldNotShown) {
  config::ServerConfig one = server("");
  one.password = config::Secret("hunter2");
  const std::string text = to_document(server_json(one));
  EXPECT_THAT(text, HasSubstr("\"password_stored\": true"));
  EXPECT_THAT(text, Not(HasSubstr("hunter2")));
}

TEST(ServerJson, AbsentValues_AreNull) {
  const auto json = server_json(server(""));
  EXPECT_EQ(json["name"], "alice@gpu1.example.com:22");
  for (const char* key : {"nickname", "identityfile", "proxyjump", "gpus"})
    EXPECT_TRUE(json[key].is_null()) << key;
  config::ServerConfig none = server("x");
  none.gpus = std::vector<int>();
  EXPECT_TRUE(server_json(none)["gpus"].is_array());
}

TEST(Document, ControlsOfEveryKind_AreEscaped) {
  const std::string text = to_document({{"a", "\x1b[2J \x7f \xc2\x9b ö \xff"}});
  EXPECT_EQ(text, "{\n  \"a\": \"\\u001b[2J \\u007f \\u009b ö \xef\xbf\xbd\"\n}\n");
}

TEST(ServersTable, WideNames_KeepColumnsInLine) {
  const Terminal terminal = {.width = 100};
  const auto lines = lines_of(servers_table({server("計算機"), server("b")}, false, terminal));
  ASSERT_EQ(lines.size(), 3u);
  const auto column_of = [](const std::string& line, const char* word) {
    return base::display_width(line.substr(0, line.find(word)));
  };
  EXPECT_EQ(column_of(lines[0], "ADDRESS"), column_of(lines[1], "gpu1"));
  EXPECT_EQ(column_of(lines[0], "ADDRESS"), column_of(lines[2], "gpu1"));
}

TEST(ServersTable, NarrowTerminal_CutsTheWidestFirst) {
  config::ServerConfig one = server(std::string(60, 'n'));
  const auto lines = lines_of(servers_table({one}, true, {.width = 70, .ascii = true}));
  for (const std::string& line : lines) EXPECT_LE(line.size(), 70u);
  EXPECT_THAT(lines[1], HasSubstr("~"));
  EXPECT_THAT(lines[1], HasSubstr("alice"));
}

TEST(HowReached, DefaultPortAndNoJump_AreLeftOut) {
  config::ServerConfig one = server("");
  EXPECT_EQ(how_reached(one), "alice@gpu1.example.com");
  one.port = 2222;
  one.proxyjump = "login";
  EXPECT_EQ(how_reached(one), "alice@gpu1.example.com:2222 via login");
  one.proxyjump = "none";
  EXPECT_EQ(how_reached(one), "alice@gpu1.example.com:2222");
}

TEST(PasswordWarnings, OnlyServersWithOne_AreNamed) {
  config::ServerConfig one = server("one");
  one.password = config::Secret("hunter2");
  const auto warnings = password_warnings({one, server("two")}, "c.yml");
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0], "c.yml holds the password of one as plain text; prefer auth: key");
}

}  // namespace
}  // namespace nvidb::cli
