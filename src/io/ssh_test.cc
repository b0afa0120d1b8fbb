// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "io/ssh.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "support/golden.h"

namespace nvidb::io {
namespace {

using base::ErrorKind;

SshTarget plain() {
  return {.host = "lab", .port = {}, .user = "alice"};
}

TEST(SshArgv, EveryKindOfTarget_IsAsTheGoldenSays) {
  SshTarget key = plain();
  key.port = 2222;
  key.auth = SshAuth::key;
  key.identity_file = "/home/alice/.ssh/id";
  key.proxy_jump = "login,bob@login-b:2222";
  SshTarget password = plain();
  password.auth = SshAuth::password;
  password.proxy_jump = "none";
  SshOptions shared;
  shared.control_path = "/home/alice/.nvidb/ssh/0123456789abcdef";
  SshOptions answering = shared;
  answering.can_answer = true;
  answering.program = {"ssh", "-F", "/etc/other config"};

  std::string text;
  const auto add = [&](const char* name, const SshTarget& target, const SshOptions& options) {
    text += fmt::format("# {}\n", name);
    for (const std::string& word : ssh_argv(target, options, "exec sh -c 'true'")) {
      text += word + "\n";
    }
  };
  add("alias, nothing shared", plain(), {});
  add("key through two jump hosts, shared connection", key, shared);
  add("password by askpass, direct, another ssh configuration", password, answering);
  test::expect_golden("ssh/argv.txt", text);
}

TEST(ControlName, DiffersWhereverTheConnectionDiffers) {
  std::set<std::string> names;
  const auto add = [&](const SshTarget& target, const std::vector<std::string>& program) {
    const std::string name = control_name(target, program);
    EXPECT_EQ(name.size(), 16u);
    EXPECT_EQ(name, control_name(target, program));
    EXPECT_TRUE(names.insert(name).second) << name;
  };
  SshTarget target = plain();
  add(target, {"ssh"});
  add(target, {"ssh", "-F", "x"});
  target.proxy_jump = "login-a";
  add(target, {"ssh"});
  target.proxy_jump = "login-b";
  add(target, {"ssh"});
  target.port = 22;
  add(target, {"ssh"});
  target.host = "la";
  target.user = "balice";
  add(target, {"ssh"});
  target.identity_file = "k";
  add(target, {"ssh"});
  target.auth = SshAuth::key;
  add(target, {"ssh"});
}

TEST(SplitWords, AsAShellWould) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(split_words("ssh -F '/a b/c'").value(), (Words{"ssh", "-F", "/a b/c"}));
  EXPECT_EQ(split_words("  a\\ b \"c \\\" d\" '' ").value(), (Words{"a b", "c \" d", ""}));
  EXPECT_EQ(split_words("").value(), Words{});
  EXPECT_EQ(split_words("a\"b\"c'd'").value(), Words{"abcd"});
  EXPECT_EQ(split_words("a 'b").error().kind, ErrorKind::invalid);
  EXPECT_EQ(split_words("a \"b").error().kind, ErrorKind::invalid);
}

struct Case {
  const char* said;
  SshFailure kind;
  const char* message;
};

TEST(JudgeSshFailure, WhatSshSays_BecomesASentenceWithTheNextStep) {
  const Case cases[] = {
      {"alice@lab: Permission denied (publickey,password).\r\n", SshFailure::auth,
       "lab refused the login (see why with: ssh alice@lab)"},
      {"Received disconnect from ::1: Too many authentication failures\n", SshFailure::auth,
       "lab refused the login (see why with: ssh alice@lab)"},
      {"No ED25519 host key is known for lab and you have requested strict checking.\r\n"
       "Host key verification failed.\r\n",
       SshFailure::host_key,
       "host key is not known yet (look at it and accept it with: ssh alice@lab)"},
      {"@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.\n",
       SshFailure::host_key,
       "host key changed (if that is right: ssh-keygen -R lab, then ssh alice@lab)"},
      {"REMOTE HOST IDENTIFICATION HAS CHANGED!\n  remove with:\r\n"
       "  ssh-keygen -f '/home/alice/.ssh/known_hosts' -R '10.0.0.12'\r\nmore\n",
       SshFailure::host_key,
       "host key changed (if that is right: ssh-keygen -f '/home/alice/.ssh/known_hosts' -R "
       "'10.0.0.12', then ssh alice@lab)"},
      {"ssh: Could not resolve hostname lab: Name or service not known\r\n",
       SshFailure::unreachable,
       "ssh: Could not resolve hostname lab: Name or service not known "
       "(check hostname and proxyjump)"},
      {"ssh: connect to host lab port 22: Connection refused\r\n", SshFailure::unreachable,
       "ssh: connect to host lab port 22: Connection refused (try: ssh alice@lab)"},
      {"Connection timed out during banner exchange\r\n", SshFailure::unreachable,
       "Connection timed out during banner exchange (try: ssh alice@lab)"},
      {"", SshFailure::unreachable, "the connection broke (try: ssh alice@lab)"},
      {"/etc/ssh/x line 3: Bad configuration option: foo\nx: terminating, 1 bad options\n",
       SshFailure::unreachable, "x: terminating, 1 bad options (mend your ssh configuration)"},
  };
  for (const Case& c : cases) {
    const SshVerdict verdict = judge_ssh_failure(plain(), "lab", 255, c.said);
    EXPECT_EQ(verdict.kind, c.kind) << c.said;
    EXPECT_EQ(base::to_text(verdict.error), c.message);
  }
}

TEST(JudgeSshFailure, OtherPort_IsNamedAsKnownHostsDoes) {
  SshTarget target = plain();
  target.port = 2222;
  const SshVerdict verdict = judge_ssh_failure(target, "lab", 255, "HAS CHANGED!");
  EXPECT_EQ(verdict.error.hint,
            "if that is right: ssh-keygen -R '[lab]:2222', then ssh -p 2222 alice@lab");
}

TEST(JudgeSshFailure, WhatRanThereFailed_IsNotAConnectionError) {
  const SshVerdict verdict = judge_ssh_failure(plain(), "lab", 127, "sh: not found\n");
  EXPECT_EQ(verdict.kind, SshFailure::command);
  EXPECT_EQ(verdict.error.message, "no collector runs on lab: exit status 127: sh: not found");
}

TEST(ByHand, WordsAreSafeToPaste) {
  SshTarget target = plain();
  target.identity_file = "/home/a b/$(touch x)'s";
  EXPECT_EQ(by_hand(target), "ssh -i '/home/a b/$(touch x)'\\''s' alice@lab");
}

}  // namespace
}  // namespace nvidb::io
