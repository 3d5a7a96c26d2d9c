// The chunked interpreter: runs a lowered kernel at once, without a compiler. It takes 256
// instances (lanes) at a time and does one op for all of them in a tight loop, so that the cost of
// interpretation is shared by the whole chunk.
//
//   Result<Lowered> lowered = lower(graph, kernel, kChunked);
//   Result<ChunkedKernel> code = ChunkedKernel::compile(graph, *lowered);
//   code->run(0, n, args);
//
// How lanes go apart: all arithmetic is total, so it may run for lanes that are not active and give
// garbage there that nobody reads. Only memory and carried values must see which lanes are active:
// each block has a list of its lanes, made by the If or loop above it. Where few lanes are left,
// arithmetic also follows the list.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "kernel/passes.h"
#include "kernel/target.h"
#include "render/chunked_step.h"

namespace xlog::render {

inline constexpr kernel::Target kChunked = {
    .name = "chunked", .groups = false, .collectives = false};

class ChunkedKernel {
 public:
  // An error names what the interpreter cannot do.
  static Result<ChunkedKernel> compile(const kernel::Graph& graph, const kernel::Lowered& lowered);

  // Runs instances lo <= i < hi. args[k] points to the value of a val parameter, or is the buffer
  // itself. Several threads may run different ranges at the same time; the memory that a thread
  // needs is kept for its next run. The result is the work that it did: kStepWork for each step,
  // and one for each lane that was active in it.
  uint64_t run(uint32_t lo, uint32_t hi, void* const* args) const;
  static constexpr uint64_t kStepWork = 32;  // what getting to a step costs, in lanes

  size_t steps() const { return body_.size(); }
  size_t bytes() const { return bytes_; }  // of working memory for a thread

 private:
  friend class ChunkedCompiler;
  ChunkedKernel() = default;

  std::vector<chunked::Step> once_;  // what is the same for all instances: constants, parameters
  std::vector<chunked::Step> body_;
  size_t bytes_ = 0;
  size_t lists_at_ = 0;  // offset of the lists of active lanes
  uint32_t lists_ = 1;
  uint32_t lanes_ = chunked::kLanes;  // instances at a time; fewer where arrays are large
};

}  // namespace xlog::render
