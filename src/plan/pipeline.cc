#include "plan/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>

#include "base/check.h"
#include "lang/typed_text.h"

namespace xlog::plan {

using lang::TypedConstants;

std::vector<uint32_t> key_columns(const Step& step) {
  std::vector<uint32_t> keys;
  for (uint32_t c = 0; c < step.columns.size(); ++c) {
    if (step.columns[c].use == ColumnUse::Key) keys.push_back(c);
  }
  return keys;
}

bool binds(const Step& step) {
  return std::ranges::any_of(step.columns,
                             [](const ColumnArg& c) { return c.use == ColumnUse::Bind; });
}

uint32_t target_column(const Step& member) {
  const auto bound = std::ranges::find_if(
      member.columns, [](const ColumnArg& c) { return c.use == ColumnUse::Bind; });
  XLOG_CHECK(bound != member.columns.end(), "a member of a meet has its target");
  return static_cast<uint32_t>(bound - member.columns.begin());
}

std::optional<uint64_t> constant_size(const Step& range) {
  const auto is_constant = [](const Term& bound) { return bound.kind == lang::TermKind::Constant; };
  if (!is_constant(range.lhs) || !is_constant(range.rhs)) return std::nullopt;
  const lang::Value& lo = range.lhs.value;
  const lang::Value& hi = range.rhs.value;
  const bool is_signed = lang::type_class(lo.kind) == lang::TypeClass::Signed;
  if (is_signed ? lo.as_signed() > hi.as_signed() : lo.bits > hi.bits) return 0;
  const uint64_t steps = hi.bits - lo.bits;
  return steps == UINT64_MAX ? steps : steps + 1;
}

double expected_size(const Step& range) {
  constexpr uint64_t kGuess = 100;
  return static_cast<double>(constant_size(range).value_or(kGuess));
}

bool can_drive(const Step& step) {
  return step.kind == StepKind::Match || (step.kind == StepKind::Range && constant_size(step));
}

std::optional<size_t> driver_of(const Pipeline& pipeline) {
  for (size_t s = 0; s < pipeline.steps.size(); ++s) {
    if (can_drive(pipeline.steps[s])) return s;
    if (pipeline.steps[s].kind == StepKind::Host) break;
  }
  return std::nullopt;
}

bool needs_host(const Pipeline& pipeline) {
  return std::ranges::find(pipeline.steps, StepKind::Host, &Step::kind) != pipeline.steps.end();
}

std::vector<const Step*> atoms_of(const Step& step) {
  std::vector<const Step*> atoms;
  if (step.kind == StepKind::Meet) {
    for (const Step& member : step.members) atoms.push_back(&member);
  } else if (step.pred.valid()) {
    atoms.push_back(&step);
  }
  return atoms;
}

bool tells_bindings_apart(const std::vector<Term>& row, const Pipeline& pipeline) {
  const auto shown = [&](VarId variable) {
    return std::ranges::any_of(row, [&](const Term& term) {
      return term.kind == lang::TermKind::Variable && term.var == variable;
    });
  };
  return std::ranges::all_of(pipeline.steps, [&](const Step& step) {
    switch (step.kind) {
      case StepKind::Match:
        return std::ranges::all_of(step.columns, [&](const ColumnArg& column) {
          return column.use != ColumnUse::Ignore &&
                 (column.use != ColumnUse::Bind || shown(column.term.var));
        });
      case StepKind::Meet:
      case StepKind::Range:
        return shown(step.target);
      case StepKind::Exists:
      case StepKind::Absent:
      case StepKind::Filter:
      case StepKind::Let:  // one value for each binding
        return true;
      case StepKind::Host:
        return false;
    }
    XLOG_UNREACHABLE("a kind of step");
  });
}

namespace {

std::string_view spelling(Part part) {
  switch (part) {
    case Part::All:
      return "";
    case Part::New:
      return "new ";
    case Part::Old:
      return "old ";
  }
  return "";
}

std::string atom_text(const Step& step, const lang::Rule& rule, const lang::Program& program,
                      const lang::Names& names) {
  std::string text(spelling(step.part));
  text += lang::predicate_name(program[step.pred], names);
  for (size_t c = 0; c < step.columns.size(); ++c) {
    const ColumnArg& column = step.columns[c];
    text += c == 0 ? "(" : ", ";
    if (column.use == ColumnUse::Ignore) {
      text += "_";
      continue;
    }
    if (column.use != ColumnUse::Bind) text += "=";
    text += lang::to_source(column.term, rule, program, names);
  }
  if (!step.columns.empty()) text += ")";
  for (size_t j = 0; j < step.order.size(); ++j) {
    text += j == 0 ? " by " : ", ";
    text += lang::to_source(step.columns[step.order[j]].term, rule, program, names);
  }
  return text;
}

// "about 3.5 rows each"; "" where a step finds at most one, or what a round brings.
std::string estimate_text(const Step& step) {
  if (step.kind != StepKind::Match || step.part == Part::New || !binds(step)) return "";
  if (key_columns(step).empty()) {
    return step.rows < kEndless ? fmt::format("about {:.0f} rows", step.rows) : "all that is old";
  }
  return fmt::format("about {:.1f} rows each", step.rows);
}

// Whether a reader takes a constant for what it is where nothing else says it (rir_types.h).
bool is_plain(const Term& constant, const lang::Names& names) {
  switch (constant.type.kind) {
    case lang::TypeKind::I64:
    case lang::TypeKind::F64:
    case lang::TypeKind::Bool:
      return true;
    case lang::TypeKind::Symbol:
      return std::ranges::none_of(std::array{"true", "false", "inf", "nan"}, [&](const char* word) {
        return names.symbols.text(constant.value.as_symbol()) == word;
      });
    default:
      return false;
  }
}

// Finds constants that have to say their type: the first of terms that are all of one type, where
// no variable and no cast is among them.
class TypesToSay {
 public:
  TypesToSay(TypedConstants& typed, const lang::Names& names) : typed_(typed), names_(names) {}

