// Text to a pipeline: lines to steps with untyped expressions, then types for these.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>

#include "plan/rir.h"
#include "plan/rir_host.h"
#include "plan/rir_read.h"
#include "plan/rir_types.h"

namespace xlog::plan {

using lang::TokenKind;

namespace {

// A step whose terms have no types yet.
struct OpenStep {
  Step step;
  std::vector<RirTerm> columns;  // where they are no `_`
  RirTerm lhs, rhs;
  std::vector<OpenStep> members;
};

// Functions that read give false after they have set the error.
class Parser : private RirReader {
 public:
  Parser(std::string_view text, std::string_view name, lang::Program& program,
         lang::Session& session)
      : RirReader(text, name, session), program_(program) {}

  Result<Pipeline> run() {
    if (!read_lines() || !read_steps() || !find_types()) return *error_;
    pipeline_.rule = static_cast<uint32_t>(program_.rules.size());
    program_.rules.push_back(std::move(rule_));
    return std::move(pipeline_);
  }

 private:
  // ---- steps ----

  bool read_steps() {
    for (const Line& line : lines_) {
      begin(line);
      if (has_head_) return fail("a step behind the head", "`insert` or `group` is the last line");
      if (!at(TokenKind::Identifier)) return fail(fmt::format("expected a step, found {}", here()));
      const std::string_view verb = text_of(line.tokens[next_++]);
      if (!(verb == "insert" || verb == "group" ? head(verb == "group") : step(verb))) return false;
      if (!at_end()) return fail(fmt::format("nothing more was expected, but here is {}", here()));
    }
    if (!has_head_) rule_.head_kind = lang::HeadKind::None;
    return true;
  }

  bool step(std::string_view verb) {
    OpenStep open;
    open.step.reason = line_->remark;
    const std::vector<bool> before = bound_;
    bool good = false;
    if (verb == "scan" || verb == "lookup") {
      open.step.kind = StepKind::Match;
      good = atom(open, before) && order(open) && looks_up(open, verb == "lookup");
    } else if (verb == "exists" || verb == "absent") {
      open.step.kind = verb == "exists" ? StepKind::Exists : StepKind::Absent;
      good = atom(open, before);
    } else if (verb == "filter") {
      open.step.kind = StepKind::Filter;
      good = term(open.lhs) && compare(open.step.compare) && term(open.rhs);
    } else if (verb == "let" || verb == "range") {
      open.step.kind = verb == "let" ? StepKind::Let : StepKind::Range;
      good = target(open) && expect(TokenKind::Equal) && term(open.lhs);
      if (good && verb == "range") good = expect(TokenKind::DotDot) && term(open.rhs);
      if (good) bind(open.step.target);
    } else if (verb == "meet") {
      open.step.kind = StepKind::Meet;
      good = meet(open, before);
    } else if (verb == "host") {
      open.step.kind = StepKind::Host;
      good = host(open);
    } else {
      return fail(fmt::format("`{}` is no step", verb),
                  "steps are scan, lookup, exists, absent, filter, let, range, meet and host; the "
                  "head follows insert or group");
    }
    if (good) steps_.push_back(std::move(open));
    return good;
  }

  // ---- literals that the host solves ----

  // The text behind the verb.
  std::string_view rest_of(const Line& line) const {
    if (line.tokens.size() < 2) return "";
    return session_.sources.text({line.tokens[1].span.begin, line.tokens.back().span.end});
  }

  // What all lines say of the rule that they are of.
  RirSketch sketch() const {
    RirSketch sketch;
    for (const Line& line : lines_) {
      const std::string_view verb = text_of(line.tokens[0]);
      if (verb == "host") sketch.asked.push_back(rest_of(line));
      if (verb == "insert" || verb == "group") sketch.head = rest_of(line);
      if (verb != "scan" && verb != "lookup") continue;
      size_t name = 1;
      while (name + 1 < line.tokens.size() && line.tokens[name + 1].kind != TokenKind::LeftParen) {
        ++name;
      }
      if (name < line.tokens.size()) sketch.read.push_back(text_of(line.tokens[name]));
    }
    return sketch;
  }

