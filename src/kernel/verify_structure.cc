// Structure: what may stand where, and that every value is made before it is used.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "kernel/plan_builder.h"
#include "kernel/verify_rules.h"

namespace xlog::kernel {

namespace {

bool has_body(Op op) { return is_loop(op) || op == Op::Map || op == Op::Expand; }

// How many of the first operands are no blocks; the rest are.
size_t values_of(const Graph& graph, Id node) {
  const auto list = graph.operands(node);
  switch (graph.op(node)) {
    case Op::For:
    case Op::Loop:
      return list.size() < 3 ? 0 : list.size() - 1;
    case Op::If:
    case Op::Map:
    case Op::Expand:
      return std::min<size_t>(1, list.size());
    default:
      return list.size();
  }
}

class Structure {
 public:
  Structure(const Graph& graph, Id root, Spec spec, std::vector<Problem>& problems)
      : graph_(graph),
        root_(root),
        spec_(spec),
        problems_(problems),
        available_(graph.size(), false),
        placed_(graph.size(), false),
        seen_(graph.size(), false) {
    walked_.used.assign(graph.size(), false);
  }

  Walked run() {
    const bool plan = spec_ == Spec::Plan || spec_ == Spec::ReadyPlan;
    const Op wanted = plan ? Op::Plan : Op::Kernel;
    if (graph_.op(root_) != wanted || graph_.operands(root_).empty() ||
        graph_.op(graph_.body(root_)) != Op::Block) {
      report(root_, fmt::format("a {} with its block was expected here", spelling(wanted)));
      return std::move(walked_);
    }
    const auto params = graph_.params(root_);
    for (size_t k = 0; k < params.size(); ++k) {
      const bool fits = graph_.op(params[k]) == Op::Param && graph_.position(params[k]) == k;
      if (!fits) report(params[k], fmt::format("parameter {} is not at its position", k));
    }
    if (problems_.empty()) block(graph_.body(root_), root_);
    std::ranges::sort(walked_.nodes);
    return std::move(walked_);
  }

 private:
  void report(Id node, std::string message) { problems_.push_back({node, std::move(message)}); }

  void make_available(Id id) {
    available_[id.index] = true;
    in_order_.push_back(id);
    if (seen_[id.index]) return;
    seen_[id.index] = true;
    walked_.nodes.push_back(id);
  }

  // ---- blocks ----

  void block(Id id, Id owner) {
    const size_t mark = in_order_.size();
    const auto effects = graph_.operands(id);
    for (size_t k = 0; k < effects.size(); ++k) {
      effect(effects[k], owner, k + 1 == effects.size());
      if (!problems_.empty()) return;  // what follows would only repeat it
    }
    check_yield(id, owner);
    while (in_order_.size() > mark) {
      available_[in_order_.back().index] = false;
      in_order_.pop_back();
    }
  }

  void effect(Id id, Id owner, bool is_last) {
    const Op op = graph_.op(id);
    if (!is_effect(op) || op == Op::Block || op == Op::Kernel || op == Op::Plan) {
      return report(id, fmt::format("{} is no effect and cannot stand in a block", spelling(op)));
    }
    if (placed_[id.index]) {
      return report(id, fmt::format("{} stands in two places; make a node for each",
                                    called(graph_, root_, id)));
    }
    placed_[id.index] = true;
    check_place(id, owner, is_last);
    const auto list = graph_.operands(id);
    const size_t values = values_of(graph_, id);
    for (size_t k = 0; k < list.size(); ++k) {
      if (op == Op::Launch && k == 0) continue;
      if ((graph_.op(list[k]) == Op::Block) != (k >= values)) {
        return report(id, fmt::format("operand {} of {} is misplaced: values first, then blocks",
                                      k + 1, spelling(op)));
      }
      if (k < values && !use(list[k], id)) return;
    }
    if (!check_types(id)) return;
    if (has_body(op)) {
      if (!loops_.emplace(graph_.tag(id), id).second || closed_tags_.contains(graph_.tag(id))) {
        return report(id, "two loops share a tag, so their arguments are mixed up");
      }
    }
    for (size_t k = values; k < list.size(); ++k) {
      block(list[k], id);
      if (!problems_.empty()) return;
    }
    if (has_body(op)) {
      loops_.erase(graph_.tag(id));
      closed_tags_.emplace(graph_.tag(id), id);
    }
    make_available(id);
  }

