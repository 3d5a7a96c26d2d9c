// Plans: launch arguments that fit, and the order of rows. A buffer is a sequence, whose order is
// part of the answer, or a bag, whose rows are the same in every run but not their order: what a
// kernel with a `race` parameter writes, and what is computed from it row by row. Bags of one
// launch belong together: row i of one goes with row i of the other. Only Sort makes a sequence of
// them; integer reductions and reads of counters do not see the order. Nor does an `acc` parameter
// of a kernel without `race`: it folds over the rows, and this is how a membership test in a hash
// table gives a sequence (atomic.or found i 1).
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "kernel/verify_rules.h"

namespace xlog::kernel {

namespace {

// A set of bags whose rows belong together; 0 is a sequence.
using BagSet = uint32_t;
constexpr BagSet kSequence = 0;

class PlanRules {
 public:
  PlanRules(const Graph& graph, Id plan, Spec spec, const Walked& walked,
            std::vector<Problem>& problems)
      : graph_(graph), plan_(plan), spec_(spec), walked_(walked), problems_(problems) {}

  void run() {
    for (Id param : graph_.params(plan_)) {
      const Mode mode = graph_.mode(param);
      if (mode == Mode::Race) bags_[param] = next_set_++;
      if (mode == Mode::Out || mode == Mode::Acc) {
        report(param,
               fmt::format("{} is `{}`: a plan takes `in`, `own` or `race` buffers and yields "
                           "what it makes",
                           called(graph_, plan_, param), spelling(mode)));
      }
    }
    for (Id effect : graph_.operands(graph_.body(plan_))) step(effect);
  }

 private:
  void report(Id node, std::string message) { problems_.push_back({node, std::move(message)}); }

  BagSet set_of(Id buffer) const {
    auto found = bags_.find(buffer);
    if (found != bags_.end()) return found->second;
    return kSequence;
  }

  void step(Id id) {
    if (spec_ == Spec::ReadyPlan) return ready_step(id);
    switch (graph_.op(id)) {
      case Op::Launch:
        return launch(id);
      case Op::Copy:
        return copy(id);
      case Op::Sort:
        return sort(id);
      case Op::Reduce:
        if (is_float(graph_.type(id))) refuse_bags(id, graph_.operands(id));
        return;
      case Op::Map:
      case Op::Expand:
        return body(id, graph_.body(id));
      case Op::Scan:
      case Op::Segment:
      case Op::Partition:
      case Op::Merge:
      case Op::Yield:
        return refuse_bags(id, graph_.operands(id));
      default:
        return;  // Buf makes a sequence of zeros; Read takes a counter
    }
  }

  void ready_step(Id id) {
    switch (graph_.op(id)) {
      case Op::Launch:
        return launch(id);
      case Op::Buf:
      case Op::Copy:
      case Op::Read:
      case Op::Check:
      case Op::Yield:
        return;
      default:
        report(id, fmt::format("{} is left, which the lowering of plans turns into launches",
                               spelling(graph_.op(id))));
    }
  }

  void refuse_bags(Id id, std::span<const Id> operands) {
    for (Id operand : operands) {
      if (set_of(operand) == kSequence) continue;
      report(id,
             fmt::format("{} is a bag: its rows come in any order, because a kernel with a "
                         "`race` parameter wrote them, and {} would show that order; sort it by "
                         "all columns of its rows first",
                         called(graph_, plan_, operand),
                         graph_.op(id) == Op::Yield ? "a result" : spelling(graph_.op(id))));
    }
  }

  // Loads of a bag anywhere inside a map or expand.
  void body(Id id, Id block) {
    for (Id effect : graph_.operands(block)) {
      if (graph_.op(effect) == Op::Load) refuse_bags(id, graph_.operands(effect).first(1));
      for (Id operand : graph_.operands(effect)) {
        if (graph_.op(operand) == Op::Block) body(id, operand);
      }
    }
  }

  // Rows of the parts, one after another: columns copied from the same sets still belong together.
  void copy(Id id) {
    std::vector<BagSet> parts;
    for (Id part : graph_.operands(id)) parts.push_back(set_of(part));
    if (std::ranges::all_of(parts, [](BagSet set) { return set == kSequence; })) return;
    auto [entry, is_new] = copies_.try_emplace(parts, next_set_);
    if (is_new) ++next_set_;
    bags_[id] = entry->second;
  }