  // The variable here that is this one of another rule, whose type it has.
  VarId variable_like(const lang::Variable& known, uint32_t helper) {
    VarId v{helper - 1};
    if (known.anonymous) {
      v = {static_cast<uint32_t>(rule_.variables.size())};
      rule_.variables.push_back(known);
    } else if (helper == 0) {
      v = named_variable(known.name);
    }
    rule_.variables[v.index].type = known.type;
    typed_.push_back(v);
    return v;
  }

  bool host(OpenStep& open) {
    if (asked_of_ == nullptr) asked_of_ = find_rule(sketch(), program_, session_.names);
    if (asked_of_ == nullptr) {
      return fail("no rule of the program asks the host this",
                  "what stands behind `host` is a literal of a rule, as it is printed");
    }
    HostLiteral found = host_literal(*asked_of_, rest_of(*line_), program_, session_.names,
                                     [this](const lang::Variable& known, uint32_t helper) {
                                       return variable_like(known, helper);
                                     });
    next_ = line_->tokens.size();
    open.step.literal = static_cast<uint32_t>(rule_.body.size());
    rule_.body.push_back(std::move(found.literal));
    for (VarId v : found.outputs) {
      const bool known = is_bound(v, bound_) || rule_.variables[v.index].anonymous;
      if (known) continue;
      bind(v);
      open.step.outputs.push_back(v);
    }
    return true;
  }

  bool looks_up(const OpenStep& open, bool lookup) {
    if (key_columns(open.step).empty() != lookup) return true;
    return lookup ? fail("a lookup has a column that is known: `=X`")
                  : fail("a column of a scan is known", "that is a lookup");
  }

  bool is_bound(VarId v, const std::vector<bool>& bound) const {
    return v.index < bound.size() && bound[v.index];
  }
  void bind(VarId v) {
    bound_.resize(std::max<size_t>(bound_.size(), v.index + 1), false);
    bound_[v.index] = true;
  }

  bool find_predicate(PredId& pred, std::string_view name, bool negated, size_t arity) {
    for (uint32_t p = 0; p < program_.predicates.size(); ++p) {
      const lang::Predicate& known = program_.predicates[p];
      if (known.arity == arity && known.strong_negation == negated &&
          session_.names.symbols.text(known.name) == name) {
        pred = {p};
        return true;
      }
    }
    return fail(
        fmt::format("the program has no predicate {}{}/{}", negated ? "-" : "", name, arity));
  }

  // [new | old] [-]name[(columns)]
  bool atom(OpenStep& open, const std::vector<bool>& before) {
    const bool has_part = (at_word("new") || at_word("old")) &&
                          (at_after(TokenKind::Identifier) || at_after(TokenKind::Variable) ||
                           at_after(TokenKind::Minus));
    if (has_part) {
      open.step.part = at_word("new") ? Part::New : Part::Old;
      ++next_;
    }
    return predicate(open.step.pred, open.columns, [&] { return column(open, before); });
  }

  // [-]name[(arguments)], each of which `argument` reads and adds to `arguments`.
  template <typename Argument>
  bool predicate(PredId& pred, const std::vector<RirTerm>& arguments, const Argument& argument) {
    const bool negated = take(TokenKind::Minus);
    if (!at_name()) return fail(fmt::format("expected a predicate, found {}", here()));
    const std::string_view name = text_of(line_->tokens[next_++]);
    if (take(TokenKind::LeftParen)) {
      do {
        if (!argument()) return false;
      } while (take(TokenKind::Comma));
      if (!expect(TokenKind::RightParen)) return false;
    }
    return find_predicate(pred, name, negated, arguments.size());
  }

