// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "io/ssh_sockets.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>
#include <vector>

#include "io/fd.h"
#include "io/files.h"

namespace nvidb::io {
namespace {

using base::ErrorKind;
using base::fail;

base::Result<void> make_private_dir(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return fail(ErrorKind::io, fmt::format("cannot make {}: {}", path, std::strerror(errno)));
  }
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    return fail(ErrorKind::io, fmt::format("cannot look at {}: {}", path, std::strerror(errno)));
  }
  if (!S_ISDIR(status.st_mode))
    return fail(ErrorKind::refused, fmt::format("{} is not a folder", path), "remove it");
  if (status.st_uid != ::geteuid()) {
    return fail(ErrorKind::refused,
                fmt::format("{} belongs to somebody else (uid {})", path, status.st_uid),
                "set NVIDB_HOME to a folder of yours with a shorter path");
  }
  if ((status.st_mode & 077) != 0 && ::chmod(path.c_str(), 0700) != 0) {
    return fail(ErrorKind::io,
                fmt::format("cannot make {} private: {}", path, std::strerror(errno)));
  }
  return {};
}

// The same for every run with this home; std::hash would do, but its value may differ between
// builds.
std::string short_name(const std::string& home) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const unsigned char byte : home) hash = (hash ^ byte) * 0x100000001b3U;
  return fmt::format("{:012x}", hash & 0xffffffffffffU);
}

void for_each_entry(const std::string& folder,
                    const std::function<void(const std::string&)>& visit) {
  DIR* dir = ::opendir(folder.c_str());
  if (dir == nullptr) return;
  while (const dirent* entry = ::readdir(dir)) visit(entry->d_name);
  ::closedir(dir);
}

void remove_dead_sockets(const std::string& folder) {
  for_each_entry(folder, [&](const std::string& name) {
    // Control sockets, and those of askpass helpers whose nvidb was killed; never . and ..
    if (name.size() < kControlNameSize && !name.starts_with("ask-")) return;
    const std::string path = folder + "/" + name;
    struct stat status {};
    if (::lstat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode) && !has_master(path))
      ::unlink(path.c_str());
  });
}

// A master names itself `ssh: PATH [mux]`.
bool is_master_of(int pid, const std::string& control_path) {
  const auto command = read_file(fmt::format("/proc/{}/cmdline", pid), 65536);
  return command && command->starts_with(fmt::format("ssh: {} [mux]", control_path));
}

// ssh_config gives these a meaning in a ControlPath: quotes, blanks, %-tokens, ${variables}.
bool is_literal_for_ssh(std::string_view path) {
  return std::ranges::none_of(path, [](unsigned char c) {
    return c <= ' ' || c == 0x7f ||
           std::string_view("\"'%\\$").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

bool can_hold_sockets(const std::string& folder) {
  return folder.size() + 1 + kControlNameSize <= kMaxControlPath && is_literal_for_ssh(folder);
}

}  // namespace

std::string control_dir_of(const std::string& home, const std::string& runtime_dir) {
  const std::string in_home = home + "/ssh";
  if (can_hold_sockets(in_home)) return in_home;
  const std::string in_runtime_dir = fmt::format("{}/nvidb-{}", runtime_dir, short_name(home));
  if (!runtime_dir.empty() && can_hold_sockets(in_runtime_dir)) return in_runtime_dir;
  return fmt::format("/tmp/nvidb-{}-{}", ::geteuid(), short_name(home));
}

base::Result<std::string> open_control_dir(const std::string& home,
                                           const std::string& runtime_dir) {
  const std::string folder = control_dir_of(home, runtime_dir);
  if (folder.starts_with(home + "/")) {
    if (const auto made = make_private_dir(home); !made) return fail(made.error());
  }
  if (const auto made = make_private_dir(folder); !made) return fail(made.error());
  remove_dead_sockets(folder);
  return folder;
}

bool has_master(const std::string& control_path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (control_path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, control_path.c_str(), control_path.size() + 1);
  const Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return false;
  const int result =
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  // EAGAIN: its queue is full, so somebody is bound there.
  return result == 0 || errno == EAGAIN;
}

void kill_master(const std::string& control_path) {
  std::vector<int> pids;
  for_each_entry("/proc", [&](const std::string& name) {
    const int pid = std::atoi(name.c_str());
    if (pid > 1 && is_master_of(pid, control_path)) pids.push_back(pid);
  });
  for (const int pid : pids) {
    // Held by a pidfd while it is looked at again, so that a reused pid is never hit.
    const Fd handle(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (handle.valid() && is_master_of(pid, control_path))
      ::syscall(SYS_pidfd_send_signal, handle.get(), SIGKILL, nullptr, 0);
  }
  ::unlink(control_path.c_str());
}

}  // namespace nvidb::io
