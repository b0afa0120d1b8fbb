// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "config/edit_yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/result.h"

namespace nvidb::config {
namespace {

using testing::HasSubstr;
using testing::Not;

ViewSettings unified() {
  ViewSettings view;
  view.mode = ViewMode::unified;
  return view;
}

ServerConfig server(const std::string& hostname, const std::string& nickname = "") {
  ServerConfig result;
  result.hostname = hostname;
  result.username = "u";
  result.nickname = nickname;
  return result;
}

struct Edit {
  const char* before;
  const char* after;
};

std::string after_view(const std::string& before, const ViewSettings& view) {
  const auto after = set_view(before, "config.yml", view);
  return after ? *after : "refused: " + base::to_text(after.error());
}

std::string after_append(const std::string& before, const std::vector<ServerConfig>& servers) {
  const auto after = append_servers(before, "config.yml", servers);
  return after ? *after : "refused: " + base::to_text(after.error());
}

std::string after_cut(const std::string& before, const std::vector<std::string>& identities) {
  const auto after = cut_servers(before, "config.yml", identities);
  return after ? *after : "refused: " + base::to_text(after.error());
}

TEST(SetView, NothingDiffers_KeepsTheText) {
  for (const char* text :
       {"", "view:\n", "view: {mode: nodes}", "# x\nview:\n  mode:   'nodes'\n"}) {
    EXPECT_EQ(after_view(text, ViewSettings{}), text);
  }
}

TEST(SetView, OneValueDiffers_OnlyItsBytesChange) {
  const Edit edits[] = {
      {"", "view:\n  mode: unified\n"},
      {"# mine\n", "# mine\n\nview:\n  mode: unified\n"},
      {"basic:\n  remote: true", "basic:\n  remote: true\n\nview:\n  mode: unified\n"},
      {"view:\n  mode: nodes # or unified\n", "view:\n  mode: unified # or unified\n"},
      {"view:\n  mode: \"nodes\"\n", "view:\n  mode: unified\n"},
      {"view:\n  mode:   'nodes'   # c\n  # d\n", "view:\n  mode:   unified   # c\n  # d\n"},
      {"view:\n    mode:\n      nodes\n", "view:\n    mode:\n      unified\n"},
      {"view:\n  mode:\nbasic:\n", "view:\n  mode: unified\nbasic:\n"},
      {"view:\n  mode: ~ # c\n", "view:\n  mode: unified # c\n"},
      {"view:\nbasic:\n", "view:\n  mode: unified\nbasic:\n"},
      {"view: # kept\n\n# b\nbasic:\n", "view: # kept\n  mode: unified\n\n# b\nbasic:\n"},
      {"view: null # kept\n", "view: # kept\n  mode: unified\n"},
      {"view: {}\n", "view: {mode: unified}\n"},
      {"view: { mode: nodes, mouse: true } # c\n", "view: { mode: unified, mouse: true } # c\n"},
      {"view: {mouse: true}\n", "view: {mode: unified, mouse: true}\n"},
      {"view: {\n  mode: nodes, # c\n}\n", "view: {\n  mode: unified, # c\n}\n"},
      {"view:\n  # first\n  mouse: true # c\n\n# of basic\nbasic:\n",
       "view:\n  # first\n  mouse: true # c\n  mode: unified\n\n# of basic\nbasic:\n"},
      {"view:\n    mouse: true\n    own: [1,\n      2]\n",
       "view:\n    mouse: true\n    mode: unified\n    own: [1,\n      2]\n"},
      {"view:\r\n  mode: nodes\r\n# c\r\n", "view:\r\n  mode: unified\r\n# c\r\n"},
      {"basic:\r\n  remote: no\r\n", "basic:\r\n  remote: no\r\n\r\nview:\r\n  mode: unified\r\n"},
      {"\xef\xbb\xbfview:\n  mode: nodes\n", "\xef\xbb\xbfview:\n  mode: unified\n"},
      {"\xef\xbb\xbfview: {mode: nodes}\n", "\xef\xbb\xbfview: {mode: unified}\n"},
      {"---\nbasic:\n...\n", "---\nbasic:\n\nview:\n  mode: unified\n...\n"},
      {"  basic:\n    remote: no\n", "  basic:\n    remote: no\n\n  view:\n    mode: unified\n"},
      {"a: &m nodes\nview:\n  mode: *m\n", "a: &m nodes\nview:\n  mode: unified\n"},
      {"d: &d\n  mouse: true\nview:\n  <<: *d\n  sort: node\n",
       "d: &d\n  mouse: true\nview:\n  <<: *d\n  sort: node\n  mode: unified\n"},
      {"'view':\n  'mode': nodes\n", "'view':\n  'mode': unified\n"},
      {"# \xc3\xa4\nview: {own: \xc3\xa4, mode: nodes}\n",
       "# \xc3\xa4\nview: {own: \xc3\xa4, mode: unified}\n"},
  };
  for (const Edit& edit : edits)
    EXPECT_EQ(after_view(edit.before, unified()), edit.after) << edit.before;
}

TEST(SetView, SeveralValues_KeepTheirOrderAndAddTheRest) {
  ViewSettings view = unified();
  view.mouse = false;
  view.sort = ViewSort::available;
  EXPECT_EQ(after_view("view:\n  mouse: yes\n  mode: nodes\n", view),
            "view:\n  mouse: false\n  mode: unified\n  sort: available\n");
}

TEST(SetView, BackToDefaults_RestoresTheText) {
  const std::string text = "view:\n  mode: nodes # c\nservers: []\n";
  EXPECT_EQ(after_view(after_view(text, unified()), ViewSettings{}), text);
}

TEST(SetView, UnsafeLayouts_AreRefusedWithWhatToWrite) {
  for (const char* text :
       {"{basic: {}}\n", "d: &d {}\nview: *d\n", "view:\n  mode: &m nodes\nown: *m\n",
        "view:\n  mode: !!str nodes\n", "view:\n  mode: >-\n    nodes\n",
        "<<: {view: {mode: nodes}}\n", "view: &v\nown: *v\n", "d: &d {}\nview:\n  <<: *d\n",
        "? view\n: mouse: true\n"}) {
    const auto after = set_view(text, "config.yml", unified());
    ASSERT_FALSE(after) << text << *after;
    EXPECT_EQ(after.error().kind, base::ErrorKind::conflict) << text;
    EXPECT_THAT(after.error().hint, HasSubstr("view:\n  mode: unified")) << text;
  }
}

TEST(SetView, BrokenFile_IsTheLoadersError) {
  const auto after = set_view("view:\n  mode: x\n", "config.yml", unified());
  ASSERT_FALSE(after);
  EXPECT_THAT(after.error().message, HasSubstr("config.yml:2: view.mode: 'x'"));
}

TEST(AppendServers, NewItem_StandsAtTheEndOfTheList) {
  const Edit edits[] = {
      {"", "servers:\n  - hostname: new\n    port: 22\n    username: u\n"},
      {"basic:", "basic:\n\nservers:\n  - hostname: new\n    port: 22\n    username: u\n"},
      {"servers:\n", "servers:\n  - hostname: new\n    port: 22\n    username: u\n"},
      {"servers: ~ # mine\nbasic:\n",
       "servers: # mine\n  - hostname: new\n    port: 22\n    username: u\nbasic:\n"},
      {"servers: [] # mine\n\nbasic:\n",
       "servers: # mine\n  - hostname: new\n    port: 22\n    username: u\n\nbasic:\n"},
      {"servers: [ ]", "servers:\n  - hostname: new\n    port: 22\n    username: u\n"},
      {"servers:\n  - hostname: a\n    username: b",
       "servers:\n  - hostname: a\n    username: b\n  - hostname: new\n    port: 22\n    username: "
       "u\n"},
      {"servers:\n- hostname: a\n  username: b\n\n# of queue\nqueue:\n",
       "servers:\n- hostname: a\n  username: b\n- hostname: new\n  port: 22\n  username: u\n\n# of "
       "queue\nqueue:\n"},
      {"servers:\n  -   hostname: a\n      username: b\n      # gpus: [0]\n  # - hostname: "
       "old\n\nqueue:\n",
       "servers:\n  -   hostname: a\n      username: b\n      # gpus: [0]\n  -   hostname: new\n   "
       "  "
       " port: 22\n      username: u\n"
       "  # - hostname: old\n\nqueue:\n"},
      {"servers:\n  - {hostname: a, username: b}\n",
       "servers:\n  - {hostname: a, username: b}\n  - hostname: new\n    port: 22\n    username: "
       "u\n"},
      {"servers:\n  - # first\n    hostname: a\n    username: b\n",
       "servers:\n  - # first\n    hostname: a\n    username: b\n  - hostname: new\n    port: 22\n "
       "  "
       " username: u\n"},
      {"servers: [{hostname: a, username: b}] # c\n",
       "servers: [{hostname: a, username: b}, {hostname: new, port: 22, username: u}] # c\n"},
      {"servers: [\n  {hostname: a, username: 'b'}, # c\n]\n",
       "servers: [\n  {hostname: a, username: 'b'}, {hostname: new, port: 22, username: u} # "
       "c\n]\n"},
      {"servers:\r\n- hostname: a\r\n  username: b\r\n",
       "servers:\r\n- hostname: a\r\n  username: b\r\n- hostname: new\r\n  port: 22\r\n  username: "
       "u\r\n"},
      {"servers:\n- hostname: a\n  username: b\n...\n",
       "servers:\n- hostname: a\n  username: b\n- hostname: new\n  port: 22\n  username: u\n...\n"},
      {"d: &d {username: b}\nservers:\n- <<: *d\n  hostname: a\n",
       "d: &d {username: b}\nservers:\n- <<: *d\n  hostname: a\n- hostname: new\n  port: 22\n  "
       "username: u\n"},
  };
  for (const Edit& edit : edits)
    EXPECT_EQ(after_append(edit.before, {server("new")}), edit.after) << edit.before;
}

TEST(AppendServers, EveryKey_ComesBackFromTheFile) {
  ServerConfig all = server("10.0.0.42", "yes");
  all.port = 2222;
  all.auth = Auth::key;
  all.identityfile = "~/.ssh/id_ed25519";
  all.password = Secret("a: b #c \"d\" \\ \xc3\xa4");
  all.proxyjump = "a,b@[::1]:22";
  all.gpus = {0, 3};
  ServerConfig cpu_only = server("fe80::1", "#x, {y}: 'z'");
  cpu_only.gpus = std::vector<int>{};
  const std::vector<ServerConfig> servers = {all,
                                             cpu_only,
                                             server("123", "4090"),
                                             server("a", "1e3"),
                                             server("b", "~"),
                                             server("c", "- d"),
                                             server("e", "null"),
                                             server("f", "12:30"),
                                             server("g", "a\xc2\xa0")};
  for (const char* before : {"", "servers: [{hostname: x, username: y}]\n"}) {
    const std::string after = after_append(before, servers);
    EXPECT_THAT(after, Not(HasSubstr("refused"))) << after;
    EXPECT_THAT(after, HasSubstr("hostname: 10.0.0.42"));
    EXPECT_THAT(after, HasSubstr("nickname: \"yes\""));
    EXPECT_THAT(after, HasSubstr("identityfile: ~/.ssh/id_ed25519"));
    EXPECT_THAT(after, HasSubstr("gpus: []"));
  }
}

TEST(AppendServers, SameIdentity_IsAConflict) {
  const std::string text = "servers:\n- {hostname: a, username: u}\n";
  for (const auto& servers : {std::vector<ServerConfig>{server("a")},
                              {server("b", "u@a:22")},
                              {server("c"), server("c")}}) {
    const auto after = append_servers(text, "config.yml", servers);
    ASSERT_FALSE(after);
    EXPECT_EQ(after.error().kind, base::ErrorKind::conflict);
    EXPECT_THAT(after.error().message, HasSubstr("already"));
  }
}

TEST(AppendServers, ServerThatWouldNotLoad_IsInvalid) {
  ServerConfig no_user = server("a");
  no_user.username = "";
  ServerConfig bad_port = server("a");
  bad_port.port = 0;
  for (const ServerConfig& bad :
       {server("-x"), server("a b"), no_user, bad_port, server("a", "x\ny")}) {
    const auto after = append_servers("", "config.yml", {bad});
    ASSERT_FALSE(after);
    EXPECT_EQ(after.error().kind, base::ErrorKind::invalid);
  }
}

TEST(AppendServers, UnsafeLayouts_AreRefusedWithoutThePassword) {
  ServerConfig with_password = server("new");
  with_password.password = Secret("hunter2");
  for (const char* text : {"l: &l [{hostname: a, username: b}]\nservers: *l\n", "{servers: []}\n",
                           "servers: [\n# c\n]\n", "servers: &s\nown: *s\n", "{basic: {}}\n"}) {
    const auto after = append_servers(text, "config.yml", {with_password});
    ASSERT_FALSE(after) << text << *after;
    EXPECT_EQ(after.error().kind, base::ErrorKind::conflict) << text;
    EXPECT_THAT(after.error().hint, HasSubstr("- hostname: new"));
    EXPECT_THAT(base::to_text(after.error()), Not(HasSubstr("hunter2")));
  }
}

TEST(CutServers, OneItem_TakesItsOwnLinesOnly) {
  const Edit edits[] = {
      {"servers:\n  # a\n  - hostname: x\n    username: u\n    # own\n\n  # b\n  - hostname: y\n   "
       " username: u\nqueue:\n",
       "servers:\n  # a\n\n  # b\n  - hostname: y\n    username: u\nqueue:\n"},
      {"servers:\n- hostname: y\n  username: u\n- hostname: x # c\n  username: u\n\n# of "
       "queue\nqueue:\n",
       "servers:\n- hostname: y\n  username: u\n\n# of queue\nqueue:\n"},
      {"servers:\n  - hostname: x\n    username: u\n", "servers: []\n"},
      {"servers: # mine\n  # a\n  - hostname: x\n    username: u\n# end",
       "servers: [] # mine\n  # a\n# end"},
      {"servers:\n  - # c\n    hostname: x\n    username: u\n  - {hostname: y, username: u}",
       "servers:\n  - {hostname: y, username: u}"},
      {"servers:\n  - {hostname: y, username: u}\n  - {hostname: x,\n     username: u}",
       "servers:\n  - {hostname: y, username: u}\n"},
      {"servers: [{hostname: x, username: u}]\n", "servers: []\n"},
      {"servers: [{hostname: x, username: u}, {hostname: y, username: u}]\n",
       "servers: [{hostname: y, username: u}]\n"},
      {"servers: [{hostname: y, username: u}, {hostname: x, username: u}]\n",
       "servers: [{hostname: y, username: u}]\n"},
      {"servers: [ {hostname: x, username: u}, ] # c\n", "servers: [  ] # c\n"},
      {"servers:\r\n- hostname: x\r\n  username: u\r\n- hostname: y\r\n  username: u\r\n",
       "servers:\r\n- hostname: y\r\n  username: u\r\n"},
      {"l: &x {hostname: x, username: u}\nservers:\n- *x\n- hostname: y\n  username: u\n",
       "l: &x {hostname: x, username: u}\nservers:\n- hostname: y\n  username: u\n"},
  };
  for (const Edit& edit : edits)
    EXPECT_EQ(after_cut(edit.before, {"u@x:22"}), edit.after) << edit.before;
}

TEST(CutServers, SeveralItems_GoAtOnce) {
  const std::string block =
      "servers:\n- {hostname: a, username: u}\n# c\n- {hostname: b, username: u}\n- {hostname: c, "
      "username: u}\n";
  EXPECT_EQ(after_cut(block, {"u@c:22", "u@a:22"}),
            "servers:\n# c\n- {hostname: b, username: u}\n");
  const std::string flow =
      "servers: [{hostname: a, username: u}, {hostname: b, username: u}, {hostname: c, username: "
      "u}, {hostname: d, username: u}]\n";
  EXPECT_EQ(after_cut(flow, {"u@a:22", "u@b:22"}),
            "servers: [{hostname: c, username: u}, {hostname: d, username: u}]\n");
  EXPECT_EQ(after_cut(flow, {"u@c:22", "u@d:22"}),
            "servers: [{hostname: a, username: u}, {hostname: b, username: u}]\n");
  EXPECT_EQ(after_cut(flow, {"u@a:22", "u@c:22"}),
            "servers: [{hostname: b, username: u}, {hostname: d, username: u}]\n");
  EXPECT_EQ(after_cut(flow, {"u@a:22", "u@b:22", "u@c:22", "u@d:22"}), "servers: []\n");
}

TEST(CutServers, UnknownIdentity_IsNotFoundAndRemovesNothing) {
  const auto after =
      cut_servers("servers:\n- {hostname: a, username: u}\n", "config.yml", {"u@a:22", "zzz"});
  ASSERT_FALSE(after);
  EXPECT_EQ(after.error().kind, base::ErrorKind::not_found);
  EXPECT_EQ(after.error().message, "config.yml has no server 'zzz'");
}

TEST(CutServers, ItemWhoseAnchorIsUsedElsewhere_IsRefused) {
  const auto after =
      cut_servers("servers:\n- &x {hostname: a, username: u}\n- {<<: *x, hostname: b}\n",
                  "config.yml", {"u@a:22"});
  ASSERT_FALSE(after);
  EXPECT_EQ(after.error().kind, base::ErrorKind::conflict);
}

TEST(Edits, AddAndRemove_RestoresTheText) {
  for (const char* text : {"servers:\n- hostname: a\n  username: b\n# end\nqueue:\n",
                           "# x\nservers: [{hostname: a, username: b}]\n"}) {
    EXPECT_EQ(after_cut(after_append(text, {server("new", "new"), server("m", "other")}),
                        {"new", "other"}),
              text);
  }
}

}  // namespace
}  // namespace nvidb::config
