// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config.h"

namespace nvidb::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Hops = std::vector<JumpHop>;

TEST(Proxyjump, GoodForms_GiveTheirHops) {
  const std::pair<const char*, Hops> cases[] = {
      {"none", {}},
      {"login", {{"", "login", 0}}},
      {"alice@login.example.com:2222", {{"alice", "login.example.com", 2222}}},
      {"login-a,alice@login-b:2222", {{"", "login-a", 0}, {"alice", "login-b", 2222}}},
      {"[2001:db8::1]:22", {{"", "2001:db8::1", 22}}},
      {"bob@[::1]", {{"bob", "::1", 0}}},
      {"ssh://bob@login:99", {{"bob", "login", 99}}},
      {"user@corp@login", {{"user@corp", "login", 0}}},
  };
  for (const auto& [text, hops] : cases) {
    const auto parsed = parse_proxyjump(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(*parsed, hops) << text;
  }
}

TEST(Proxyjump, BadForms_AreRefused) {
  for (const char* text :
       {"",      ",",     "a,",     ",a",   "a,,b",     "a, b",    "a b",    "-oX",
        "a,-oX", "@a",    "a@",     "a:",   "a:0",      "a:65536", "a:b",    "a:022",
        "::1",   "[::1",  "[::1]x", "[a]",  "[]",       "none,a",  "a,none", "a$(x)",
        "a;b",   "\"a\"", "a\nb",   "-l@a", "http://a", "ssh://",  "a/b"}) {
    const auto parsed = parse_proxyjump(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().kind, base::ErrorKind::invalid) << text;
    EXPECT_FALSE(parsed.error().hint.empty()) << text;
  }
  std::string chain = "a";
  for (int i = 0; i < 15; ++i) chain += ",a";
  EXPECT_TRUE(parse_proxyjump(chain));
  EXPECT_FALSE(parse_proxyjump(chain + ",a"));
}

TEST(Hostname, Forms_AreTold) {
  for (const char* good :
       {"a", "gpu-1.example.com", "my_host", "10.0.0.1", "::1", "2001:db8::1", "fe80::1%eth0"}) {
    EXPECT_TRUE(check_hostname(good)) << good;
  }
  for (const char* bad :
       {"", "-a", "a b", "a\tb", "a:22", "a@b", "[::1]", "a;b", "a$b", "a`b", "a/b", "a,b",
        "h\xc3\xb6st", "fe80::1%", "fe80::1%e/0", ":a:b:zz", "a\x1b"}) {
    EXPECT_FALSE(check_hostname(bad)) << bad;
  }
  EXPECT_TRUE(check_hostname(std::string(255, 'a')));
  EXPECT_FALSE(check_hostname(std::string(256, 'a')));
}

TEST(Hostname, PortUserOrBracketsInside_TheHintSaysWhere) {
  EXPECT_THAT(check_hostname("gpu1:2222").error().hint, HasSubstr("as port"));
  EXPECT_THAT(check_hostname("bob@gpu1").error().hint, HasSubstr("as username"));
  EXPECT_THAT(check_hostname("[::1]").error().hint, HasSubstr("without brackets"));
  EXPECT_THAT(check_hostname("-v").error().hint, HasSubstr("option"));
}

TEST(Username, Forms_AreTold) {
  for (const char* good :
       {"alice", "a.b-c_d", "CORP\\alice", "alice@corp.example", "svc$", "j\xc3\xb6rg"}) {
    EXPECT_TRUE(check_username(good)) << good;
  }
  for (const char* bad :
       {"", "-l", "a b", "a\n", "a:b", "a;b", "a|b", "a'b", "a\\", "a`b", "a/b", "a,b"}) {
    EXPECT_FALSE(check_username(bad)) << bad;
  }
}

TEST(Identity, NicknameElseAddress) {
  ServerConfig server;
  server.hostname = "gpu1";
  server.username = "alice";
  EXPECT_EQ(identity(server), "alice@gpu1:22");
  server.hostname = "::1";
  EXPECT_EQ(identity(server), "alice@[::1]:22");
  server.nickname = "box";
  EXPECT_EQ(identity(server), "box");
}

TEST(Port, OnlyWholeNumbersInRange) {
  EXPECT_EQ(*parse_port("1"), 1);
  EXPECT_EQ(*parse_port("65535"), 65535);
  for (const char* bad :
       {"", "0", "65536", "+22", "-1", " 22", "22 ", "0x16", "022", "99999999999999999999"}) {
    EXPECT_FALSE(parse_port(bad)) << bad;
  }
}

TEST(AuthWord, RoundTrips) {
  for (const Auth auth : {Auth::automatic, Auth::key, Auth::password})
    EXPECT_EQ(*parse_auth(to_word(auth)), auth);
  EXPECT_EQ(parse_auth("keys").error().message, "'keys' is not one of auto, key, password");
}

}  // namespace
}  // namespace nvidb::config
