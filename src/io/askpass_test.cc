// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "io/askpass.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/child.h"

namespace nvidb::io {
namespace {

TEST(MayAnswer, OnlyThePasswordOfThatUserAndHost) {
  const char* users = "alice@lab alice@10.0.0.12";
  EXPECT_TRUE(may_answer("alice@lab's password: ", users));
  EXPECT_TRUE(may_answer("alice@10.0.0.12's password: ", users));
  EXPECT_TRUE(may_answer("(alice@lab) Password: ", users));
  for (const char* prompt : {
           "alice@login's password: ",  // a jump host
           "(alice@login) Password: ",
           "bob@lab's password: ",
           "malice@lab's password: ",
           "Enter passphrase for key '/home/alice/.ssh/id': ",
           "alice@lab's new password: x",
           "Are you sure you want to continue connecting (yes/no/[fingerprint])? ",
           "(alice@lab) One-time code: ",
           "password:",
           "",
       }) {
    EXPECT_FALSE(may_answer(prompt, users)) << prompt;
  }
  EXPECT_FALSE(may_answer("alice@lab's password: ", ""));
  EXPECT_FALSE(may_answer("'s password: ", " "));
}

class AskpassServerTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "nvidb_askpass_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { ::rmdir(folder_.c_str()); }

  std::string folder_;
};

TEST_F(AskpassServerTest, HandsOutTheSecretAndLeavesNothing) {
  Loop loop;
  auto server = AskpassServer::start(loop, folder_, "s3cret wörd");
  ASSERT_TRUE(server);
  const auto environment = (*server)->environment("/usr/bin/nvidb", {"alice@lab"});
  std::string path;
  for (const auto& [name, value] : environment) {
    EXPECT_EQ(value.find("s3cret"), std::string::npos);
    if (name == kAskpassSocketVariable) path = value;
  }
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);

  std::string got;
  const ChildSpec helper = {.program = "python3",
                            .argv = {"python3", "-c",
                                     "import socket,sys\n"
                                     "s = socket.socket(socket.AF_UNIX)\n"
                                     "s.connect(sys.argv[1])\n"
                                     "sys.stdout.buffer.write(s.makefile('rb').read())\n",
                                     path},
                            .env = {},
                            .unset_env = {}};
  auto child = Child::start(loop, helper,
                            {.on_stdout = [&](std::string_view bytes) { got += bytes; },
                             .on_stderr = {},
                             .on_exit = [&](ExitStatus) { loop.stop(); }});
  ASSERT_TRUE(child);
  loop.run();
  EXPECT_EQ(got, "s3cret wörd");
  server->reset();
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
}

TEST(AskpassMain, RefusesWithoutAServerOrForOtherQuestions) {
  EXPECT_EQ(askpass_main("alice@lab's password: ", "/no/such/socket", "alice@lab"), 1);
  EXPECT_EQ(askpass_main("alice@lab's password: ", std::string(500, 'x'), "alice@lab"), 1);
  EXPECT_EQ(askpass_main("yes/no?", "/no/such/socket", "alice@lab"), 1);
}

}  // namespace
}  // namespace nvidb::io
