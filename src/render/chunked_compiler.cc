#include "render/chunked_compiler.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace xlog::render {

using chunked::kLanes;
using chunked::kNoRegister;
using chunked::Run;
using chunked::Step;
using kernel::Mode;
using kernel::Op;

namespace {

// Private arrays of a whole chunk should stay in the cache; larger ones make chunks smaller.
constexpr uint64_t kArrayBudget = 512 * 1024;

uint32_t size_class(kernel::Type type) {
  const uint32_t size = kernel::size_of(type);
  return size == 1 ? 0 : size == 4 ? 1 : 2;
}

constexpr size_t aligned(size_t bytes) {
  return (bytes + kRegisterAlignment - 1) / kRegisterAlignment * kRegisterAlignment;
}

}  // namespace

ChunkedCompiler::ChunkedCompiler(const kernel::Graph& graph, const kernel::Lowered& lowered)
    : graph_(graph), lowered_(lowered) {}

Result<ChunkedKernel> ChunkedCompiler::compile() {
  if (lowered_.group != 0) {
    return Error{fmt::format("kernel {}: the chunked interpreter has no groups",
                             graph_.kernel_info(lowered_.kernel).name),
                 "lower it for the target kChunked"};
  }
  find_lifetimes();
  register_of_.assign(graph_.size(), kNowhere);
  loop_of_.assign(graph_.size(), kNowhere);
  array_at_.assign(graph_.size(), kNowhere);

  uint64_t array_bytes = 0;  // of one lane
  for (const auto& list : lowered_.placement.lists) {
    for (Id id : list) {
      if (graph_.op(id) == Op::Alloc) {
        array_bytes += uint64_t{graph_.elements(id)} * kernel::size_of(graph_.type(id));
      }
    }
  }
  if (array_bytes * kLanes > kArrayBudget) {
    code_.lanes_ = static_cast<uint32_t>(std::max<uint64_t>(1, kArrayBudget / array_bytes));
  }
  block(graph_.body(lowered_.kernel));
  if (bytes_ > UINT32_MAX) fail("it needs more than 4 GiB of working memory");
  if (error_) return *error_;
  code_.lists_at_ = aligned(bytes_);
  code_.bytes_ = code_.lists_at_ + code_.lists_ * sizeof(chunked::Lanes);
  return std::move(code_);
}

void ChunkedCompiler::fail(std::string message) {
  if (error_) return;
  error_ = Error{fmt::format("kernel {}: the chunked interpreter cannot run it: {}",
                             graph_.kernel_info(lowered_.kernel).name, message),
                 ""};
}

// ---- registers ----

uint32_t ChunkedCompiler::new_register(Type type, bool for_good) {
  const uint32_t kind = size_class(type);
  uint32_t offset = 0;
  if (for_good || free_[kind].empty()) {
    offset = static_cast<uint32_t>(bytes_);
    bytes_ += aligned(size_t{kLanes} * kernel::size_of(type));
  } else {
    // The one that was freed last is the most likely to be in the cache.
    offset = free_[kind].back();
    free_[kind].pop_back();
  }
  registers_.push_back({offset, kind, 1});
  return static_cast<uint32_t>(registers_.size() - 1);
}

void ChunkedCompiler::drop(uint32_t reg) {
  Register& r = registers_[reg];
  if (--r.owners == 0) free_[r.size_class].push_back(r.offset);
}

uint32_t ChunkedCompiler::result_register(Id node) {
  // What is computed once for all chunks must not be overwritten by any of them.
  register_of_[node.index] = new_register(graph_.type(node), is_uniform(node));
  return registers_[register_of_[node.index]].offset;
}

void ChunkedCompiler::share(Id node, Id same_bits) {
  register_of_[node.index] = reg(same_bits);
  ++registers_[register_of_[node.index]].owners;
}

// The register of a value that was computed, or of one that just stands there.
uint32_t ChunkedCompiler::reg(Id value) {
  switch (graph_.op(value)) {
    case Op::Proj:
      return loops_[loop_of_[graph_.operand(value, 0).index]].carried[graph_.result_index(value)];
    case Op::Arg: {
      const LoopRegisters& loop = loops_[loop_of_tag_[graph_.tag(value)]];
      const uint32_t k = graph_.arg_index(value);
      return k == 0 ? loop.counter : loop.carried[k - 1];
    }
    case Op::Const:
    case Op::Param:
      if (register_of_[value.index] == kNowhere) {
        const Type type = graph_.type(value);
        Step step;
        step.to = result_register(value);
        if (graph_.op(value) == Op::Const) {
          step.run = chunked::fill_step(type);
          step.bits = graph_.value(value).bits;
        } else {
          step.run = chunked::parameter_step(type);
          step.extra = graph_.position(value);
        }
        code_.once_.push_back(step);
      }
      break;
    default:
      break;
  }
  XLOG_CHECK(register_of_[value.index] != kNowhere, "a value is used before it is computed");
  return register_of_[value.index];
}

