// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "config/replace_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "config/yaml_tree.h"
#include "io/files.h"

namespace nvidb::config {
namespace {

using base::ErrorKind;
using base::fail;
namespace fs = std::filesystem;

constexpr int kLockTries = 40;
constexpr int kLockPauseMs = 50;
constexpr int kMaxLinks = 16;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  bool valid() const { return fd_ >= 0; }
  int get() const { return fd_; }

 private:
  int fd_;
};

tl::unexpected<base::Error> fail_errno(const std::string& what, const std::string& path) {
  const int code = errno;
  const bool refused = code == EACCES || code == EPERM || code == EROFS;
  return fail(refused ? ErrorKind::refused : ErrorKind::io,
              fmt::format("cannot {} {}: {}", what, path, std::strerror(code)));
}

// The file at the end of a chain of symlinks; it need not exist.
base::Result<fs::path> follow_links(fs::path path) {
  std::error_code code;
  for (int links = 0; fs::is_symlink(path, code); ++links) {
    if (links >= kMaxLinks)
      return fail(ErrorKind::io, fmt::format("too many symlinks at {}", path.string()));
    const fs::path target = fs::read_symlink(path, code);
    if (code)
      return fail(ErrorKind::io,
                  fmt::format("cannot read the symlink {}: {}", path.string(), code.message()));
    path = target.is_absolute() ? target : path.parent_path() / target;
  }
  return path;
}

base::Result<void> make_folder(const fs::path& folder) {
  std::error_code code;
  if (folder.empty() || fs::exists(folder, code)) return {};
  if (auto parent = make_folder(folder.parent_path()); !parent) return parent;
  if (::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return fail_errno("make the folder", folder.string());
}

// Held until closed. Some network file systems have no locks: then there is none, and only the
// comparison of the text protects the file.
base::Result<Descriptor> lock_folder(const fs::path& folder) {
  Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return fail_errno("open", folder.string());
  for (int i = 0; i < kLockTries; ++i) {
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
    if (errno != EWOULDBLOCK && errno != EINTR) return fd;
    ::poll(nullptr, 0, kLockPauseMs);
  }
  return fail(ErrorKind::busy, fmt::format("{} is being changed by another nvidb", folder.string()),
              "try again");
}

// Text and rights of the file; absent for a missing one.
struct Contents {
  std::string text;
  struct stat status {};
};

base::Result<std::optional<Contents>> read_contents(const std::string& path) {
  Contents contents;
  if (::stat(path.c_str(), &contents.status) != 0) {
    if (errno == ENOENT) return std::optional<Contents>{};
    return fail_errno("read", path);
  }
  if (!S_ISREG(contents.status.st_mode))
    return fail(ErrorKind::invalid, fmt::format("{} is not a file", path));
  auto text = io::read_file(path, kMaxYamlBytes);
  if (!text) return fail(text.error());
  contents.text = std::move(*text);
  return std::optional<Contents>(std::move(contents));
}

// Removed when it goes out of scope, unless it was renamed.
class TemporaryFile {
 public:
  ~TemporaryFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }

  base::Result<void> write(const fs::path& beside, const std::string& text,
                           const std::optional<Contents>& old) {
    std::string path =
        (beside.parent_path() / fmt::format(".{}.XXXXXX", beside.filename().string())).string();
    const Descriptor fd(::mkostemp(path.data(), O_CLOEXEC));
    if (!fd.valid()) return fail_errno("write beside", beside.string());
    path_ = path;
    if (old) {
      // Root edits a user's file: it stays the user's. Anybody else may not give files away, and
      // need not.
      const bool is_ours = old->status.st_uid == ::geteuid() && old->status.st_gid == ::getegid();
      if (!is_ours && ::fchown(fd.get(), old->status.st_uid, old->status.st_gid) != 0 &&
          errno != EPERM) {
        return fail_errno("set the owner of", path);
      }
      if (::fchmod(fd.get(), old->status.st_mode & 0777) != 0)
        return fail_errno("set the mode of", path);
    }
    if (auto written = io::write_all(fd.get(), text); !written) {
      return fail(ErrorKind::io, fmt::format("cannot write {}: {}", path, written.error().message));
    }
    if (::fsync(fd.get()) != 0) return fail_errno("write", path);
    return {};
  }

  base::Result<void> rename_to(const fs::path& target) {
    if (::rename(path_.c_str(), target.c_str()) != 0) return fail_errno("replace", target.string());
    path_.clear();
    return {};
  }

 private:
  std::string path_;
};

bool is_same(const std::optional<Contents>& a, const std::optional<Contents>& b) {
  return a.has_value() == b.has_value() && (!a || a->text == b->text);
}

// One try. False where somebody else wrote in between.
base::Result<bool> try_edit(
    const fs::path& target, int folder_fd,
    const std::function<base::Result<std::string>(const std::string& text)>& change) {
  const auto before = read_contents(target.string());
  if (!before) return fail(before.error());
  const std::string old_text = *before ? (*before)->text : "";
  const auto text = change(old_text);
  if (!text) return fail(text.error());
  if (*text == old_text) return true;
  // A rename needs no right to write the file, but whoever made it read-only meant it.
  if (*before && ::access(target.c_str(), W_OK) != 0 && errno != ENOENT) {
    return fail_errno("write", target.string());
  }
  TemporaryFile temporary;
  if (auto written = temporary.write(target, *text, *before); !written)
    return fail(written.error());
  const auto now = read_contents(target.string());
  if (!now) return fail(now.error());
  if (!is_same(*before, *now)) return false;
  if (auto renamed = temporary.rename_to(target); !renamed) return fail(renamed.error());
  ::fsync(folder_fd);  // best effort: some file systems cannot sync folders
  return true;
}

}  // namespace

base::Result<void> edit_file(
    const std::string& path,
    const std::function<base::Result<std::string>(const std::string& text)>& change) {
  auto target = follow_links(path);
  if (!target) return fail(target.error());
  fs::path folder = target->parent_path();
  if (folder.empty()) folder = ".";
  if (auto made = make_folder(folder); !made) return made;
  const auto lock = lock_folder(folder);
  if (!lock) return fail(lock.error());
  for (int tries = 0; tries < 2; ++tries) {
    const auto done = try_edit(*target, lock->get(), change);
    if (!done) return fail(done.error());
    if (*done) return {};
  }
  return fail(ErrorKind::conflict, fmt::format("{} is being changed by somebody else", path),
              "try again");
}

}  // namespace nvidb::config