  // The sorted columns are a sequence; where each row stood is not.
  void sort(Id id) {
    const auto columns = graph_.operands(id);
    const BagSet first = set_of(columns[0]);
    for (Id column : columns) {
      if (set_of(column) == first) continue;
      return report(id,
                    fmt::format("{} and {} are not of the same rows: their order differs from "
                                "run to run, so sort would pair rows by chance; sort columns "
                                "that one launch wrote",
                                called(graph_, plan_, columns[0]), called(graph_, plan_, column)));
    }
    if (first == kSequence) return;
    for (Id node : walked_.nodes) {
      const bool permutation = graph_.op(node) == Op::Proj && graph_.operand(node, 0) == id &&
                               graph_.result_index(node) == 0;
      if (permutation) bags_[node] = first;
    }
  }

  void launch(Id id) {
    const auto list = graph_.operands(id);
    const Id kernel = list.empty() ? Id{} : list[0];
    if (!kernel.valid() || graph_.op(kernel) != Op::Kernel) {
      return report(id, "launch takes a kernel first");
    }
    const auto params = graph_.params(kernel);
    const auto arguments = list.subspan(1);
    const std::string& name = graph_.kernel_info(kernel).name;
    if (params.size() != arguments.size()) {
      return report(id, fmt::format("{} takes {} arguments, {} given", name, params.size(),
                                    arguments.size()));
    }
    bool races = false;
    bool reads_bag = false;
    for (size_t k = 0; k < params.size(); ++k) {
      if (!argument_fits(id, kernel, params[k], arguments[k])) return;
      races |= graph_.mode(params[k]) == Mode::Race;
      reads_bag |= set_of(arguments[k]) != kSequence;
    }
    if (!distinct(id, params, arguments) || (!races && !reads_bag)) return;
    const BagSet rows = next_set_++;
    for (size_t k = 0; k < params.size(); ++k) {
      const Mode mode = graph_.mode(params[k]);
      if (is_written(mode) && (races || mode != Mode::Acc)) bags_[arguments[k]] = rows;
    }
  }

  static bool is_written(Mode mode) { return mode != Mode::Val && mode != Mode::In; }

  bool argument_fits(Id id, Id kernel, Id param, Id argument) {
    const Mode mode = graph_.mode(param);
    const std::string what =
        fmt::format("{} of {}", called(graph_, kernel, param), graph_.kernel_info(kernel).name);
    if (is_buffer(graph_, argument) != (mode != Mode::Val)) {
      report(id, fmt::format("{} is a {}, the argument is not", what,
                             mode == Mode::Val ? "scalar" : "buffer"));
      return false;
    }
    if (graph_.type(argument) != graph_.type(param)) {
      report(id, fmt::format("{} is {}, the argument is {}", what, spelling(graph_.type(param)),
                             spelling(graph_.type(argument))));
      return false;
    }
    const bool read_only = graph_.op(argument) == Op::Param && graph_.mode(argument) == Mode::In;
    if (is_written(mode) && read_only) {
      report(id,
             fmt::format("{} is `{}` and would write {}, which is `in`; give it a buf, or a copy",
                         what, spelling(mode), called(graph_, plan_, argument)));
      return false;
    }
    return true;
  }

  // Buffers of one launch do not overlap where one of them is written.
  bool distinct(Id id, std::span<const Id> params, std::span<const Id> arguments) {
    for (size_t a = 0; a < params.size(); ++a) {
      if (!is_written(graph_.mode(params[a]))) continue;
      for (size_t b = 0; b < params.size(); ++b) {
        if (a == b || arguments[a] != arguments[b]) continue;
        report(id,
               fmt::format("{} is given twice to a launch that writes it; a kernel's buffers do "
                           "not overlap, so pass a copy",
                           called(graph_, plan_, arguments[a])));
        return false;
      }
    }
    return true;
  }

  const Graph& graph_;
  Id plan_;
  Spec spec_;
  const Walked& walked_;
  std::vector<Problem>& problems_;
  std::unordered_map<Id, BagSet> bags_;
  std::map<std::vector<BagSet>, BagSet> copies_;
  BagSet next_set_ = kSequence + 1;
};

}  // namespace

void verify_plan(const Graph& graph, Id plan, Spec spec, const Walked& walked,
                 std::vector<Problem>& problems) {
  PlanRules(graph, plan, spec, walked, problems).run();
  std::vector<Id> kernels;
  for (Id effect : graph.operands(graph.body(plan))) {
    if (graph.op(effect) != Op::Launch || graph.operands(effect).empty()) continue;
    const Id kernel = graph.operand(effect, 0);
    if (graph.op(kernel) != Op::Kernel || std::ranges::find(kernels, kernel) != kernels.end())
      continue;
    kernels.push_back(kernel);
    for (Problem& problem : verify(graph, kernel, Spec::Kernel)) {
      problem.message =
          fmt::format("kernel {}: {}", graph.kernel_info(kernel).name, problem.message);
      problems.push_back(std::move(problem));
    }
  }
}

}  // namespace xlog::kernel
