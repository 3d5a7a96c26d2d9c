#include "device/plan_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/check.h"
#include "kernel/place.h"
#include "kernel/plan_builder.h"

namespace xlog::device {

using kernel::Graph;
using kernel::Id;
using kernel::Op;
using kernel::Type;

namespace {

// A device may refuse memory of no bytes.
Result<Buffer> allocate_rows(Device& device, Type type, uint32_t count) {
  return device.allocate(std::max<uint64_t>(uint64_t{count} * size_of(type), 8));
}

View view_of(const Column& column) {
  return {column.buffer, 0, uint64_t{column.count} * size_of(column.type)};
}

std::string_view meaning_of(uint32_t code) {
  switch (code) {
    case kernel::kCheckBound:
      return "a loop reached its bound";
    case kernel::kCheckOverflow:
      return "a weight or count does not fit";
    case kernel::kCheckFull:
      return "a table has no room left";
    case kernel::kCheckIndex:
      return "an index is outside its range";
    case kernel::kCheckLength:
      return "columns of unequal length, or a length that does not fit";
    default:
      return "a check failed";
  }
}

}  // namespace

Result<Column> upload(Device& device, Type type, std::span<const std::byte> bytes) {
  XLOG_CHECK(bytes.size() % size_of(type) == 0, "a column holds whole elements");
  const uint64_t count = bytes.size() / size_of(type);
  if (count > UINT32_MAX) {
    return Error{fmt::format("a column of {} rows is too long: rows are counted in 32 bits", count),
                 "split it"};
  }
  Column column{nullptr, type, static_cast<uint32_t>(count)};
  Result<Buffer> buffer = allocate_rows(device, type, column.count);
  if (!buffer.ok()) return buffer.error();
  column.buffer = *buffer;
  if (bytes.empty()) return column;
  if (Status written = device.write(view_of(column), bytes); !written.ok()) return written.error();
  return column;
}

Result<std::vector<std::byte>> download(Device& device, const Column& column) {
  std::vector<std::byte> bytes(uint64_t{column.count} * size_of(column.type));
  if (bytes.empty()) return bytes;
  if (Status done = device.read(view_of(column), bytes); !done.ok()) return done.error();
  return bytes;
}

kernel::PlanTarget plan_target(const Device& device) {
  return {device.info().has_groups, std::max(1u, device.info().compute_units)};
}

Result<PlanRunner> PlanRunner::make(Device& device, Graph& graph, Id plan) {
  return make(device, graph, plan, plan_target(device));
}

Result<PlanRunner> PlanRunner::make(Device& device, Graph& graph, Id plan,
                                    const kernel::PlanTarget& target) {
  PlanRunner runner(device, graph);
  runner.plan_ = kernel::lower_plan(graph, plan, target);
  for (Id effect : graph.operands(graph.body(runner.plan_))) {
    runner.steps_.push_back({effect, {}});
    if (graph.op(effect) != Op::Launch) continue;
    if (Status ready = runner.prepare_kernel(graph.operand(effect, 0)); !ready.ok()) {
      return ready.error();
    }
  }
  runner.find_last_uses();
  return runner;
}

Status PlanRunner::prepare_kernel(Id node) {
  auto [entry, is_new] = kernels_.try_emplace(node);
  if (!is_new) return Done{};
  Kernel& prepared = entry->second;
  prepared.name = graph_->kernel_info(node).name;
  for (Id id : kernel::reachable(*graph_, node)) {
    const Op op = graph_->op(id);
    if (op == Op::Grid || op == Op::Group) prepared.size = graph_->operand(id, 0);
    if (op == Op::Check) prepared.check_codes |= 1u << graph_->code(id);
    if (op == Op::Loop) prepared.check_codes |= 1u << kernel::kCheckBound;
  }
  Result<KernelHandle> handle = device_->compile(*graph_, node);
  if (!handle.ok()) return handle.error();
  prepared.handle = *handle;
  return Done{};
}

void PlanRunner::find_last_uses() {
  std::unordered_set<Id> seen;
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    // A buffer that nothing uses goes at once.
    if (kernel::is_buffer(*graph_, step->effect) && seen.insert(step->effect).second) {
      step->last_uses.push_back(step->effect);
    }
    for (Id operand : graph_->operands(step->effect)) {
      if (graph_->op(operand) == Op::Kernel || !kernel::is_buffer(*graph_, operand)) continue;
      if (seen.insert(operand).second) step->last_uses.push_back(operand);
    }
  }
}

// One run: where its scalars and buffers are.
class PlanRunner::Run {
 public:
  explicit Run(PlanRunner& runner)
      : runner_(runner), device_(*runner.device_), graph_(*runner.graph_) {}