// After the statement that used a value last. What is the same for all chunks stays.
void ChunkedCompiler::release(Id node) {
  if (uniform_[node.index]) return;
  const Op op = graph_.op(node);
  if (is_loop(op)) {
    const LoopRegisters& loop = loops_[loop_of_[node.index]];
    for (uint32_t carried : loop.carried) drop(carried);
    drop(loop.counter);
  } else if (register_of_[node.index] != kNowhere) {
    drop(register_of_[node.index]);
  }
}

// ---- steps ----

Step& ChunkedCompiler::emit(Run run) {
  code_.body_.emplace_back();
  code_.body_.back().run = run;
  return code_.body_.back();
}

void ChunkedCompiler::copy(uint32_t to, uint32_t from, Type type) {
  Step& step = emit(chunked::copy_step(type));
  step.to = registers_[to].offset;
  step.a = registers_[from].offset;
}

void ChunkedCompiler::block(Id id) {
  const auto list = lowered_.placement.in(id);
  const auto& deaths = deaths_[lowered_.placement.position[id.index]];
  for (uint32_t p = 0; p < list.size() && !error_; ++p) {
    node(list[p]);
    if (error_) return;
    for (Id dead : deaths[p]) release(dead);
  }
}

void ChunkedCompiler::node(Id id) {
  const Op op = graph_.op(id);
  if (is_arithmetic(op)) return arithmetic(id);
  switch (op) {
    case Op::Grid:
    case Op::Group: {  // lanes became loops: an instance is a group
      Step& step = emit(chunked::instances);
      step.to = result_register(id);
      break;
    }
    case Op::Alloc: {
      const Type type = graph_.type(id);
      array_at_[id.index] = static_cast<uint32_t>(bytes_);
      bytes_ += aligned(size_t{graph_.elements(id)} * code_.lanes_ * kernel::size_of(type));
      break;
    }
    case Op::Load:
    case Op::Store:
    case Op::Atomic:
    case Op::Cas:
      memory(id);
      break;
    case Op::If:
      branch(id);
      break;
    case Op::For:
    case Op::Loop:
      loop(id);
      break;
    case Op::Yield:
      yield(open_loops_.back(), id);
      break;
    default:
      fail(fmt::format("it contains {}", kernel::spelling(op)));
  }
}

void ChunkedCompiler::arithmetic(Id id) {
  const Op op = graph_.op(id);
  const auto operands = graph_.operands(id);
  const Type type = graph_.type(id);
  const Type first = graph_.type(operands[0]);
  const bool same_bits = op == Op::Cast && bits_type(first) == bits_type(type) &&
                         !kernel::is_float(first) && !kernel::is_float(type);
  if (op == Op::Bitcast || same_bits) {
    XLOG_CHECK(op == Op::Cast || graph_.is_raw(id), "a bitcast that lowering left as it was");
    share(id, operands[0]);
    return;
  }
  Step step;
  step.run = op == Op::Cast     ? chunked::cast_step(first, type)
             : op == Op::Select ? chunked::arithmetic_step(op, type)
                                : chunked::arithmetic_step(op, first);
  if (step.run == nullptr) {
    return fail(fmt::format("it contains {} of {}", kernel::spelling(op), kernel::spelling(first)));
  }
  step.a = at(operands[0]);
  if (operands.size() > 1) step.b = at(operands[1]);
  if (operands.size() > 2) step.c = at(operands[2]);
  step.to = result_register(id);
  (uniform_[id.index] ? code_.once_ : code_.body_).push_back(step);
}

void ChunkedCompiler::memory(Id id) {
  const Op op = graph_.op(id);
  const auto operands = graph_.operands(id);
  const Id buffer = operands[0];
  const Type type = graph_.type(buffer);
  const bool is_array = graph_.op(buffer) == Op::Alloc;
  const auto where = is_array                            ? chunked::Where::Array
                     : graph_.mode(buffer) == Mode::Race ? chunked::Where::SharedBuffer
                                                         : chunked::Where::Buffer;
  const bool is_row = where == chunked::Where::Buffer && graph_.op(operands[1]) == Op::Grid;
  Step step;
  step.extra = is_array ? array_at_[buffer.index] : graph_.position(buffer);
  step.a = at(operands[1]);
  if (operands.size() > 2) step.b = at(operands[2]);
  if (operands.size() > 3) step.c = at(operands[3]);
  switch (op) {
    case Op::Load:
      step.run = is_row ? chunked::load_row_step(type) : chunked::load_step(type, where);
      break;
    case Op::Store:
      step.run = is_row ? chunked::store_row_step(type) : chunked::store_step(type, where);
      break;
    case Op::Atomic:
      step.run = chunked::atomic_step(type, graph_.fold(id), where);
      break;
    default:
      step.run = chunked::cas_step(type);
  }
  if (step.run == nullptr) {
    return fail(fmt::format("it contains {} of {}", kernel::spelling(op), kernel::spelling(type)));
  }
  if (op != Op::Store) step.to = result_register(id);
  code_.body_.push_back(step);
}

