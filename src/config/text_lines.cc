// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "config/text_lines.h"

#include <algorithm>

#include "base/check.h"

namespace nvidb::config {
namespace {

constexpr std::size_t kNowhere = std::string_view::npos;

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

}  // namespace

TextLines::TextLines(std::string_view text) : text_(text), newline_("\n") {
  std::size_t start = 0;
  while (start < text.size()) {
    starts_.push_back(start);
    const std::size_t end = text.find('\n', start);
    if (end == kNowhere) break;
    if (starts_.size() == 1 && end > start && text[end - 1] == '\r') newline_ = "\r\n";
    start = end + 1;
  }
}

std::size_t TextLines::start(int number) const {
  CHECK(number >= 1);
  const auto index = static_cast<std::size_t>(number - 1);
  return index < starts_.size() ? starts_[index] : text_.size();
}

std::string_view TextLines::line(int number) const {
  std::string_view one = text_.substr(start(number), start(number + 1) - start(number));
  if (one.ends_with('\n')) one.remove_suffix(1);
  if (one.ends_with('\r')) one.remove_suffix(1);
  return one;
}

bool TextLines::is_blank(int number) const {
  return line(number).find_first_not_of(" \t") == kNowhere;
}

bool TextLines::is_comment(int number) const {
  const std::string_view one = line(number);
  const std::size_t first = one.find_first_not_of(" \t");
  return first != kNowhere && one[first] == '#';
}

int TextLines::indent(int number) const {
  const std::string_view one = line(number);
  return static_cast<int>(std::min(one.find_first_not_of(' '), one.size()));
}

void Splices::replace(std::size_t begin, std::size_t end, std::string with) {
  splices_.push_back({begin, end, std::move(with)});
}

void Splices::insert_lines_after(int number, const std::vector<std::string>& lines) {
  const std::size_t at = lines_.start(number + 1);
  const bool needs_break = at == lines_.text().size() && at > 0 && lines_.text()[at - 1] != '\n';
  std::string what = needs_break ? lines_.newline() : "";
  for (const std::string& line : lines) what += line + lines_.newline();
  insert(at, std::move(what));
}

void Splices::remove_lines(int first, int last) {
  replace(lines_.start(first), lines_.start(last + 1), "");
}

std::optional<std::string> Splices::apply() const {
  std::vector<Splice> ordered = splices_;
  std::stable_sort(ordered.begin(), ordered.end(), [](const Splice& a, const Splice& b) {
    // A paste comes before a cut that begins at the same place.
    return a.begin != b.begin ? a.begin < b.begin : a.end == a.begin && b.end != b.begin;
  });
  const std::string_view text = lines_.text();
  std::string result;
  std::size_t at = 0;
  for (const Splice& splice : ordered) {
    if (splice.begin < at || splice.end < splice.begin || splice.end > text.size()) return {};
    result += text.substr(at, splice.begin - at);
    result += splice.with;
    at = splice.end;
  }
  result += text.substr(at);
  return result;
}

std::size_t quoted_end(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      if (quote == '"' || i + 1 >= text.size() || text[i + 1] != quote) return i + 1;
      ++i;  // '' inside '...'
    }
  }
  return kNowhere;
}

std::optional<std::size_t> token_end(std::string_view text, std::size_t at,
                                     std::string_view plain) {
  if (at >= text.size()) return {};
  std::size_t end = kNowhere;
  if (text[at] == '"' || text[at] == '\'') {
    end = quoted_end(text, at);
  } else if (text[at] == '*') {
    end = std::min(text.find_first_of(" \t\r\n,]}", at), text.size());
  } else if (!plain.empty() && text.substr(at, plain.size()) == plain) {
    end = at + plain.size();
  }
  if (end == kNowhere || text.substr(at, end - at).find('\n') != kNowhere) return {};
  return end;
}

std::optional<FlowList> scan_flow_list(std::string_view text, std::size_t open) {
  FlowList list;
  std::size_t begin = kNowhere, end = kNowhere;  // of the item being read
  const auto finish_item = [&] {
    if (begin != kNowhere) list.items.push_back({begin, end});
    begin = end = kNowhere;
  };
  int depth = 1;
  for (std::size_t i = open + 1; i < text.size(); ++i) {
    const char c = text[i];
    const char before = text[i - 1];
    if (is_space(c)) continue;
    if (c == '#' && is_space(before)) {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (depth == 1 && (c == ',' || c == ']')) {
      const bool has_item = begin != kNowhere;
      finish_item();
      if (c == ']') return list;
      if (!has_item) return {};
      list.commas.push_back(i);
      continue;
    }
    if (begin == kNowhere) begin = i;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    // A quote inside a word, as in it's, is no quote.
    const bool starts_word =
        is_space(before) || std::string_view("[]{},:").find(before) != kNowhere;
    if ((c == '"' || c == '\'') && starts_word) {
      const std::size_t after = quoted_end(text, i);
      if (after == kNowhere) return {};
      i = after - 1;
    }
    end = i + 1;
  }
  return {};
}

}  // namespace nvidb::config
