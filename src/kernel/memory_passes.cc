#include "kernel/effects.h"

#include <string>
#include <vector>

#include "kernel/liveness.h"
#include "kernel/rebuild.h"

namespace xlog::kernel {

namespace {

// Cells whose content is known at a place in the text, in nested scopes. Buffers are those of the
// kernel before the pass, indexes and values those after it.
class KnownCells {
 public:
  Id find(Id buffer, Id index) const {
    for (const Cell& cell : cells_) {
      if (cell.buffer == buffer && cell.index == index) return cell.value;
    }
    return {};
  }
  void know(Id buffer, Id index, Id value) { cells_.push_back({buffer, index, value}); }
  void forget(Id buffer) {
    for (Cell& cell : cells_) {
      if (cell.buffer == buffer) cell.buffer = Id{};
    }
  }
  size_t mark() const { return cells_.size(); }
  void back_to(size_t mark) { cells_.resize(mark); }

 private:
  struct Cell {
    Id buffer, index, value;
  };
  std::vector<Cell> cells_;
};

class EffectSimplifier {
 public:
  EffectSimplifier(PassContext& context, Id kernel)
      : context_(context),
        graph_(context.graph),
        live_(context.graph, kernel),
        again_(context.graph),
        is_group_(graph_.kernel_info(kernel).group != 0) {
    again_.before = [this](Id original, std::vector<Id>& out, Id& replacement) {
      return before(original, out, replacement);
    };
    again_.effect = [this](Id node, Id original, std::vector<Id>& out) {
      return effect(node, original, out);
    };
  }

  Id run(Id kernel) { return again_.run(kernel); }

 private:
  // Decides on an effect before its blocks are walked, and walks them itself: what is known of
  // cells has to follow the text.
  bool before(Id original, std::vector<Id>& out, Id& replacement) {
    const Op op = graph_.op(original);
    if (!live_[original]) {
      context_.note(op == Op::Load ? "unused-load" : "no-effect", original, Id{});
      return true;
    }
    if (op == Op::If) return branch(original, out, replacement);
    if (op == Op::Yield) {
      yield(original, out, replacement);
      return true;
    }
    if (!is_loop(op)) return false;
    return (op == Op::For && short_for(original, out)) || idle_loop(original) ||
           loop(original, out, replacement);
  }

  bool branch(Id original, std::vector<Id>& out, Id& replacement) {
    auto list = graph_.operands(original);
    const Id condition = again_(list[0]);
    if (graph_.is_const(condition)) {
      context_.note("if-decided", original, Id{});
      const size_t taken = graph_.value(condition).as_bool() ? 1 : 2;
      if (taken < list.size()) again_.effects(graph_.operands(list[taken]), out);
      return true;
    }
    std::vector<Id> made = {condition, walk(list[1])};
    if (list.size() == 3) made.push_back(walk(list[2]));
    if (made.size() == 3 && graph_.operands(made[2]).empty()) {
      context_.note("empty-else", original, Id{});
      made.pop_back();
    }
    if (graph_.operands(made[1]).empty()) {
      context_.note("empty-then", original, Id{});
      if (made.size() == 2) return true;
      const Id yes = graph_.constant(Scalar::boolean(true));
      made = {graph_.make(Op::Xor, {condition, yes}), made[2]};
    }
    replacement = graph_.with_operands(original, made);
    out.push_back(replacement);
    return true;
  }

  // What users of a loop's results see instead.
  void set_result(Id loop, uint32_t k, Id value) {
    const Id result = graph_.proj(loop, k, graph_.type(value));
    again_.set(result, value);
    if (graph_.op(value) != Op::Proj || !graph_.name(value).empty()) return;
    if (auto name = graph_.name(result); !name.empty()) graph_.set_name(value, std::string(name));
  }
  void set_argument(Id loop, uint32_t k, Id value) {
    again_.set(graph_.arg(graph_.tag(loop), k, graph_.type(value)), value);
  }

