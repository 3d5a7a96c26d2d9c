#include "kernel/graph.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/check.h"

namespace xlog::kernel {

namespace {

uint32_t hash_node(const Node& node, std::span<const Id> operands) {
  uint64_t h = static_cast<uint64_t>(node.op) | static_cast<uint64_t>(node.type) << 8 |
               static_cast<uint64_t>(node.flags) << 16 | static_cast<uint64_t>(node.imm) << 32;
  h *= 0xff51afd7ed558ccdull;
  for (Id id : operands) h = (h ^ id.index ^ (h >> 29)) * 0xc4ceb9fe1a85ec53ull;
  h ^= h >> 32;
  return static_cast<uint32_t>(h * 0x9E3779B97F4A7C15ull >> 32);
}

bool has_tag(Op op) {
  return is_loop(op) || op == Op::Map || op == Op::Expand || op == Op::FlatMap;
}

}  // namespace

Graph::Graph() : table_(256, 0) {}

std::span<const Id> Graph::operands(Id id) const {
  const Node& node = (*this)[id];
  if (node.count != Node::kPooled) return {node.src, node.count};
  return {pool_at(node.src[0].index), node.src[1].index};
}

const Id* Graph::pool_at(uint32_t offset) const {
  auto after = std::upper_bound(pool_begin_.begin(), pool_begin_.end(), offset);
  const auto piece = static_cast<size_t>(after - pool_begin_.begin()) - 1;
  return pool_[piece].get() + (offset - pool_begin_[piece]);
}

std::pair<uint32_t, Id*> Graph::pool_space(size_t n) {
  if (pool_end_ - pool_free_ < n) {
    const auto piece = static_cast<uint32_t>(std::max<size_t>(kPoolChunk, n));
    pool_.push_back(std::make_unique<Id[]>(piece));
    pool_begin_.push_back(pool_end_);
    pool_free_ = pool_end_;
    pool_end_ += piece;
  }
  const uint32_t offset = pool_free_;
  pool_free_ += static_cast<uint32_t>(n);
  return {offset, pool_.back().get() + (offset - pool_begin_.back())};
}

bool Graph::same(const Node& node, std::span<const Id> operands, uint32_t other) const {
  const Node& there = (*this)[Id{other}];
  if (there.hash != node.hash || there.op != node.op || there.type != node.type ||
      there.flags != node.flags || there.imm != node.imm) {
    return false;
  }
  return std::ranges::equal(this->operands(Id{other}), operands);
}

Id Graph::add(Op op, Type type, uint8_t flags, uint32_t imm, std::span<const Id> operands) {
  Node node;
  node.op = op;
  node.type = type;
  node.flags = flags;
  node.imm = imm;
  node.hash = hash_node(node, operands);
  const bool pure = !is_effect(op);
  uint32_t slot = 0;
  if (pure) {
    if ((interned_ + 1) * 2 > table_.size()) grow_table();
    const auto mask = static_cast<uint32_t>(table_.size() - 1);
    for (slot = node.hash & mask; table_[slot] != 0; slot = (slot + 1) & mask) {
      if (same(node, operands, table_[slot] - 1)) return Id{table_[slot] - 1};
    }
  }
  if (operands.size() <= 3) {
    node.count = static_cast<uint8_t>(operands.size());
    std::ranges::copy(operands, node.src);
  } else {
    auto [offset, space] = pool_space(operands.size());
    std::ranges::copy(operands, space);
    node.count = Node::kPooled;
    node.src[0] = Id{offset};
    node.src[1] = Id{static_cast<uint32_t>(operands.size())};
  }
  Id id = push(node);
  if (pure) {
    table_[slot] = id.index + 1;
    ++interned_;
  }
  return id;
}

Id Graph::push(const Node& node) {
  XLOG_CHECK(size_ < UINT32_MAX, "a graph holds at most 2^32 nodes");
  if ((size_ & kMask) == 0) chunks_.push_back(std::make_unique<Node[]>(kMask + 1));
  chunks_.back()[size_ & kMask] = node;
  return Id{size_++};
}

void Graph::grow_table() {
  std::vector<uint32_t> old = std::move(table_);
  table_.assign(old.size() * 2, 0);
  const auto mask = static_cast<uint32_t>(table_.size() - 1);
  for (uint32_t entry : old) {
    if (entry == 0) continue;
    uint32_t slot = (*this)[Id{entry - 1}].hash & mask;
    while (table_[slot] != 0) slot = (slot + 1) & mask;
    table_[slot] = entry;
  }
}

Id Graph::constant(Scalar value) {
  if (value.bits <= UINT32_MAX) {
    return add(Op::Const, value.type, 0, static_cast<uint32_t>(value.bits), {});
  }
  auto [entry, is_new] = wide_index_.try_emplace(value.bits, static_cast<uint32_t>(wide_.size()));
  if (is_new) wide_.push_back(value.bits);
  return add(Op::Const, value.type, Node::kWide, entry->second, {});
}

Scalar Graph::value(Id constant) const {
  const Node& node = (*this)[constant];
  XLOG_CHECK(node.op == Op::Const, "value of a node that is no constant");
  return {node.type, (node.flags & Node::kWide) != 0 ? wide_[node.imm] : node.imm};
}

Id Graph::parameter(uint32_t position, Type type, Mode mode) {
  return add(Op::Param, type, static_cast<uint8_t>(mode), position, {});
}

Id Graph::arg(uint32_t tag, uint32_t k, Type type) {
  XLOG_CHECK(k < 256 && tag < (1u << 24), "too many loops or carried values");
  return add(Op::Arg, type, 0, tag << 8 | k, {});
}

Id Graph::proj(Id node, uint32_t k, Type type) {
  return add(Op::Proj, type, 0, k, std::span(&node, 1));
}

Id Graph::cast(Type to, Id value) {
  if (type(value) == to) return value;
  return add(Op::Cast, to, 0, 0, std::span(&value, 1));
}

Id Graph::bitcast(Type to, Id value, bool raw) {
  return add(Op::Bitcast, to, raw ? Node::kRaw : 0, 0, std::span(&value, 1));
}

Id Graph::make(Op op, std::span<const Id> operands) {
  return add(op, result_type(*this, op, operands), 0, 0, operands);
}

Id Graph::alloc(Type type, uint32_t elements, Space space) {
  return add(Op::Alloc, type, static_cast<uint8_t>(space), elements, {});
}

Id Graph::fold_node(Op op, Fold fold, std::span<const Id> operands) {
  return add(op, result_type(*this, op, operands), static_cast<uint8_t>(fold), 0, operands);
}

Id Graph::check(uint32_t code, Id condition) {
  return add(Op::Check, Type::Void, 0, code, std::span(&condition, 1));
}

Id Graph::kernel(KernelInfo info, Id block, std::span<const Id> params) {
  return definition(Op::Kernel, std::move(info), block, params);
}

Id Graph::plan(KernelInfo info, Id block, std::span<const Id> params) {
  return definition(Op::Plan, std::move(info), block, params);
}

Id Graph::definition(Op op, KernelInfo info, Id block, std::span<const Id> params) {
  infos_.push_back(std::move(info));
  std::vector<Id> operands = {block};
  operands.insert(operands.end(), params.begin(), params.end());
  return add(op, Type::Void, 0, static_cast<uint32_t>(infos_.size() - 1), operands);
}

Id Graph::loop(Op op, uint32_t tag, std::span<const Id> operands) {
  XLOG_CHECK(has_tag(op), "this op has no arguments of its own");
  return add(op, Type::Void, 0, tag, operands);
}

Id Graph::with_operands(Id node, std::span<const Id> operands) {
  const Node& old = (*this)[node];
  if (std::ranges::equal(this->operands(node), operands)) return node;
  Type type = result_type(*this, old.op, operands, old.type);
  Id made = add(old.op, type, old.flags, old.imm, operands);
  if (auto text = name(node); !text.empty() && name(made).empty())
    set_name(made, std::string(text));
  return made;
}

uint32_t Graph::tag(Id id) const {
  const Node& node = (*this)[id];
  return node.op == Op::Arg ? node.imm >> 8 : node.imm;
}

Id Graph::body(Id id) const {
  auto list = operands(id);
  switch (op(id)) {
    case Op::Kernel:
    case Op::Plan:
      return list.front();
    default:
      return list.back();
  }
}

std::span<const Id> Graph::inits(Id loop) const {
  auto list = operands(loop);
  XLOG_CHECK(is_loop(op(loop)), "carried values of a node that is no loop");
  return list.subspan(2, list.size() - 3);  // lo hi / bound flag, ..., block
}

std::string_view Graph::param_name(Id kernel, Id param) const {
  const std::vector<std::string>& own = kernel_info(kernel).param_names;
  const uint32_t k = position(param);
  return k < own.size() ? std::string_view(own[k]) : name(param);
}

void Graph::set_name(Id id, std::string_view name) { names_[id.index] = name; }

std::string_view Graph::name(Id id) const {
  auto found = names_.find(id.index);
  return found == names_.end() ? std::string_view() : found->second;
}

namespace {
uint64_t arg_key(uint32_t tag, uint32_t k) { return uint64_t{1} << 63 | uint64_t{tag} << 8 | k; }
}  // namespace

void Graph::set_arg_name(uint32_t tag, uint32_t k, std::string_view name) {
  names_[arg_key(tag, k)] = name;
}

std::string_view Graph::arg_name(uint32_t tag, uint32_t k) const {
  auto found = names_.find(arg_key(tag, k));
  return found == names_.end() ? std::string_view() : found->second;
}

namespace {

// Columns of an Expand: the operands of its first Emit.
std::optional<uint32_t> emitted_columns(const Graph& graph, Id block) {
  for (Id effect : graph.operands(block)) {
    if (graph.op(effect) == Op::Emit) return static_cast<uint32_t>(graph.operands(effect).size());
    for (Id operand : graph.operands(effect)) {
      if (graph.op(operand) != Op::Block) continue;
      if (auto found = emitted_columns(graph, operand)) return found;
    }
  }
  return std::nullopt;
}

// Whether result k of a plan op is a buffer; the others are host scalars.
bool is_buffer_result(const Graph& graph, Id node, uint32_t k) {
  switch (graph.op(node)) {
    case Op::Map:
    case Op::Sort:
    case Op::Partition:
    case Op::Merge:
      return true;
    case Op::Scan:
    case Op::Segment:
      return k == 0;
    case Op::Expand:
      return k < emitted_columns(graph, graph.body(node)).value_or(0);
    default:
      return false;
  }
}

}  // namespace

bool is_buffer(const Graph& graph, Id id) {
  switch (graph.op(id)) {
    case Op::Param:
      return graph.mode(id) != Mode::Val;
    case Op::Alloc:
    case Op::Buf:
    case Op::Copy:
    case Op::Reduce:
      return true;
    case Op::Proj:
      return is_buffer_result(graph, graph.operand(id, 0), graph.result_index(id));
    default:
      return false;
  }
}

}  // namespace xlog::kernel