  void check_place(Id id, Id owner, bool is_last) {
    const Op op = graph_.op(id);
    const Op around = graph_.op(owner);
    const Tier tier = info(op).tier;
    if (op == Op::Yield) {
      const bool ends = is_loop(around) || around == Op::Map || around == Op::Plan;
      if (!ends || !is_last) report(id, "yield ends the body of a loop, a map or a plan");
      return;
    }
    if (op == Op::Emit) {
      const bool inside = std::ranges::any_of(
          loops_, [&](const auto& entry) { return graph_.op(entry.second) == Op::Expand; });
      if (!inside) report(id, "emit belongs inside the body of an expand");
      return;
    }
    if (tier == Tier::Relation) {
      return report(id, fmt::format("{} works on relations; lower it first", spelling(op)));
    }
    if (around == Op::Plan && tier != Tier::Plan && op != Op::Check) {
      return report(id, fmt::format("{} belongs in a kernel, a map or an expand", spelling(op)));
    }
    if (around != Op::Plan && tier == Tier::Plan) {
      return report(id, fmt::format("{} belongs in the block of a plan", spelling(op)));
    }
    if (op == Op::Alloc && graph_.space(id) == Space::Local && owner != root_) {
      return report(id, "a local array is made at the top of the kernel, not inside a block");
    }
  }

  void check_yield(Id id, Id owner) {
    const Op op = graph_.op(owner);
    if (!is_loop(op) && op != Op::Map && op != Op::Plan) return;
    std::vector<Type> wanted;
    if (op == Op::Loop) wanted.push_back(Type::Bool);
    if (is_loop(op)) {
      for (Id init : graph_.inits(owner)) wanted.push_back(graph_.type(init));
    }
    const auto effects = graph_.operands(id);
    const bool ends = !effects.empty() && graph_.op(effects.back()) == Op::Yield;
    if (op == Op::For && wanted.empty() && !ends) return;
    if (!ends) {
      return report(owner, fmt::format("the body of this {} has no yield", spelling(op)));
    }
    const auto given = graph_.operands(effects.back());
    if (op == Op::Map || op == Op::Plan) {
      const bool row = std::ranges::none_of(given, [&](Id v) { return is_buffer(graph_, v); });
      if (op == Op::Map && (given.empty() || !row)) {
        report(effects.back(), "a map yields values, at least one");
      }
      return;
    }
    if (given.size() != wanted.size()) {
      return report(effects.back(), fmt::format("this loop yields {} values, {} given",
                                                wanted.size(), given.size()));
    }
    for (size_t k = 0; k < given.size(); ++k) {
      if (graph_.type(given[k]) == wanted[k] && !is_buffer(graph_, given[k])) continue;
      report(effects.back(), fmt::format("value {} of this yield is {}, the loop carries {}", k + 1,
                                         spelling(graph_.type(given[k])), spelling(wanted[k])));
    }
  }

  // ---- values ----

  // Makes sure that the value is there; `user` takes it.
  bool use(Id root, Id user) {
    walked_.used[root.index] = true;
    std::vector<Id> stack = {root};
    while (!stack.empty()) {
      const Id id = stack.back();
      if (available_[id.index]) {
        stack.pop_back();
        continue;
      }
      const Op op = graph_.op(id);
      if (is_effect(op)) {
        report(user, fmt::format("{} uses {} before it is made, or outside the block that makes it",
                                 called(graph_, root_, user), called(graph_, root_, id)));
        return false;
      }
      bool ready = true;
      for (Id operand : graph_.operands(id)) {
        walked_.used[operand.index] = true;
        if (available_[operand.index]) continue;
        stack.push_back(operand);
        ready = false;
      }
      if (!ready) continue;
      stack.pop_back();
      if (op == Op::Arg ? !check_arg(id, user) : !check_types(id)) return false;
      make_available(id);
    }
    return true;
  }

