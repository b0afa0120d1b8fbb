// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "io/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nvidb::io {
namespace {

using base::ErrorKind;

TEST(ReadFile, ProcFile_IsReadThoughItClaimsToBeEmpty) {
  const auto text = read_file("/proc/self/stat", 100000);
  ASSERT_TRUE(text);
  EXPECT_FALSE(text->empty());
}

TEST(ReadFile, MissingTooLargeAndFolder_AreErrors) {
  EXPECT_EQ(read_file("/no/such/file", 10).error().kind, ErrorKind::not_found);
  EXPECT_EQ(read_file("/proc/self/stat", 3).error().kind, ErrorKind::invalid);
  EXPECT_EQ(read_file("/proc", 10).error().kind, ErrorKind::io);
}

TEST(ReadFile, PipeOrDevice_IsRefusedAndNotWaitedFor) {
  std::string folder = testing::TempDir() + "nvidb_files_XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string pipe = folder + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(read_file(pipe, 10).error().message, pipe + " is not a file");
  EXPECT_EQ(read_file("/dev/zero", 10).error().kind, ErrorKind::invalid);
  ::unlink(pipe.c_str());
  ::rmdir(folder.c_str());
}

TEST(WriteAll, ReaderGone_IsConflict) {
  ::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  EXPECT_EQ(write_all(ends[1], "x").error().kind, ErrorKind::conflict);
  ::close(ends[1]);
}

TEST(WriteAll, FullDevice_SaysSo) {
  const int full = ::open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  const auto written = write_all(full, "x");
  ::close(full);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::io);
  EXPECT_EQ(written.error().message, "No space left on device");
}

}  // namespace
}  // namespace nvidb::io
