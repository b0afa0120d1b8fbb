// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "config/load_yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/result.h"

namespace nvidb::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

base::Result<LoadedConfig> load(const std::string& text, unsigned mode = 0600) {
  return parse_config({"config.yml", text, mode});
}

base::Result<LoadedConfig> load_both(const std::string& config_yml, const std::string& queue_yml) {
  return parse_queue_config({"config.yml", config_yml}, {"queue.yml", queue_yml});
}

// One server with `lines` added, each indented by the caller to nothing.
std::string server_with(const std::string& line) {
  return "servers:\n  - hostname: gpu1\n    username: alice\n    " + line + "\n";
}

TEST(Config, EmptyCommentOnlyAndNullFiles_GiveDefaults) {
  for (const char* text :
       {"", "\n\n", "# nothing\n", "---\n", "~\n", "\xef\xbb\xbf", "\xef\xbb\xbf# mark\r\n"}) {
    const auto loaded = load(text);
    ASSERT_TRUE(loaded) << text << ": " << loaded.error().message;
    EXPECT_EQ(loaded->config, Config{}) << text;
    EXPECT_THAT(loaded->warnings, IsEmpty()) << text;
  }
}

TEST(Config, Defaults_AreThoseOfTheDocumentation) {
  const Config config;
  EXPECT_FALSE(config.basic.compact || config.basic.remote);
  EXPECT_EQ(config.view.mode, ViewMode::nodes);
  EXPECT_FALSE(config.view.detailed || config.view.processes || config.view.trends);
  EXPECT_EQ(config.view.sort, ViewSort::node);
  EXPECT_EQ(config.view.filter, ViewFilter::all);
  EXPECT_TRUE(config.view.group_by_node && config.view.hide_unsupported && config.view.mouse);
  const QueueSettings& queue = config.queue;
  EXPECT_EQ(queue.headroom_mb, 512);
  EXPECT_EQ(queue.max_jobs_per_gpu, 4);
  EXPECT_EQ(queue.max_cpu_jobs_per_node, 4);
  EXPECT_EQ(queue.placement, Placement::spread);
  EXPECT_EQ(queue.default_vram_mb, 0);
  EXPECT_EQ(queue.tick_min_interval_ms, 3'000);
  EXPECT_EQ(queue.lock_ttl_ms, 180'000);
  EXPECT_EQ(queue.probe_timeout_ms, 25'000);
  EXPECT_EQ(queue.launch_timeout_ms, 60'000);
  EXPECT_EQ(queue.job_root, ".nvidb/jobs");
  EXPECT_EQ(queue.starvation_after_ms, 3'600'000);
  EXPECT_EQ(queue.keep_days, 0);
  EXPECT_EQ(queue.cuda_devices, CudaDevices::index);
  EXPECT_FALSE(queue.include_local);
  EXPECT_EQ(queue.local_node_name, "local");
  EXPECT_FALSE(queue.backup.enabled);
  EXPECT_EQ(queue.backup.interval_hours, 24);
  EXPECT_EQ(queue.backup.keep, 7);
  EXPECT_TRUE(queue.notify.enabled && queue.notify.desktop && queue.notify.log);
  EXPECT_EQ(queue.notify.min_severity, Severity::warning);
}

TEST(Config, EveryKey_ReachesItsField) {
  const auto loaded = load(R"(
basic: {compact: true, remote: yes}
view: {mode: unified, detailed: true, processes: true, trends: true, sort: utilization,
       filter: errors, group_by_node: false, hide_unsupported: false, mouse: off}
servers:
  - hostname: fe80::1
    port: "2222"
    username: alice
    nickname: 4090
    auth: password
    password: 0123
    proxyjump: a,bob@b:2222
    gpus: [3, 1]
queue:
  headroom_mb: 1G
  max_jobs_per_gpu: 2
  max_cpu_jobs_per_node: 0
  placement: pack
  default_vram: 20G
  tick_min_interval: 0.5
  lock_ttl: 60
  probe_timeout: 5
  launch_timeout: 10
  job_root: scratch/jobs
  starvation_after: 60
  keep_days: 30
  cuda_devices: uuid
  include_local: true
  local_node_name: here
  backup: {enabled: true, interval_hours: 6, keep: 3, directory: /secure}
  notify: {enabled: true, desktop: false, log: no, command: "cat >/dev/null", min_severity: error}
)");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_THAT(loaded->warnings, IsEmpty());
  const Config& config = loaded->config;
  EXPECT_EQ(config.basic, (BasicSettings{true, true}));
  EXPECT_EQ(config.view, (ViewSettings{ViewMode::unified, true, true, true, ViewSort::utilization,
                                       ViewFilter::errors, false, false, false}));
  ServerConfig server;
  server.hostname = "fe80::1";
  server.port = 2222;
  server.username = "alice";
  server.nickname = "4090";
  server.auth = Auth::password;
  server.password = Secret("0123");  // what was written, not the octal number
  server.proxyjump = "a,bob@b:2222";
  server.gpus = {1, 3};
  EXPECT_THAT(config.servers, ElementsAre(server));
  QueueSettings queue{1024,
                      2,
                      0,
                      Placement::pack,
                      20 * 1024,
                      500,
                      60'000,
                      5'000,
                      10'000,
                      "scratch/jobs",
                      60'000,
                      30,
                      CudaDevices::uuid,
                      true,
                      "here",
                      {true, 6, 3, "/secure"},
                      {true, false, false, "cat >/dev/null", Severity::error}};
  EXPECT_EQ(config.queue, queue);
}

struct BadCase {
  const char* text;
  const char* message;  // a part of it
};

void PrintTo(const BadCase& bad, std::ostream* out) {
  *out << bad.text;
}

class BadConfig : public testing::TestWithParam<BadCase> {};

TEST_P(BadConfig, Loaded_NamesFileLineKeyAndWhatIsAllowed) {
  const auto loaded = load(GetParam().text);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().kind, base::ErrorKind::invalid);
  EXPECT_THAT(loaded.error().message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Shape, BadConfig,
    testing::Values(
        BadCase{"a: b: c\n", "config.yml:1: broken YAML"},
        BadCase{"basic:\n  compact: [\n", "broken YAML"}, BadCase{"basic: \"\n", "broken YAML"},
        BadCase{"basic:\n  a: &x 'b\n", "config.yml:2: broken YAML: a quote is not closed"},
        BadCase{"servers:\n- hostname: a\n  nickname: \"b\n  username: c\n",
                "config.yml:3: broken YAML"},
        BadCase{"hello\n", "config.yml:1: a mapping of keys is needed here, not text"},
        BadCase{"- a\n", "config.yml:1: a mapping of keys is needed here, not a list"},
        BadCase{"---\nbasic:\n---\nbasic:\n", "config.yml:3: a second document"},
        BadCase{"basic:\n  compact: true\nbasic:\n",
                "config.yml:3: the key 'basic' is given twice (first in line 1)"},
        BadCase{"basic:\n  compact: true\n  compact: true\n",
                "config.yml:3: the key 'compact' is given twice"},
        BadCase{"basic: !!binary abc\n", "config.yml:1: tags"},
        BadCase{"basic: !thing {}\n", "config.yml:1: tags"},
        BadCase{"basic: *nowhere\n",
                "config.yml:1: broken YAML: the referenced anchor is not defined"},
        BadCase{"basic: &a {compact: *a}\n", "inside its own anchor"},
        BadCase{"? [a]\n: b\n", "a key must be a word"},
        BadCase{"basic:\n  compact: \"\x01\"\n", "config.yml:2: a control character (0x01)"},
        BadCase{"basic: 1\rview: 2\n", "config.yml:1: a control character (0x0d)"},
        BadCase{"# \xff\n", "config.yml:1: not UTF-8"},
        BadCase{"basic: {}\n# \xc3(\n", "config.yml:2: not UTF-8"},
        BadCase{"\xff\xfe"
                "b\n",
                "not UTF-8"},
        BadCase{"basic:\n\tcompact: true\n", "config.yml:2: broken YAML"},
        BadCase{"<<: 3\n", "config.yml:1: '<<' takes a mapping"},
        BadCase{"basic: text\n", "config.yml:1: basic: a mapping of keys is needed here, not text"},
        BadCase{"view: []\n", "config.yml:1: view: a mapping of keys is needed here, not a list"},
        BadCase{"queue: 3\n", "config.yml:1: queue: a mapping of keys is needed here"},
        BadCase{"servers: gpu1\n", "config.yml:1: servers: a list of servers is needed here"},
        BadCase{"servers:\n  hostname: a\n", "servers: a list of servers is needed here"},
        BadCase{"servers:\n  - gpu1\n",
                "config.yml:2: servers[0]: a mapping of keys is needed here"},
        BadCase{"servers:\n  -\n", "servers[0]: the server is empty"}));

INSTANTIATE_TEST_SUITE_P(
    Values, BadConfig,
    testing::Values(
        BadCase{"basic:\n  compact: 1\n", "config.yml:2: basic.compact: '1' is not true or false"},
        BadCase{"basic:\n  compact: \"true\"\n",
                "config.yml:2: basic.compact: 'true' in quotes is text"},
        BadCase{"basic:\n  remote: [yes]\n", "basic.remote: a list is not true or false"},
        BadCase{"view:\n  mode: grid\n",
                "config.yml:2: view.mode: 'grid' is not one of nodes, unified"},
        BadCase{"view:\n  sort: name\n",
                "view.sort: 'name' is not one of node, available, utilization"},
        BadCase{"view:\n  filter: {}\n",
                "view.filter: a mapping is not one of all, available, busy, errors"},
        BadCase{"view: {mouse: maybe}\n", "view.mouse: 'maybe' is not true or false"},
        BadCase{"queue:\n  headroom_mb: -1\n",
                "config.yml:2: queue.headroom_mb: '-1' is not a size"},
        BadCase{"queue:\n  max_jobs_per_gpu: 0\n", "'0' is not a whole number from 1 to"},
        BadCase{"queue:\n  max_jobs_per_gpu: 2.5\n", "'2.5' is not a whole number"},
        BadCase{"queue:\n  max_cpu_jobs_per_node: -1\n", "'-1' is not a whole number from 0"},
        BadCase{"queue:\n  placement: random\n",
                "queue.placement: 'random' is not one of spread, pack"},
        BadCase{"queue:\n  default_vram: lots\n", "queue.default_vram: 'lots' is not a size"},
        BadCase{"queue:\n  tick_min_interval: soon\n", "'soon' is not a number of seconds"},
        BadCase{"queue:\n  lock_ttl: 0\n", "queue.lock_ttl: '0' is not a number of seconds from 1"},
        BadCase{"queue:\n  probe_timeout: 1e9\n", "queue.probe_timeout: '1e9' is not"},
        BadCase{"queue:\n  launch_timeout: .inf\n", "queue.launch_timeout: '.inf' is not"},
        BadCase{"queue:\n  job_root: /jobs\n", "queue.job_root: '/jobs' is not a folder relative"},
        BadCase{"queue:\n  job_root: a/../../b\n", "queue.job_root"},
        BadCase{"queue:\n  job_root: ~/jobs\n", "queue.job_root"},
        BadCase{"queue:\n  starvation_after: -5\n", "queue.starvation_after"},
        BadCase{"queue:\n  keep_days: 99999999999999999999\n", "queue.keep_days"},
        BadCase{"queue:\n  cuda_devices: name\n", "'name' is not one of index, uuid"},
        BadCase{"queue:\n  include_local: 2\n", "queue.include_local"},
        BadCase{"queue:\n  local_node_name: \"a\\nb\"\n",
                "queue.local_node_name: 'a\\nb' is not a name"},
        BadCase{"queue:\n  backup: daily\n",
                "queue.backup: 'daily' is not true, false or a mapping"},
        BadCase{"queue:\n  backup: []\n", "queue.backup: a list is not"},
        BadCase{"queue:\n  backup: {keep: 0}\n",
                "queue.backup.keep: '0' is not a whole number from 1"},
        BadCase{"queue:\n  backup: {interval_hours: 0}\n", "queue.backup.interval_hours"},
        BadCase{"queue:\n  notify: \"on\"\n", "queue.notify: 'on' is not true, false or a mapping"},
        BadCase{"queue:\n  notify:\n    min_severity: info\n",
                "config.yml:3: queue.notify.min_severity: 'info' is not one of warning, error"}));

INSTANTIATE_TEST_SUITE_P(
    Servers, BadConfig,
    testing::Values(
        BadCase{"servers:\n  - username: a\n", "config.yml:2: servers[0].hostname: is missing"},
        BadCase{"servers:\n  - hostname: a\n", "config.yml:2: servers[0].username: is missing"},
        BadCase{"servers:\n  - {hostname: ~, username: a}\n", "servers[0].hostname: is missing"},
        BadCase{"servers:\n  - {hostname: '', username: a}\n",
                "servers[0].hostname: '' is not a host name"},
        BadCase{"servers:\n  - {hostname: [a], username: a}\n",
                "servers[0].hostname: a list is not text"},
        BadCase{"servers:\n  - {hostname: -oProxyCommand=x, username: a}\n", "servers[0].hostname"},
        BadCase{"servers:\n  - {hostname: a b, username: a}\n",
                "servers[0].hostname: 'a b' is not"},
        BadCase{"servers:\n  - {hostname: \"a\\nb\", username: a}\n", "servers[0].hostname"},
        BadCase{"servers:\n  - {hostname: a;b, username: a}\n", "servers[0].hostname"},
        BadCase{"servers:\n  - {hostname: 'bob@gpu1', username: a}\n", "servers[0].hostname"},
        BadCase{"servers:\n  - {hostname: 'gpu1:22', username: a}\n", "servers[0].hostname"},
        BadCase{"servers:\n  - {hostname: a, username: -l}\n",
                "servers[0].username: '-l' is not a user name"},
        BadCase{"servers:\n  - {hostname: a, username: \"a b\"}\n", "servers[0].username"},
        BadCase{"servers:\n  - {hostname: a, username: \"a\\tb\"}\n",
                "servers[0].username: 'a\\tb'"},
        BadCase{"servers:\n  - {hostname: a, username: \"a`b\"}\n", "servers[0].username"},
        BadCase{"servers:\n  - {hostname: a, username: b, port: 0}\n",
                "servers[0].port: '0' is not a whole number from 1 to 65535"},
        BadCase{"servers:\n  - {hostname: a, username: b, port: 65536}\n",
                "servers[0].port: '65536'"},
        BadCase{"servers:\n  - {hostname: a, username: b, port: 022}\n", "servers[0].port: '022'"},
        BadCase{"servers:\n  - {hostname: a, username: b, port: 22.0}\n",
                "servers[0].port: '22.0'"},
        BadCase{"servers:\n  - {hostname: a, username: b, nickname: \"a\\x1b\"}\n",
                "servers[0].nickname: 'a\\x1b'"},
        BadCase{"servers:\n  - hostname: a\n    username: b\n    auth: pass\n",
                "config.yml:4: servers[0].auth: 'pass' is not one of auto, key, password"},
        BadCase{"servers:\n  - {hostname: a, username: b, auth: Key}\n",
                "servers[0].auth: 'Key' is not one of"},
        BadCase{"servers:\n  - {hostname: a, username: b, identityfile: \"a\\nb\"}\n",
                "servers[0].identityfile"},
        BadCase{"servers:\n  - {hostname: a, username: b, proxyjump: 'a, b'}\n",
                "servers[0].proxyjump: 'a, b' is not a jump host"},
        BadCase{"servers:\n  - {hostname: a, username: b, gpus: 0}\n",
                "servers[0].gpus: '0' is not a list of GPU indices"},
        BadCase{"servers:\n  - {hostname: a, username: b, gpus: [0, -1]}\n",
                "servers[0].gpus[1]: '-1' is not a GPU index"},
        BadCase{"servers:\n  - {hostname: a, username: b, gpus: [all]}\n",
                "servers[0].gpus[0]: 'all'"},
        BadCase{"servers:\n  - {hostname: a, username: b, gpus: [[0]]}\n", "servers[0].gpus[0]"},
        BadCase{"servers:\n  - {hostname: a, host: b, username: b}\n",
                "servers[0].host: 'hostname' is given as well"},
        BadCase{"servers:\n  - {hostname: a, username: b, nickname: x, description: y}\n",
                "'nickname' is given as well"},
        BadCase{
            "servers:\n  - {hostname: a, username: b}\n  - {hostname: a, username: b, port: 22}\n",
            "config.yml:3: servers[1]: 'b@a:22' is also the name of servers[0] in line 2"},
        BadCase{"servers:\n  - {hostname: a, username: b, nickname: n}\n  - {hostname: c, "
                "username: d, nickname: n}\n",
                "servers[1]: 'n' is also the name of servers[0]"},
        BadCase{"servers:\n  - {hostname: a, username: b}\n  - {hostname: c, username: d, "
                "nickname: 'b@a:22'}\n",
                "servers[1]: 'b@a:22' is also the name"}));

TEST(Config, SeveralErrors_TheTopmostIsReported) {
  const auto loaded = load("queue:\n  lock_ttl: x\nview:\n  mode: y\nbasic:\n  remote: z\n");
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, StartsWith("config.yml:2: queue.lock_ttl"));
}

TEST(Config, NumbersAndWordsAsText_StayAsWritten) {
  const auto loaded = load(
      "servers:\n- {hostname: 10, username: yes, nickname: 1e3}\n- {hostname: 1.10, username: "
      "no}\n");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(identity(loaded->config.servers[0]), "1e3");
  EXPECT_EQ(loaded->config.servers[0].username, "yes");
  EXPECT_EQ(loaded->config.servers[1].hostname, "1.10");
}

TEST(Config, OlderKeys_AreTheSameKeys) {
  const auto loaded = load("servers:\n- {host: a, description: old box, username: b}\n");
  ASSERT_TRUE(loaded);
  EXPECT_THAT(loaded->warnings, IsEmpty());
  EXPECT_EQ(loaded->config.servers[0].hostname, "a");
  EXPECT_EQ(loaded->config.servers[0].nickname, "old box");
}

TEST(Config, Gpus_AbsentAllEmptyAndTwice) {
  const auto gpus_of = [](const std::string& line) {
    const auto loaded = load(server_with(line));
    EXPECT_TRUE(loaded) << line;
    return loaded->config.servers[0].gpus;
  };
  EXPECT_EQ(gpus_of("port: 22"), std::nullopt);
  EXPECT_EQ(gpus_of("gpus: all"), std::nullopt);
  EXPECT_EQ(gpus_of("gpus: null"), std::nullopt);
  EXPECT_EQ(gpus_of("gpus: []"), std::vector<int>{});
  EXPECT_EQ(gpus_of("gpus: [2, \"0\"]"), (std::vector<int>{0, 2}));
  const auto twice = load(server_with("gpus: [1, 1]"));
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->config.servers[0].gpus, std::vector<int>{1});
  EXPECT_THAT(twice->warnings, ElementsAre("config.yml:4: servers[0].gpus names 1 twice"));
}

TEST(Config, MergeKeysAndAliases_FillWhatIsMissing) {
  const auto loaded = load(R"(
defaults: &defaults {username: alice, port: 2222}
servers:
  - <<: *defaults
    hostname: a
  - <<: [*defaults, {nickname: second}]
    hostname: b
    port: 22
)");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(identity(loaded->config.servers[0]), "alice@a:2222");
  EXPECT_EQ(loaded->config.servers[1].port, 22);
  EXPECT_EQ(loaded->config.servers[1].nickname, "second");
}

TEST(Config, UnknownKeys_WarnWithTheNearestKnownOne) {
  const auto loaded = load(
      "sevrers: []\nnodes: []\nqueue:\n  job_rot: x\n  backup: {enabled: true, kep: 3}\nbasic: "
      "{zzz: 1}\n"
      "remote: {host: a}\nservers:\n  - {hostname: a, username: b, user: c, proxy_jump: d, nick: "
      "e}\n");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_THAT(
      loaded->warnings,
      testing::UnorderedElementsAre(
          "config.yml:1: 'sevrers' is not a known key; did you mean servers",
          "config.yml:2: 'nodes' is not a known key; did you mean servers",
          "config.yml:4: 'job_rot' is not a known key of queue; did you mean job_root",
          "config.yml:5: 'kep' is not a known key of queue.backup; did you mean keep",
          "config.yml:6: 'zzz' is not a known key of basic; it is ignored",
          "config.yml:7: 'remote' is ignored here; did you mean basic.remote, or remote in "
          "queue.yml",
          "config.yml:9: 'user' is not a known key of servers[0]; did you mean username",
          "config.yml:9: 'proxy_jump' is not a known key of servers[0]; did you mean proxyjump",
          "config.yml:9: 'nick' is not a known key of servers[0]; it is ignored"));
}

TEST(Config, ManyUnknownKeys_WarningsAreBounded) {
  std::string text = "basic:\n";
  for (int i = 0; i < 1000; ++i) text += "  strange" + std::to_string(i) + ": 1\n";
  const auto loaded = load(text);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->warnings.size(), 51u);
  EXPECT_EQ(loaded->warnings.back(), "config.yml: 950 more warnings");
}

TEST(Config, UselessAndReadablePasswords_Warn) {
  const auto key = load(server_with("auth: key\n    password: hunter2"));
  ASSERT_TRUE(key);
  EXPECT_THAT(key->warnings,
              ElementsAre(HasSubstr("servers[0].password is never used with auth: key")));
  const auto file = load(server_with("auth: password\n    identityfile: ~/k"));
  ASSERT_TRUE(file);
  EXPECT_THAT(file->warnings,
              ElementsAre(HasSubstr("servers[0].identityfile is never used with auth: password")));
  EXPECT_THAT(load(server_with("password: hunter2"), 0600)->warnings, IsEmpty());
  EXPECT_THAT(load(server_with("password: hunter2"), 0640)->warnings,
              ElementsAre("config.yml: holds a password and others can read it (mode 0640); run: "
                          "chmod 600 config.yml"));
  EXPECT_THAT(load(server_with("port: 22"), 0644)->warnings, IsEmpty());
}

TEST(Config, Secrets_NeverStandInErrorsOrWarnings) {
  const char* texts[] = {
      "servers:\n- {hostname: a, username: b, password: [hunter2]}\n",
      "servers:\n- {hostname: a, username: b, password: {hunter2: 1}}\n",
      "servers:\n- {hostname: a, username: b, password: \"hunter2\\nx\"}\n",
      "servers:\n- {hostname: a, username: b, password: *hunter2}\n",
      "servers:\n- {hostname: a, username: b, password: &hunter2}\n",
      "servers:\n- {hostname: a, username: b, password: !hunter2 x}\n",
      "servers:\n- {hostname: a, username: b, password: @hunter2}\n",
      "servers:\n- {hostname: a, username: b, password: %hunter2}\n",
      "servers:\n- {hostname: a, username: b, password: \"hunter2}\n",
      "servers:\n- {hostname: a, username: b, password: \"\\hunter2\"}\n",
      "servers:\n- {hostname: a, username: b, password:hunter2}\n",
      "servers:\n- {hostname: a, username: b, passwort:hunter2}\n",
      "servers:\n- hostname: a\n  username: b\n  password:hunter2\n",
      "servers:\n- password:hunter2\n",
      "servers:\n- hostname: a\n  username: b\n   password:hunter2\n",
      "servers:\n- hostname: a password:hunter2\n  username: b\n",
      "servers:\n- hostname: a\n  username: b\n  password: x\n  password: hunter2\n",
      "servers:\n- {hostname: a, username: b, auth: key, password: hunter2}\n",
      "servers:\n- {hostname: a, username: b, auth: pass, password: hunter2}\n",
      "password: hunter2\n",
      "password:hunter2\n",
  };
  for (const char* text : texts) {
    const auto loaded = load(text, 0644);
    if (!loaded) {
      EXPECT_THAT(base::to_text(loaded.error()), Not(HasSubstr("hunter2"))) << text;
    } else {
      for (const std::string& warning : loaded->warnings)
        EXPECT_THAT(warning, Not(HasSubstr("hunter2"))) << text;
    }
  }
}

TEST(Config, LimitsOfSizeDepthAndAliases_AreErrorsNotWork) {
  const auto big = load(std::string(kMaxYamlBytes + 1, '#'));
  ASSERT_FALSE(big);
  EXPECT_THAT(big.error().message, HasSubstr("larger than"));
  for (const char* open : {"[", "{a: ", "- "}) {
    std::string deep = "basic: ";
    if (open[0] == '-') deep = "";
    for (int i = 0; i < 5000; ++i) deep += open;
    EXPECT_FALSE(load(deep + "\n")) << open;
  }
  std::string bomb = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 60; ++i) {
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) +
            ", *a" + std::to_string(i - 1) + "]\n";
  }
  EXPECT_TRUE(load(bomb));  // never expanded, so harmless
  std::string merges = "a0: &a0 {x0: 1, y0: 1}\n";
  for (int i = 1; i < 200; ++i) {
    const std::string before = std::to_string(i - 1), now = std::to_string(i);
    merges +=
        "a" + now + ": &a" + now + " {<<: [*a" + before + ", *a" + before + "], x" + now + ": 1}\n";
  }
  const auto merged = load(merges);
  ASSERT_FALSE(merged);
  EXPECT_THAT(merged.error().message, HasSubstr("too many values merged"));
  std::string many = "basic: [";
  for (std::size_t i = 0; i < kMaxYamlValues; ++i) many += "1,";
  EXPECT_FALSE(load(many + "]\n"));
}