  bool check_arg(Id id, Id user) {
    auto found = loops_.find(graph_.tag(id));
    if (found == loops_.end()) {
      report(user, fmt::format("{} uses an argument of a loop that is not around it",
                               called(graph_, root_, user)));
      return false;
    }
    const uint32_t k = graph_.arg_index(id);
    const bool loop = is_loop(graph_.op(found->second));
    const size_t carried = loop ? graph_.inits(found->second).size() : 0;
    const bool exists = k <= carried;
    const Type type = !exists  ? Type::Void
                      : k == 0 ? Type::U32
                               : graph_.type(graph_.inits(found->second)[k - 1]);
    if (exists && graph_.type(id) == type) return true;
    report(user, fmt::format("argument {} of the loop is not there, or has another type", k));
    return false;
  }

  bool check_types(Id id) {
    const std::string problem = type_rule(id);
    if (!problem.empty()) report(id, problem);
    return problem.empty();
  }

  bool is_value(Id id, Type type) const {
    return graph_.type(id) == type && !is_buffer(graph_, id);
  }

  // Types of the results that Projs take.
  std::vector<Type> results(Id node) const {
    const auto list = graph_.operands(node);
    std::vector<Type> types;
    switch (graph_.op(node)) {
      case Op::For:
      case Op::Loop:
        for (Id init : graph_.inits(node)) types.push_back(graph_.type(init));
        if (graph_.op(node) == Op::Loop) types.push_back(Type::Bool);
        return types;
      case Op::Map:
        return body_columns(graph_, node);
      case Op::Expand:
        types = body_columns(graph_, node);
        types.push_back(Type::U32);
        return types;
      case Op::Scan:
        return {graph_.type(list[0]), graph_.type(list[0])};
      case Op::Segment:
        return {graph_.type(list[1]), Type::U32};
      case Op::Partition:
        return {Type::U32, Type::U32};
      case Op::Merge:
        return {Type::U32};
      case Op::Sort:
        types.push_back(Type::U32);
        for (Id column : list) types.push_back(graph_.type(column));
        return types;
      default:
        return {};
    }
  }

  std::string type_rule(Id id) const {
    const Op op = graph_.op(id);
    const auto list = graph_.operands(id);
    std::string problem = type_problem(graph_, op, list);
    if (!problem.empty()) return problem;
    if (info(op).result != ResultRule::Given && !list.empty() &&
        graph_.type(id) != result_type(graph_, op, list)) {
      return fmt::format("the type of {} does not follow from its operands", spelling(op));
    }
    switch (op) {
      case Op::Param: {
        const auto params = graph_.params(root_);
        const uint32_t position = graph_.position(id);
        if (position < params.size() && params[position] == id) return "";
        return fmt::format("parameter {} is none of this kernel's", position);
      }
      case Op::Proj: {
        const std::vector<Type> types = results(list[0]);
        const uint32_t k = graph_.result_index(id);
        if (k < types.size() && types[k] == graph_.type(id)) return "";
        return fmt::format("{} has no result {} of this type", spelling(graph_.op(list[0])), k);
      }
      case Op::Cast:
      case Op::Bitcast:
        return cast_problem(op, graph_.type(list[0]), graph_.type(id));
      case Op::For:
      case Op::Loop:
        return loop_rule(op, list);
      case Op::If:
        if (list.size() < 2 || list.size() > 3) return "if takes a condition and one or two blocks";
        return is_value(list[0], Type::Bool) ? "" : "the condition of an if is a bool";
      case Op::Check:
        return graph_.code(id) < kCheckCodes ? "" : "there is no such check code";
      case Op::Alloc:
        return graph_.elements(id) > 0 ? "" : "an array has at least one element";
      default:
        return info(op).tier == Tier::Plan ? plan_rule(op, id, list) : "";
    }
  }

