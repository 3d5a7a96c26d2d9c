#include "kernel/oracle_lane.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "kernel/place.h"

namespace xlog::kernel {

OracleLaunch::OracleLaunch(const Graph& g, Id k)
    : graph(g), kernel(k), nodes(reachable(g, k)), slot_of(g.size(), UINT32_MAX) {
  for (uint32_t i = 0; i < nodes.size(); ++i) slot_of[nodes[i].index] = i;
}

void OracleLaunch::fail(uint32_t code, uint32_t instance) {
  if (failure && (failure->code < code || (failure->code == code && failure->instance < instance)))
    return;
  failure = CheckFailure{code, instance};
}

Lane::Lane(OracleLaunch& launch)
    : launch_(launch),
      graph_(launch.graph),
      values_(launch.nodes.size()),
      made_in_(launch.nodes.size(), 0) {}

void Lane::start(uint32_t instance, uint32_t number) {
  instance_ = instance;
  number_ = number;
  state_ = LaneState::Running;
  first_epoch_ = ++epoch_;
  frames_.clear();
  frames_.push_back({graph_.body(launch_.kernel), 0, Id{}, 0});
}

std::string Lane::who() const {
  const KernelInfo& info = graph_.kernel_info(launch_.kernel);
  if (info.group == 0) return fmt::format("kernel {}, instance {}", info.name, instance_);
  return fmt::format("kernel {}, group {}, lane {}", info.name, instance_, number_);
}

uint32_t Lane::check_number() const {
  const uint32_t lanes = graph_.kernel_info(launch_.kernel).group;
  return lanes == 0 ? instance_ : instance_ * lanes + number_;
}

std::vector<uint32_t> Lane::place() const {
  std::vector<uint32_t> path;
  for (const Frame& frame : frames_) {
    path.push_back(frame.block.index);
    path.push_back(frame.next);
    if (frame.loop.valid()) path.push_back(loops_.find(graph_.tag(frame.loop))->second.counter);
  }
  return path;
}

std::string Lane::buffer_text(Id buffer) const {
  const bool is_param = graph_.op(buffer) == Op::Param;
  const auto name = is_param ? graph_.param_name(launch_.kernel, buffer) : graph_.name(buffer);
  if (!name.empty()) return std::string(name);
  if (is_param) return fmt::format("parameter {}", graph_.position(buffer));
  return fmt::format("the {} array", spelling(graph_.space(buffer)));
}

void Lane::broken(Id effect, std::string_view problem) {
  if (failed()) return;
  launch_.error = Error{fmt::format("{}: {}: {}", who(), spelling(graph_.op(effect)), problem), ""};
}

void Lane::run() {
  while (state_ == LaneState::Running && !failed()) {
    if (frames_.empty()) {
      state_ = LaneState::Done;
      return;
    }
    Frame& frame = frames_.back();
    const auto effects = graph_.operands(frame.block);
    if (frame.next == effects.size()) {
      leave_block();
    } else {
      execute(effects[frame.next++]);
    }
  }
}

void Lane::resume(Scalar result) {
  XLOG_CHECK(state_ == LaneState::Waiting, "a lane goes on that does not wait");
  if (graph_.op(waits_at_) != Op::Barrier) keep(waits_at_, result);
  state_ = LaneState::Running;
}

void Lane::keep(Id effect, Scalar result) {
  const uint32_t slot = launch_.slot(effect);
  values_[slot] = result;
  made_in_[slot] = epoch_;
}

// Values that are not computed from operands; nothing for arithmetic.
std::optional<Scalar> Lane::leaf(Id id) {
  switch (graph_.op(id)) {
    case Op::Const:
      return graph_.value(id);
    case Op::Param:
      return launch_.scalars[graph_.position(id)];
    case Op::Grid:
    case Op::Group:
      return Scalar::u32(instance_);
    case Op::Lane:
      return Scalar::u32(number_);
    case Op::Len:
      return Scalar::u32(cells(graph_.operand(id, 0)).count());
    case Op::Arg: {
      const auto loop = loops_.find(graph_.tag(id));
      const uint32_t k = graph_.arg_index(id);
      XLOG_CHECK(loop != loops_.end() && k <= loop->second.carried.size(),
                 "an argument outside of its loop");
      return k == 0 ? Scalar::u32(loop->second.counter) : loop->second.carried[k - 1];
    }
    case Op::Proj: {
      const auto loop = results_.find(launch_.slot(graph_.operand(id, 0)));
      XLOG_CHECK(loop != results_.end() && graph_.result_index(id) < loop->second.size(),
                 "a result of a loop that has not run");
      return loop->second[graph_.result_index(id)];
    }
    default:
      return std::nullopt;
  }
}

// Expressions may be deep: a stack of our own instead of recursion.
Scalar Lane::value(Id root) {
  auto known = [&](Id id) {
    const uint64_t made = made_in_[launch_.slot(id)];
    return is_effect(graph_.op(id)) ? made >= first_epoch_ : made == epoch_;
  };
  std::vector<Id> stack = {root};
  std::vector<Scalar> operands;
  while (!stack.empty() && !failed()) {
    const Id id = stack.back();
    if (known(id)) {
      stack.pop_back();
      continue;
    }
    if (is_effect(graph_.op(id))) {
      broken(id, graph_.op(id) == Op::Atomic
                     ? "its result is used, which `acc` does not allow, or used too early"
                     : "its result is used before it is there");
      return {};
    }
    std::optional<Scalar> result = leaf(id);
    if (!result) {
      const size_t before = stack.size();
      for (Id operand : graph_.operands(id)) {
        if (!known(operand)) stack.push_back(operand);
      }
      if (stack.size() != before) continue;
      operands.clear();
      for (Id operand : graph_.operands(id)) operands.push_back(values_[launch_.slot(operand)]);
      const Op op = graph_.op(id);
      if (op == Op::Cast) {
        result = cast(graph_.type(id), operands[0]);
      } else if (op == Op::Bitcast) {
        result = bitcast(graph_.type(id), operands[0], graph_.is_raw(id));
      } else {
        XLOG_CHECK(is_arithmetic(op), "an op that is no value of a kernel");
        result = evaluate(op, operands);
      }
    }
    stack.pop_back();
    values_[launch_.slot(id)] = *result;
    made_in_[launch_.slot(id)] = epoch_;
  }
  return values_[launch_.slot(root)];
}

Cells& Lane::cells(Id buffer) {
  if (graph_.op(buffer) == Op::Param) return launch_.parameters[graph_.position(buffer)];
  XLOG_CHECK(graph_.op(buffer) == Op::Alloc, "memory that is neither parameter nor array");
  auto& arrays = graph_.space(buffer) == Space::Local ? launch_.locals : arrays_;
  auto found = arrays.find(launch_.slot(buffer));
  XLOG_CHECK(found != arrays.end(), "an array is used before its alloc");
  return found->second;
}

void Lane::execute(Id effect) {
  const auto operands = graph_.operands(effect);
  switch (graph_.op(effect)) {
    case Op::Alloc: {
      auto make = [&] {
        return Cells::array(graph_.space(effect), graph_.type(effect), graph_.elements(effect));
      };
      // A local array is there once for its group; a private one begins anew each time.
      if (graph_.space(effect) == Space::Local) {
        const uint32_t slot = launch_.slot(effect);
        if (!launch_.locals.contains(slot)) launch_.locals.emplace(slot, make());
      } else {
        arrays_.insert_or_assign(launch_.slot(effect), make());
      }
      break;
    }
    case Op::Load:
    case Op::Store:
    case Op::Atomic:
    case Op::Cas:
      access(effect);
      break;
    case Op::Prefetch:
      break;
    case Op::Check:
      if (!value(operands[0]).as_bool()) launch_.fail(graph_.code(effect), check_number());
      break;
    case Op::Barrier:
    case Op::GScan:
    case Op::GReduce:
      if (graph_.op(effect) != Op::Barrier) {
        brings_ = value(operands[0]);
        if (!is_int(brings_.type)) broken(effect, "collectives fold integers");
      }
      if (graph_.kernel_info(launch_.kernel).group == 0)
        broken(effect, "this kernel has no groups");
      waits_at_ = effect;
      state_ = LaneState::Waiting;
      break;
    case Op::If: {
      const bool holds = value(operands[0]).as_bool();
      if (holds) {
        frames_.push_back({operands[1], 0, Id{}, 0});
      } else if (operands.size() > 2) {
        frames_.push_back({operands[2], 0, Id{}, 0});
      }
      break;
    }
    case Op::For:
    case Op::Loop:
      enter_loop(effect);
      break;
    case Op::Yield: {
      const Id loop = frames_.back().loop;
      XLOG_CHECK(loop.valid(), "a yield outside of a loop");
      std::vector<Scalar> next;
      for (Id operand : operands) next.push_back(value(operand));
      LoopState& state = loops_[graph_.tag(loop)];
      if (graph_.op(loop) == Op::Loop) {
        XLOG_CHECK(!next.empty(), "a yield without the flag of its loop");
        state.go = next[0].as_bool();
        next.erase(next.begin());
      }
      XLOG_CHECK(next.size() == state.carried.size(), "a yield that does not fit its loop");
      state.carried = std::move(next);
      break;
    }
    default:
      broken(effect, "this op does not run inside a kernel");
  }
}

void Lane::access(Id effect) {
  const auto operands = graph_.operands(effect);
  Cells& memory = cells(operands[0]);
  const uint32_t index = value(operands[1]).as_u32();
  const Toucher me{instance_, number_, launch_.interval};
  Scalar old;
  std::string problem;
  switch (graph_.op(effect)) {
    case Op::Load:
      problem = memory.load(index, me, old);
      break;
    case Op::Store:
      problem = memory.store(index, me, value(operands[2]));
      break;
    case Op::Atomic:
      problem = memory.atomic(index, me, graph_.fold(effect), value(operands[2]), old);
      break;
    default:
      problem = memory.cas(index, me, value(operands[2]), value(operands[3]), old);
  }
  if (!problem.empty()) {
    broken(effect, fmt::format("{} ({}) at index {}: {}", buffer_text(operands[0]), memory.kind(),
                               index, problem));
    return;
  }
  // Whoever uses the result of an atomic on `acc` would see the order of the instances.
  const bool is_acc = graph_.op(operands[0]) == Op::Param && graph_.mode(operands[0]) == Mode::Acc;
  if (graph_.op(effect) != Op::Store && !is_acc) keep(effect, old);
}

void Lane::enter_loop(Id loop) {
  const auto operands = graph_.operands(loop);
  LoopState state;
  for (Id init : graph_.inits(loop)) state.carried.push_back(value(init));
  uint32_t end = 0;
  bool enters = false;
  if (graph_.op(loop) == Op::For) {
    state.counter = value(operands[0]).as_u32();
    end = value(operands[1]).as_u32();
    enters = state.counter < end;
  } else {
    end = value(operands[0]).as_u32();
    state.go = value(operands[1]).as_bool();
    enters = state.go && end > 0;
  }
  if (failed()) return;
  loops_[graph_.tag(loop)] = std::move(state);
  if (!enters) {
    finish_loop(loop);
    return;
  }
  ++epoch_;
  frames_.push_back({graph_.body(loop), 0, loop, end});
}

void Lane::leave_block() {
  Frame& frame = frames_.back();
  if (!frame.loop.valid()) {
    frames_.pop_back();
    return;
  }
  LoopState& state = loops_[graph_.tag(frame.loop)];
  ++state.counter;
  const bool again = state.counter < frame.end && (graph_.op(frame.loop) == Op::For || state.go);
  if (again) {
    ++epoch_;
    frame.next = 0;
    return;
  }
  const Id loop = frame.loop;
  frames_.pop_back();
  finish_loop(loop);
}

void Lane::finish_loop(Id loop) {
  LoopState& state = loops_[graph_.tag(loop)];
  std::vector<Scalar> results = state.carried;
  if (graph_.op(loop) == Op::Loop) {
    results.push_back(Scalar::boolean(state.go));
    if (state.go) launch_.fail(kCheckBound, check_number());
  }
  results_[launch_.slot(loop)] = std::move(results);
}

}  // namespace xlog::kernel
