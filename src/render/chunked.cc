#include "render/chunked.h"

#include <algorithm>
#include <memory>
#include <new>

#include "base/check.h"
#include "render/chunked_compiler.h"

namespace xlog::render {

using chunked::Frame;
using chunked::kLanes;
using chunked::Lanes;
using chunked::Step;

namespace {

// Working memory of a thread; grows to what its largest kernel needed.
std::byte* working_memory(size_t bytes) {
  struct Memory {
    std::unique_ptr<std::byte[]> owner;
    size_t bytes = 0;
  };
  thread_local Memory memory;
  if (memory.bytes < bytes) {
    memory.owner = std::make_unique<std::byte[]>(bytes + kRegisterAlignment);
    memory.bytes = bytes;
  }
  void* start = memory.owner.get();
  size_t space = memory.bytes + kRegisterAlignment;
  return static_cast<std::byte*>(std::align(kRegisterAlignment, memory.bytes, start, space));
}

void activate(Lanes& lanes, uint32_t count) {
  lanes.count = count;
  for (uint32_t i = 0; i < kLanes; ++i) lanes.list[i] = static_cast<uint16_t>(i);
}

uint64_t run_steps(Frame& frame, const std::vector<Step>& steps) {
  frame.begin = steps.data();
  frame.next = steps.data();
  const Step* end = steps.data() + steps.size();
  uint64_t work = 0;
  while (frame.next != end) {
    const Step& step = *frame.next++;
    step.run(frame, step);
    work += ChunkedKernel::kStepWork + frame.now->count;
  }
  return work;
}

}  // namespace

uint64_t ChunkedKernel::run(uint32_t lo, uint32_t hi, void* const* args) const {
  if (lo >= hi) return 0;
  Frame frame{};
  frame.memory = working_memory(bytes_);
  frame.lists = new (frame.memory + lists_at_) Lanes[lists_];
  frame.now = frame.lists;
  frame.args = args;
  frame.lanes = lanes_;
  activate(frame.lists[0], std::min(lanes_, hi - lo));
  uint64_t work = run_steps(frame, once_);
  for (uint32_t first = lo; first < hi;) {
    const uint32_t count = std::min(lanes_, hi - first);
    frame.first = first;
    frame.lists[0].count = count;
    frame.now = frame.lists;
    work += run_steps(frame, body_);
    first += count;
  }
  return work;
}

Result<ChunkedKernel> ChunkedKernel::compile(const kernel::Graph& graph,
                                             const kernel::Lowered& lowered) {
  return ChunkedCompiler(graph, lowered).compile();
}

}  // namespace xlog::render