  // The initial values of a loop; invalid for those that nobody uses.
  std::vector<Id> initial_values(Id loop) {
    std::vector<Id> values;
    for (Id init : graph_.inits(loop)) {
      const bool used = live_.carries(loop, static_cast<uint32_t>(values.size()));
      values.push_back(used ? again_(init) : Id{});
    }
    return values;
  }

  // No turn, or one.
  bool short_for(Id original, std::vector<Id>& out) {
    const Id low = again_(graph_.operand(original, 0)), high = again_(graph_.operand(original, 1));
    if (!graph_.is_const(low) || !graph_.is_const(high)) return false;
    const uint64_t from = graph_.value(low).bits, to = graph_.value(high).bits;
    if (to > from + 1) return false;
    context_.note(to <= from ? "no-turn" : "one-turn", original, Id{});
    std::vector<Id> values = initial_values(original);
    if (to > from) {
      set_argument(original, 0, low);
      for (uint32_t k = 0; k < values.size(); ++k) {
        if (values[k].valid()) set_argument(original, k + 1, values[k]);
      }
      auto body = graph_.operands(graph_.body(original));
      again_.effects(values.empty() ? body : body.first(body.size() - 1), out);
      for (size_t k = 0; k < values.size(); ++k) {
        if (values[k].valid()) values[k] = again_(graph_.operand(body.back(), k));
      }
    }
    for (uint32_t k = 0; k < values.size(); ++k) {
      if (values[k].valid()) set_result(original, k, values[k]);
    }
    return true;
  }

  // A loop whose flag is false from the start.
  bool idle_loop(Id original) {
    if (graph_.op(original) != Op::Loop) return false;
    const Id go = again_(graph_.operand(original, 1));
    if (!graph_.is_const(go) || graph_.value(go).as_bool()) return false;
    context_.note("no-turn", original, Id{});
    const std::vector<Id> values = initial_values(original);
    for (uint32_t k = 0; k < values.size(); ++k) {
      if (values[k].valid()) set_result(original, k, values[k]);
    }
    set_result(original, static_cast<uint32_t>(values.size()), go);
    return true;
  }

  bool loop(Id original, std::vector<Id>& out, Id& replacement) {
    const Op op = graph_.op(original);
    auto list = graph_.operands(original);
    auto body = graph_.operands(list.back());
    const uint32_t flag = op == Op::Loop ? 1 : 0;  // yielded before the values
    const std::vector<Id> values = initial_values(original);
    std::vector<Id> made = {again_(list[0]), again_(list[1])};
    std::vector<uint32_t> kept;
    for (uint32_t k = 0; k < values.size(); ++k) {
      if (!values[k].valid()) continue;
      const Id argument = graph_.arg(graph_.tag(original), k + 1, graph_.type(values[k]));
      if (graph_.operand(body.back(), k + flag) == argument) {
        // Every turn hands on what it was given.
        set_argument(original, k + 1, values[k]);
        set_result(original, k, values[k]);
      } else {
        kept.push_back(k);
        made.push_back(values[k]);
      }
    }
    const bool carries_less = kept.size() < values.size();
    const uint32_t tag =
        carries_less ? fresh_arguments(original, kept, values) : graph_.tag(original);
    forget_stored_in(list.back());  // by an earlier turn
    yields_.push_back({&kept, flag});
    made.push_back(walk(list.back()));
    yields_.pop_back();
    if (!carries_less) {
      replacement = graph_.with_operands(original, made);
    } else {
      replacement = graph_.loop(op, tag, made);
      context_.note("carried-in-vain", original, replacement);
      for (uint32_t k = 0; k < kept.size(); ++k) {
        set_result(original, kept[k], graph_.proj(replacement, k, graph_.type(values[kept[k]])));
      }
      if (flag == 1) {
        const auto last = static_cast<uint32_t>(kept.size());
        set_result(original, static_cast<uint32_t>(values.size()),
                   graph_.proj(replacement, last, Type::Bool));
      }
    }
    out.push_back(replacement);
    return true;
  }

