// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "config/config.h"
#include "config/load_yaml.h"
#include "config/replace_file.h"

namespace nvidb::config {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ConfigFile : public testing::Test {
 protected:
  ConfigFile() {
    std::string pattern = (fs::temp_directory_path() / "nvidb-config-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    path_ = (folder_ / "config.yml").string();
  }
  ~ConfigFile() override { fs::remove_all(folder_); }

  void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
  std::string read(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  static unsigned mode_of(const std::string& path) {
    struct stat status {};
    ::stat(path.c_str(), &status);
    return status.st_mode & 07777;
  }
  std::vector<std::string> files() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  ViewSettings unified_ = [] {
    ViewSettings view;
    view.mode = ViewMode::unified;
    return view;
  }();
  fs::path folder_;
  std::string path_;
};

TEST_F(ConfigFile, Missing_LoadsDefaults) {
  const auto loaded = load_config(path_);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->config, Config{});
  EXPECT_TRUE(load_config((folder_ / "none" / "config.yml").string()));
  EXPECT_TRUE(load_queue_config(path_, "/dev/null"));
}

TEST_F(ConfigFile, FolderOrPipe_IsAnErrorAndNoWait) {
  EXPECT_THAT(load_config(folder_.string()).error().message, HasSubstr("is not a file"));
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(load_config(path_).error().message, HasSubstr("is not a file"));
  EXPECT_THAT(save_view(path_, unified_).error().message, HasSubstr("is not a file"));
}

TEST_F(ConfigFile, TooLarge_IsAnError) {
  write(path_, std::string((1 << 20) + 1, '#'));
  EXPECT_THAT(load_config(path_).error().message, HasSubstr("larger than"));
}

TEST_F(ConfigFile, Errors_NameThePath) {
  write(path_, "view:\n  mode: x\n");
  EXPECT_THAT(load_config(path_).error().message,
              testing::StartsWith(path_ + ":2: view.mode: 'x'"));
}

TEST_F(ConfigFile, PasswordThatOthersCanRead_IsAWarning) {
  write(path_, "servers:\n- {hostname: a, username: b, password: c}\n");
  ASSERT_EQ(::chmod(path_.c_str(), 0644), 0);
  EXPECT_THAT(load_config(path_)->warnings, ElementsAre(HasSubstr("chmod 600")));
  ASSERT_EQ(::chmod(path_.c_str(), 0600), 0);
  EXPECT_THAT(load_config(path_)->warnings, IsEmpty());
}

TEST_F(ConfigFile, SaveViewWithoutFile_MakesFileAndFolderPrivate) {
  const std::string path = (folder_ / "home" / "deep" / "config.yml").string();
  ASSERT_TRUE(save_view(path, unified_));
  EXPECT_EQ(read(path), "view:\n  mode: unified\n");
  EXPECT_EQ(mode_of(path), 0600u);
  EXPECT_EQ(mode_of((folder_ / "home").string()), 0700u);
}

TEST_F(ConfigFile, Save_KeepsModeAndLeavesNoOtherFile) {
  write(path_, "view:\n  mode: nodes # c\n");
  ASSERT_EQ(::chmod(path_.c_str(), 0640), 0);
  ASSERT_TRUE(save_view(path_, unified_));
  EXPECT_EQ(read(path_), "view:\n  mode: unified # c\n");
  EXPECT_EQ(mode_of(path_), 0640u);
  EXPECT_THAT(files(), ElementsAre("config.yml"));
}

TEST_F(ConfigFile, SaveOfTheSameView_WritesNothing) {
  write(path_, "view:\n  mode: unified\n");
  const FileStamp before = stamp_of(path_);
  ASSERT_TRUE(save_view(path_, unified_));
  EXPECT_EQ(stamp_of(path_), before);
  ASSERT_TRUE(save_view(path_, ViewSettings{}));
  EXPECT_NE(stamp_of(path_), before);
}

TEST_F(ConfigFile, Symlinks_StayAndTheirTargetChanges) {
  fs::create_directory(folder_ / "dotfiles");
  const std::string target = (folder_ / "dotfiles" / "nvidb.yml").string();
  write(target, "# mine\n");
  fs::create_symlink("dotfiles/link.yml", path_);
  fs::create_symlink("nvidb.yml", folder_ / "dotfiles" / "link.yml");
  ASSERT_TRUE(save_view(path_, unified_));
  EXPECT_TRUE(fs::is_symlink(path_));
  EXPECT_TRUE(fs::is_symlink(folder_ / "dotfiles" / "link.yml"));
  EXPECT_EQ(read(target), "# mine\n\nview:\n  mode: unified\n");
  fs::remove(target);
  ASSERT_TRUE(save_view(path_, unified_));  // a dangling link makes its target
  EXPECT_TRUE(fs::is_symlink(path_));
  EXPECT_EQ(read(target), "view:\n  mode: unified\n");
}

TEST_F(ConfigFile, SymlinkLoop_IsAnError) {
  fs::create_symlink("config.yml", path_);
  EXPECT_THAT(save_view(path_, unified_).error().message, HasSubstr("too many symlinks"));
}

TEST_F(ConfigFile, ReadOnlyFile_IsRefusedAndKept) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everything";
  write(path_, "# mine\n");
  ASSERT_EQ(::chmod(path_.c_str(), 0400), 0);
  const auto saved = save_view(path_, unified_);
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().kind, base::ErrorKind::refused);
  EXPECT_EQ(read(path_), "# mine\n");
}

