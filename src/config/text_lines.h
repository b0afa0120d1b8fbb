// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// A YAML text by lines and the cuts and pastes to make in it. Private to the room. Pure.
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nvidb::config {

// Lines are numbered from 1, as the parser does. The text must outlive this.
class TextLines {
 public:
  explicit TextLines(std::string_view text);

  std::string_view text() const { return text_; }
  int count() const { return static_cast<int>(starts_.size()); }
  // Without its line break.
  std::string_view line(int number) const;
  // Of the first byte; for count() + 1 the end of the text.
  std::size_t start(int number) const;
  std::size_t offset(int number, int column) const {
    return start(number) + static_cast<std::size_t>(column);
  }
  // "\r\n" where the first line ends so.
  const std::string& newline() const { return newline_; }

  bool is_blank(int number) const;
  bool is_comment(int number) const;
  int indent(int number) const;  // leading spaces

 private:
  std::string_view text_;
  std::vector<std::size_t> starts_;
  std::string newline_;
};

// Changes of one text, given in offsets of the original; they must not overlap. Of pastes at one
// place the first stays first.
class Splices {
 public:
  explicit Splices(const TextLines& lines) : lines_(lines) {}

  void replace(std::size_t begin, std::size_t end, std::string with);
  void insert(std::size_t at, std::string what) { replace(at, at, std::move(what)); }
  // Whole lines after line `number` (0: at the top); adds the line break that the last line of a
  // file may lack.
  void insert_lines_after(int number, const std::vector<std::string>& lines);
  void remove_lines(int first, int last);

  // Absent where changes overlap.
  std::optional<std::string> apply() const;

 private:
  struct Splice {
    std::size_t begin, end;
    std::string with;
  };
  const TextLines& lines_;
  std::vector<Splice> splices_;
};

// The offset behind the quoted word that begins at `at`; npos where its quote is never closed.
std::size_t quoted_end(std::string_view text, std::size_t at);

// Where the token at `at` ends: a word in quotes, an alias or exactly `plain`. Absent where it is
// anything else or goes on in another line.
std::optional<std::size_t> token_end(std::string_view text, std::size_t at, std::string_view plain);

// The parts of the flow list whose `[` stands at `open`, by position.
struct FlowList {
  struct Item {
    std::size_t begin, end;  // without surrounding space and comments
  };
  std::vector<Item> items;
  std::vector<std::size_t> commas;  // commas[i] follows items[i]; one fewer than items, or as many
};
// Absent where the closing bracket is not found.
std::optional<FlowList> scan_flow_list(std::string_view text, std::size_t open);

}  // namespace nvidb::config