TEST(QueueConfig, NoQueueYml_ConfigYmlServesBoth) {
  for (const char* queue_yml : {"", "# nothing\n", "---\n"}) {
    const auto loaded = load_both(server_with("port: 22") + "queue: {keep_days: 3}\n", queue_yml);
    ASSERT_TRUE(loaded);
    EXPECT_EQ(loaded->config.servers.size(), 1u);
    EXPECT_EQ(loaded->config.queue.keep_days, 3);
    EXPECT_EQ(loaded->config.remote, std::nullopt);
  }
}

TEST(QueueConfig, ServersOrNodes_ReplaceTheList) {
  const std::string config_yml = server_with("nickname: mine");
  for (const char* key : {"servers", "nodes"}) {
    const auto loaded =
        load_both(config_yml, std::string(key) + ":\n- {hostname: q, username: u}\n");
    ASSERT_TRUE(loaded) << key;
    ASSERT_EQ(loaded->config.servers.size(), 1u);
    EXPECT_EQ(loaded->config.servers[0].hostname, "q");
    EXPECT_THAT(load_both(config_yml, std::string(key) + ": []\n")->config.servers, IsEmpty());
    EXPECT_THAT(load_both(config_yml, std::string(key) + ":\n")->config.servers, IsEmpty());
  }
  const auto both = load_both("", "servers: []\nnodes: []\n");
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().message,
            "queue.yml:2: nodes: 'servers' is given as well; keep one of them");
}

