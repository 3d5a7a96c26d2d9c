// The op graph. A node is 24 bytes; an Id is its number. Pure nodes are interned: the same op over
// the same operands is the same Id, so equality is identity and common sub-expressions are shared
// by construction. Effects are not: each stands once in a Block, in order. A node is never changed
// and never freed; a rewrite makes new nodes, and the Graph goes when its compilation is done.
//
// Operands always have smaller ids than their users, so ids are a topological order, and they
// depend only on the order of construction: nothing here may order by pointer or hash.
//
//   Graph graph;
//   Id one = graph.constant(Scalar::u32(1));
//   Id sum = graph.make(Op::Add, {x, one});      // type follows the operands
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kernel/op.h"
#include "kernel/scalar.h"
#include "kernel/type.h"

namespace xlog::kernel {

struct Id {
  uint32_t index = UINT32_MAX;

  bool valid() const { return index != UINT32_MAX; }
  friend bool operator==(Id, Id) = default;
  friend auto operator<=>(Id, Id) = default;
};

struct Node {
  Op op{};
  Type type = Type::Void;  // of its value; of an element, for buffers (Param, Alloc, Buf)
  uint8_t count = 0;       // operands; kPooled: src[0] is an offset into the pool, src[1] the count
  uint8_t flags = 0;       // by op: Mode, Fold, Space, kWide, kRaw
  uint32_t imm = 0;        // by op: see Graph
  Id src[3];
  uint32_t hash = 0;

  static constexpr uint8_t kPooled = 255;
  static constexpr uint8_t kWide = 1;  // Const: imm is an index into the pool of 64-bit literals
  static constexpr uint8_t kRaw = 1;   // Bitcast: bits as they are; only after legalisation
};
static_assert(sizeof(Node) == 24);

// What a Kernel or Plan node's imm points to.
struct KernelInfo {
  std::string name;
  uint32_t group = 0;  // lanes of a group; 0: a grid kernel
  // Parameters are interned, so kernels of one graph share them and their names; these are its own.
  std::vector<std::string> param_names = {};
};

class Graph {
 public:
  Graph();
  Graph(Graph&&) = default;
  Graph& operator=(Graph&&) = default;

  uint32_t size() const { return size_; }
  const Node& operator[](Id id) const { return chunks_[id.index >> kChunkBits][id.index & kMask]; }
  std::span<const Id> operands(Id id) const;
  Id operand(Id id, size_t k) const { return operands(id)[k]; }

  // ---- pure nodes ----
  Id constant(Scalar value);
  Id parameter(uint32_t position, Type type, Mode mode);
  Id arg(uint32_t tag, uint32_t k, Type type);  // k < 256
  Id proj(Id node, uint32_t k, Type type);
  Id cast(Type to, Id value);
  Id bitcast(Type to, Id value, bool raw = false);
  // Any op whose type follows from its operands. The operands must fit (see type_problem).
  Id make(Op op, std::initializer_list<Id> operands) { return make(op, std::span(operands)); }
  Id make(Op op, std::span<const Id> operands);

  // ---- effects ----
  Id alloc(Type type, uint32_t elements, Space space);
  Id fold_node(Op op, Fold fold, std::span<const Id> operands);  // Atomic, GScan, GReduce, Scan ...
  Id check(uint32_t code, Id condition);
  Id block(std::span<const Id> effects) { return add(Op::Block, Type::Void, 0, 0, effects); }
  Id kernel(KernelInfo info, Id block, std::span<const Id> params);
  Id plan(KernelInfo info, Id block, std::span<const Id> params);
  // A loop's tag names its Args; a rewritten loop keeps the tag.
  uint32_t new_tag() { return next_tag_++; }
  Id loop(Op op, uint32_t tag, std::span<const Id> operands);  // For, Loop, Map, Expand: tagged

  // The general form behind all of the above: interned if the op is pure.
  Id add(Op op, Type type, uint8_t flags, uint32_t imm, std::span<const Id> operands);
  // The same node with other operands (and the type that follows from them).
  Id with_operands(Id node, std::span<const Id> operands);

