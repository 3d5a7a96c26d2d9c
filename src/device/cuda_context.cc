#include "device/cuda_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace xlog::device::cuda {

namespace {

constexpr size_t kStageBytes = size_t{4} << 20;
// Up to this size the driver takes the bytes at once and does not wait for the queue.
constexpr size_t kSmallWrite = size_t{64} << 10;
constexpr uint64_t kSmallestBlock = 512;

// Where the driver has no pools: blocks by powers of two, kept when they are freed.
uint64_t block_size(uint64_t bytes) { return std::bit_ceil(std::max(bytes, kSmallestBlock)); }

}  // namespace

Result<std::shared_ptr<GpuContext>> GpuContext::open(std::shared_ptr<const Api> api, int index) {
  auto gpu = std::shared_ptr<GpuContext>(new GpuContext);
  gpu->api_ = std::move(api);
  const Api& cuda = *gpu->api_;
  auto failed = [&](std::string_view what, Code code) {
    return Error{fmt::format("cuda:{}: {}: {}", index, what, cuda.explain(code)),
                 "see whether `nvidia-smi` finds the GPU, and whether others use all of it"};
  };
  if (Code code = cuda.device_get(&gpu->device_, index)) return failed("no such GPU", code);
  if (Code code = cuda.context_retain(&gpu->context_, gpu->device_)) {
    gpu->context_ = nullptr;
    return failed("no context", code);
  }
  if (Code code = gpu->make_current()) return failed("no context", code);
  if (Code code = cuda.stream_create(&gpu->stream_, kStreamNonBlocking)) {
    return failed("no queue", code);
  }
  int pools = 0;
  if (cuda.allocate_async != nullptr && cuda.free_async != nullptr &&
      cuda.default_pool != nullptr && cuda.pool_set != nullptr && cuda.pool_trim != nullptr &&
      cuda.device_attribute(&pools, kAttributeMemoryPools, gpu->device_) == 0 && pools != 0 &&
      cuda.default_pool(&gpu->pool_, gpu->device_) == 0) {
    // Otherwise the pool gives everything back to the system at each wait.
    uint64_t keep = UINT64_MAX;
    cuda.pool_set(gpu->pool_, kPoolReleaseThreshold, &keep);
  }
  return gpu;
}

GpuContext::~GpuContext() {
  if (context_ == nullptr) return;
  if (!abandoned_ && make_current() == 0) {
    if (stream_ != nullptr) api_->stream_wait(stream_);
    release_free_blocks();
    for (Stage& stage : stages_) {
      if (stage.copied != nullptr) api_->event_destroy(stage.copied);
      if (stage.memory != nullptr) api_->host_free(stage.memory);
    }
    if (stream_ != nullptr) api_->stream_destroy(stream_);
  }
  api_->context_release(device_);
}

void GpuContext::release_free_blocks() {
  for (auto& [size, blocks] : free_blocks_) {
    for (Pointer block : blocks) api_->free(block);
  }
  free_blocks_.clear();
}

Code GpuContext::allocate(uint64_t bytes, Pointer& memory) {
  if (pool_ != nullptr) {
    uint64_t size = std::max<uint64_t>(bytes, 1);
    Code code = api_->allocate_async(&memory, size, stream_);
    if (code != kOutOfMemory) return code;
    // Free memory may be in pieces of other sizes: hand it all back and ask once more.
    if (Code waited = api_->stream_wait(stream_)) return waited;
    api_->pool_trim(pool_, 0);
    return api_->allocate_async(&memory, size, stream_);
  }
  if (bytes > uint64_t{1} << 62) return kOutOfMemory;
  uint64_t size = block_size(bytes);
  std::vector<Pointer>& blocks = free_blocks_[size];
  if (!blocks.empty()) {
    memory = blocks.back();
    blocks.pop_back();
    return 0;
  }
  Code code = api_->allocate(&memory, size);
  if (code != kOutOfMemory) return code;
  if (Code waited = api_->stream_wait(stream_)) return waited;
  release_free_blocks();
  return api_->allocate(&memory, size);
}

void GpuContext::free(Pointer memory, uint64_t bytes) {
  if (abandoned_ || memory == 0) return;
  if (pool_ == nullptr) {
    free_blocks_[block_size(bytes)].push_back(memory);
    return;
  }
  if (make_current() == 0) api_->free_async(memory, stream_);
}

Code GpuContext::prepare_stages() {
  for (Stage& stage : stages_) {
    if (stage.memory == nullptr) {
      void* memory = nullptr;
      if (Code code = api_->host_allocate(&memory, kStageBytes, 0)) return code;
      stage.memory = static_cast<std::byte*>(memory);
    }
    if (stage.copied == nullptr) {
      if (Code code = api_->event_create(&stage.copied, kEventNoTiming)) return code;
    }
  }
  return 0;
}

Code GpuContext::settle(Stage& stage) {
  if (!stage.in_flight) return 0;
  stage.in_flight = false;
  return api_->event_wait(stage.copied);
}

Code GpuContext::write(Pointer to, std::span<const std::byte> bytes) {
  if (bytes.size() <= kSmallWrite) {
    return api_->to_device(to, bytes.data(), bytes.size(), stream_);
  }
  if (Code code = prepare_stages()) return code;
  for (size_t begin = 0, k = 0; begin < bytes.size(); begin += kStageBytes, k ^= 1) {
    Stage& stage = stages_[k];
    if (Code code = settle(stage)) return code;
    size_t size = std::min(kStageBytes, bytes.size() - begin);
    std::memcpy(stage.memory, bytes.data() + begin, size);
    if (Code code = api_->to_device(to + begin, stage.memory, size, stream_)) return code;
    if (Code code = api_->event_record(stage.copied, stream_)) return code;
    stage.in_flight = true;
  }
  return 0;
}

Code GpuContext::read(Pointer from, std::span<std::byte> bytes) {
  if (Code code = prepare_stages()) return code;
  for (Stage& stage : stages_) {
    if (Code code = settle(stage)) return code;
  }
  auto start = [&](size_t begin, Stage& stage) -> Code {
    size_t size = std::min(kStageBytes, bytes.size() - begin);
    if (Code code = api_->from_device(stage.memory, from + begin, size, stream_)) return code;
    stage.in_flight = true;
    return api_->event_record(stage.copied, stream_);
  };
  if (Code code = start(0, stages_[0])) return code;
  for (size_t begin = 0, k = 0; begin < bytes.size(); begin += kStageBytes, k ^= 1) {
    if (begin + kStageBytes < bytes.size()) {
      if (Code code = start(begin + kStageBytes, stages_[k ^ 1])) return code;
    }
    if (Code code = settle(stages_[k])) return code;
    std::memcpy(bytes.data() + begin, stages_[k].memory,
                std::min(kStageBytes, bytes.size() - begin));
  }
  return 0;
}

}  // namespace xlog::device::cuda
