// A CUDA driver for tests: it does what it is told in the host's memory, writes down the calls, and
// fails where a test wants it to. The test compiles this C text and opens it in the driver's place.
// Kernels are not run; their arguments are written down.
#pragma once

namespace xlog::device {

inline constexpr const char* kFakeCuda = R"fake(
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef unsigned long long u64;

static char calls[1 << 20];
static size_t used;
static char fail_name[64];
static int fail_after, fail_code, sticky, pools = 1, capturing, parameters;
static u64 live_blocks, live_bytes, limit = 1ull << 32;

const char* fake_calls(void) { return calls; }
void fake_reset(void) {
  used = 0; calls[0] = 0; fail_name[0] = 0; sticky = 0; pools = 1; capturing = 0;
  limit = 1ull << 32;
}
void fake_fail(const char* name, int after, int code) {
  strncpy(fail_name, name, 63); fail_after = after; fail_code = code;
}
void fake_pools(int on) { pools = on; }
void fake_parameters(int n) { parameters = n; }
void fake_limit(u64 bytes) { limit = bytes; }
u64 fake_live_blocks(void) { return live_blocks; }
u64 fake_live_bytes(void) { return live_bytes; }

static void note(const char* text) {
  size_t n = strlen(text);
  if (used + n + 2 > sizeof(calls)) return;
  memcpy(calls + used, text, n); used += n;
  calls[used++] = '\n'; calls[used] = 0;
}
static int step(const char* name) {
  if (sticky) return sticky;
  note(name);
  if (strcmp(name, fail_name) == 0 && fail_after-- == 0) {
    fail_name[0] = 0;
    if (fail_code == 700) sticky = fail_code;
    return fail_code;
  }
  return 0;
}
#define STEP(name) { int code_ = step(name); if (code_) return code_; }

int cuInit(unsigned flags) { (void)flags; return 0; }
int cuDriverGetVersion(int* v) { *v = FAKE_VERSION; return 0; }
int cuGetErrorName(int code, const char** text) {
  *text = code == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : code == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS"
        : code == 701 ? "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES" : "CUDA_ERROR_OTHER";
  return 0;
}
int cuGetErrorString(int code, const char** text) { (void)code; *text = "by request"; return 0; }
int cuDeviceGetCount(int* n) { *n = 2; return 0; }
int cuDeviceGet(int* device, int index) { *device = index; return 0; }
int cuDeviceGetName(char* name, int size, int device) {
  snprintf(name, size, "Fake GPU %d", device); return 0;
}
int cuDeviceTotalMem_v2(size_t* bytes, int device) { (void)device; *bytes = limit; return 0; }
int cuDeviceGetAttribute(int* value, int what, int device) {
  (void)device;
  *value = what == 75 ? 9 : what == 76 ? 0 : what == 16 ? 132 : what == 115 ? pools : 0;
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
  STEP("cuDevicePrimaryCtxRetain"); *context = (void*)(size_t)(100 + device); return 0;
}
int cuDevicePrimaryCtxRelease_v2(int device) { (void)device; note("release"); return 0; }
int cuCtxSetCurrent(void* context) { (void)context; return 0; }
int cuStreamCreate(void** stream, unsigned flags) {
  STEP(flags == 1 ? "cuStreamCreate" : "wrong flags"); *stream = (void*)7; return 0;
}
int cuStreamDestroy_v2(void* stream) { (void)stream; return 0; }
int cuStreamSynchronize(void* stream) { (void)stream; STEP("cuStreamSynchronize"); return 0; }

static int allocate(u64* p, size_t bytes) {
  u64* block;
  if (live_bytes + bytes > limit) return 2;
  block = malloc(bytes + 16);
  if (!block) return 2;
  block[0] = bytes; live_blocks++; live_bytes += bytes;
  *p = (u64)(size_t)(block + 2);
  return 0;
}
static int release(u64 p) {
  u64* block = (u64*)(size_t)p - 2;
  live_blocks--; live_bytes -= block[0];
  free(block);
  return 0;
}
int cuMemAlloc_v2(u64* p, size_t bytes) { STEP("cuMemAlloc"); return allocate(p, bytes); }
int cuMemFree_v2(u64 p) { STEP("cuMemFree"); return release(p); }
int cuMemAllocAsync(u64* p, size_t bytes, void* s) {
  (void)s; STEP("cuMemAllocAsync"); return allocate(p, bytes);
}
int cuMemFreeAsync(u64 p, void* s) { (void)s; STEP("cuMemFreeAsync"); return release(p); }
int cuDeviceGetDefaultMemPool(void** pool, int device) { (void)device; *pool = (void*)8; return 0; }
int cuMemPoolSetAttribute(void* pool, int what, void* value) {
  (void)pool;
  note(what == 4 && *(u64*)value == ~0ull ? "keep all" : "wrong attribute");
  return 0;
}
int cuMemPoolTrimTo(void* pool, size_t bytes) {
  (void)pool; (void)bytes; STEP("cuMemPoolTrimTo"); return 0;
}
int cuMemHostAlloc(void** p, size_t bytes, unsigned flags) {
  (void)flags; STEP("cuMemHostAlloc"); *p = malloc(bytes); return 0;
}
int cuMemFreeHost(void* p) { free(p); return 0; }
int cuMemcpyHtoDAsync_v2(u64 to, const void* from, size_t bytes, void* s) {
  (void)s; STEP("cuMemcpyHtoDAsync"); memcpy((void*)(size_t)to, from, bytes); return 0;
}
int cuMemcpyDtoHAsync_v2(void* to, u64 from, size_t bytes, void* s) {
  (void)s; STEP("cuMemcpyDtoHAsync"); memcpy(to, (void*)(size_t)from, bytes); return 0;
}
int cuMemcpyDtoDAsync_v2(u64 to, u64 from, size_t bytes, void* s) {
  (void)s; STEP(capturing ? "captured copy" : "cuMemcpyDtoDAsync");
  if (!capturing) memmove((void*)(size_t)to, (void*)(size_t)from, bytes);
  return 0;
}
int cuMemsetD8Async(u64 to, unsigned char value, size_t bytes, void* s) {
  (void)s; STEP(capturing ? "captured fill" : "cuMemsetD8Async");
  if (!capturing) memset((void*)(size_t)to, value, bytes);
  return 0;
}
int cuEventCreate(void** e, unsigned flags) { (void)flags; *e = (void*)9; return 0; }
int cuEventDestroy_v2(void* e) { (void)e; return 0; }
int cuEventRecord(void* e, void* s) { (void)e; (void)s; return sticky; }
int cuEventSynchronize(void* e) { (void)e; STEP("cuEventSynchronize"); return 0; }
int cuEventElapsedTime(float* ms, void* a, void* b) { (void)a; (void)b; *ms = 2.5f; return 0; }

static char ptx[1 << 20], image[1 << 20], *log_text;
int cuLinkCreate_v2(unsigned n, int* options, void** values, void** link) {
  STEP("cuLinkCreate");
  log_text = n == 2 && options[0] == 5 ? values[0] : 0;
  *link = (void*)10;
  return 0;
}
int cuLinkAddData_v2(void* link, int kind, void* data, size_t bytes, const char* name, unsigned n,
                     int* options, void** values) {
  char line[256]; int code;
  (void)link; (void)n; (void)options; (void)values;
  snprintf(line, sizeof(line), "link %s kind %d zero %d", name, kind, ((char*)data)[bytes - 1]);
  note(line);
  code = step("cuLinkAddData");
  if (code && log_text) strcpy(log_text, "ptxas: line 1: no such thing\nline two");
  snprintf(ptx, sizeof(ptx), "%s", (const char*)data);
  return code;
}
int cuLinkComplete(void* link, void** out, size_t* bytes) {
  (void)link; STEP("cuLinkComplete");
  *bytes = (size_t)snprintf(image, sizeof(image), "CUBIN %s", ptx);
  if (*bytes >= sizeof(image)) *bytes = sizeof(image) - 1;
  *out = image;
  return 0;
}
int cuLinkDestroy(void* link) { (void)link; return 0; }
int cuModuleLoadDataEx(void** module, const void* data, unsigned n, int* options, void** values) {
  (void)n; (void)options; (void)values;
  STEP("cuModuleLoadDataEx");
  if (memcmp(data, "CUBIN", 5) != 0) return 200;
  *module = (void*)11;
  return 0;
}
int cuModuleUnload(void* module) { (void)module; note("cuModuleUnload"); return 0; }
int cuModuleGetFunction(void** f, void* module, const char* name) {
  (void)module; if (strcmp(name, "xlog_kernel")) return 500; *f = (void*)12; return 0;
}
int cuFuncGetAttribute(int* value, int what, void* f) {
  (void)f; (void)what; *value = 1024; return 0;
}
int cuLaunchKernel(void* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void* s, void** params, void** extra) {
  char line[1024]; int k, n;
  (void)f; (void)s; (void)extra;
  n = snprintf(line, sizeof(line), "%s %ux%ux%u by %ux%ux%u shared %u:",
               capturing ? "captured launch" : "launch", gx, gy, gz, bx, by, bz, shared);
  for (k = 0; k < parameters; k++) {
    n += snprintf(line + n, sizeof(line) - n, " %llx", *(u64*)params[k]);
  }
  note(line);
  STEP("cuLaunchKernel");
  return 0;
}
int cuStreamBeginCapture_v2(void* s, int mode) {
  (void)s; STEP(mode == 1 ? "begin capture" : "wrong mode"); capturing = 1; return 0;
}
int cuStreamEndCapture(void* s, void** graph) {
  (void)s; capturing = 0; STEP("end capture"); *graph = (void*)13; return 0;
}
int cuGraphInstantiateWithFlags(void** run, void* graph, u64 flags) {
  (void)graph; (void)flags; STEP("prepare graph"); *run = (void*)14; return 0;
}
int cuGraphDestroy(void* graph) { (void)graph; return 0; }
int cuGraphLaunch(void* run, void* s) { (void)run; (void)s; STEP("launch graph"); return 0; }
int cuGraphExecDestroy(void* run) { (void)run; note("destroy graph"); return 0; }
)fake";

}  // namespace xlog::device
