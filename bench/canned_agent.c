// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
//
// A collector that costs next to nothing, so that only its reader is measured: prints the file it
// is given (hello, inventory), then the second file once a second, until stdin ends.
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static char* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "r");
  if (!file) exit(1);
  char* text = malloc(1 << 20);
  *size = text ? fread(text, 1, 1 << 20, file) : 0;
  fclose(file);
  return text;
}

static void put(const char* text, size_t size) {
  while (size > 0) {
    const ssize_t count = write(STDOUT_FILENO, text, size);
    if (count <= 0) exit(0);
    text += count;
    size -= (size_t)count;
  }
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  size_t start_size, sample_size;
  char* start = read_file(argv[1], &start_size);
  char* sample = read_file(argv[2], &sample_size);
  put(start, start_size);
  // Spread over the second, as real agents are.
  srand((unsigned)getpid());
  int wait_ms = rand() % 1000;
  for (;;) {
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    if (poll(&input, 1, wait_ms) > 0) return 0;
    put(sample, sample_size);
    wait_ms = 1000;
  }
}
