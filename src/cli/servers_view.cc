// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "cli/servers_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/text.h"
#include "screen/ansi.h"
#include "screen/frame.h"

namespace nvidb::cli {
namespace {

using Json = nlohmann::ordered_json;
using Row = std::vector<std::string>;

constexpr int kGap = 2;
constexpr int kMinColumn = 4;
constexpr int kDefaultPort = 22;

Json or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

std::string gpus_text(const config::ServerConfig& server) {
  if (!server.gpus) return "all";
  return server.gpus->empty() ? "none" : fmt::format("{}", fmt::join(*server.gpus, ","));
}

Row to_row(const config::ServerConfig& server, bool detail) {
  const auto or_dash = [](const std::string& text) { return text.empty() ? "-" : text; };
  Row row = {config::identity(server),
             server.hostname,
             std::to_string(server.port),
             server.username,
             config::to_word(server.auth),
             or_dash(server.proxyjump),
             gpus_text(server)};
  if (detail) {
    row.push_back(or_dash(server.identityfile));
    row.push_back(server.password ? "stored" : "-");
  }
  return row;
}

// Natural widths; where they do not fit, the widest column gives way first.
std::vector<int> fit_columns(const std::vector<Row>& rows, int width) {
  std::vector<int> columns(rows.front().size(), 0);
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      columns[i] = std::max(columns[i], base::display_width(row[i]));
  }
  int over = std::accumulate(columns.begin(), columns.end(), 0) +
             kGap * static_cast<int>(columns.size() - 1) - width;
  for (; over > 0; --over) {
    const auto widest = std::ranges::max_element(columns);
    if (*widest <= kMinColumn) break;
    --*widest;
  }
  return columns;
}

}  // namespace

Json server_json(const config::ServerConfig& server) {
  return {{"name", config::identity(server)},
          {"hostname", server.hostname},
          {"port", server.port},
          {"username", server.username},
          {"nickname", or_null(server.nickname)},
          {"auth", config::to_word(server.auth)},
          {"identityfile", or_null(server.identityfile)},
          {"proxyjump", or_null(server.proxyjump)},
          {"gpus", server.gpus ? Json(*server.gpus) : Json(nullptr)},
          {"password_stored", server.password.has_value()}};
}

Json servers_json(const std::vector<config::ServerConfig>& servers) {
  Json list = Json::array();
  for (const config::ServerConfig& server : servers) list.push_back(server_json(server));
  return list;
}

std::string to_document(const Json& json) {
  const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  // Terminals obey DEL and C1 controls as well; in a document they can only stand within texts.
  std::string safe;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : '\0');
    if (byte == 0x7f) {
      safe += "\\u007f";
    } else if (byte == 0xc2 && next >= 0x80 && next <= 0x9f) {
      safe += fmt::format("\\u{:04x}", next);
      ++i;
    } else {
      safe += text[i];
    }
  }
  return safe;
}

std::string servers_table(const std::vector<config::ServerConfig>& servers, bool detail,
                          const Terminal& terminal) {
  if (servers.empty()) return "";
  std::vector<Row> rows = {{"NAME", "ADDRESS", "PORT", "USER", "AUTH", "PROXYJUMP", "GPUS"}};
  if (detail) rows.front().insert(rows.front().end(), {"IDENTITYFILE", "PASSWORD"});
  for (const config::ServerConfig& server : servers) {
    rows.push_back(to_row(server, detail));
    for (std::string& cell : rows.back()) cell = base::printable(cell);
  }
  const std::vector<int> columns = fit_columns(rows, terminal.width);
  screen::Frame frame(terminal.width, static_cast<int>(rows.size()));
  for (std::size_t y = 0; y < rows.size(); ++y) {
    const screen::Style style = {.bold = y == 0};
    int x = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      frame.put(x, static_cast<int>(y), base::cut(rows[y][i], columns[i], terminal.ascii), style);
      x += columns[i] + kGap;
    }
  }
  return screen::to_text(frame, terminal.depth) + "\n";
}

std::string how_reached(const config::ServerConfig& server) {
  std::string text = fmt::format("{}@{}", server.username, server.hostname);
  if (server.port != kDefaultPort) text += fmt::format(":{}", server.port);
  if (!server.proxyjump.empty() && server.proxyjump != "none") text += " via " + server.proxyjump;
  return text;
}

std::vector<std::string> password_warnings(const std::vector<config::ServerConfig>& servers,
                                           const std::string& path) {
  std::vector<std::string> warnings;
  for (const config::ServerConfig& server : servers) {
    if (!server.password) continue;
    warnings.push_back(fmt::format("{} holds the password of {} as plain text; prefer auth: key",
                                   path, config::identity(server)));
  }
  return warnings;
}

}  // namespace nvidb::cli
