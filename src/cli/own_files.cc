// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "cli/own_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "config/paths.h"
#include "io/files.h"
#include "io/ssh_sockets.h"

namespace nvidb::cli {
namespace {

using base::ErrorKind;
using base::fail;

constexpr std::size_t kMaxEntries = 100'000;

// A folder held open, so that nobody can put a link in its place between a look and a deed.
class Folder {
 public:
  explicit Folder(const std::string& path, int flags = 0)
      : fd_(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags)) {}
  ~Folder() {
    if (fd_ >= 0) ::close(fd_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  bool valid() const { return fd_ >= 0; }
  int get() const { return fd_; }

 private:
  int fd_;
};

tl::unexpected<base::Error> fail_errno(const char* what, const std::string& path) {
  const ErrorKind kind = errno == EACCES || errno == EPERM ? ErrorKind::refused : ErrorKind::io;
  return fail(kind, fmt::format("cannot {} {}: {}", what, path, std::strerror(errno)));
}

std::vector<std::string> names_in(const Folder& folder) {
  std::vector<std::string> names;
  const int copy = ::fcntl(folder.get(), F_DUPFD_CLOEXEC, 0);
  DIR* dir = copy < 0 ? nullptr : ::fdopendir(copy);
  if (dir == nullptr) {
    if (copy >= 0) ::close(copy);
    return names;
  }
  ::rewinddir(dir);
  while (const dirent* entry = ::readdir(dir)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != ".." && names.size() < kMaxEntries) names.emplace_back(name);
  }
  ::closedir(dir);
  std::ranges::sort(names);
  return names;
}

bool is_database(std::string_view name, std::string_view database) {
  if (!name.starts_with(database)) return false;
  const std::string_view rest = name.substr(database.size());
  return rest.empty() || rest == "-wal" || rest == "-shm" || rest == "-journal";
}

// A crash between writing and renaming leaves `.config.yml.XXXXXX`.
bool is_left_over(std::string_view name) {
  constexpr std::string_view kHead = ".config.yml.";
  return name.starts_with(kHead) && name.size() == kHead.size() + 6;
}

std::optional<Part> part_in_home(std::string_view name) {
  if (name == "config.yml" || name == "queue.yml" || is_left_over(name)) return Part::settings;
  if (is_database(name, "queue.db") || name == "alerts.log") return Part::queue;
  if (name.starts_with("queue-keeper.")) return Part::queue;
  if (is_database(name, "gpu_log.db")) return Part::gpu_log;
  return {};
}

std::optional<Part> part_in_backups(std::string_view name) {
  constexpr std::string_view kHead = "queue-", kTail = ".db";
  constexpr std::size_t kShortestTime = 8;  // 20261201
  if (!name.starts_with(kHead) || !name.ends_with(kTail)) return {};
  if (name.size() < kHead.size() + kShortestTime + kTail.size()) return {};
  const std::string_view time =
      name.substr(kHead.size(), name.size() - kHead.size() - kTail.size());
  if (time.find_first_not_of("0123456789-_:.TZ") != time.npos) return {};
  return Part::queue;
}

// Control sockets, also while ssh makes one (it adds a suffix then), and those of askpass.
std::optional<Part> part_in_ssh(std::string_view name) {
  const std::string_view hash = name.substr(0, io::kControlNameSize);
  const bool is_control = hash.size() == io::kControlNameSize &&
                          hash.find_first_not_of("0123456789abcdef") == hash.npos;
  if (is_control || name.starts_with("ask-")) return Part::connection;
  return {};
}

// Another program's config.yml in a folder that was named by mistake has other sections. One of
// ours has one of these, or nothing but comments; whether it is otherwise right does not matter.
bool has_our_sections(const std::string& path) {
  constexpr std::size_t kMaxBytes = 1 << 20;
  constexpr std::string_view kSections[] = {"basic", "view", "servers", "nodes", "queue", "remote"};
  const auto text = io::read_file(path, kMaxBytes);
  if (!text) return false;
  bool is_empty = true;
  for (std::size_t begin = 0; begin < text->size();) {
    const std::size_t end = std::min(text->find('\n', begin), text->size());
    const std::string_view line = std::string_view(*text).substr(begin, end - begin);
    begin = end + 1;
    const std::size_t content = line.find_first_not_of(" \t\r");
    if (content == line.npos || line[content] == '#' || line == "---") continue;
    is_empty = false;
    const std::string_view key = line.substr(0, line.find_first_of(": \t\r"));
    if (std::ranges::find(kSections, key) != std::end(kSections)) return true;
  }
  return is_empty;
}

bool is_right_kind(const OwnFile& file, mode_t mode) {
  if (file.part == Part::connection) return S_ISSOCK(mode);
  return S_ISREG(mode) || S_ISLNK(mode);
}

// The home itself may be a link of the user's; what is below it may not.
void find_in(const std::string& path, bool is_home,
             std::optional<Part> (*part_of)(std::string_view), std::vector<OwnFile>& files) {
  const Folder folder(path, is_home ? 0 : O_NOFOLLOW);
  if (!folder.valid()) return;
  for (const std::string& name : names_in(folder)) {
    const auto part = part_of(name);
    struct stat status {};
    if (!part || ::fstatat(folder.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    OwnFile file = {*part, path, name, status.st_size, is_home, S_ISLNK(status.st_mode)};
    if (!is_right_kind(file, status.st_mode)) continue;
    const bool is_yaml = *part == Part::settings && !file.is_link && name.ends_with(".yml");
    if (is_yaml && !has_our_sections(file.path())) continue;
    files.push_back(std::move(file));
  }
}

}  // namespace

base::Result<std::vector<OwnFile>> find_own_files(const std::string& home,
                                                  const std::string& control_dir) {
  std::vector<OwnFile> files;
  if (!Folder(home).valid() && errno != ENOENT) return fail_errno("look into", home);
  find_in(home, true, part_in_home, files);
  find_in(home + "/backups", false, part_in_backups, files);
  find_in(home + "/ssh", false, part_in_ssh, files);
  if (!control_dir.empty()) find_in(control_dir, false, part_in_ssh, files);
  return files;
}

base::Result<void> delete_own_file(const OwnFile& file) {
  const Folder folder(file.folder, file.in_home ? 0 : O_NOFOLLOW);
  if (!folder.valid() && errno == ENOENT) return {};
  if (!folder.valid()) return fail_errno("open", file.folder);
  struct stat status {};
  if (::fstatat(folder.get(), file.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};
    return fail_errno("look at", file.path());
  }
  if (!is_right_kind(file, status.st_mode)) {
    return fail(ErrorKind::conflict, fmt::format("{} is no file any more", file.path()));
  }
  if (file.part == Part::connection) io::kill_master(file.path());
  if (::unlinkat(folder.get(), file.name.c_str(), 0) != 0 && errno != ENOENT) {
    return fail_errno("delete", file.path());
  }
  return {};
}

std::vector<std::string> remove_empty_folders(const std::string& home,
                                              const std::string& control_dir, bool did_delete) {
  if (did_delete) {
    for (const std::string& folder : {home + "/backups", home + "/ssh", control_dir}) {
      if (!folder.empty()) ::rmdir(folder.c_str());  // a folder that is not empty stays
    }
    if (home != config::expand_home("~")) ::rmdir(home.c_str());
  }
  const Folder left(home);
  return left.valid() ? names_in(left) : std::vector<std::string>();
}

}  // namespace nvidb::cli
