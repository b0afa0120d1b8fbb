// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "config/ssh_import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "config/ssh_words.h"

namespace nvidb::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Files by path; a pattern matches by ssh's own rules for names.
class FakeFiles {
 public:
  FakeFiles(std::initializer_list<std::pair<const std::string, std::string>> files)
      : files_(files) {}

  ConfigFiles doors() const {
    ConfigFiles doors;
    doors.home = "/home/u";
    doors.read = [this](const std::string& path) -> base::Result<std::string> {
      const auto found = files_.find(path);
      if (found == files_.end())
        return base::fail(base::ErrorKind::not_found, "cannot read " + path);
      if (found->second == "forbidden")
        return base::fail(base::ErrorKind::refused, "cannot read " + path);
      return found->second;
    };
    doors.glob = [this](const std::string& pattern) {
      std::vector<std::string> paths;
      for (const auto& [path, text] : files_) {
        if (matches_ssh_patterns(path, {pattern})) paths.push_back(path);
      }
      return paths;
    };
    return doors;
  }

 private:
  std::map<std::string, std::string> files_;
};

constexpr const char* kConfig = "/home/u/.ssh/config";

SshAliases find(const FakeFiles& files) {
  auto found = find_ssh_aliases(kConfig, files.doors());
  EXPECT_TRUE(found) << found.error().message;
  return found ? *found : SshAliases{};
}

std::vector<std::string> names(const FakeFiles& files) {
  std::vector<std::string> result;
  for (const SshAlias& alias : find(files).aliases) result.push_back(alias.name);
  return result;
}

TEST(SshAliases, HostLines_GiveConcreteNamesInOrder) {
  EXPECT_THAT(names({{kConfig,
                      "Host b a # not c\n  HostName x\nhost \"with space\"\nHOST=eq\nHost = "
                      "eq2\nhost\t\"q\"\r\n"
                      "  Host indented\nHost a\n#Host commented\nHost\n\nHostName no\n"}}),
              ElementsAre("b", "a", "with space", "eq", "eq2", "q", "indented"));
}

TEST(SshAliases, PatternsNegationsAndMatch_AreNoHosts) {
  EXPECT_THAT(
      names({{kConfig,
              "Host *\nHost gpu-?\nHost a !b\nHost c !c\nHost d* !d1 e\nMatch host f\n  User x\n"
              "Match all\nHost !g\nHost h !*\n"}}),
      ElementsAre("a", "e"));
}

TEST(SshAliases, FirstPlace_IsRemembered) {
  const SshAliases found = find({{kConfig, "\nHost a\n\nHost a\n"}});
  EXPECT_THAT(found.aliases, ElementsAre(SshAlias{"a", kConfig, 2}));
}

TEST(SshAliases, Includes_AreFollowedWhereTheyStand) {
  EXPECT_THAT(names({{kConfig, "Include config.d/* ~/own /abs none\nHost last\n"},
                     {"/home/u/.ssh/config.d/1", "Include deeper\nHost one\n"},
                     {"/home/u/.ssh/config.d/2", "Host two\n"},
                     {"/home/u/.ssh/deeper", "Host deep\n"},
                     {"/home/u/own", "Host own\n"},
                     {"/abs", "Host abs"}}),
              ElementsAre("deep", "one", "two", "own", "abs", "last"));
}

TEST(SshAliases, IncludeUnderHost_OnlyNamesThatCanMatch) {
  EXPECT_THAT(names({{kConfig,
                      "Host gpu*\n  Include x\nHost *\n  Include y\nMatch user bob\n  Include z\n"},
                     {"/home/u/.ssh/x", "Host gpu1 cpu1\n"},
                     {"/home/u/.ssh/y", "Host cpu2\n"},
                     {"/home/u/.ssh/z", "Host cpu3\n"}}),
              ElementsAre("gpu1", "cpu2", "cpu3"));
}