  // ---- what flags and imm mean ----
  Op op(Id id) const { return (*this)[id].op; }
  Type type(Id id) const { return (*this)[id].type; }
  bool is_const(Id id) const { return op(id) == Op::Const; }
  Scalar value(Id constant) const;
  Mode mode(Id param) const { return static_cast<Mode>((*this)[param].flags); }
  uint32_t position(Id param) const { return (*this)[param].imm; }
  Fold fold(Id node) const { return static_cast<Fold>((*this)[node].flags); }
  Space space(Id alloc) const { return static_cast<Space>((*this)[alloc].flags); }
  uint32_t elements(Id alloc) const { return (*this)[alloc].imm; }
  uint32_t tag(Id loop_or_arg) const;  // of For, Loop, Map, Expand, Arg
  uint32_t arg_index(Id arg) const { return (*this)[arg].imm & 0xff; }
  uint32_t result_index(Id proj) const { return (*this)[proj].imm; }
  bool is_raw(Id bitcast) const { return ((*this)[bitcast].flags & Node::kRaw) != 0; }
  uint32_t code(Id check) const { return (*this)[check].imm; }
  const KernelInfo& kernel_info(Id kernel) const { return infos_[(*this)[kernel].imm]; }
  Id body(Id node) const;  // the Block of Kernel, Plan, For, Loop, Map, Expand, FlatMap
  std::span<const Id> params(Id kernel) const { return operands(kernel).subspan(1); }
  // What this kernel or plan calls a parameter; "" where it has no name.
  std::string_view param_name(Id kernel, Id param) const;
  // Carried values of a For or Loop: their initial values, and how many.
  std::span<const Id> inits(Id loop) const;

  // Names from the text form or the builder: for printing only, no part of a node's identity.
  void set_name(Id id, std::string_view name);
  std::string_view name(Id id) const;  // "" where there is none
  void set_arg_name(uint32_t tag, uint32_t k, std::string_view name);
  std::string_view arg_name(uint32_t tag, uint32_t k) const;

 private:
  static constexpr uint32_t kChunkBits = 10;
  static constexpr uint32_t kMask = (1u << kChunkBits) - 1;
  static constexpr uint32_t kPoolChunk = 4096;

  Id push(const Node& node);
  Id definition(Op op, KernelInfo info, Id block, std::span<const Id> params);
  void grow_table();
  std::pair<uint32_t, Id*> pool_space(size_t n);
  const Id* pool_at(uint32_t offset) const;
  bool same(const Node& node, std::span<const Id> operands, uint32_t other) const;

  std::vector<std::unique_ptr<Node[]>> chunks_;
  uint32_t size_ = 0;
  std::vector<std::unique_ptr<Id[]>> pool_;  // lists of more than three operands; they never move
  std::vector<uint32_t> pool_begin_;         // offset of the first entry of each piece
  uint32_t pool_free_ = 0;                   // next offset
  uint32_t pool_end_ = 0;                    // end of the last piece
  std::vector<uint32_t> table_;              // open addressing over pure nodes; id + 1, 0 = empty
  uint32_t interned_ = 0;
  std::vector<uint64_t> wide_;
  std::unordered_map<uint64_t, uint32_t> wide_index_;
  std::vector<KernelInfo> infos_;
  uint32_t next_tag_ = 0;
  std::unordered_map<uint64_t, std::string> names_;  // by id, or by tag and argument
};

// Why these operands do not fit the op, or "". The types follow op.def.
std::string type_problem(const Graph& graph, Op op, std::span<const Id> operands);
// The type of the result of an op whose operands fit; `given` where the node names it.
Type result_type(const Graph& graph, Op op, std::span<const Id> operands, Type given = Type::Void);
// Why a cast or bitcast between these types is refused, or "".
std::string cast_problem(Op op, Type from, Type to);

bool is_buffer(const Graph& graph, Id id);  // a Param that is not val, an Alloc, a plan's buffer

}  // namespace xlog::kernel

template <>
struct std::hash<xlog::kernel::Id> {
  size_t operator()(xlog::kernel::Id id) const noexcept { return id.index * 0x9E3779B97F4A7C15u; }
};