  void look_at(std::initializer_list<const Term*> terms) {
    Group group;
    for (const Term* term : terms) add(*term, group);
    if (group.first != nullptr && !group.is_known && !is_plain(*group.first, names_)) {
      typed_.insert(group.first);
    }
  }

 private:
  struct Group {
    const Term* first = nullptr;  // constant
    bool is_known = false;
  };

  void add(const Term& term, Group& group) {
    if (term.kind == lang::TermKind::Variable) group.is_known = true;
    if (term.kind == lang::TermKind::Constant && group.first == nullptr) group.first = &term;
    if (term.kind != lang::TermKind::Arith) return;
    if (term.op == lang::ArithOp::Cast) {
      group.is_known = true;
      return look_at({&term.args[0]});
    }
    size_t first = 0;
    if (term.op == lang::ArithOp::If) {
      look_at({&term.args[0], &term.args[1]});
      first = 2;
    }
    for (size_t i = first; i < term.args.size(); ++i) add(term.args[i], group);
  }

  TypedConstants& typed_;
  const lang::Names& names_;
};

}  // namespace

std::string to_text(const Pipeline& pipeline, const lang::Program& program,
                    const lang::Names& names, Show show) {
  const lang::Rule& rule = program.rules[pipeline.rule];
  TypedConstants typed;
  auto source = [&](const Term& term) {
    return lang::to_source(term, rule, program, names, typed);
  };
  auto variable = [&](VarId var) {
    Term term;
    term.kind = lang::TermKind::Variable;
    term.var = var;
    return source(term);
  };
  auto line = [show](const Step& step, std::string_view verb, const std::string& what) {
    const std::string remark =
        step.reason.empty() && show == Show::Estimates ? estimate_text(step) : step.reason;
    return fmt::format("{:<7} {}{}{}\n", verb, what, remark.empty() ? "" : "  // ", remark);
  };
  std::string text;
  for (const Step& step : pipeline.steps) {
    switch (step.kind) {
      case StepKind::Match:
        text += line(step, key_columns(step).empty() ? "scan" : "lookup",
                     atom_text(step, rule, program, names));
        break;
      case StepKind::Exists:
        text += line(step, "exists", atom_text(step, rule, program, names));
        break;
      case StepKind::Absent:
        text += line(step, "absent", atom_text(step, rule, program, names));
        break;
      case StepKind::Filter:
        TypesToSay(typed, names).look_at({&step.lhs, &step.rhs});
        text += line(step, "filter",
                     fmt::format("{} {} {}", source(step.lhs), lang::ast::spelling(step.compare),
                                 source(step.rhs)));
        break;
      case StepKind::Let:
        TypesToSay(typed, names).look_at({&step.lhs});
        text += line(step, "let", fmt::format("{} = {}", variable(step.target), source(step.lhs)));
        break;
      case StepKind::Range:
        TypesToSay(typed, names).look_at({&step.lhs, &step.rhs});
        text += line(
            step, "range",
            fmt::format("{} = {}..{}", variable(step.target), source(step.lhs), source(step.rhs)));
        break;
      case StepKind::Host:
        text += line(step, "host", lang::to_source(rule.body[step.literal], rule, program, names));
        break;
      case StepKind::Meet: {
        std::string atoms;
        for (const Step& member : step.members) {
          atoms += (atoms.empty() ? "" : ", ") + atom_text(member, rule, program, names);
        }
        text += line(step, "meet", fmt::format("{}: {}", variable(step.target), atoms));
        break;
      }
    }
  }
  if (!rule.head.empty()) {
    lang::Rule head = rule;
    head.body.clear();
    for (const lang::HeadAggregate& aggregate : head.aggregates) {
      if (aggregate.has_value) TypesToSay(typed, names).look_at({&aggregate.value});
    }
    std::string inserted = lang::to_source(head, program, names, typed);
    if (!inserted.empty() && inserted.back() == '.') inserted.pop_back();
    text += fmt::format("{:<7} {}\n", rule.aggregates.empty() ? "insert" : "group", inserted);
  }
  return text;
}

}  // namespace xlog::plan
