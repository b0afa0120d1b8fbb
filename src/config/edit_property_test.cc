// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/result.h"
#include "config/edit_yaml.h"
#include "config/load_yaml.h"
#include "config/text_lines.h"
#include "config/yaml_tree.h"

namespace nvidb::config {
namespace {

// Layouts that people, other tools and this program leave behind. Servers are `u@HOST:22` or have
// nicknames.
const std::vector<std::string>& samples() {
  static const std::vector<std::string> all = {
      "",
      "# only a comment",
      "---\n# head\nbasic: {compact: true} # c1\n\n# c2\nview: # c3\n  # c4\n  mode: nodes # "
      "c5\n\n  # c6\n\nservers:\n# c7\n"
      "- hostname: a # c8\n  # c9\n  username: u\n# c10\n- username: u\n  hostname: b\n  own: {x: "
      "[1, 2]}\n\n# c11\nqueue:\n"
      "  keep_days: 3 # c12\n...\n",
      "servers:\n    -   hostname: a\n        username: u\n        nickname: \"it's # not a "
      "comment\"\n    # c1\n    -\n"
      "        hostname: b\n        username: u\n    # c2\n        # c3\nview: {mode: nodes, own: "
      "'x, y', mouse: true} # c4\n"
      "queue: # c5\n  notify:\n    command: |\n      # not a comment\n      cat\n",
      "servers: [{hostname: a, username: u}, # c1\n  {hostname: 'b', username: \"u\", nickname: "
      "'x], # y'}, # c2\n] # c3\nview:\n"
      "  own: |+\n    text\n\n\n  trends: false\n# c4\n",
      "own: &d {username: u, port: 22} # c1\nservers:\n- <<: *d\n  hostname: a\n- {<<: *d, "
      "hostname: b}\nview:\n  <<: {mouse: true}\n"
      "  sort: node\nother: *d\n",
      "view:\r\n  # c1\r\n  mode:\r\n    nodes\r\n  filter: ~\r\nservers: # c2\r\n  - hostname: "
      "a\r\n    username: u\r\n\r\n# c3",
      "\xef\xbb\xbf"
      "basic:\n  remote: yes # \xc3\xa4 c1\nservers: [] # c2\nview:\n\n# c3\nqueue: {backup: off}",
      "queue:\n  job_root: >-\n    a/b\n  # c1\n\n\n# c2\nservers: null # c3\nview: ~\n",
      "  view:\n    detailed: on\n  # c1\n  servers:\n  - hostname: a\n    username: u\n    "
      "password: \"two\\\n      lines\"\n  # c2\n",
  };
  return all;
}

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  bool coin() { return below(2) == 1; }
  unsigned below(unsigned count) {
    return std::uniform_int_distribution<unsigned>(0, count - 1)(engine_);
  }