  bool column(OpenStep& open, const std::vector<bool>& before) {
    ColumnArg& column = open.step.columns.emplace_back();
    RirTerm& value = open.columns.emplace_back();
    if (take(TokenKind::Anonymous)) return true;
    if (take(TokenKind::Equal)) {
      if (!term(value)) return false;
      if (value.kind != lang::TermKind::Variable) {
        column.use = ColumnUse::Key;
        return true;
      }
      // What this step binds itself cannot be looked up.
      column.use = is_bound(value.var, before) ? ColumnUse::Key : ColumnUse::Same;
      if (is_bound(value.var, bound_)) return true;
      return fail(fmt::format("no step before has bound {}", value.text));
    }
    if (!at(TokenKind::Variable)) {
      return fail(fmt::format("expected a variable, `=` or `_`, found {}", here()));
    }
    if (!term(value)) return false;
    column.use = ColumnUse::Bind;
    if (is_bound(value.var, before)) {
      return fail(fmt::format("{0} is bound already: `={0}`", value.text));
    }
    bind(value.var);
    return true;
  }

  // by X, Y
  bool order(OpenStep& open) {
    if (!take_word("by")) return true;
    do {
      RirTerm by;
      if (!term(by)) return false;
      const auto same = std::ranges::find(open.columns, by.text, &RirTerm::text);
      if (same == open.columns.end()) return fail(fmt::format("no column is {}", by.text));
      open.step.order.push_back(static_cast<uint32_t>(same - open.columns.begin()));
    } while (take(TokenKind::Comma));
    return true;
  }

  bool target(OpenStep& open) {
    RirTerm variable;
    if (!at(TokenKind::Variable)) {
      return fail(fmt::format("expected a variable, found {}", here()));
    }
    if (!term(variable)) return false;
    open.step.target = variable.var;
    if (is_bound(variable.var, bound_)) {
      return fail(fmt::format("{} is bound already", variable.text));
    }
    return true;
  }

  // Z: e(=Y, Z), e(=X, Z)
  bool meet(OpenStep& open, const std::vector<bool>& before) {
    if (!target(open) || !expect(TokenKind::Colon)) return false;
    do {
      OpenStep& member = open.members.emplace_back();
      member.step.kind = StepKind::Match;
      bound_ = before;
      if (!atom(member, before)) return false;
      const auto binds_target = [&](size_t c) {
        return member.step.columns[c].use == ColumnUse::Bind &&
               member.columns[c].var == open.step.target;
      };
      size_t targets = 0, others = 0;
      for (size_t c = 0; c < member.columns.size(); ++c) {
        targets += binds_target(c) ? 1 : 0;
        others += member.step.columns[c].use != ColumnUse::Key &&
                          member.step.columns[c].use != ColumnUse::Ignore
                      ? 1
                      : 0;
      }
      if (targets != 1 || others != 1) {
        return fail("a member of a meet has its variable once, and columns that are known");
      }
    } while (take(TokenKind::Comma));
    bind(open.step.target);
    return true;
  }

  // p(X, 3), or n(X, count(), sum(Y * 2))
  bool head(bool groups) {
    has_head_ = true;
    lang::HeadElement& element = rule_.head.emplace_back();
    return predicate(element.pred, head_, [&] {
      RirTerm& arg = head_.emplace_back();
      if (groups && at_aggregate() ? !aggregate() : !term(arg)) return false;
      if (arg.kind != lang::TermKind::Variable || is_bound(arg.var, bound_)) return true;
      return fail(fmt::format("no step has bound {}", arg.text));
    });
  }

  std::optional<lang::AggregateFn> aggregate_here() const {
    if (!at(TokenKind::Identifier)) return std::nullopt;
    const std::string_view name = text_of(line_->tokens[next_]);
    if (name == lang::spelling(lang::AggregateFn::Findall)) return lang::AggregateFn::Findall;
    return lang::find_aggregate(name);
  }
  bool at_aggregate() const { return aggregate_here() && at_after(TokenKind::LeftParen); }

  bool aggregate() {
    lang::HeadAggregate made{static_cast<uint32_t>(head_.size() - 1), *aggregate_here(), false, {}};
    next_ += 2;
    RirTerm value;
    if (!at(TokenKind::RightParen)) {
      made.has_value = true;
      if (!term(value)) return false;
    }
    rule_.aggregates.push_back(made);
    values_.push_back(std::move(value));
    return expect(TokenKind::RightParen);
  }

