// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "cli/server_answers.h"

#include <gmock/gmock.h>

namespace nvidb::cli {
namespace {

using base::ErrorKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

GivenAnswers host_and(const std::string& option, const std::string& text) {
  GivenAnswers given = {{"host", "gpu1"}, {"username", "alice"}};
  given[option] = text;
  return given;
}

TEST(Answers, HostAlone_TakesDefaults) {
  const auto server = server_from({{"host", "gpu1"}});
  ASSERT_TRUE(server);
  EXPECT_EQ(server->hostname, "gpu1");
  EXPECT_EQ(server->port, 22);
  EXPECT_FALSE(server->username.empty());
  EXPECT_EQ(server->auth, config::Auth::automatic);
  EXPECT_EQ(server->gpus, std::nullopt);
}

TEST(Answers, AllGiven_AreTaken) {
  const auto server = server_from({{"host", "10.0.0.42"},
                                   {"port", "2222"},
                                   {"username", "bob"},
                                   {"nickname", "Lab 1"},
                                   {"auth", "password"},
                                   {"proxyjump", "login,bob@b:2200"},
                                   {"gpus", "1,0,1"}});
  ASSERT_TRUE(server) << server.error().message;
  EXPECT_EQ(server->port, 2222);
  EXPECT_EQ(config::identity(*server), "Lab 1");
  EXPECT_EQ(server->auth, config::Auth::password);
  EXPECT_EQ(server->proxyjump, "login,bob@b:2200");
  EXPECT_THAT(*server->gpus, ElementsAre(0, 1));
}

TEST(Answers, EmptyOption_IsTheDefault) {
  for (const char* option : {"port", "username", "nickname", "auth", "identityfile", "proxyjump"})
    EXPECT_TRUE(server_from(host_and(option, ""))) << option;
}

TEST(Answers, NoHost_NamesTheOption) {
  for (const GivenAnswers& given : {GivenAnswers{}, GivenAnswers{{"host", ""}}}) {
    const auto server = server_from(given);
    ASSERT_FALSE(server);
    EXPECT_EQ(server.error().kind, ErrorKind::invalid);
    EXPECT_EQ(server.error().message, "--host is missing");
  }
}

TEST(Answers, WrongValue_NamesOptionAndValue) {
  const std::pair<const char*, const char*> kWrong[] = {
      {"host", "alice@gpu1"}, {"host", "-oProxyCommand=x"},
      {"host", "gpu1:22"},    {"port", "0"},
      {"port", "65536"},      {"port", "ssh"},
      {"username", "-l"},     {"username", "a b"},
      {"nickname", " x"},     {"auth", "keys"},
      {"identityfile", "-i"}, {"identityfile", "/no/such/key"},
      {"proxyjump", "a b"},   {"gpus", "0;1"},
      {"gpus", "-1"}};
  for (const auto& [option, text] : kWrong) {
    const auto server = server_from(host_and(option, text));
    ASSERT_FALSE(server) << option << " " << text;
    EXPECT_EQ(server.error().kind, ErrorKind::invalid);
    EXPECT_THAT(server.error().message, StartsWith(std::string("--") + option + " "));
    EXPECT_THAT(server.error().message, HasSubstr(text));
  }
}

TEST(Answers, KeyFileWithPassword_IsRefused) {
  GivenAnswers given = host_and("auth", "password");
  given["identityfile"] = "~/.ssh/id_ed25519";
  EXPECT_EQ(server_from(given).error().message, "--identityfile does not go with --auth password");
}

TEST(Answers, KeyFileWithTokens_IsLeftToSsh) {
  EXPECT_EQ(server_from(host_and("identityfile", "~/keys/%h"))->identityfile, "~/keys/%h");
}

TEST(Gpus, WordsAndLists_AreRead) {
  EXPECT_EQ(parse_gpus("all").value(), std::nullopt);
  EXPECT_THAT(*parse_gpus("none").value(), IsEmpty());
  EXPECT_THAT(*parse_gpus("3,0,3").value(), ElementsAre(0, 3));
  EXPECT_THAT(*parse_gpus("1023").value(), ElementsAre(1023));
}

TEST(Gpus, AnythingElse_IsRefused) {
  for (const char* text : {"", ",", "0,", ",0", "1024", "99999", "0 1", "0-3", "x", "+1"})
    EXPECT_FALSE(parse_gpus(text)) << text;
}

TEST(Duplicate, SameTargetOrName_IsConflict) {
  config::ServerConfig there;
  there.hostname = "gpu1";
  there.username = "alice";
  there.nickname = "lab";
  config::ServerConfig fresh = there;
  fresh.nickname = "other";
  fresh.hostname = "GPU1";
  const auto same_target = refuse_duplicate(fresh, {there});
  ASSERT_FALSE(same_target);
  EXPECT_EQ(same_target.error().kind, ErrorKind::conflict);
  EXPECT_EQ(same_target.error().message, "alice@GPU1:22 is there already, as lab");
  fresh.port = 2222;
  EXPECT_TRUE(refuse_duplicate(fresh, {there}));
  fresh.nickname = "lab";
  EXPECT_EQ(refuse_duplicate(fresh, {there}).error().message, "a server is called 'lab' already");
}

}  // namespace
}  // namespace nvidb::cli
