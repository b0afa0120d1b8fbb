// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// The files that nvidb made in its folder, by their names: what `nvidb clean` may delete. Anything
// else in there, and whatever a symlink leads to, is somebody else's.
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace nvidb::cli {

enum class Part { settings, queue, gpu_log, connection };

struct OwnFile {
  Part part = Part::settings;
  std::string folder;  // absolute: the home, or a folder of ours in it
  std::string name;    // within `folder`
  std::int64_t size_bytes = 0;
  bool in_home = true;   // not in a folder below
  bool is_link = false;  // the link is ours, what it leads to is not

  std::string path() const { return folder + "/" + name; }
};

// Those under `home`, sorted by path, and the sockets in `control_dir` where that lies elsewhere
// ("" if it does not). Empty where there is no such folder. Errors: refused, io.
base::Result<std::vector<OwnFile>> find_own_files(const std::string& home,
                                                  const std::string& control_dir);

// Deletes one, if it still is what it was found to be; ends the ssh that serves a socket. A file
// that is gone already is no error. Errors: refused, io, conflict (it is another kind of file now).
base::Result<void> delete_own_file(const OwnFile& file);

// Removes nvidb's folders as far as they are empty, `home` last: after something of nvidb's was
// deleted in them, so that an empty folder of somebody's stays. Returns what is left in `home`, by
// name; empty where the folder is gone or may not go (a link, the user's own home).
std::vector<std::string> remove_empty_folders(const std::string& home,
                                              const std::string& control_dir, bool did_delete);

}  // namespace nvidb::cli