  std::string loop_rule(Op op, std::span<const Id> list) const {
    if (list.size() < 3) return fmt::format("{} has too few operands", spelling(op));
    const Type second = op == Op::For ? Type::U32 : Type::Bool;
    if (!is_value(list[0], Type::U32) || !is_value(list[1], second)) {
      return op == Op::For ? "the start and end of a for are u32"
                           : "the bound of a loop is u32 and its flag a bool";
    }
    for (Id init : list.subspan(2, list.size() - 3)) {
      if (is_buffer(graph_, init) || graph_.type(init) == Type::Void) {
        return "a loop carries values, not buffers";
      }
    }
    return "";
  }

  std::string plan_rule(Op op, Id id, std::span<const Id> list) const {
    const auto buffers = [&](std::span<const Id> some) {
      return std::ranges::all_of(some, [&](Id b) { return is_buffer(graph_, b); });
    };
    switch (op) {
      case Op::Buf:
        return is_value(list[0], Type::U32) ? "" : "the number of elements of a buf is u32";
      case Op::Map:
      case Op::Expand:
        if (list.size() != 2) return fmt::format("{} takes a number and a block", spelling(op));
        return is_value(list[0], Type::U32) ? "" : "the number of rows is u32";
      case Op::Emit:
        for (Id value : list) {
          if (is_buffer(graph_, value)) return "an emit gives values; a buffer needs load";
        }
        return "";
      case Op::Scan:
      case Op::Reduce:
      case Op::Segment: {
        const Type type = graph_.type(list.back());
        const auto step = step_of(graph_.fold(id));
        if (!buffers(list)) return fmt::format("{} works on buffers", spelling(op));
        if (!step || !in_domain(Domain::Num, type) || !in_domain(info(*step).domain, type)) {
          return fmt::format("{} does not fold {} with {}", spelling(op), spelling(type),
                             spelling(graph_.fold(id)));
        }
        return "";
      }
      case Op::Copy:
      case Op::Sort:
        if (list.empty() || !buffers(list)) return fmt::format("{} takes buffers", spelling(op));
        for (Id column : list) {
          if (op == Op::Copy && graph_.type(column) != graph_.type(list[0])) {
            return "copy joins buffers of one type";
          }
        }
        return "";
      case Op::Partition:
        if (!is_buffer(graph_, list[0]) || graph_.type(list[0]) != Type::U32) {
          return "the bucket ids are a buffer of u32";
        }
        return is_value(list[1], Type::U32) ? "" : "the number of buckets is u32";
      case Op::Merge: {
        const size_t columns = graph_[id].imm;
        if (columns == 0 || list.size() != 2 * columns || !buffers(list)) {
          return "merge takes two runs of the same columns";
        }
        for (size_t k = 0; k < columns; ++k) {
          if (graph_.type(list[k]) != graph_.type(list[columns + k])) {
            return fmt::format("column {} of the two runs has two types", k + 1);
          }
        }
        return "";
      }
      default:
        return "";
    }
  }

  const Graph& graph_;
  Id root_;
  Spec spec_;
  std::vector<Problem>& problems_;
  std::vector<bool> available_;
  std::vector<bool> placed_;
  std::vector<bool> seen_;
  std::vector<Id> in_order_;                // what is available, as it came
  std::unordered_map<uint32_t, Id> loops_;  // around here, by tag
  std::unordered_map<uint32_t, Id> closed_tags_;
  Walked walked_;
};

}  // namespace

Walked verify_structure(const Graph& graph, Id root, Spec spec, std::vector<Problem>& problems) {
  return Structure(graph, root, spec, problems).run();
}

}  // namespace xlog::kernel