TEST(QueueConfig, Queue_IsMergedKeyByKey) {
  const auto loaded = load_both(
      "queue:\n  keep_days: 3\n  lock_ttl: 9\n  backup: {enabled: true, keep: 2, directory: /b}\n"
      "  notify: {desktop: false, command: beep}\n",
      "queue:\n  keep_days: 5\n  backup: {interval_hours: 1, directory: null}\n  notify: {log: "
      "false}\n");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->config.queue.keep_days, 5);
  EXPECT_EQ(loaded->config.queue.lock_ttl_ms, 9'000);
  EXPECT_EQ(loaded->config.queue.backup, (BackupSettings{true, 1, 2, ""}));
  EXPECT_EQ(loaded->config.queue.notify,
            (NotifySettings{true, false, false, "beep", Severity::warning}));
  const auto off = load_both("queue: {backup: {enabled: true, keep: 2}}\n",
                             "queue: {backup: off, notify: false}\n");
  ASSERT_TRUE(off);
  EXPECT_EQ(off->config.queue.backup, (BackupSettings{false, 24, 2, ""}));
  EXPECT_FALSE(off->config.queue.notify.enabled);
}

TEST(QueueConfig, BackupSettingsWithoutEnabled_Warn) {
  const auto loaded = load("queue:\n  backup: {keep: 2}\n");
  ASSERT_TRUE(loaded);
  EXPECT_THAT(loaded->warnings, ElementsAre(HasSubstr("no backups are made")));
}

