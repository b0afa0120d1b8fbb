// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "fleet/gate.h"

#include <gtest/gtest.h>

#include <vector>

namespace nvidb::fleet {
namespace {

TEST(Gate, SeventhThroughOneJumpHost_WaitsForTheFirstToLeave) {
  Gate gate;
  std::vector<int> in;
  std::vector<Gate::Ticket> tickets;
  for (int i = 0; i < 9; ++i)
    tickets.push_back(gate.enter("login", [&in, i](Gate::Ticket) { in.push_back(i); }));
  EXPECT_EQ(in, (std::vector<int>{0, 1, 2, 3, 4, 5}));
  gate.leave(tickets[2]);
  EXPECT_EQ(in.back(), 6);
  gate.leave(tickets[7]);  // gave up waiting
  gate.leave(tickets[0]);
  EXPECT_EQ(in.back(), 8);
}

TEST(Gate, OtherWays_DoNotWait) {
  Gate gate;
  for (int i = 0; i < 7; ++i) gate.enter("login", [](Gate::Ticket) {});
  bool in = false;
  gate.enter("other", [&](Gate::Ticket) { in = true; });
  EXPECT_TRUE(in);
}

TEST(Gate, LeavingTwice_FreesOnePlace) {
  Gate gate;
  std::vector<Gate::Ticket> tickets;
  int in = 0;
  for (int i = 0; i < 8; ++i) tickets.push_back(gate.enter("login", [&](Gate::Ticket) { ++in; }));
  gate.leave(tickets[0]);
  gate.leave(tickets[0]);
  EXPECT_EQ(in, 7);
}

TEST(Gate, LeavingFromWithinGo_LetsTheNextIn) {
  Gate gate;
  int in = 0;
  std::vector<Gate::Ticket> first(6);
  for (auto& ticket : first) ticket = gate.enter("login", [](Gate::Ticket) {});
  gate.enter("login", [&](Gate::Ticket ticket) {
    ++in;
    gate.leave(ticket);
  });
  gate.enter("login", [&](Gate::Ticket) { ++in; });
  gate.leave(first[0]);
  EXPECT_EQ(in, 2);
}

}  // namespace
}  // namespace nvidb::fleet