void ChunkedCompiler::branch(Id id) {
  const auto operands = graph_.operands(id);
  const bool has_else = operands.size() > 2;
  const uint32_t outer = now_;
  const uint32_t yes = new_list(), no = has_else ? new_list() : kNoRegister;
  Step& test = emit(chunked::split);
  test.a = at(operands[0]);
  test.extra = yes;
  test.extra2 = no;
  auto under = [&](uint32_t list, Id body) {
    const uint32_t entry = here();
    emit(chunked::enter).extra = list;
    now_ = list;
    block(body);
    code_.body_[entry].extra2 = here();
  };
  under(yes, operands[1]);
  if (has_else) under(no, operands[2]);
  now_ = outer;
  emit(chunked::leave).extra = outer;
}

void ChunkedCompiler::loop(Id id) {
  const auto operands = graph_.operands(id);
  const bool is_for = graph_.op(id) == Op::For;
  LoopRegisters made;
  for (Id init : graph_.inits(id)) {
    const Type type = graph_.type(init);
    made.carried.push_back(new_register(type));
    copy(made.carried.back(), reg(init), type);
  }
  made.counter = new_register(Type::U32);
  const uint32_t counter = registers_[made.counter].offset;
  uint32_t go = kNoRegister;
  if (is_for) {
    copy(made.counter, reg(operands[0]), Type::U32);
  } else {
    made.carried.push_back(new_register(Type::Bool));
    copy(made.carried.back(), reg(operands[1]), Type::Bool);
    go = registers_[made.carried.back()].offset;
    emit(chunked::fill_step(Type::U32)).to = counter;
  }
  const uint32_t end = at(operands[is_for ? 1 : 0]);
  const uint32_t tag = graph_.tag(id);
  if (tag >= loop_of_tag_.size()) loop_of_tag_.resize(tag + 1, kNowhere);
  loop_of_tag_[tag] = loop_of_[id.index] = static_cast<uint32_t>(loops_.size());
  loops_.push_back(std::move(made));

  const uint32_t outer = now_;
  const uint32_t list = new_list();
  auto test = [&](Run run) -> Step& {
    Step& step = emit(run);
    step.a = counter;
    step.b = end;
    step.c = go;
    step.extra = list;
    return step;
  };
  test(is_for ? chunked::enter_for : chunked::enter_loop);
  const uint32_t entry = here();
  emit(chunked::enter).extra = list;
  now_ = list;
  const uint32_t body = here();
  open_loops_.push_back(id);
  block(graph_.body(id));
  open_loops_.pop_back();
  test(is_for ? chunked::next_for : chunked::next_loop).extra2 = body;
  code_.body_[entry].extra2 = here();
  now_ = outer;
  emit(chunked::leave).extra = outer;
}

// All carried values change at once: one that is another's old value is set aside first.
void ChunkedCompiler::yield(Id loop, Id yield_node) {
  const LoopRegisters& registers = loops_[loop_of_[loop.index]];
  auto values = graph_.operands(yield_node);
  std::vector<std::pair<uint32_t, Id>> moves;  // to a register, from a value
  const bool has_flag = graph_.op(loop) == Op::Loop;
  if (has_flag) moves.emplace_back(registers.carried.back(), values[0]);
  for (size_t k = has_flag ? 1 : 0; k < values.size(); ++k) {
    moves.emplace_back(registers.carried[k - (has_flag ? 1 : 0)], values[k]);
  }
  std::vector<uint32_t> sources, aside;
  for (auto [to, value] : moves) {
    uint32_t from = reg(value);
    const bool is_carried = std::ranges::count(registers.carried, from) != 0;
    if (is_carried && from != to) {
      const uint32_t kept = new_register(graph_.type(value));
      copy(kept, from, graph_.type(value));
      aside.push_back(kept);
      from = kept;
    }
    sources.push_back(from);
  }
  for (size_t k = 0; k < moves.size(); ++k) {
    if (moves[k].first != sources[k])
      copy(moves[k].first, sources[k], graph_.type(moves[k].second));
  }
  for (uint32_t kept : aside) drop(kept);
}

}  // namespace xlog::render