TEST(SshAliases, IncludeCycle_IsAWarning) {
  const SshAliases found = find(
      {{kConfig, "Host a\nInclude b*\n"}, {"/home/u/.ssh/b", "Host *\nInclude config\nHost c\n"}});
  ASSERT_EQ(found.aliases.size(), 1u);  // `Host a` encloses the include, so c can never match
  EXPECT_THAT(found.warnings,
              ElementsAre("/home/u/.ssh/b:2: '/home/u/.ssh/config' includes itself; left out"));
}

TEST(SshAliases, DeepIncludes_EndAtSixteen) {
  std::map<std::string, std::string> files;
  ConfigFiles doors;
  doors.home = "/h";
  doors.read = [](const std::string& path) -> base::Result<std::string> {
    const int depth = std::stoi(path.substr(path.rfind('/') + 1));
    return "Host h" + std::to_string(depth) + "\nMatch all\nInclude /f/" +
           std::to_string(depth + 1) + "\n";
  };
  doors.glob = [](const std::string& pattern) { return std::vector<std::string>{pattern}; };
  const auto found = find_ssh_aliases("/f/0", doors);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->aliases.size(), 17u);
  EXPECT_THAT(found->warnings, ElementsAre(HasSubstr("more than 16 deep")));
}

TEST(SshAliases, WideIncludes_AreBounded) {
  ConfigFiles doors;
  doors.home = "/h";
  doors.read = [](const std::string& path) -> base::Result<std::string> {
    return path.size() < 8 ? "Include /x*\n" : "";
  };
  doors.glob = [](const std::string& pattern) {
    std::vector<std::string> paths;
    for (int i = 0; i < 40; ++i) paths.push_back(pattern + std::to_string(i));
    return paths;
  };
  const auto found = find_ssh_aliases("/x", doors);
  ASSERT_TRUE(found);
  EXPECT_LE(found->warnings.size(), 50u);
}

TEST(SshAliases, UnreadableFiles_MainIsAnErrorIncludeAWarning) {
  EXPECT_EQ(find_ssh_aliases("/none", FakeFiles{}.doors()).error().kind,
            base::ErrorKind::not_found);
  const SshAliases found =
      find({{kConfig, "Include x\nHost a\nHost \"open\n"}, {"/home/u/.ssh/x", "forbidden"}});
  EXPECT_EQ(found.aliases.size(), 1u);
  EXPECT_THAT(found.warnings,
              ElementsAre(HasSubstr(":1: cannot read"), HasSubstr(":3: a quote is not closed")));
}

TEST(SshAliases, NamesThatCannotBeServers_AreWarnings) {
  const SshAliases found = find({{kConfig, "Host -oProxyCommand=x\nHost a\x1b[31m\nHost ok\n"}});
  ASSERT_EQ(found.aliases.size(), 1u);
  EXPECT_THAT(found.warnings,
              ElementsAre(HasSubstr("'-oProxyCommand=x'"), HasSubstr("a\\x1b[31m")));
}

TEST(SshLine, Forms) {
  EXPECT_EQ(split_ssh_line("  # x")->keyword, "");
  EXPECT_EQ(split_ssh_line("")->keyword, "");
  EXPECT_EQ(split_ssh_line("Port=22")->keyword, "port");
  EXPECT_THAT(split_ssh_line("Host a\\ b \"c\\\"d\" 'e f'")->arguments,
              ElementsAre("a b", "c\"d", "e f"));
  EXPECT_THAT(split_ssh_line("Host a#b #c")->arguments, ElementsAre("a#b"));
  EXPECT_EQ(split_ssh_line("Host 'a"), std::nullopt);
}

