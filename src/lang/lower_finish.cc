// What can be said once all statements are lowered: inputs, strong negation, names that nothing
// defines.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "lang/goal.h"
#include "lang/lower.h"

namespace xlog::lang {

namespace {

// ---- --input ----

struct InputName {
  std::string_view name;
  std::optional<uint32_t> arity;
};

InputName read_input_name(std::string_view text) {
  const size_t slash = text.rfind('/');
  if (slash == std::string_view::npos) return {text, std::nullopt};
  uint32_t arity = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + slash + 1, end, arity);
  if (error != std::errc() || rest != end) return {text, std::nullopt};
  return {text.substr(0, slash), arity};
}

// The main file's own predicates and the public ones.
bool is_visible_in_main(const Predicate& predicate) {
  return !predicate.helper && !predicate.strong_negation &&
         (!predicate.is_private || predicate.module == 0);
}

void mark_input(Lowering& low, size_t input) {
  const std::string& text = low.options.inputs[input];
  const InputName wanted = read_input_name(text);
  std::vector<PredId> matching;
  std::vector<std::string_view> known;
  for (uint32_t i = 0; i < low.program.predicates.size(); ++i) {
    const Predicate& predicate = low.program.predicates[i];
    if (!is_visible_in_main(predicate)) continue;
    known.push_back(low.text(predicate.name));
    if (low.text(predicate.name) != wanted.name) continue;
    if (!wanted.arity || predicate.arity == *wanted.arity) matching.push_back(PredId{i});
  }
  if (matching.size() == 1) {
    Predicate& predicate = low.program[matching[0]];
    predicate.is_input = true;
    if (!predicate.declared && low.options.survey) {
      for (DataColumn& column : low.options.survey(input, predicate.arity)) {
        predicate.data.push_back(std::move(column));
      }
    }
    return;
  }
  if (matching.empty()) {
    Diagnostic& diagnostic =
        low.report(Code::UnknownInputRelation, {},
                   fmt::format("--input {}: the program has no such predicate", text));
    if (const auto near = did_you_mean(wanted.name, known); near && *near != wanted.name) {
      diagnostic.help(fmt::format("did you mean `{}`?", *near));
    } else {
      diagnostic.help(fmt::format("declare it with `pred {}(types).`", wanted.name));
    }
    return;
  }
  std::string choices;
  for (const PredId pred : matching) {
    if (!choices.empty()) choices += " or ";
    choices += "`" + predicate_signature(low.program[pred], low.session.names) + "`";
  }
  low.report(Code::UnknownInputRelation, {},
             fmt::format("--input {}: the program has several predicates of that name", text))
      .help("say which one: " + choices);
}

// ---- Strong negation ----

// :- p(X1, ..., Xn), -p(X1, ..., Xn).
void add_coherence(Lowering& low, PredId positive, PredId negative) {
  const Span span = low.program[negative].span;
  Rule rule;
  rule.origin = RuleOrigin::Coherence;
  rule.head_kind = HeadKind::None;
  rule.span = span;
  rule.head_span = span;
  Literal literal;
  literal.span = span;
  for (uint32_t i = 0; i < low.program[positive].arity; ++i) {
    rule.variables.emplace_back();
    rule.variables.back().name = low.symbols().intern(fmt::format("X{}", i + 1));
    rule.variables.back().span = span;
    Term term;
    term.kind = TermKind::Variable;
    term.var = VarId{i};
    term.span = span;
    literal.args.push_back(std::move(term));
  }
  for (const PredId pred : {positive, negative}) {
    literal.pred = pred;
    rule.body.push_back(literal);
  }
  low.program.rules.push_back(std::move(rule));
}

void link_opposites(Lowering& low) {
  const auto count = static_cast<uint32_t>(low.program.predicates.size());
  for (uint32_t i = 0; i < count; ++i) {
    PredicateKey key = low.states[i].key;
    if (!key.strong_negation) continue;
    key.strong_negation = false;
    const PredId negative{i};
    const PredId positive = low.find_predicate(key);
    if (!positive.valid()) continue;
    Predicate& n = low.program[negative];
    Predicate& p = low.program[positive];
    n.opposite = positive;
    p.opposite = negative;
    if (p.declared) {
      n.declared = true;
      n.columns = p.columns;
    }
    add_coherence(low, positive, negative);
  }
}

// ---- Undefined predicates ----

void add_hints(const Lowering& low, PredId undefined, Diagnostic& diagnostic) {
  const PredicateKey& key = low.states[undefined.index].key;
  for (const HiddenPredicate& hidden : low.imports.hidden) {
    if (hidden.name != key.name || hidden.arity != key.arity) continue;
    const std::string& module = low.modules.units[hidden.unit].name;
    diagnostic.note(
        hidden.is_private
            ? fmt::format("module `{}` has a private one, which only it can use", module)
            : fmt::format("module `{}` has one, but no `use` selects it", module));
    diagnostic.label(hidden.span, "defined here");
  }
  std::string other_arities;
  std::vector<std::string_view> known;
  for (uint32_t i = 0; i < low.program.predicates.size(); ++i) {
    const Predicate& other = low.program.predicates[i];
    if (other.helper || !low.is_defined(low.states[i].key)) continue;
    if (low.states[i].key.name == key.name) {
      if (!other_arities.empty()) other_arities += ", ";
      other_arities += "`" + predicate_signature(other, low.session.names) + "`";
    } else if (!other.is_private || other.module == 0) {
      known.push_back(low.text(other.name));
    }
  }
  if (!other_arities.empty()) {
    diagnostic.note("the name is defined as " + other_arities);
  } else if (const auto near = did_you_mean(low.shown(key.name), known)) {
    diagnostic.help(fmt::format("did you mean `{}`?", *near));
  }
}

bool is_hidden(const Lowering& low, const PredicateKey& key) {
  return std::any_of(low.imports.hidden.begin(), low.imports.hidden.end(),
                     [&](const HiddenPredicate& hidden) {
                       return hidden.name == low.written(key.name) && hidden.arity == key.arity;
                     });
}

void warn_undefined(Lowering& low) {
  constexpr int kMaxHints = 50;  // looking for similar names takes time, and nobody reads more
  int hints = 0;
  const bool has_errors = low.session.diagnostics.has_errors();
  for (uint32_t i = 0; i < low.program.predicates.size(); ++i) {
    const Predicate& predicate = low.program.predicates[i];
    const PredicateState& state = low.states[i];
    if (state.defined || predicate.declared || predicate.is_input || predicate.neural) continue;
    if (has_errors && is_hidden(low, state.key)) continue;  // an error about imports says it better
    const bool asked = is_in_goal(state.first_use, low.session.sources);
    Diagnostic& diagnostic =
        low.report(asked ? Code::UnknownPredicate : Code::UndefinedPredicate, state.first_use,
                   fmt::format("nothing defines `{}`", low.show(state.key)));
    if (hints++ < kMaxHints) add_hints(low, PredId{i}, diagnostic);
  }
}

}  // namespace

void finish_program(Lowering& low) {
  for (size_t i = 0; i < low.options.inputs.size(); ++i) mark_input(low, i);
  link_opposites(low);
  warn_undefined(low);
}

}  // namespace xlog::lang
