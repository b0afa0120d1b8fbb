// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors

// Runs a fuzz target over the files of its corpus and over no bytes at all: the part of fuzzing
// that every test run can afford. Usage: TARGET FOLDER... Fails where a folder is missing or empty,
// because that tests nothing.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

// How many files of the folder were run; -1 where it cannot be read.
int replay(const char* folder) {
  std::error_code error;
  int count = 0;
  for (std::filesystem::directory_iterator file(folder, error), end; !error && file != end;
       file.increment(error)) {
    if (!file->is_regular_file()) continue;
    std::ifstream in(file->path(), std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
    // Named first, so that a crash tells which input it was.
    std::printf("%s\n", file->path().filename().c_str());
    std::fflush(stdout);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    ++count;
  }
  return error ? -1 : count;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s FOLDER...\n", argv[0]);
    return 2;
  }
  int total = 0;
  for (int i = 1; i < argc; ++i) {
    const int count = replay(argv[i]);
    if (count <= 0) {
      std::fprintf(stderr, "%s: no inputs here\n", argv[i]);
      return 1;
    }
    total += count;
  }
  LLVMFuzzerTestOneInput(nullptr, 0);
  std::printf("%d inputs and the empty one\n", total);
  return 0;
}