  // A loop that carries less has arguments of its own.
  uint32_t fresh_arguments(Id original, const std::vector<uint32_t>& kept,
                           const std::vector<Id>& values) {
    const uint32_t old = graph_.tag(original), tag = graph_.new_tag();
    auto move = [&](uint32_t from, uint32_t to, Type type) {
      set_argument(original, from, graph_.arg(tag, to, type));
      if (auto name = graph_.arg_name(old, from); !name.empty()) {
        graph_.set_arg_name(tag, to, std::string(name));
      }
    };
    move(0, 0, Type::U32);
    for (uint32_t k = 0; k < kept.size(); ++k) {
      move(kept[k] + 1, k + 1, graph_.type(values[kept[k]]));
    }
    return tag;
  }

  void yield(Id original, std::vector<Id>& out, Id& replacement) {
    const auto [kept, flag] = yields_.back();
    std::vector<Id> made;
    if (flag == 1) made.push_back(again_(graph_.operand(original, 0)));
    for (uint32_t k : *kept) made.push_back(again_(graph_.operand(original, k + flag)));
    if (made.empty()) return;
    replacement = graph_.with_operands(original, made);
    out.push_back(replacement);
  }

  Id walk(Id block) {
    const size_t mark = cells_.mark();
    const Id made = again_.block(block);
    cells_.back_to(mark);
    forget_stored_in(block);
    return made;
  }

  void forget_stored_in(Id block) {
    for (Id effect : graph_.operands(block)) {
      const Op op = graph_.op(effect);
      if (op == Op::Store || op == Op::Atomic || op == Op::Cas) {
        cells_.forget(graph_.operand(effect, 0));
      }
      for (Id operand : graph_.operands(effect)) {
        if (graph_.op(operand) == Op::Block) forget_stored_in(operand);
      }
    }
  }

  // Only this instance writes the buffer, in the order of the text, or nobody does.
  bool is_predictable(Id buffer) const {
    if (graph_.op(buffer) == Op::Alloc) {
      return graph_.space(buffer) == Space::Private || !is_group_;
    }
    const Mode mode = graph_.mode(buffer);
    return mode == Mode::In || (mode == Mode::Own && !is_group_);
  }

  Id effect(Id node, Id original, std::vector<Id>& out) {
    switch (graph_.op(node)) {
      case Op::Load: {
        const Id buffer = graph_.operand(original, 0), index = graph_.operand(node, 1);
        if (!is_predictable(buffer)) break;
        if (Id known = cells_.find(buffer, index); known.valid()) {
          context_.note("known-cell", original, known);
          return known;
        }
        cells_.know(buffer, index, node);
        break;
      }
      case Op::Store: {
        const Id buffer = graph_.operand(original, 0);
        cells_.forget(buffer);
        if (is_predictable(buffer)) {
          cells_.know(buffer, graph_.operand(node, 1), graph_.operand(node, 2));
        }
        break;
      }
      case Op::Prefetch:
        if (!context_.target.prefetch) {
          context_.note("no-prefetch", original, Id{});
          return Id{};
        }
        break;
      case Op::Atomic:
      case Op::Cas:
        cells_.forget(graph_.operand(original, 0));
        break;
      case Op::Check: {
        const Id condition = graph_.operand(node, 0);
        if (graph_.is_const(condition) && graph_.value(condition).as_bool()) {
          context_.note("check-holds", original, Id{});
          return Id{};
        }
        break;
      }
      default:
        break;
    }
    out.push_back(node);
    return node;
  }

  struct Yielded {
    const std::vector<uint32_t>* kept;  // carried values that stay
    uint32_t flag;
  };

  PassContext& context_;
  Graph& graph_;
  Liveness live_;
  Rebuild again_;
  KnownCells cells_;
  std::vector<Yielded> yields_;  // of the loops around, inner ones last
  bool is_group_;
};

}  // namespace

Id simplify_effects(PassContext& context, Id kernel) {
  return EffectSimplifier(context, kernel).run(kernel);
}

}  // namespace xlog::kernel
