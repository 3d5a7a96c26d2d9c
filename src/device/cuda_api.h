// The part of NVIDIA's driver interface that xlog uses, found at run time in libcuda.so.1: nothing
// of CUDA is needed to build. Declared here anew, by the published binary interface; the table
// names each function with its symbol, of which the versioned ones are the current ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace xlog::device::cuda {

using Code = int;          // CUresult; 0 is success
using DeviceNumber = int;  // CUdevice
using Pointer = uint64_t;  // CUdeviceptr
struct ContextObject;      // opaque objects of the driver
struct StreamObject;
struct EventObject;
struct ModuleObject;
struct FunctionObject;
struct LinkObject;
struct PoolObject;
struct GraphObject;
struct GraphRunObject;
using Context = ContextObject*;
using Stream = StreamObject*;
using Event = EventObject*;
using Module = ModuleObject*;
using Function = FunctionObject*;
using Link = LinkObject*;
using MemoryPool = PoolObject*;
using Graph = GraphObject*;
using GraphRun = GraphRunObject*;

// Values of the driver's enums.
constexpr Code kOutOfMemory = 2;
constexpr int kAttributeMultiprocessors = 16;
constexpr int kAttributeMajor = 75;
constexpr int kAttributeMinor = 76;
constexpr int kAttributeMemoryPools = 115;
constexpr unsigned kStreamNonBlocking = 1;
constexpr unsigned kEventDefault = 0;
constexpr unsigned kEventNoTiming = 2;
constexpr int kPoolReleaseThreshold = 4;
constexpr int kCaptureThreadLocal = 1;
constexpr int kFunctionMaxThreads = 0;
constexpr int kInputPtx = 1;
constexpr int kOptionErrorLog = 5;       // CU_JIT_ERROR_LOG_BUFFER
constexpr int kOptionErrorLogBytes = 6;  // CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES

// X(name, symbol, parameters); those of the second table may be missing in an old driver.
#define XLOG_CUDA_FUNCTIONS(X)                                                                   \
  X(init, cuInit, (unsigned))                                                                    \
  X(driver_version, cuDriverGetVersion, (int*))                                                  \
  X(error_name, cuGetErrorName, (Code, const char**))                                            \
  X(error_string, cuGetErrorString, (Code, const char**))                                        \
  X(device_count, cuDeviceGetCount, (int*))                                                      \
  X(device_get, cuDeviceGet, (DeviceNumber*, int))                                               \
  X(device_name, cuDeviceGetName, (char*, int, DeviceNumber))                                    \
  X(device_memory, cuDeviceTotalMem_v2, (size_t*, DeviceNumber))                                 \
  X(device_attribute, cuDeviceGetAttribute, (int*, int, DeviceNumber))                           \
  X(context_retain, cuDevicePrimaryCtxRetain, (Context*, DeviceNumber))                          \
  X(context_release, cuDevicePrimaryCtxRelease_v2, (DeviceNumber))                               \
  X(context_set, cuCtxSetCurrent, (Context))                                                     \
  X(stream_create, cuStreamCreate, (Stream*, unsigned))                                          \
  X(stream_destroy, cuStreamDestroy_v2, (Stream))                                                \
  X(stream_wait, cuStreamSynchronize, (Stream))                                                  \
  X(allocate, cuMemAlloc_v2, (Pointer*, size_t))                                                 \
  X(free, cuMemFree_v2, (Pointer))                                                               \
  X(host_allocate, cuMemHostAlloc, (void**, size_t, unsigned))                                   \
  X(host_free, cuMemFreeHost, (void*))                                                           \
  X(to_device, cuMemcpyHtoDAsync_v2, (Pointer, const void*, size_t, Stream))                     \
  X(from_device, cuMemcpyDtoHAsync_v2, (void*, Pointer, size_t, Stream))                         \
  X(on_device, cuMemcpyDtoDAsync_v2, (Pointer, Pointer, size_t, Stream))                         \
  X(fill, cuMemsetD8Async, (Pointer, unsigned char, size_t, Stream))                             \
  X(event_create, cuEventCreate, (Event*, unsigned))                                             \
  X(event_destroy, cuEventDestroy_v2, (Event))                                                   \
  X(event_record, cuEventRecord, (Event, Stream))                                                \
  X(event_wait, cuEventSynchronize, (Event))                                                     \
  X(event_elapsed, cuEventElapsedTime, (float*, Event, Event))                                   \
  X(link_create, cuLinkCreate_v2, (unsigned, int*, void**, Link*))                               \
  X(link_add, cuLinkAddData_v2, (Link, int, void*, size_t, const char*, unsigned, int*, void**)) \
  X(link_complete, cuLinkComplete, (Link, void**, size_t*))                                      \
  X(link_destroy, cuLinkDestroy, (Link))                                                         \
  X(module_load, cuModuleLoadDataEx, (Module*, const void*, unsigned, int*, void**))             \
  X(module_unload, cuModuleUnload, (Module))                                                     \
  X(module_function, cuModuleGetFunction, (Function*, Module, const char*))                      \
  X(function_attribute, cuFuncGetAttribute, (int*, int, Function))                               \
  X(launch, cuLaunchKernel,                                                                      \
    (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream,     \
     void**, void**))                                                                            \
  X(capture_begin, cuStreamBeginCapture_v2, (Stream, int))                                       \
  X(capture_end, cuStreamEndCapture, (Stream, Graph*))                                           \
  X(graph_destroy, cuGraphDestroy, (Graph))                                                      \
  X(graph_launch, cuGraphLaunch, (GraphRun, Stream))                                             \
  X(graph_run_destroy, cuGraphExecDestroy, (GraphRun))

#define XLOG_CUDA_OPTIONAL_FUNCTIONS(X)                                                 \
  X(graph_prepare, cuGraphInstantiateWithFlags, (GraphRun*, Graph, unsigned long long)) \
  X(allocate_async, cuMemAllocAsync, (Pointer*, size_t, Stream))                        \
  X(free_async, cuMemFreeAsync, (Pointer, Stream))                                      \
  X(default_pool, cuDeviceGetDefaultMemPool, (MemoryPool*, DeviceNumber))               \
  X(pool_set, cuMemPoolSetAttribute, (MemoryPool, int, void*))                          \
  X(pool_trim, cuMemPoolTrimTo, (MemoryPool, size_t))

struct Api {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a name and a list of parameters
#define XLOG_CUDA_DECLARE(name, symbol, parameters) Code(*name) parameters = nullptr;
  XLOG_CUDA_FUNCTIONS(XLOG_CUDA_DECLARE)
  XLOG_CUDA_OPTIONAL_FUNCTIONS(XLOG_CUDA_DECLARE)
#undef XLOG_CUDA_DECLARE

  int version = 0;  // of the driver: 12040 is 12.4

  // "CUDA_ERROR_OUT_OF_MEMORY (out of memory)"
  std::string explain(Code code) const;
};

// Opens the driver once for the process; $XLOG_CUDA_LIBRARY names another library. Tests that swap
// it pass its path.
Result<std::shared_ptr<const Api>> open_api(const std::string& path = "");

// After such an error nothing works any more in the process's context of this device.
bool is_fatal(Code code);

}  // namespace xlog::device::cuda
