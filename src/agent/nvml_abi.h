// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#pragma once

// The binary interface of libnvidia-ml.so.1 in our own names: codes, layouts and function shapes.
//
// Written from measured facts (docs/nvml.md), for 64-bit Linux. Sizes and offsets are the
// interface, so each has a static_assert. Included by nvml_library, nvml_reader and by our
// simulator (fakes/nvml); nobody else. Enumerations are plain integers here: what the driver
// answers may be a number this file does not know.
#include <cstddef>
#include <cstdint>

namespace nvidb::agent::nvml {

static_assert(sizeof(void*) == 8 && sizeof(long) == 8, "the layouts below are those of LP64");

// ---- codes ----

using Return = int;  // 32 bits; unknown values are possible
static_assert(sizeof(Return) == 4);

inline constexpr Return kSuccess = 0;
inline constexpr Return kUninitialized = 1;
inline constexpr Return kInvalidArgument = 2;
inline constexpr Return kNotSupported = 3;
inline constexpr Return kNoPermission = 4;
inline constexpr Return kAlreadyInitialized = 5;
inline constexpr Return kNotFound = 6;
inline constexpr Return kInsufficientSize = 7;
inline constexpr Return kInsufficientPower = 8;
inline constexpr Return kDriverNotLoaded = 9;
inline constexpr Return kTimeout = 10;
inline constexpr Return kIrqIssue = 11;
inline constexpr Return kLibraryNotFound = 12;
inline constexpr Return kFunctionNotFound = 13;
inline constexpr Return kCorruptedInforom = 14;
inline constexpr Return kGpuIsLost = 15;
inline constexpr Return kResetRequired = 16;
inline constexpr Return kOperatingSystem = 17;
inline constexpr Return kVersionMismatch = 18;
inline constexpr Return kInUse = 19;
inline constexpr Return kMemory = 20;
inline constexpr Return kNoData = 21;
inline constexpr Return kVgpuEccNotSupported = 22;
inline constexpr Return kInsufficientResources = 23;
inline constexpr Return kFreqNotSupported = 24;
inline constexpr Return kArgumentVersionMismatch = 25;
inline constexpr Return kDeprecated = 26;
inline constexpr Return kNotReady = 27;
inline constexpr Return kGpuNotFound = 28;
inline constexpr Return kInvalidState = 29;
inline constexpr Return kResetTypeNotSupported = 30;
inline constexpr Return kUnknown = 999;

inline constexpr std::uint64_t kNotAvailable64 =
    ~std::uint64_t{0};  // process memory under WSL and MIG
inline constexpr std::uint32_t kNotAvailable32 =
    ~std::uint32_t{0};  // instance ids of a process without MIG

// Clock types and ids, sensors, counters.
inline constexpr int kClockGraphics = 0, kClockSm = 1, kClockMemory = 2, kClockVideo = 3;
inline constexpr int kSensorGpu = 0;
inline constexpr int kPcieTx = 0, kPcieRx = 1;
inline constexpr int kMemoryErrorCorrected = 0, kMemoryErrorUncorrected = 1;
inline constexpr int kEccVolatile = 0, kEccAggregate = 1;
inline constexpr int kPerformanceStateUnknown = 32;
inline constexpr std::uint32_t kMigDisabled = 0, kMigEnabled = 1;

// Reasons why clocks are held down.
inline constexpr std::uint64_t kReasonGpuIdle = 0x1;
inline constexpr std::uint64_t kReasonApplicationsClocks = 0x2;
inline constexpr std::uint64_t kReasonSwPowerCap = 0x4;
inline constexpr std::uint64_t kReasonHwSlowdown = 0x8;
inline constexpr std::uint64_t kReasonSyncBoost = 0x10;
inline constexpr std::uint64_t kReasonSwThermal = 0x20;
inline constexpr std::uint64_t kReasonHwThermal = 0x40;
inline constexpr std::uint64_t kReasonHwPowerBrake = 0x80;
inline constexpr std::uint64_t kReasonDisplayClocks = 0x100;

// Text buffers, bytes.
inline constexpr std::uint32_t kNameBytes = 96;
inline constexpr std::uint32_t kUuidBytes = 96;
inline constexpr std::uint32_t kVersionBytes = 80;
inline constexpr std::uint32_t kSerialBytes = 30;

// Which of a FieldValue's union members is set.
inline constexpr int kValueDouble = 0, kValueU32 = 1, kValueULong = 2, kValueU64 = 3, kValueS64 = 4,
                     kValueS32 = 5, kValueU16 = 6;

// ---- layouts ----

// What the `version` member of a versioned structure must hold.
template <typename Struct>
constexpr std::uint32_t struct_version(std::uint32_t version) {
  return static_cast<std::uint32_t>(sizeof(Struct)) | (version << 24);
}

struct DeviceTag;           // opaque
using Device = DeviceTag*;  // also of a MIG device

struct PciInfo {
  char bus_id_legacy[16];
  std::uint32_t domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68 && offsetof(PciInfo, domain) == 16 &&
              offsetof(PciInfo, bus) == 20 && offsetof(PciInfo, device) == 24 &&
              offsetof(PciInfo, pci_device_id) == 28 && offsetof(PciInfo, pci_subsystem_id) == 32 &&
              offsetof(PciInfo, bus_id) == 36);

struct Utilization {
  std::uint32_t gpu, memory;  // percent
};
static_assert(sizeof(Utilization) == 8 && offsetof(Utilization, memory) == 4);

struct Memory {
  std::uint64_t total, free, used;  // bytes; used includes what the driver reserves
};
static_assert(sizeof(Memory) == 24 && offsetof(Memory, free) == 8 && offsetof(Memory, used) == 16);

struct MemoryV2 {
  std::uint32_t version;
  std::uint64_t total, reserved, free, used;  // bytes; used excludes reserved
};
static_assert(sizeof(MemoryV2) == 40 && offsetof(MemoryV2, total) == 8 &&
              offsetof(MemoryV2, reserved) == 16 && offsetof(MemoryV2, free) == 24 &&
              offsetof(MemoryV2, used) == 32);
static_assert(struct_version<MemoryV2>(2) == 0x02000028);

struct ProcessInfoV1 {
  std::uint32_t pid;
  std::uint64_t used_bytes;
};
static_assert(sizeof(ProcessInfoV1) == 16 && offsetof(ProcessInfoV1, used_bytes) == 8);

// Of the _v2 functions, and of the _v3 ones but in early 535 drivers.
struct ProcessInfoV2 {
  std::uint32_t pid;
  std::uint64_t used_bytes;
  std::uint32_t gpu_instance, compute_instance;
};
static_assert(sizeof(ProcessInfoV2) == 24 && offsetof(ProcessInfoV2, used_bytes) == 8 &&
              offsetof(ProcessInfoV2, gpu_instance) == 16 &&
              offsetof(ProcessInfoV2, compute_instance) == 20);

// Of the _v3 functions in early 535 drivers, and of ProcessDetailList.
struct ProcessInfoWide {
  std::uint32_t pid;
  std::uint64_t used_bytes;
  std::uint32_t gpu_instance, compute_instance;
  std::uint64_t protected_bytes;
};
static_assert(sizeof(ProcessInfoWide) == 32 && offsetof(ProcessInfoWide, used_bytes) == 8 &&
              offsetof(ProcessInfoWide, gpu_instance) == 16 &&
              offsetof(ProcessInfoWide, compute_instance) == 20 &&
              offsetof(ProcessInfoWide, protected_bytes) == 24);

struct ProcessDetailList {
  std::uint32_t version, mode, count;  // mode: 0 compute, 1 graphics, 2 MPS, 3 all
  ProcessInfoWide* records;
};
static_assert(sizeof(ProcessDetailList) == 24 && offsetof(ProcessDetailList, mode) == 4 &&
              offsetof(ProcessDetailList, count) == 8 &&
              offsetof(ProcessDetailList, records) == 16);
static_assert(struct_version<ProcessDetailList>(1) == 0x01000018);

union Value {
  double as_double;
  std::int32_t as_s32;
  std::uint32_t as_u32;
  std::uint64_t as_u64;
  std::int64_t as_s64;
  std::uint16_t as_u16;
};
static_assert(sizeof(Value) == 8);

struct FieldValue {
  std::uint32_t field, scope;
  std::int64_t at_us, latency_us;
  std::int32_t value_type;
  Return code;
  Value value;
};
static_assert(sizeof(FieldValue) == 40 && offsetof(FieldValue, scope) == 4 &&
              offsetof(FieldValue, at_us) == 8 && offsetof(FieldValue, latency_us) == 16 &&
              offsetof(FieldValue, value_type) == 24 && offsetof(FieldValue, code) == 28 &&
              offsetof(FieldValue, value) == 32);

struct ConfComputeMemSize {
  std::uint64_t protected_kib, unprotected_kib;
};
static_assert(sizeof(ConfComputeMemSize) == 16 &&
              offsetof(ConfComputeMemSize, unprotected_kib) == 8);

struct TemperatureV1 {
  std::uint32_t version;
  std::int32_t sensor, celsius;
};
static_assert(sizeof(TemperatureV1) == 12 && offsetof(TemperatureV1, sensor) == 4 &&
              offsetof(TemperatureV1, celsius) == 8);
static_assert(struct_version<TemperatureV1>(1) == 0x0100000C);

struct ProcessUtilizationSample {
  std::uint32_t pid;
  std::uint64_t at_us;
  std::uint32_t sm, memory, encoder, decoder;  // percent
};
static_assert(sizeof(ProcessUtilizationSample) == 32 &&
              offsetof(ProcessUtilizationSample, at_us) == 8 &&
              offsetof(ProcessUtilizationSample, sm) == 16 &&
              offsetof(ProcessUtilizationSample, memory) == 20 &&
              offsetof(ProcessUtilizationSample, encoder) == 24 &&
              offsetof(ProcessUtilizationSample, decoder) == 28);

// What our simulator (fakes/nvml/sim_abi.h) says of a process that it made up. Texts end with NUL,
// an empty one is unknown; numbers below zero are unknown.
struct SimProcessFacts {
  char user[64];
  char name[256];
  char command[4096];
  double cpu_percent, host_mem_percent;
  std::int64_t rss_mb, elapsed_s, threads, start_ticks;
  char state;  // as /proc has it; 0 unknown
  char padding[7];
};
static_assert(sizeof(SimProcessFacts) == 4472 && offsetof(SimProcessFacts, name) == 64 &&
              offsetof(SimProcessFacts, command) == 320 &&
              offsetof(SimProcessFacts, cpu_percent) == 4416 &&
              offsetof(SimProcessFacts, host_mem_percent) == 4424 &&
              offsetof(SimProcessFacts, rss_mb) == 4432 &&
              offsetof(SimProcessFacts, elapsed_s) == 4440 &&
              offsetof(SimProcessFacts, threads) == 4448 &&
              offsetof(SimProcessFacts, start_ticks) == 4456 &&
              offsetof(SimProcessFacts, state) == 4464);

// ---- functions ----

// Shapes, named by what they hand back. Every pointer is an output unless said otherwise.
using CallFn = Return();                            // Init_v2, Shutdown
using ErrorTextFn = const char*(Return);            // ErrorString
using SystemTextFn = Return(char*, std::uint32_t);  // SystemGetDriverVersion, SystemGetNVMLVersion
using SystemIntFn = Return(int*);                   // SystemGetCudaDriverVersion, _v2
using SystemU32Fn = Return(std::uint32_t*);         // DeviceGetCount_v2
using HandleByIndexFn = Return(std::uint32_t, Device*);  // DeviceGetHandleByIndex_v2
using HandleByTextFn = Return(const char*,
                              Device*);  // DeviceGetHandleByUUID, ...ByPciBusId_v2; text is input
using ChildHandleFn = Return(Device, std::uint32_t, Device*);  // DeviceGetMigDeviceHandleByIndex
using TextFn = Return(Device, char*, std::uint32_t);           // GetName, GetUUID, GetSerial
using U32Fn = Return(Device, std::uint32_t*);
using TwoU32Fn = Return(Device, std::uint32_t*,
                        std::uint32_t*);       // GetMigMode, GetEncoderUtilization, ...
using IntFn = Return(Device, int*);            // GetPerformanceState, GetPersistenceMode
using TwoIntFn = Return(Device, int*, int*);   // GetCudaComputeCapability, GetEccMode
using U64Fn = Return(Device, std::uint64_t*);  // GetTotalEnergyConsumption, clock reasons
using U32ByKindFn = Return(Device, int,
                           std::uint32_t*);  // GetTemperature, GetClockInfo, GetPcieThroughput
using U32ByIndexFn = Return(Device, std::uint32_t, std::uint32_t*);  // GetFanSpeed_v2
using PciInfoFn = Return(Device, PciInfo*);
using UtilizationFn = Return(Device, Utilization*);
using MemoryFn = Return(Device, Memory*);
using MemoryV2Fn = Return(Device, MemoryV2*);            // version is input
using TemperatureV1Fn = Return(Device, TemperatureV1*);  // version and sensor are input
using EccErrorsFn = Return(Device, int type, int counter, std::uint64_t*);
using FieldValuesFn = Return(Device, int count, FieldValue*);  // field and scope are input
// The process lists. `count` is how many records fit, and comes back as how many there are;
// `records` is an array of ProcessInfoV1, V2 or Wide by the function's version and driver.
using ProcessListFn = Return(Device, std::uint32_t* count, void* records);
using ProcessDetailListFn = Return(Device, ProcessDetailList*);
using ProcessUtilizationFn = Return(Device, ProcessUtilizationSample*, std::uint32_t* count,
                                    std::uint64_t since_us);
using ConfComputeMemSizeFn = Return(Device, ConfComputeMemSize*);
using SimProcessFactsFn = int(unsigned pid, SimProcessFacts*);  // 0 where it knows the process

}  // namespace nvidb::agent::nvml