TEST_F(ConfigFile, BrokenFile_IsNeverWritten) {
  write(path_, "view: [\n");
  EXPECT_FALSE(save_view(path_, unified_));
  EXPECT_FALSE(add_servers(path_, {ServerConfig{}}));
  EXPECT_EQ(read(path_), "view: [\n");
  EXPECT_THAT(files(), ElementsAre("config.yml"));
}

TEST_F(ConfigFile, ServersAddedAndRemoved_AreThereAndGone) {
  ServerConfig server;
  server.hostname = "gpu1";
  server.username = "alice";
  ASSERT_TRUE(add_servers(path_, {server}));
  EXPECT_THAT(load_config(path_)->config.servers, ElementsAre(server));
  EXPECT_EQ(add_servers(path_, {server}).error().kind, base::ErrorKind::conflict);
  EXPECT_EQ(remove_servers(path_, {"gpu1"}).error().kind, base::ErrorKind::not_found);
  ASSERT_TRUE(remove_servers(path_, {"alice@gpu1:22"}));
  EXPECT_EQ(read(path_), "servers: []\n");
}

TEST_F(ConfigFile, WrittenBySomebodyElseMeanwhile_IsTriedAgainWithTheirText) {
  write(path_, "a");
  std::vector<std::string> seen;
  const auto edited = edit_file(path_, [&](const std::string& text) -> base::Result<std::string> {
    seen.push_back(text);
    if (seen.size() == 1) write(path_, "b");
    return text + "!";
  });
  ASSERT_TRUE(edited) << edited.error().message;
  EXPECT_THAT(seen, ElementsAre("a", "b"));
  EXPECT_EQ(read(path_), "b!");
}

TEST_F(ConfigFile, WrittenBySomebodyElseAgainAndAgain_IsAConflict) {
  int calls = 0;
  const auto edited = edit_file(path_, [&](const std::string& text) -> base::Result<std::string> {
    write(path_, std::to_string(++calls));
    return text + "!";
  });
  ASSERT_FALSE(edited);
  EXPECT_EQ(edited.error().kind, base::ErrorKind::conflict);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(read(path_), "2");
  EXPECT_THAT(files(), ElementsAre("config.yml"));
}

TEST_F(ConfigFile, RemovedMeanwhile_IsMadeAnew) {
  write(path_, "a");
  int calls = 0;
  ASSERT_TRUE(edit_file(path_, [&](const std::string& text) -> base::Result<std::string> {
    if (++calls == 1) fs::remove(path_);
    return text + "!";
  }));
  EXPECT_EQ(read(path_), "!");
}

// ---- the example files

SettingsText example(const char* name) {
  std::ostringstream text;
  text << std::ifstream(std::string(NVIDB_SOURCE_DIR) + "/" + name).rdbuf();
  return {name, text.str(), 0644};
}

TEST(Examples, BothFiles_LoadWithoutWarnings) {
  const auto config = parse_config(example("config.example.yml"));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_THAT(config->warnings, IsEmpty());
  ASSERT_EQ(config->config.servers.size(), 2u);
  const auto queue =
      parse_queue_config(example("config.example.yml"), example("queue.example.yml"));
  ASSERT_TRUE(queue) << queue.error().message;
  EXPECT_THAT(queue->warnings, IsEmpty());
  EXPECT_EQ(identity(queue->config.servers.at(0)), "gpu-node");
  EXPECT_EQ(queue->config.remote->host, "queue-host.example.com");
}

TEST(Examples, ValuesOfConfigExample_AreTheDefaults) {
  const auto config = parse_config(example("config.example.yml"));
  ASSERT_TRUE(config);
  EXPECT_EQ(config->config.basic, BasicSettings{});
  EXPECT_EQ(config->config.view, ViewSettings{});
  EXPECT_EQ(config->config.queue, QueueSettings{});
}

TEST(Examples, EveryKey_StandsInExamplesAndDocumentation) {
  const std::string examples =
      example("config.example.yml").text + example("queue.example.yml").text;
  const std::string documentation = example("docs/config.md").text;
  for (const char* key : {"basic",
                          "compact",
                          "remote",
                          "view",
                          "mode",
                          "detailed",
                          "processes",
                          "trends",
                          "sort",
                          "filter",
                          "group_by_node",
                          "hide_unsupported",
                          "mouse",
                          "servers",
                          "hostname",
                          "port",
                          "username",
                          "nickname",
                          "auth",
                          "identityfile",
                          "password",
                          "proxyjump",
                          "gpus",
                          "queue",
                          "headroom_mb",
                          "max_jobs_per_gpu",
                          "max_cpu_jobs_per_node",
                          "placement",
                          "default_vram",
                          "tick_min_interval",
                          "lock_ttl",
                          "probe_timeout",
                          "launch_timeout",
                          "job_root",
                          "starvation_after",
                          "keep_days",
                          "cuda_devices",
                          "include_local",
                          "local_node_name",
                          "backup",
                          "enabled",
                          "interval_hours",
                          "keep",
                          "directory",
                          "notify",
                          "desktop",
                          "log",
                          "command",
                          "min_severity",
                          "host",
                          "nvidb",
                          "keeper",
                          "nvidb_home",
                          "ssh_options"}) {
    EXPECT_THAT(examples, HasSubstr(std::string(key) + ":")) << key;
    const std::string as_word = "([`.]|## )" + std::string(key) + "[`\n]";
    EXPECT_THAT(documentation, testing::ContainsRegex(as_word)) << key;
  }
  for (const char* word : {"`nodes`", "`host`", "`description`"})
    EXPECT_THAT(documentation, HasSubstr(word));
}

}  // namespace
}  // namespace nvidb::config