 private:
  std::mt19937 engine_;
};

ViewSettings random_view(Dice& dice) {
  ViewSettings view;
  view.mode = dice.coin() ? ViewMode::nodes : ViewMode::unified;
  view.detailed = dice.coin();
  view.trends = dice.coin();
  view.sort = static_cast<ViewSort>(dice.below(3));
  view.filter = static_cast<ViewFilter>(dice.below(4));
  view.mouse = dice.coin();
  return view;
}

ServerConfig random_server(Dice& dice, int number) {
  const char* names[] = {"",     "n: ",   "yes", "#x",         "a, b]",
                         "it's", "\"q\"", "\\",  "plain name", "\xc3\xa4"};
  ServerConfig server;
  server.hostname = "new" + std::to_string(number);
  server.username = "u";
  const std::string name = names[dice.below(10)];
  if (!name.empty()) server.nickname = name + std::to_string(number);
  if (dice.coin()) server.proxyjump = "a,b@c:22";
  if (dice.coin()) server.gpus = {0, 2};
  return server;
}

// Whole-line and trailing comments by the mark `cN` at their end, in order.
std::vector<std::string> comments(const std::string& text) {
  std::vector<std::string> found;
  const TextLines lines(text);
  for (int i = 1; i <= lines.count(); ++i) {
    const std::string_view line = lines.line(i);
    const std::size_t at = line.find_last_of('c');
    const bool is_mark = at != std::string_view::npos && at > 0 && line[at - 1] == ' ' &&
                         at + 1 < line.size() && line[at + 1] >= '0' && line[at + 1] <= '9';
    if (is_mark) found.emplace_back(line.substr(at));
  }
  return found;
}

std::vector<std::pair<std::string, std::uint64_t>> others(const std::string& text,
                                                          std::string_view section) {
  std::vector<std::pair<std::string, std::uint64_t>> all;
  const auto root = parse_yaml(text, "x");
  EXPECT_TRUE(root);
  for (const YamlEntry& entry : root->node->entries) {
    if (entry.key != section) all.emplace_back(entry.key, entry.value.node->fingerprint);
  }
  return all;
}

Config config_of(const std::string& text) {
  auto loaded = parse_config({"config.yml", text, 0600});
  EXPECT_TRUE(loaded) << text << loaded.error().message;
  return loaded ? loaded->config : Config{};
}

TEST(EditProperty, RandomChains_KeepCommentsAndEverythingElse) {
  int done = 0, refused = 0;
  for (unsigned seed = 0; seed < 8; ++seed) {
    Dice dice(seed);
    for (std::string text : samples()) {
      const std::vector<std::string> all_comments = comments(text);
      for (int step = 0; step < 6; ++step) {
        const Config before = config_of(text);
        Config wanted = before;
        base::Result<std::string> after = base::fail({});
        std::string_view section = "servers";
        const unsigned kind = dice.below(3);
        if (kind == 0) {
          section = "view";
          wanted.view = random_view(dice);
          after = set_view(text, "config.yml", wanted.view);
        } else if (kind == 1 || before.servers.empty()) {
          wanted.servers.push_back(random_server(dice, step));
          after = append_servers(text, "config.yml", {wanted.servers.back()});
          if (!after && after.error().message.find("already") != std::string::npos) continue;
        } else {
          // The sample's own servers stay, so that no comment may go.
          const auto own = [](const ServerConfig& server) { return server.hostname.size() == 1; };
          if (std::all_of(before.servers.begin(), before.servers.end(), own)) continue;
          const auto cut = std::find_if_not(wanted.servers.begin(), wanted.servers.end(), own);
          after = cut_servers(text, "config.yml", {identity(*cut)});
          wanted.servers.erase(cut);
        }
        if (!after) {
          EXPECT_EQ(after.error().kind, base::ErrorKind::conflict) << after.error().message;
          ++refused;
          continue;
        }
        ++done;
        EXPECT_EQ(config_of(*after), wanted) << "seed " << seed << "\n"
                                             << text << "\n->\n"
                                             << *after;
        EXPECT_EQ(others(text, section), others(*after, section));
        EXPECT_EQ(comments(*after), all_comments) << text << "\n->\n" << *after;
        text = *after;
        if (HasFailure()) return;
      }
    }
  }
  // Refusals are allowed, but must stay rare.
  EXPECT_LT(refused * 20, done) << refused << " of " << done;
}

TEST(EditProperty, CuttingOwnServers_KeepsCommentsBetweenItems) {
  for (const std::string& text : samples()) {
    for (const ServerConfig& server : config_of(text).servers) {
      const auto after = cut_servers(text, "config.yml", {identity(server)});
      if (!after) continue;
      EXPECT_EQ(config_of(*after).servers.size() + 1, config_of(text).servers.size());
      EXPECT_EQ(others(text, "servers"), others(*after, "servers"));
      // Only the comments inside the item may go: c8 and c9 of the first sample, c3 of the second.
      std::vector<std::string> left = comments(*after);
      for (const std::string& comment : comments(text)) {
        const bool may_go = comment == "c8" || comment == "c9" || comment == "c3";
        if (may_go) continue;
        EXPECT_THAT(left, testing::Contains(comment)) << text << "\n->\n" << *after;
      }
    }
  }
}

}  // namespace
}  // namespace nvidb::config
