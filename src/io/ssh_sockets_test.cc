// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "io/ssh_sockets.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "io/child.h"
#include "io/fd.h"

namespace nvidb::io {
namespace {

Fd listen_at(const std::string& path) {
  Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::listen(socket.get(), 4), 0);
  return socket;
}

bool exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

class SshSocketsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = "/tmp/nvidb_s_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    home_ = pattern;
  }
  void TearDown() override {
    (void)run_command({.program = "rm", .argv = {"rm", "-rf", home_}, .env = {}, .unset_env = {}},
                      5000, 1000);
  }
  std::string home_;
};

TEST_F(SshSocketsTest, FolderIsMadePrivate) {
  const auto folder = open_control_dir(home_ + "/new", "");
  ASSERT_TRUE(folder);
  EXPECT_EQ(*folder, home_ + "/new/ssh");
  struct stat status {};
  ASSERT_EQ(::stat(folder->c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(SshSocketsTest, OpenFolder_IsMadePrivateAgain) {
  ASSERT_EQ(::mkdir((home_ + "/ssh").c_str(), 0777), 0);
  ASSERT_EQ(::chmod((home_ + "/ssh").c_str(), 0777), 0);
  ASSERT_TRUE(open_control_dir(home_, ""));
  struct stat status {};
  ASSERT_EQ(::stat((home_ + "/ssh").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(SshSocketsTest, LinkOrFileInItsPlace_IsRefused) {
  ASSERT_EQ(::symlink("/tmp", (home_ + "/ssh").c_str()), 0);
  const auto linked = open_control_dir(home_, "");
  ASSERT_FALSE(linked);
  EXPECT_EQ(linked.error().kind, base::ErrorKind::refused);
  ASSERT_EQ(::unlink((home_ + "/ssh").c_str()), 0);
  ::close(::open((home_ + "/ssh").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  EXPECT_FALSE(open_control_dir(home_, ""));
}

TEST_F(SshSocketsTest, LongHome_GetsAShortFolderElsewhere) {
  const std::string home = home_ + "/" + std::string(100, 'x');
  const auto first = open_control_dir(home, home_);
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->starts_with(home_ + "/nvidb-"));
  EXPECT_LE(first->size() + 1 + kControlNameSize, kMaxControlPath);
  const auto other = open_control_dir(home + "y", home_);
  ASSERT_TRUE(other);
  EXPECT_NE(*first, *other);
  const auto no_runtime_dir = open_control_dir(home, "");
  ASSERT_TRUE(no_runtime_dir);
  EXPECT_TRUE(no_runtime_dir->starts_with("/tmp/nvidb-"));
  ::rmdir(no_runtime_dir->c_str());
}

TEST_F(SshSocketsTest, HomeThatSshWouldReadOtherwise_GetsAPlainFolderElsewhere) {
  for (const char* name : {"a b", "a\tb", "a\"b", "a'b", "a%hb", "a${HOME}", "a\\b"}) {
    const auto folder = open_control_dir(home_ + "/" + name, home_);
    ASSERT_TRUE(folder) << name;
    EXPECT_TRUE(folder->starts_with(home_ + "/nvidb-")) << *folder;
  }
  for (const char* name : {"a#b", "ä~b", "a,b"}) {
    EXPECT_EQ(*open_control_dir(home_ + "/" + name, home_), home_ + "/" + name + "/ssh");
  }
}

TEST_F(SshSocketsTest, DeadSocketsGo_LiveOnesAndOtherFilesStay) {
  const std::string folder = *open_control_dir(home_, "");
  const std::string dead = folder + "/0123456789abcdef", live = folder + "/fedcba9876543210";
  const std::string file = folder + "/not-a-socket-at-all";
  listen_at(dead);  // closed at once
  const std::string dead_askpass = folder + "/ask-1-1";
  listen_at(dead_askpass);
  const Fd open = listen_at(live);
  ::close(::open(file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  EXPECT_FALSE(has_master(dead));
  EXPECT_TRUE(has_master(live));
  ASSERT_TRUE(open_control_dir(home_, ""));
  EXPECT_FALSE(exists(dead));
  EXPECT_FALSE(exists(dead_askpass));
  EXPECT_TRUE(exists(live));
  EXPECT_TRUE(exists(file));
}

TEST_F(SshSocketsTest, KillMaster_KillsOnlyTheOneThatServesThePath) {
  Loop loop;
  const std::string path = home_ + "/0123456789abcdef";
  const auto start = [&](const std::string& name, int& signal) {
    return *Child::start(loop,
                         {.program = "sleep", .argv = {name, "100"}, .env = {}, .unset_env = {}},
                         {.on_stdout = {}, .on_stderr = {}, .on_exit = [&](ExitStatus status) {
                            signal = status.signal;
                          }});
  };
  int master_signal = 0, other_signal = 0;
  // Named as a master names itself.
  auto master = start("ssh: " + path + " [mux]", master_signal);
  auto other = start("ssh: " + path + "0 [mux]", other_signal);
  // exec() has happened once argv[0] is the new one.
  const auto named = [](int pid, const std::string& name) {
    for (int i = 0; i < 2000; ++i) {
      const auto args = run_command({.program = "cat",
                                     .argv = {"cat", "/proc/" + std::to_string(pid) + "/cmdline"},
                                     .env = {},
                                     .unset_env = {}},
                                    5000, 10000);
      if (args && args->out.starts_with(name)) return true;
    }
    return false;
  };
  ASSERT_TRUE(named(master->pid(), "ssh: " + path + " [mux]"));
  ASSERT_TRUE(named(other->pid(), "ssh: " + path + "0 [mux]"));
  kill_master(path);
  Timer stop(loop);
  std::function<void()> look = [&] {
    if (master_signal != 0) return loop.stop();
    stop.set(5, look);
  };
  look();
  if (master_signal == 0) loop.run();
  EXPECT_EQ(master_signal, 9);
  EXPECT_EQ(other_signal, 0);
}

}  // namespace
}  // namespace nvidb::io