  Status bind(std::span<const PlanValue> arguments) {
    const auto params = graph_.params(runner_.plan_);
    const std::string& plan = graph_.kernel_info(runner_.plan_).name;
    if (params.size() != arguments.size()) {
      return Error{fmt::format("plan {} has {} parameters, {} arguments given", plan, params.size(),
                               arguments.size()),
                   ""};
    }
    for (size_t k = 0; k < params.size(); ++k) {
      const bool wants_buffer = kernel::is_buffer(graph_, params[k]);
      const auto* scalar = std::get_if<Scalar>(&arguments[k]);
      const Type type = scalar != nullptr ? scalar->type : std::get<Column>(arguments[k]).type;
      if (wants_buffer == (scalar != nullptr) || type != graph_.type(params[k])) {
        return Error{
            fmt::format("argument {} of plan {} is a {} of {}, it takes a {} of {}", k + 1, plan,
                        scalar == nullptr ? "buffer" : "scalar", spelling(type),
                        wants_buffer ? "buffer" : "scalar", spelling(graph_.type(params[k]))),
            ""};
      }
      if (scalar != nullptr) {
        scalars_[params[k]] = *scalar;
      } else {
        add(params[k], std::get<Column>(arguments[k]));
      }
    }
    return Done{};
  }

  Status step(Id effect) {
    switch (graph_.op(effect)) {
      case Op::Buf:
        return make_buffer(effect);
      case Op::Copy:
        return copy(effect);
      case Op::Read:
        return read(effect);
      case Op::Launch:
        return launch(effect);
      case Op::Check:
        return require(effect);
      default:
        XLOG_UNREACHABLE("a lowered plan has no such op");
    }
  }

  void forget(Id buffer) { columns_.erase(buffer); }

  // After an error: what launches of this run have failed besides is not for the next run to see.
  void abandon() {
    if (!unchecked_.empty()) (void)device_.checks();
  }

  Result<std::vector<PlanValue>> results(Id yield) {
    if (Status fine = check(); !fine.ok()) return fine.error();
    std::vector<PlanValue> values;
    for (Id id : graph_.operands(yield)) {
      if (kernel::is_buffer(graph_, id)) {
        values.emplace_back(columns_.at(id));
      } else {
        values.emplace_back(scalar(id));
      }
    }
    return values;
  }

 private:
  void add(Id id, const Column& column) {
    columns_[id] = column;
    counts_[id] = column.count;
  }

  // Host scalars are evaluated when they are needed, each once, operands first.
  Scalar scalar(Id root) {
    std::vector<Id> stack = {root};
    while (!stack.empty()) {
      const Id id = stack.back();
      bool ready = true;
      if (!scalars_.contains(id) && kernel::is_arithmetic(graph_.op(id))) {
        for (Id operand : graph_.operands(id)) {
          if (scalars_.contains(operand)) continue;
          stack.push_back(operand);
          ready = false;
        }
      }
      if (!ready) continue;
      stack.pop_back();
      if (!scalars_.contains(id)) scalars_[id] = compute(id);
    }
    return scalars_.at(root);
  }

  Scalar compute(Id id) {
    const Op op = graph_.op(id);
    if (op == Op::Const) return graph_.value(id);
    if (op == Op::Len) return Scalar::u32(counts_.at(graph_.operand(id, 0)));
    XLOG_CHECK(kernel::is_arithmetic(op), "a host scalar is used before it is known");
    std::vector<Scalar> operands;
    for (Id operand : graph_.operands(id)) operands.push_back(scalars_.at(operand));
    if (op == Op::Cast) return kernel::cast(graph_.type(id), operands[0]);
    if (op == Op::Bitcast) {
      return kernel::bitcast(graph_.type(id), operands[0], graph_.is_raw(id));
    }
    return kernel::evaluate(op, operands);
  }

  Status allocate(Id id, Type type, uint32_t count) {
    Result<Buffer> buffer = allocate_rows(device_, type, count);
    if (!buffer.ok()) return buffer.error();
    add(id, Column{*buffer, type, count});
    return Done{};
  }

  Status make_buffer(Id id) {
    const uint32_t count = scalar(graph_.operand(id, 0)).as_u32();
    Status made = allocate(id, graph_.type(id), count);
    if (!made.ok() || count == 0 || (graph_[id].flags & kernel::kBufUnset) != 0) return made;
    return device_.fill(view_of(columns_.at(id)), std::byte{0});
  }

