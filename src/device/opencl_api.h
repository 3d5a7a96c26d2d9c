// The part of OpenCL 1.2 that xlog uses, found at run time in libOpenCL.so.1: no headers and no
// loader are needed to build. Declared here anew, by the published binary interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace xlog::device::opencl {

using Code = int32_t;  // 0 is success
using Flags = uint64_t;
struct PlatformObject;  // opaque objects of the driver
struct DeviceObject;
struct ContextObject;
struct QueueObject;
struct MemoryObject;
struct ProgramObject;
struct KernelObject;
struct EventObject;
using Platform = PlatformObject*;
using DeviceId = DeviceObject*;
using Context = ContextObject*;
using Queue = QueueObject*;
using MemoryRef = MemoryObject*;
using Program = ProgramObject*;
using KernelRef = KernelObject*;
using EventRef = EventObject*;

// Values of the enums, by their names in the standard.
constexpr Code kDeviceNotFound = -1;
constexpr Code kAllocationFailed = -4;
constexpr Code kOutOfResources = -5;
constexpr Code kOutOfHostMemory = -6;
constexpr Code kInvalidBufferSize = -61;
constexpr Flags kDeviceTypeAll = 0xffffffff;
constexpr Flags kDeviceTypeCpu = 1 << 1;
constexpr Flags kDeviceTypeGpu = 1 << 2;
constexpr Flags kDeviceTypeAccelerator = 1 << 3;
constexpr uint32_t kPlatformName = 0x0902;
constexpr uint32_t kDeviceType = 0x1000;
constexpr uint32_t kDeviceComputeUnits = 0x1002;
constexpr uint32_t kDeviceMaxGroup = 0x1004;
constexpr uint32_t kDeviceMaxAllocation = 0x1010;
constexpr uint32_t kDeviceAddressAlignment = 0x1019;  // in bits
constexpr uint32_t kDeviceSingleConfig = 0x101b;
constexpr uint32_t kDeviceGlobalMemory = 0x101f;
constexpr uint32_t kDeviceLocalMemory = 0x1023;
constexpr uint32_t kDeviceLittleEndian = 0x1026;
constexpr uint32_t kDeviceAvailable = 0x1027;
constexpr uint32_t kDeviceHasCompiler = 0x1028;
constexpr uint32_t kDeviceName = 0x102b;
constexpr uint32_t kDriverVersion = 0x102d;
constexpr uint32_t kDeviceVersion = 0x102f;
constexpr uint32_t kDeviceExtensions = 0x1030;
constexpr Flags kFloatDenormals = 1 << 0;
constexpr Flags kFloatFma = 1 << 5;
constexpr Flags kFloatExactDivideSqrt = 1 << 7;
constexpr Flags kQueueProfiling = 1 << 1;
constexpr Flags kReadWrite = 1 << 0;
constexpr uint32_t kRegion = 0x1220;
constexpr uint32_t kProgramBinarySizes = 0x1165;
constexpr uint32_t kProgramBinaries = 0x1166;
constexpr uint32_t kBuildLog = 0x1183;
constexpr uint32_t kKernelGroupSize = 0x11b0;
constexpr uint32_t kCommandEnd = 0x1283;

struct Region {
  size_t origin, size;
};

