#include "epistemic/body_plan.h"

#include <algorithm>

#include "epistemic/translate.h"

namespace xlog::epistemic {

using lang::Literal;
using lang::LiteralKind;
using lang::Modal;
using lang::Term;
using lang::TermKind;
using lang::VarId;

bool BodyStep::is_positive() const { return literal->modal == Modal::None && literal->nots == 0; }

bool BodyStep::is_negative() const {
  return literal->modal == Modal::None ? literal->nots == 1 : is_negated(literal->modal);
}

namespace {

class Planner {
 public:
  explicit Planner(const std::function<bool(VarId)>& is_bound_before)
      : is_bound_before_(is_bound_before) {}

  std::optional<BodyPlan> run(const std::vector<Literal>& body,
                              const std::vector<uint32_t>& sequence) {
    BodyPlan plan;
    for (const uint32_t index : sequence) {
      BodyStep& step = plan.steps.emplace_back();
      step.literal = &body[index];
      step.index = index;
      const bool is_join = body[index].kind == LiteralKind::Atom      ? look_up(step)
                           : body[index].kind == LiteralKind::Compare ? compare(step)
                                                                      : false;
      if (!is_join) return std::nullopt;
    }
    plan.binds = std::move(bound_);
    return plan;
  }

 private:
  // Bodies can have very many variables.
  static bool is_marked(const std::vector<bool>& marks, VarId variable) {
    return variable.index < marks.size() && marks[variable.index];
  }
  static void mark(std::vector<bool>& marks, VarId variable) {
    if (variable.index >= marks.size()) marks.resize(variable.index + 1, false);
    marks[variable.index] = true;
  }
  void bind(VarId variable) {
    bound_.push_back(variable);
    mark(is_bound_here_, variable);
  }
  bool is_bound(VarId variable) const {
    return is_bound_before_(variable) || is_marked(is_bound_here_, variable);
  }
  bool is_bound(const Term& term) const {
    if (term.kind == TermKind::Variable) return is_bound(term.var);
    return std::ranges::all_of(term.args, [&](const Term& arg) { return is_bound(arg); });
  }

  bool look_up(BodyStep& step) {
    const std::vector<Term>& args = step.literal->args;
    std::vector<bool> named;  // by this literal
    for (uint32_t c = 0; c < args.size(); ++c) {
      const Term& arg = args[c];
      if (arg.kind != TermKind::Variable && arg.kind != TermKind::Constant) return false;
      if (arg.kind == TermKind::Constant || is_bound(arg.var)) {
        step.columns.push_back(c);
        step.known.push_back({c, &arg});
        continue;
      }
      // A row that is only tested for names no variables.
      if (!step.is_positive()) return false;
      (is_marked(named, arg.var) ? step.equals : step.bound).emplace_back(c, arg.var);
      mark(named, arg.var);
    }
    for (const auto& [column, variable] : step.bound) bind(variable);
    return true;
  }

  bool compare(BodyStep& step) {
    const Literal& literal = *step.literal;
    const bool left = is_bound(literal.lhs), right = is_bound(literal.rhs);
    if (left && right) return true;
    const Term& unknown = left ? literal.rhs : literal.lhs;
    if (literal.op != lang::CompareOp::Eq || unknown.kind != TermKind::Variable) return false;
    step.assigned = unknown.var;
    step.value = left ? &literal.lhs : &literal.rhs;
    bind(unknown.var);
    return true;
  }

  const std::function<bool(VarId)>& is_bound_before_;
  std::vector<VarId> bound_;         // by the literals so far
  std::vector<bool> is_bound_here_;  // the same, by variable
};

}  // namespace

std::optional<BodyPlan> plan_body(const std::vector<Literal>& body, const logic::BodyOrder& order,
                                  std::optional<uint32_t> new_rows_of,
                                  const std::function<bool(VarId)>& is_bound_before) {
  std::vector<uint32_t> sequence = order.sequence;
  if (new_rows_of) {
    const auto first = std::ranges::find(sequence, *new_rows_of);
    // Atoms compare identity, comparisons numbers: they must not change places.
    const bool only_atoms = std::all_of(sequence.begin(), first, [&](uint32_t index) {
      return body[index].kind == LiteralKind::Atom;
    });
    if (only_atoms) std::rotate(sequence.begin(), first, first + 1);
  }
  return Planner(is_bound_before).run(body, sequence);
}

}  // namespace xlog::epistemic
