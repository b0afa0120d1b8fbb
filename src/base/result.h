// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// How a function says that it could not do what was asked.
//
// Expected trouble (host down, bad input, job gone) is a value: Result<T> holds a T or an Error.
// Absence (a metric that a card does not have) is std::optional. A broken promise of our own is
// CHECK (check.h). Exceptions of libraries are caught where the library is called; none crosses a
// room's door.
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace nvidb::base {

// What callers branch on; cli/exit_code.h maps it to an exit code.
enum class ErrorKind {
  not_found,    // the named thing does not exist
  invalid,      // the words of the user or of a file are wrong
  conflict,     // the thing is in a state that forbids this
  busy,         // somebody else is doing it; the same call may work later
  unreachable,  // a host did not answer at all
  timeout,      // a deadline of ours passed
  refused,      // permission, authentication, host key
  protocol,     // the other side answered in words we do not understand
  io,           // the operating system said no
  unsupported,  // this machine, driver or version cannot do it
};

// message names the thing and the value, one sentence, lower case, no trailing period; hint, if
// any, says what to type next. Neither ever holds a secret.
struct Error {
  ErrorKind kind = ErrorKind::io;
  std::string message;
  std::string hint;

  bool operator==(const Error&) const = default;
};

// A T or an Error; use as tl::expected, but dropping one is a warning.
template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
  Result(tl::expected<T, Error> other) : tl::expected<T, Error>(std::move(other)) {}
};

// The error side of any Result<T>.
inline tl::unexpected<Error> fail(ErrorKind kind, std::string message, std::string hint = {}) {
  return tl::unexpected<Error>(Error{kind, std::move(message), std::move(hint)});
}
inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

// `message (hint)`, or message alone where there is no hint: what people are shown.
std::string to_text(const Error& error);

}  // namespace nvidb::base