TEST(QueueConfig, Remote_ReadsEveryKey) {
  const auto loaded = load_both("", R"(remote:
  host: queue-host
  port: 2222
  username: u
  nvidb: /opt/nvidb
  keeper: off
  nvidb_home: /data/nvidb
  ssh_options: ["-o", "ConnectTimeout=5", -C]
)");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_THAT(loaded->warnings, IsEmpty());
  EXPECT_EQ(loaded->config.remote, (RemoteQueue{"queue-host",
                                                2222,
                                                "u",
                                                "/opt/nvidb",
                                                Keeper::off,
                                                "/data/nvidb",
                                                {"-o", "ConnectTimeout=5", "-C"}}));
  EXPECT_EQ(load_both("", "remote: {host: a}\n")->config.remote,
            (RemoteQueue{"a", std::nullopt, "", "nvidb", Keeper::ensure, "", {}}));
}

class BadQueueConfig : public testing::TestWithParam<BadCase> {};

TEST_P(BadQueueConfig, Loaded_IsNeverASilentFallBack) {
  const auto loaded = load_both(server_with("nickname: mine"), GetParam().text);
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadQueueConfig,
    testing::Values(
        BadCase{"servers: [\n", "queue.yml"}, BadCase{"text\n", "queue.yml:1: a mapping"},
        BadCase{"servers: 3\n", "queue.yml:1: servers: a list"},
        BadCase{"nodes:\n- {hostname: a}\n", "queue.yml:2: nodes[0].username: is missing"},
        BadCase{"queue: {lock_ttl: x}\n", "queue.yml:1: queue.lock_ttl"},
        BadCase{"remote: host\n", "queue.yml:1: remote: a mapping"},
        BadCase{"remote: {port: 3}\n", "queue.yml:1: remote.host: the queue host is missing"},
        BadCase{"remote: {host: -x}\n", "remote.host: '-x'"},
        BadCase{"remote: {host: a, port: 0}\n", "remote.port: '0'"},
        BadCase{"remote: {host: a, username: 'a b'}\n", "remote.username"},
        BadCase{"remote: {host: a, nvidb: ''}\n", "remote.nvidb"},
        BadCase{"remote: {host: a, keeper: always}\n",
                "remote.keeper: 'always' is not one of ensure, off"},
        BadCase{"remote: {host: a, ssh_options: -C}\n", "remote.ssh_options: a list"},
        BadCase{"remote: {host: a, ssh_options: [[a]]}\n", "remote.ssh_options[0]"},
        BadCase{"queue: {include_local: true, local_node_name: mine}\n",
                "config.yml:2: servers[0]: 'mine' is also queue.local_node_name"},
        BadCase{
            "queue: {include_local: true}\nnodes:\n- {hostname: a, username: b, nickname: local}\n",
            "queue.yml:3: servers[0]: 'local' is also queue.local_node_name"}));

TEST(QueueConfig, ConfigYmlBroken_IsAnErrorToo) {
  const auto loaded = load_both("view: {mode: x}\n", "servers: []\n");
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, StartsWith("config.yml:1: view.mode"));
}

TEST(QueueConfig, SectionsOfTheOtherFile_Warn) {
  const auto loaded = load_both("", "basic: {remote: true}\nview: {mode: unified}\nqueu: {}\n");
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->config.view.mode, ViewMode::nodes);
  EXPECT_THAT(loaded->warnings,
              ElementsAre("queue.yml:1: 'basic' is ignored here; it belongs in config.yml",
                          "queue.yml:2: 'view' is ignored here; it belongs in config.yml",
                          "queue.yml:3: 'queu' is not a known key; did you mean queue"));
}

}  // namespace
}  // namespace nvidb::config