// X(name, symbol, result, parameters)
#define XLOG_OPENCL_FUNCTIONS(X)                                                                   \
  X(platforms, clGetPlatformIDs, Code, (uint32_t, Platform*, uint32_t*))                           \
  X(platform_info, clGetPlatformInfo, Code, (Platform, uint32_t, size_t, void*, size_t*))          \
  X(devices, clGetDeviceIDs, Code, (Platform, Flags, uint32_t, DeviceId*, uint32_t*))              \
  X(device_info, clGetDeviceInfo, Code, (DeviceId, uint32_t, size_t, void*, size_t*))              \
  X(create_context, clCreateContext, Context,                                                      \
    (const intptr_t*, uint32_t, const DeviceId*, void*, void*, Code*))                             \
  X(release_context, clReleaseContext, Code, (Context))                                            \
  X(create_queue, clCreateCommandQueue, Queue, (Context, DeviceId, Flags, Code*))                  \
  X(release_queue, clReleaseCommandQueue, Code, (Queue))                                           \
  X(create_buffer, clCreateBuffer, MemoryRef, (Context, Flags, size_t, void*, Code*))              \
  X(create_part, clCreateSubBuffer, MemoryRef, (MemoryRef, Flags, uint32_t, const void*, Code*))   \
  X(release_memory, clReleaseMemObject, Code, (MemoryRef))                                         \
  X(write, clEnqueueWriteBuffer, Code,                                                             \
    (Queue, MemoryRef, uint32_t, size_t, size_t, const void*, uint32_t, const EventRef*,           \
     EventRef*))                                                                                   \
  X(read, clEnqueueReadBuffer, Code,                                                               \
    (Queue, MemoryRef, uint32_t, size_t, size_t, void*, uint32_t, const EventRef*, EventRef*))     \
  X(copy, clEnqueueCopyBuffer, Code,                                                               \
    (Queue, MemoryRef, MemoryRef, size_t, size_t, size_t, uint32_t, const EventRef*, EventRef*))   \
  X(fill, clEnqueueFillBuffer, Code,                                                               \
    (Queue, MemoryRef, const void*, size_t, size_t, size_t, uint32_t, const EventRef*, EventRef*)) \
  X(program_from_source, clCreateProgramWithSource, Program,                                       \
    (Context, uint32_t, const char**, const size_t*, Code*))                                       \
  X(program_from_binary, clCreateProgramWithBinary, Program,                                       \
    (Context, uint32_t, const DeviceId*, const size_t*, const unsigned char**, Code*, Code*))      \
  X(build, clBuildProgram, Code, (Program, uint32_t, const DeviceId*, const char*, void*, void*))  \
  X(build_info, clGetProgramBuildInfo, Code,                                                       \
    (Program, DeviceId, uint32_t, size_t, void*, size_t*))                                         \
  X(program_info, clGetProgramInfo, Code, (Program, uint32_t, size_t, void*, size_t*))             \
  X(release_program, clReleaseProgram, Code, (Program))                                            \
  X(create_kernel, clCreateKernel, KernelRef, (Program, const char*, Code*))                       \
  X(release_kernel, clReleaseKernel, Code, (KernelRef))                                            \
  X(set_argument, clSetKernelArg, Code, (KernelRef, uint32_t, size_t, const void*))                \
  X(group_info, clGetKernelWorkGroupInfo, Code,                                                    \
    (KernelRef, DeviceId, uint32_t, size_t, void*, size_t*))                                       \
  X(launch, clEnqueueNDRangeKernel, Code,                                                          \
    (Queue, KernelRef, uint32_t, const size_t*, const size_t*, const size_t*, uint32_t,            \
     const EventRef*, EventRef*))                                                                  \
  X(flush, clFlush, Code, (Queue))                                                                 \
  X(finish, clFinish, Code, (Queue))                                                               \
  X(marker, clEnqueueMarkerWithWaitList, Code, (Queue, uint32_t, const EventRef*, EventRef*))      \
  X(event_wait, clWaitForEvents, Code, (uint32_t, const EventRef*))                                \
  X(event_time, clGetEventProfilingInfo, Code, (EventRef, uint32_t, size_t, void*, size_t*))       \
  X(release_event, clReleaseEvent, Code, (EventRef))

struct Api {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a name and a list of parameters
#define XLOG_OPENCL_DECLARE(name, symbol, result, parameters) result(*name) parameters = nullptr;
  XLOG_OPENCL_FUNCTIONS(XLOG_OPENCL_DECLARE)
#undef XLOG_OPENCL_DECLARE

  std::string device_text(DeviceId device, uint32_t what) const;
  // A fact of any width up to 64 bits; 0 when the driver does not tell.
  uint64_t device_number(DeviceId device, uint32_t what) const;
};

struct Found {
  Platform platform;
  DeviceId device;
  Flags type;  // kDeviceTypeGpu and so on
};

// Opens the loader once for the process; $XLOG_OPENCL_LIBRARY names another library.
Result<std::shared_ptr<const Api>> open_api();
// The devices of all platforms, GPUs first (see order_devices).
std::vector<Found> find_devices(const Api& api);
// GPUs before accelerators before CPUs and the rest, otherwise in the order in which the loader
// names them. The loader's own order is that of files in a folder: with PoCL installed beside a
// vendor's driver, the first device would be the CPU, and `opencl` without a number is meant for
// the GPU.
void order_devices(std::vector<Found>& devices);

// "CL_OUT_OF_RESOURCES (-5)"
std::string explain(Code code);

}  // namespace xlog::device::opencl
