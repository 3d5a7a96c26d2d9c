// From a lowered kernel to the steps of the chunked interpreter.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "render/chunked.h"

namespace xlog::render {

constexpr size_t kRegisterAlignment = 64;

// Two walks over the placed blocks: the first finds where each value is used last, the second gives
// out registers and writes the steps.
class ChunkedCompiler {
 public:
  ChunkedCompiler(const kernel::Graph& graph, const kernel::Lowered& lowered);
  Result<ChunkedKernel> compile();

 private:
  using Id = kernel::Id;
  using Type = kernel::Type;

  // A register, or several nodes that share it because they are the same bits.
  struct Register {
    uint32_t offset;
    uint32_t size_class;
    uint32_t owners;
  };
  // What a loop keeps while it runs; `carried` then holds its results.
  struct LoopRegisters {
    std::vector<uint32_t> carried;  // for a Loop the flag comes last
    uint32_t counter = 0;
  };
  static constexpr uint32_t kNowhere = UINT32_MAX;

  // ---- chunked_lifetime.cc ----
  void find_lifetimes();
  void walk(Id block, std::vector<std::pair<Id, uint32_t>>& path);
  void use(Id value, const std::vector<std::pair<Id, uint32_t>>& path);
  bool is_uniform(Id value) const;

  // ---- registers ----
  uint32_t new_register(Type type, bool for_good = false);
  void drop(uint32_t reg);
  uint32_t result_register(Id node);
  void share(Id node, Id same_bits);
  uint32_t reg(Id value);
  uint32_t at(Id value) { return registers_[reg(value)].offset; }
  void release(Id node);

  // ---- steps ----
  void block(Id id);
  void node(Id id);
  void arithmetic(Id id);
  void memory(Id id);
  void branch(Id id);
  void loop(Id id);
  void yield(Id loop, Id yield_node);
  void copy(uint32_t to, uint32_t from, Type type);
  void fail(std::string message);
  chunked::Step& emit(chunked::Run run);
  uint32_t here() const { return static_cast<uint32_t>(code_.body_.size()); }
  uint32_t new_list() { return code_.lists_++; }

  const kernel::Graph& graph_;
  const kernel::Lowered& lowered_;
  ChunkedKernel code_;
  std::optional<Error> error_;

  std::vector<bool> uniform_;                         // by Id: the same for all instances
  std::vector<Id> home_;                              // by Id: the block it is computed in
  std::vector<uint32_t> last_use_;                    // by Id: position in its home
  std::vector<std::vector<std::vector<Id>>> deaths_;  // by block and position

  std::vector<Register> registers_;
  std::vector<uint32_t> register_of_;  // by Id
  std::vector<LoopRegisters> loops_;   // in order of appearance
  std::vector<uint32_t> loop_of_;      // by Id of the loop
  std::vector<uint32_t> loop_of_tag_;
  std::vector<uint32_t> array_at_;             // by Id of an Alloc
  std::array<std::vector<uint32_t>, 3> free_;  // offsets by size class
  std::vector<Id> open_loops_;                 // whose bodies are being written
  uint32_t now_ = 0;                           // the list that is active
  size_t bytes_ = 0;
};

}  // namespace xlog::render