TEST(SshPatterns, LikeSsh) {
  EXPECT_TRUE(matches_ssh_patterns("gpu1", {"gpu?"}));
  EXPECT_TRUE(matches_ssh_patterns("a.b.c", {"x", "*.c"}));
  EXPECT_FALSE(matches_ssh_patterns("a.b.c", {"*", "!a.*"}));
  EXPECT_FALSE(matches_ssh_patterns("a", {"!b"}));
  EXPECT_FALSE(matches_ssh_patterns("a", {}));
  EXPECT_FALSE(matches_ssh_patterns(std::string(5000, 'a'), {std::string(200, '*') + "b"}));
}

TEST(SshG, Output_GivesValues) {
  const auto values = parse_ssh_g(
      "host training\nuser gpu-user\nhostname 10.0.0.42\nport 2222\nidentityfile ~/.ssh/id_rsa\n"
      "identityfile /keys/with space\nproxyjump login\nserveraliveinterval 0\nproxycommand none\n");
  ASSERT_TRUE(values);
  EXPECT_EQ(
      *values,
      (SshValues{
          "10.0.0.42", 2222, "gpu-user", {"~/.ssh/id_rsa", "/keys/with space"}, "login", false}));
}

TEST(SshG, MissingOrWrongValues_AreProtocolErrors) {
  for (const char* text :
       {"", "hostname a\n", "user b\n", "hostname a\nuser b\nport x\n", "ssh: no such option\n"}) {
    const auto values = parse_ssh_g(text);
    ASSERT_FALSE(values) << text;
    EXPECT_EQ(values.error().kind, base::ErrorKind::protocol);
  }
}

SshValues values_of(const std::string& hostname) {
  return {hostname, 22, "u", {}, "", false};
}

TEST(ImportedServer, TakesValuesAndTheFirstKeyThatExists) {
  SshValues values{"10.0.0.42", 2222, "u", {"~/.ssh/id_rsa", "~/gone", "~/work key", "~/other"},
                   "login",     false};
  const auto server = to_server({"training", "", 1}, values,
                                [](const std::string& path) { return path != "~/gone"; });
  ASSERT_TRUE(server);
  EXPECT_EQ(identity(*server), "training");
  EXPECT_EQ(server->hostname, "10.0.0.42");
  EXPECT_EQ(server->port, 2222);
  EXPECT_EQ(server->identityfile, "~/work key");
  EXPECT_EQ(server->proxyjump, "login");
  EXPECT_EQ(server->auth, Auth::automatic);
}

TEST(ImportedServer, OnlyDefaultKeys_NamesNone) {
  SshValues values = values_of("a");
  values.identityfiles = {"~/.ssh/id_rsa", "~/.ssh/id_ed25519"};
  EXPECT_EQ(to_server({"a", "", 1}, values, [](const std::string&) { return true; })->identityfile,
            "");
}

TEST(ImportedServer, ProxyCommand_KeepsTheAlias) {
  SshValues values = values_of("10.0.0.1");
  values.has_proxycommand = true;
  EXPECT_EQ(to_server({"box", "", 1}, values, [](const std::string&) { return true; })->hostname,
            "box");
}

TEST(ImportedServer, ValuesThatCannotBeAServer_AreInvalid) {
  SshValues bad_jump = values_of("a");
  bad_jump.proxyjump = "a b";
  SshValues bad_user = values_of("a");
  bad_user.user = "-l";
  for (const SshValues& values : {values_of("-a"), values_of("a b"), bad_jump, bad_user}) {
    const auto server = to_server({"box", "", 1}, values, [](const std::string&) { return true; });
    ASSERT_FALSE(server);
    EXPECT_THAT(server.error().message, HasSubstr("host 'box': "));
  }
}

TEST(SameTarget, HostWithoutCasePortAndUser) {
  ServerConfig a;
  a.hostname = "GPU1";
  a.username = "u";
  ServerConfig b = a;
  b.hostname = "gpu1";
  b.nickname = "other";
  EXPECT_TRUE(is_same_target(a, b));
  b.port = 23;
  EXPECT_FALSE(is_same_target(a, b));
}

}  // namespace
}  // namespace nvidb::config