  // ---- types ----

  RirTerm reference(VarId v) const {
    RirTerm made;
    made.kind = lang::TermKind::Variable;
    made.var = v;
    return made;
  }

  void constrain(OpenStep& open, RirTypes& types) {
    for (size_t c = 0; c < open.columns.size(); ++c) {
      if (open.step.columns[c].use == ColumnUse::Ignore) continue;
      types.has_type(open.columns[c], program_[open.step.pred].columns[c].type);
    }
    for (OpenStep& member : open.members) constrain(member, types);
    switch (open.step.kind) {
      case StepKind::Filter:
        return types.same_type({&open.lhs, &open.rhs});
      case StepKind::Let:
        return types.same_type({&targets_.emplace_back(reference(open.step.target)), &open.lhs});
      case StepKind::Range:
        return types.same_type(
            {&targets_.emplace_back(reference(open.step.target)), &open.lhs, &open.rhs});
      default:
        return;
    }
  }

  bool find_types() {
    RirTypes types(rule_, session_.names);
    for (VarId v : typed_) {
      types.has_type(targets_.emplace_back(reference(v)), rule_.variables[v.index].type);
    }
    for (OpenStep& open : steps_) constrain(open, types);
    if (has_head_) {
      const lang::Predicate& predicate = program_[rule_.head[0].pred];
      for (uint32_t c = 0; c < head_.size(); ++c) {
        if (!is_aggregate(c)) types.has_type(head_[c], predicate.columns[c].type);
      }
    }
    for (RirTerm& value : values_) types.has_type(value, std::nullopt);
    types.solve();
    for (OpenStep& open : steps_) pipeline_.steps.push_back(close(open, types));
    for (uint32_t c = 0; c < head_.size(); ++c) {
      Term made;
      if (is_aggregate(c)) {
        made.type = program_[rule_.head[0].pred].columns[c].type;
        made.value.kind = made.type.kind;
      } else {
        made = types.term(head_[c]);
      }
      rule_.head[0].args.push_back(std::move(made));
    }
    for (size_t a = 0; a < values_.size(); ++a) {
      if (rule_.aggregates[a].has_value) rule_.aggregates[a].value = types.term(values_[a]);
    }
    if (!types.problem()) return true;
    return fail_at(types.problem()->line, types.problem()->what);
  }

  bool is_aggregate(uint32_t column) const {
    return std::ranges::any_of(rule_.aggregates,
                               [&](const auto& aggregate) { return aggregate.column == column; });
  }

  Step close(OpenStep& open, RirTypes& types) {
    Step step = std::move(open.step);
    for (size_t c = 0; c < step.columns.size(); ++c) {
      if (step.columns[c].use != ColumnUse::Ignore) {
        step.columns[c].term = types.term(open.columns[c]);
      }
    }
    for (OpenStep& member : open.members) step.members.push_back(close(member, types));
    const bool has_left =
        step.kind == StepKind::Filter || step.kind == StepKind::Let || step.kind == StepKind::Range;
    if (has_left) step.lhs = types.term(open.lhs);
    if (has_left && step.kind != StepKind::Let) step.rhs = types.term(open.rhs);
    return step;
  }

  lang::Program& program_;
  const lang::Rule* asked_of_ = nullptr;  // the rule whose literals the host solves
  std::vector<bool> bound_;               // by variable
  std::vector<OpenStep> steps_;
  std::deque<RirTerm> targets_;
  std::vector<VarId> typed_;            // that the host is given or gives: as in the rule
  std::vector<RirTerm> head_, values_;  // of the aggregates
  bool has_head_ = false;
  Pipeline pipeline_;
};

}  // namespace

Result<Pipeline> parse_pipeline(std::string_view text, std::string_view name,
                                lang::Program& program, lang::Session& session) {
  return Parser(text, name, program, session).run();
}

}  // namespace xlog::plan
