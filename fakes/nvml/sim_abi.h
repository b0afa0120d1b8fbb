/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the nvidb authors */
#pragma once

/* What our simulator of libnvidia-ml.so.1 exports beside NVML's own functions.
 *
 * A reader that finds nvidb_sim_version in the library labels everything SIMULATED. A simulated
 * process is often no process of this machine, so /proc knows nothing of it; what the scenario
 * says of it is asked here instead. C and C++; fixed layout, so that ctypes can mirror it. Both
 * functions may be called from any thread, before init and after shutdown too. */
#ifdef __cplusplus
#include <cstddef>
#include <cstdint>
extern "C" {
#else
#include <stddef.h>
#include <stdint.h>
#endif

#define NVIDB_SIM_VERSION 1
#define NVIDB_SIM_FOUND 0
#define NVIDB_SIM_NOT_FOUND 6 /* as NVML's NOT_FOUND */

/* Texts end with NUL; an empty one is unknown. Numbers below zero are unknown. */
struct nvidb_sim_facts {
  char user[64];
  char name[256];
  char command[4096];      /* arguments joined by one space */
  double cpu_percent;      /* of one core, as top counts */
  double host_mem_percent; /* of the machine's memory */
  int64_t rss_mb;
  int64_t elapsed_s;
  int64_t threads;
  int64_t start_ticks; /* field 22 of /proc/PID/stat */
  char state;          /* as /proc has it: R, S, D, Z, T; 0 unknown */
  char padding[7];     /* zero */
};

#ifdef __cplusplus
#define NVIDB_SIM_ASSERT(condition) static_assert(condition, #condition)
#else
#define NVIDB_SIM_ASSERT(condition) _Static_assert(condition, #condition)
#endif
NVIDB_SIM_ASSERT(sizeof(struct nvidb_sim_facts) == 4472);
NVIDB_SIM_ASSERT(offsetof(struct nvidb_sim_facts, name) == 64);
NVIDB_SIM_ASSERT(offsetof(struct nvidb_sim_facts, command) == 320);
NVIDB_SIM_ASSERT(offsetof(struct nvidb_sim_facts, cpu_percent) == 4416);
NVIDB_SIM_ASSERT(offsetof(struct nvidb_sim_facts, host_mem_percent) == 4424);
NVIDB_SIM_ASSERT(offsetof(struct nvidb_sim_facts, rss_mb) == 4432);
NVIDB_SIM_ASSERT(offsetof(struct nvidb_sim_facts, elapsed_s) == 4440);
NVIDB_SIM_ASSERT(offsetof(struct nvidb_sim_facts, threads) == 4448);
NVIDB_SIM_ASSERT(offsetof(struct nvidb_sim_facts, start_ticks) == 4456);
NVIDB_SIM_ASSERT(offsetof(struct nvidb_sim_facts, state) == 4464);
#undef NVIDB_SIM_ASSERT

/* Answers NVIDB_SIM_VERSION. */
int nvidb_sim_version(void);

/* What the scenario says of `pid` (`facts` of its `processes`), as of this moment: NVIDB_SIM_FOUND
 * and `*out` filled, else NVIDB_SIM_NOT_FOUND and `*out` untouched. */
int nvidb_sim_process_facts(unsigned pid, struct nvidb_sim_facts* out);

#ifdef __cplusplus
}
#endif