  Status copy(Id id) {
    uint64_t count = 0;
    for (Id part : graph_.operands(id)) count += counts_.at(part);
    if (count > UINT32_MAX) {
      return Error{fmt::format("plan {}: a copy would have {} rows, more than 32 bits count",
                               graph_.kernel_info(runner_.plan_).name, count),
                   "split the work"};
    }
    if (Status made = allocate(id, graph_.type(id), static_cast<uint32_t>(count)); !made.ok()) {
      return made;
    }
    View to = view_of(columns_.at(id));
    for (Id part : graph_.operands(id)) {
      const View from = view_of(columns_.at(part));
      if (from.bytes == 0) continue;
      to.bytes = from.bytes;
      if (Status done = device_.copy(to, from); !done.ok()) return done;
      to.offset += from.bytes;
    }
    return Done{};
  }

  Status read(Id id) {
    // What failed before this point may have left nonsense in the buffer.
    if (Status fine = check(); !fine.ok()) return fine;
    const Column& column = columns_.at(graph_.operand(id, 0));
    const uint32_t index = scalar(graph_.operand(id, 1)).as_u32();
    if (index >= column.count) {
      return Error{fmt::format("plan {} reads element {} of a buffer of {}",
                               graph_.kernel_info(runner_.plan_).name, index, column.count),
                   ""};
    }
    const uint64_t size = size_of(column.type);
    std::byte bytes[8] = {};
    Status done = device_.read({column.buffer, index * size, size}, std::span(bytes, size));
    if (done.ok()) scalars_[id] = kernel::load_scalar(column.type, bytes);
    return done;
  }

  Status launch(Id id) {
    const auto operands = graph_.operands(id);
    const Kernel& prepared = runner_.kernels_.at(operands[0]);
    std::vector<Argument> arguments;
    for (Id operand : operands.subspan(1)) {
      if (kernel::is_buffer(graph_, operand)) {
        arguments.emplace_back(view_of(columns_.at(operand)));
      } else {
        arguments.emplace_back(scalar(operand));
      }
    }
    if (instances(prepared, arguments) == 0) return Done{};
    if (prepared.check_codes != 0) unchecked_.push_back(&prepared);
    return device_.launch(prepared.handle, arguments);
  }

  Status require(Id id) {
    if (scalar(graph_.operand(id, 0)).as_bool()) return Done{};
    // What launches before it have failed comes first, as in the plan.
    if (Status fine = check(); !fine.ok()) return fine;
    const std::string_view what = graph_.name(id);
    return Error{fmt::format("plan {}: {} (check {})", graph_.kernel_info(runner_.plan_).name,
                             what.empty() ? meaning_of(graph_.code(id)) : what, graph_.code(id)),
                 ""};
  }

  uint32_t instances(const Kernel& prepared, const std::vector<Argument>& arguments) const {
    if (!prepared.size.valid()) return 1;
    if (graph_.is_const(prepared.size)) return graph_.value(prepared.size).as_u32();
    return std::get<Scalar>(arguments[graph_.position(prepared.size)]).as_u32();
  }

  Status check() {
    if (unchecked_.empty()) return Done{};
    Result<std::optional<CheckFailure>> failed = device_.checks();
    if (!failed.ok()) return failed.error();
    std::vector<std::string> names;
    if (failed->has_value()) {
      for (const Kernel* prepared : unchecked_) {
        const bool can = (prepared->check_codes >> (*failed)->code & 1) != 0;
        if (can && std::ranges::find(names, prepared->name) == names.end()) {
          names.push_back(prepared->name);
        }
      }
    }
    unchecked_.clear();
    if (!failed->has_value()) return Done{};
    return Error{fmt::format("plan {}: {} (check {}, instance {}, in {})",
                             graph_.kernel_info(runner_.plan_).name, meaning_of((*failed)->code),
                             (*failed)->code, (*failed)->instance, fmt::join(names, " or ")),
                 ""};
  }

  PlanRunner& runner_;
  Device& device_;
  Graph& graph_;
  std::unordered_map<Id, Scalar> scalars_;
  std::unordered_map<Id, Column> columns_;
  std::unordered_map<Id, uint32_t> counts_;  // outlive the buffers: Len of a freed one is known
  std::vector<const Kernel*> unchecked_;     // launched since the last look at the checks
};

Result<std::vector<PlanValue>> PlanRunner::run(std::span<const PlanValue> arguments) {
  Run run(*this);
  if (Status bound = run.bind(arguments); !bound.ok()) return bound.error();
  for (const Step& step : steps_) {
    if (graph_->op(step.effect) == Op::Yield) return run.results(step.effect);
    if (Status done = run.step(step.effect); !done.ok()) {
      run.abandon();
      return done.error();
    }
    for (Id buffer : step.last_uses) run.forget(buffer);
  }
  return std::vector<PlanValue>();
}

}  // namespace xlog::device
