// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
// `nvidb --once --csv`: a row a card, under the names of the JSON keys.
#include "base/text.h"
#include "model/gpu_columns.h"
#include "model/json.h"
#include "model/json_writer.h"

namespace nvidb::model {
namespace {

class Row {
 public:
  void cell(std::string_view text) {
    if (!first_) line_ += ',';
    first_ = false;
    // A table may be looked at on a terminal, so no cell keeps what a terminal would obey.
    const std::string safe = base::printable(text);
    if (safe.find_first_of(",\"") == std::string::npos) {
      line_ += safe;
      return;
    }
    line_ += '"';
    for (const char c : safe) {
      if (c == '"') line_ += '"';
      line_ += c;
    }
    line_ += '"';
  }
  std::string take() { return std::move(line_) + '\n'; }

 private:
  std::string line_;
  bool first_ = true;
};

class Header {
 public:
  explicit Header(Row& row) : row_(row) {}
  void column(std::string_view key, const auto&) { row_.cell(prefix_ + std::string(key)); }
  void open(std::string_view key) { prefix_ = std::string(key) + "."; }
  void close() { prefix_.clear(); }

 private:
  Row& row_;
  std::string prefix_;
};

class Values {
 public:
  explicit Values(Row& row) : row_(row) {}
  template <class Value>
  void column(std::string_view, const std::optional<Value>& value) {
    row_.cell(value ? to_cell(*value) : std::string{});
  }
  void column(std::string_view, const std::vector<std::string>& words) {
    std::string joined;
    for (const std::string& word : words) {
      if (!joined.empty()) joined += ' ';
      joined += word;
    }
    row_.cell(joined);
  }
  void open(std::string_view) {}
  void close() {}

 private:
  static std::string to_cell(const std::string& value) { return value; }
  static std::string to_cell(bool value) { return value ? "true" : "false"; }
  static std::string to_cell(std::int64_t value) { return std::to_string(value); }
  static std::string to_cell(double value) {
    if (!JsonWriter::is_writable(value)) return {};
    JsonWriter number(JsonWriter::Style::compact);
    number.decimal(value);
    return number.take();
  }

  Row& row_;
};

}  // namespace

std::string fleet_csv(const FleetSnapshot& fleet) {
  Row header;
  header.cell("node");
  Header names(header);
  gpu_columns(names, Gpu{});
  header.cell("processes");
  std::string table = header.take();

  for (const Node& node : fleet.nodes) {
    for (const Gpu& gpu : node.gpus) {
      Row row;
      row.cell(node.name);
      Values values(row);
      gpu_columns(values, gpu);
      row.cell(std::to_string(gpu.reading.processes.size()));
      table += row.take();
    }
  }
  return table;
}

}  // namespace nvidb::model
