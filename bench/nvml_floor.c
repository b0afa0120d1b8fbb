// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
//
// The floor that `nvidb --once` is measured against: the same NVML calls, one process, nothing
// else.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef void* device;
typedef struct {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
} process;

static void* library;
static long calls;

// Calls name(card, ...) if the library has it.
#define ASK(name, type, ...)                            \
  do {                                                  \
    int(*ask) type = (int(*) type)dlsym(library, name); \
    if (ask && ++calls) ask(__VA_ARGS__);               \
  } while (0)

static void read_card(device card) {
  char text[96];
  unsigned pair[2], one, two;
  unsigned long long wide[5] = {0x02000028}, many;
  int number;
  ASK("nvmlDeviceGetName", (device, char*, unsigned), card, text, sizeof text);
  ASK("nvmlDeviceGetUUID", (device, char*, unsigned), card, text, sizeof text);
  char pci[68];
  ASK("nvmlDeviceGetPciInfo_v3", (device, void*), card, pci);
  ASK("nvmlDeviceGetArchitecture", (device, unsigned*), card, &one);
  ASK("nvmlDeviceGetUtilizationRates", (device, unsigned*), card, pair);
  ASK("nvmlDeviceGetMemoryInfo_v2", (device, unsigned long long*), card, wide);
  ASK("nvmlDeviceGetTemperature", (device, int, unsigned*), card, 0, &one);
  ASK("nvmlDeviceGetPowerUsage", (device, unsigned*), card, &one);
  ASK("nvmlDeviceGetEncoderUtilization", (device, unsigned*, unsigned*), card, &one, &two);
  ASK("nvmlDeviceGetDecoderUtilization", (device, unsigned*, unsigned*), card, &one, &two);
  ASK("nvmlDeviceGetMigMode", (device, unsigned*, unsigned*), card, &one, &two);
  ASK("nvmlDeviceGetPerformanceState", (device, int*), card, &number);
  ASK("nvmlDeviceGetCurrentClocksEventReasons", (device, unsigned long long*), card, &many);
  ASK("nvmlDeviceGetTotalEccErrors", (device, int, int, unsigned long long*), card, 1, 0, &many);
  for (int clock = 1; clock <= 2; ++clock)
    ASK("nvmlDeviceGetClockInfo", (device, int, unsigned*), card, clock, &one);
  for (int way = 0; way <= 1; ++way)
    ASK("nvmlDeviceGetPcieThroughput", (device, int, unsigned*), card, way, &one);
  const char* numbers[] = {"nvmlDeviceGetFanSpeed",
                           "nvmlDeviceGetEnforcedPowerLimit",
                           "nvmlDeviceGetCurrPcieLinkGeneration",
                           "nvmlDeviceGetCurrPcieLinkWidth",
                           "nvmlDeviceGetGpuMaxPcieLinkGeneration",
                           "nvmlDeviceGetMaxPcieLinkWidth"};
  for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; ++i)
    ASK(numbers[i], (device, unsigned*), card, &one);
  const char* lists[] = {"nvmlDeviceGetComputeRunningProcesses_v3",
                         "nvmlDeviceGetGraphicsRunningProcesses_v3",
                         "nvmlDeviceGetMPSComputeRunningProcesses_v3"};
  static process found[1024];
  for (unsigned i = 0; i < sizeof lists / sizeof *lists; ++i) {
    unsigned count = 1024;
    ASK(lists[i], (device, unsigned*, process*), card, &count, found);
  }
}

int main(void) {
  const char* path = getenv("NVIDB_NVML");
  library = dlopen(path ? path : "libnvidia-ml.so.1", RTLD_NOW);
  if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
  char text[96];
  int version;
  unsigned count = 0;
  ASK("nvmlInit_v2", (void), );
  ASK("nvmlSystemGetDriverVersion", (char*, unsigned), text, sizeof text);
  ASK("nvmlSystemGetCudaDriverVersion_v2", (int*), &version);
  ASK("nvmlDeviceGetCount_v2", (unsigned*), &count);
  for (unsigned i = 0; i < count; ++i) {
    device card = NULL;
    ASK("nvmlDeviceGetHandleByIndex_v2", (unsigned, device*), i, &card);
    if (card) read_card(card);
  }
  ASK("nvmlShutdown", (void), );
  printf("%u cards, %ld calls\n", count, calls);
  return 0;
}
