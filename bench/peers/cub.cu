// What CUB and the driver's own copy need on this GPU: bench_gpu loads this library and sets our
// kernels against it in the same run. Each function gives the least seconds of `repeat` runs.
#include <cub/cub.cuh>

#include <cstdint>
#include <cstdio>

namespace {

__global__ void fill(uint64_t* x, uint64_t n, uint64_t seed) {
  for (uint64_t i = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x; i < n;
       i += uint64_t{gridDim.x} * blockDim.x) {
    uint64_t z = (i + seed) * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    x[i] = z ^ (z >> 31);
  }
}

template <typename Run>
double least_seconds(int repeat, Run run) {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  double least = 1e30;
  for (int r = 0; r < repeat + 1; ++r) {
    cudaEventRecord(begin);
    run();
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float ms = 0;
    cudaEventElapsedTime(&ms, begin, end);
    if (r > 0 && ms * 1e-3 < least) least = ms * 1e-3;
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) {
    std::fprintf(stderr, "cub peer: %s\n", cudaGetErrorString(error));
    return -1;
  }
  return least;
}

template <typename T>
T* allocate(uint64_t n) {
  T* p = nullptr;
  cudaMalloc(&p, n * sizeof(T));
  return p;
}

}  // namespace

extern "C" double peer_copy(uint64_t bytes, int repeat) {
  auto *a = allocate<char>(bytes), *b = allocate<char>(bytes);
  const double seconds =
      least_seconds(repeat, [&] { cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice); });
  cudaFree(a);
  cudaFree(b);
  return seconds;
}

extern "C" double peer_scan_u32(uint64_t n, int repeat) {
  auto *a = allocate<uint32_t>(n), *b = allocate<uint32_t>(n);
  cudaMemset(a, 1, n * 4);
  size_t bytes = 0;
  cub::DeviceScan::ExclusiveSum(nullptr, bytes, a, b, n);
  auto* scratch = allocate<char>(bytes);
  const double seconds =
      least_seconds(repeat, [&] { cub::DeviceScan::ExclusiveSum(scratch, bytes, a, b, n); });
  cudaFree(a);
  cudaFree(b);
  cudaFree(scratch);
  return seconds;
}

extern "C" double peer_sort_u64(uint64_t n, int repeat) {
  auto *a = allocate<uint64_t>(n), *b = allocate<uint64_t>(n);
  fill<<<1024, 256>>>(a, n, 1);
  size_t bytes = 0;
  cub::DeviceRadixSort::SortKeys(nullptr, bytes, a, b, n);
  auto* scratch = allocate<char>(bytes);
  const double seconds =
      least_seconds(repeat, [&] { cub::DeviceRadixSort::SortKeys(scratch, bytes, a, b, n); });
  cudaFree(a);
  cudaFree(b);
  cudaFree(scratch);
  return seconds;
}

extern "C" double peer_sort_pairs(uint64_t n, int repeat) {
  auto *a = allocate<uint64_t>(n), *b = allocate<uint64_t>(n);
  auto *x = allocate<uint32_t>(n), *y = allocate<uint32_t>(n);
  fill<<<1024, 256>>>(a, n, 1);
  size_t bytes = 0;
  cub::DeviceRadixSort::SortPairs(nullptr, bytes, a, b, x, y, n);
  auto* scratch = allocate<char>(bytes);
  const double seconds = least_seconds(
      repeat, [&] { cub::DeviceRadixSort::SortPairs(scratch, bytes, a, b, x, y, n); });
  cudaFree(a);
  cudaFree(b);
  cudaFree(x);
  cudaFree(y);
  cudaFree(scratch);
  return seconds;
}
