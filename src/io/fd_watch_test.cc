// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "io/fd_watch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <string>

#include "io/fd.h"

namespace nvidb::io {
namespace {

// Two ends of a connection, blocking. A test that waits for what does not come ends by its limit.
struct Ends {
  Ends() : limit(loop) {
    int both[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both) != 0) ::abort();
    ours = Fd(both[0]);
    theirs = Fd(both[1]);
    limit.set(10'000, [this] {
      ADD_FAILURE() << "nothing came";
      loop.stop();
    });
  }

  void send(const std::string& text) {
    ASSERT_EQ(::write(theirs.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  std::string receive(std::size_t most) {
    std::string text(most, '\0');
    const ssize_t count = ::read(ours.get(), text.data(), most);
    text.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
    return text;
  }

  Loop loop;
  Timer limit;
  Fd ours, theirs;
};

TEST(FdWatch, EachTimeSomethingCame_CallsBack) {
  Ends ends;
  FdWatch watch(ends.loop, ends.ours.get());
  std::string seen;
  watch.on_readable([&] {
    seen += ends.receive(100) + "|";
    if (seen == "one|two|") return ends.loop.stop();
    ends.send("two");
  });
  ends.send("one");
  ends.loop.run();
  EXPECT_EQ(seen, "one|two|");
}

TEST(FdWatch, PartThatWasNotRead_CallsBackAgain) {
  Ends ends;
  FdWatch watch(ends.loop, ends.ours.get());
  std::string seen;
  watch.on_readable([&] {
    seen += ends.receive(1);
    if (seen.size() == 3) ends.loop.stop();
  });
  ends.send("abc");
  ends.loop.run();
  EXPECT_EQ(seen, "abc");
}

TEST(FdWatch, End_IsReadable) {
  Ends ends;
  FdWatch watch(ends.loop, ends.ours.get());
  watch.on_readable([&] {
    EXPECT_EQ(ends.receive(1), "");
    ends.loop.stop();
  });
  ends.theirs.reset();
  ends.loop.run();
}

TEST(FdWatch, Writable_CallsBackOnceAndOnlyWhenThereIsRoom) {
  Ends ends;
  ASSERT_EQ(::fcntl(ends.ours.get(), F_SETFL, O_NONBLOCK), 0);
  const std::string block(4096, 'x');
  while (::write(ends.ours.get(), block.data(), block.size()) > 0) {
  }
  FdWatch watch(ends.loop, ends.ours.get());
  int calls = 0;
  bool made_room = false;
  watch.once_writable([&] {
    ++calls;
    EXPECT_TRUE(made_room);
    ends.loop.post([&] { ends.loop.post([&] { ends.loop.stop(); }); });
  });
  ends.loop.post([&] {
    made_room = true;
    std::array<char, 65536> some;
    ::fcntl(ends.theirs.get(), F_SETFL, O_NONBLOCK);
    while (::read(ends.theirs.get(), some.data(), some.size()) > 0) {
    }
  });
  ends.loop.run();
  EXPECT_EQ(calls, 1);
}

TEST(FdWatch, DestroyedByItsCallback_IsFine) {
  Ends ends;
  std::optional<FdWatch> watch(std::in_place, ends.loop, ends.ours.get());
  int calls = 0;
  watch->on_readable([&] {
    ++calls;
    watch.reset();
    ends.limit.cancel();  // nothing is left to wait for
  });
  ends.send("unread");
  ends.loop.run();
  EXPECT_EQ(calls, 1);
}

TEST(FdWatch, Gone_NeverCallsBackAndLeavesTheDescriptorAsItWas) {
  Ends ends;
  const int flags = ::fcntl(ends.ours.get(), F_GETFL);
  {
    FdWatch watch(ends.loop, ends.ours.get());
    watch.on_readable([] { ADD_FAILURE() << "called back"; });
    watch.once_writable([] { ADD_FAILURE() << "called back"; });
    ends.send("x");
  }
  ends.limit.cancel();
  ends.loop.run();
  EXPECT_EQ(::fcntl(ends.ours.get(), F_GETFL), flags);
  EXPECT_EQ(ends.receive(1), "x");
  // It can be watched again.
  FdWatch again(ends.loop, ends.ours.get());
  again.once_writable([&] { ends.loop.stop(); });
  ends.loop.run();
}

TEST(FdWatch, CallbackThatSetsAnother_IsFollowedByThatOne) {
  Ends ends;
  FdWatch watch(ends.loop, ends.ours.get());
  std::string seen;
  watch.on_readable([&] {
    seen += "first ";
    watch.on_readable([&] {
      seen += "second";
      ends.loop.stop();
    });
  });
  ends.send("x");
  ends.loop.run();
  EXPECT_EQ(seen, "first second");
}

}  // namespace
}  // namespace nvidb::io
