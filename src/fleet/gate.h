// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// Lets a bounded number through at once, by name; the rest waits in order. Pure; private to fleet/.
//
// Source: spec, "Connections": at most 6 handshakes at once through one jump host. Directly reached
// servers share one generous bound, so that hundreds of them do not start all ssh clients at once.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <string>

namespace nvidb::fleet {

inline constexpr std::size_t kMaxHandshakesPerJump = 6;
inline constexpr std::size_t kMaxHandshakesDirect = 32;

class Gate {
 public:
  using Ticket = std::uint64_t;

  // Calls `go` with the ticket when there is room: at once, before this returns, or from some later
  // leave(). "" is the way without a jump host.
  Ticket enter(const std::string& jump, std::function<void(Ticket)> go);
  // Gives the place back, also one that is still waited for. Idempotent.
  void leave(Ticket ticket);

 private:
  struct Waiting {
    Ticket ticket;
    std::function<void(Ticket)> go;
  };
  struct Way {
    std::size_t inside = 0;
    std::list<Waiting> waiting;
  };
  void let_in(const std::string& jump);

  std::map<std::string, Way> ways_;
  std::map<Ticket, std::string> inside_;
  Ticket last_ = 0;
};

}  // namespace nvidb::fleet
