#include "solve/stable_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/check.h"

namespace xlog::solve {
namespace {

constexpr int64_t kMostCost = INT64_MAX / 4;

// The costs of models must fit.
Status check_costs(const GroundProgram& program) {
  std::vector<std::pair<int64_t, int64_t>> sums;
  for (const Minimize& statement : program.minimize) {
    auto found = std::ranges::find(sums, statement.priority, &std::pair<int64_t, int64_t>::first);
    if (found == sums.end()) found = sums.insert(found, {statement.priority, 0});
    for (const WeightedLiteral& term : statement.literals) {
      const bool fits = term.weight <= kMostCost && term.weight >= -kMostCost;
      if (fits) found->second += std::abs(term.weight);
      if (!fits || found->second > kMostCost) {
        return Error{fmt::format("the weights to minimize at priority {} add up to more than {}",
                                 statement.priority, kMostCost),
                     "divide them by a common factor"};
      }
    }
  }
  return Done{};
}

}  // namespace

StableModels::~StableModels() = default;

Status StableModels::add(GroundProgram program) {
  XLOG_CHECK(search_ == nullptr, "a program is added once");
  if (Status s = check_costs(program); !s.ok()) return s.error();
  program_ = std::move(program);
  const size_t atoms = static_cast<size_t>(program_.atoms()) + 1;
  given_.assign(atoms, false);
  external_values_.assign(atoms, ExternalValue::Release);
  for (const External& e : program_.externals) {
    XLOG_CHECK(e.atom > 0 && e.atom <= program_.atoms(), "externals are atoms of the program");
    given_[static_cast<size_t>(e.atom)] = e.value != ExternalValue::Release;
    external_values_[static_cast<size_t>(e.atom)] = e.value;
  }
  for (size_t r = 0; r < program_.rules(); ++r) {
    for (const Atom a : program_.rule(r).head) given_[static_cast<size_t>(a)] = false;
  }
  for (Atom a = 1; a <= program_.atoms(); ++a) {
    if (given_[static_cast<size_t>(a)]) given_atoms_.push_back(a);
  }
  search_ = std::make_unique<Search>();
  if (Status s = complete_rules(program_); !s.ok()) return s;
  checker_ = std::make_unique<FoundedCheck>(program_);
  return Done{};
}

Status StableModels::extend(const GroundProgram& more) {
  XLOG_CHECK(search_ != nullptr && more.atoms() >= program_.atoms(), "it knows the atoms so far");
  enumerating_ = false;
  for (size_t r = 0; r < more.rules(); ++r) program_.add_rule(more.rule(r));
  program_.need_atoms(more.atoms());
  const size_t atoms = static_cast<size_t>(program_.atoms()) + 1;
  given_.resize(atoms, false);
  external_values_.resize(atoms, ExternalValue::Release);
  search_->propagate_facts();  // propagators begin with what always holds
  if (Status s = complete_rules(more); !s.ok()) return s;
  checker_->take_new_rules();
  return Done{};
}

// Adds rules to the search; what the atoms so far are is known.
Status StableModels::complete_rules(const GroundProgram& program) {
  Result<std::optional<GroundProgram>> spelled_out = without_recursive_weights(program);
  if (!spelled_out.ok()) return spelled_out.error();
  const GroundProgram& plain = *spelled_out ? **spelled_out : program;
  std::vector<bool> given = given_;
  given.resize(static_cast<size_t>(plain.atoms()) + 1, false);
  Completion completion = complete(plain, given, *search_, completion_.literals);
  completion_.literals = std::move(completion.literals);
  completion_.literals.resize(given_.size());  // what was spelled out has no number here
  const auto add = [&](std::unique_ptr<Propagator> propagator) {
    search_->add_propagator(propagator.get());
    propagators_.push_back(std::move(propagator));
  };
  if (!completion.loop_atoms.empty()) {
    add(std::make_unique<UnfoundedSets>(completion.loop_atoms));
  }
  if (!completion.head_cycles.empty()) {
    add(std::make_unique<MinimalityCheck>(std::move(completion.head_cycles)));
  }
  return Done{};
}

void StableModels::assume(Literal literal) {
  XLOG_CHECK(variable_of(literal) <= program_.atoms(), "assumptions are about atoms");
  enumerating_ = false;
  if (is_assumed_.size() <= slot(literal)) is_assumed_.resize(slot(literal) + 1, false);
  if (is_assumed_[slot(literal)]) return;
  is_assumed_[slot(literal)] = true;
  assumptions_.push_back(literal);
}

void StableModels::retract(Literal literal) {
  enumerating_ = false;
  if (slot(literal) < is_assumed_.size()) is_assumed_[slot(literal)] = false;
  // Most often the last one.
  const auto found = std::ranges::find(assumptions_.rbegin(), assumptions_.rend(), literal);
  if (found != assumptions_.rend()) assumptions_.erase(std::next(found).base());
}

void StableModels::retract_all() {
  enumerating_ = false;
  is_assumed_.clear();
  assumptions_.clear();
}

Status StableModels::set_external(Atom atom, ExternalValue value) {
  if (atom <= 0 || atom > program_.atoms() || !given_[static_cast<size_t>(atom)]) {
    return Error{fmt::format("atom {} is not external, or has rules", atom),
                 "declare it external in the program and give it no rule"};
  }
  enumerating_ = false;
  external_values_[static_cast<size_t>(atom)] =
      value == ExternalValue::Release ? ExternalValue::False : value;
  return Done{};
}

void StableModels::forbid(std::span<const Literal> body) {
  enumerating_ = false;
  std::vector<Literal> clause;
  for (const Literal l : body) clause.push_back(-completion_.literal(l));
  search_->add(clause);
  forbidden_.emplace_back(body.begin(), body.end());
}

void StableModels::project(std::optional<std::vector<Atom>> atoms) {
  enumerating_ = false;
  search_->prefer_nothing();
  if (!atoms) return;
  std::vector<int32_t> variables;
  for (const Atom a : *atoms) variables.push_back(variable_of(completion_.literal(a)));
  search_->prefer(variables);
}

void StableModels::project_on_shown() {
  enumerating_ = false;
  search_->prefer_nothing();
  // Each text is shown when one of its conditions holds.
  std::vector<const Shown*> by_text;
  for (const Shown& item : program_.shown) by_text.push_back(&item);
  std::ranges::stable_sort(by_text, {}, &Shown::text);
  std::vector<int32_t> variables;
  for (size_t i = 0; i < by_text.size();) {
    std::vector<Literal> ways;
    const std::string& text = by_text[i]->text;
    for (; i < by_text.size() && by_text[i]->text == text; ++i) {
      const std::vector<Literal>& condition = by_text[i]->condition;
      if (condition.size() == 1) {
        ways.push_back(completion_.literal(condition[0]));
        continue;
      }
      const Literal all = search_->new_variable();
      std::vector<Literal> clause = {all};
      for (const Literal l : condition) {
        clause.push_back(-completion_.literal(l));
        search_->add({-all, completion_.literal(l)});
      }
      search_->add(clause);
      ways.push_back(all);
    }
    Literal any = ways[0];
    if (ways.size() > 1) {
      any = search_->new_variable();
      for (const Literal way : ways) search_->add({-way, any});
      ways.push_back(-any);
      search_->add(ways);
    }
    variables.push_back(variable_of(any));
  }
  search_->prefer(variables);
}

void StableModels::apply_assumptions(std::span<const Literal> also) {
  std::vector<Literal> all;
  for (const Atom a : given_atoms_) {
    const ExternalValue value = external_values_[static_cast<size_t>(a)];
    if (value == ExternalValue::True) all.push_back(completion_.literal(a));
    if (value == ExternalValue::False) all.push_back(-completion_.literal(a));
  }
  for (const Literal l : program_.assumptions) all.push_back(completion_.literal(l));
  for (const Literal l : assumptions_) all.push_back(completion_.literal(l));
  all.insert(all.end(), also.begin(), also.end());
  search_->set_assumptions(all);
}

Outcome StableModels::solve_with(std::span<const Literal> also, const Limits& limits) {
  enumerating_ = false;
  failed_.clear();
  apply_assumptions(also);
  const Outcome outcome = search_->solve(limits);
  if (outcome == Outcome::Sat) check_model();
  if (outcome == Outcome::Unsat) note_failed();
  return outcome;
}

Outcome StableModels::solve(const Limits& limits) {
  search_->forget_activity();
  return solve_with({}, limits);
}

void StableModels::note_failed() {
  const std::unordered_set<Literal> failed(search_->failed().begin(), search_->failed().end());
  for (const Literal l : assumptions_) {
    if (failed.contains(completion_.literal(l))) failed_.push_back(l);
  }
}

Outcome StableModels::next(const Limits& limits) { return next_with({}, limits); }

Outcome StableModels::next_with(std::span<const Literal> also, const Limits& limits) {
  if (!enumerating_) {
    failed_.clear();
    apply_assumptions(also);
    search_->forget_activity();
    search_->start_enumeration();
    enumerating_ = true;
    any_model_ = false;
  }
  const Outcome outcome = search_->next(limits);
  if (outcome == Outcome::Unsat && !any_model_) note_failed();
  if (outcome != Outcome::Sat) return outcome;
  any_model_ = true;
  check_model_of_many();
  return outcome;
}

void StableModels::check_model_of_many() {
  constexpr uint64_t kFirstModels = 16;
  if (options_.check_every_model || models_seen_ < kFirstModels || models_seen_ % 64 == 0) {
    check_model();
  }
  ++models_seen_;
}

void StableModels::check_model() {
  in_model_.resize(given_.size());
  for (Atom a = 1; a <= program_.atoms(); ++a) in_model_[static_cast<size_t>(a)] = holds(a);
  XLOG_CHECK(checker_->holds(in_model_, given_),
             "a stable model satisfies the rules and is founded");
}

Model StableModels::model() const {
  Model model(program_.atoms());
  for (Atom a = 1; a <= program_.atoms(); ++a) model.set(holds(a) ? a : -a);
  return model;
}

std::vector<std::string> StableModels::shown() const {
  std::vector<std::string> texts;
  std::unordered_set<std::string_view> seen;
  for (const Shown& item : program_.shown) {
    if (!std::ranges::all_of(item.condition, [&](Literal l) { return holds(l); })) continue;
    if (seen.insert(item.text).second) texts.push_back(item.text);
  }
  return texts;
}

std::vector<Cost> StableModels::costs() const {
  std::vector<Cost> costs;
  for (const Minimize& statement : program_.minimize) {
    auto found = std::ranges::find(costs, statement.priority, &Cost::priority);
    if (found == costs.end()) found = costs.insert(found, {statement.priority, 0});
    for (const WeightedLiteral& term : statement.literals) {
      if (holds(term.literal)) found->value += term.weight;
    }
  }
  std::ranges::sort(costs, std::ranges::greater{}, &Cost::priority);
  return costs;
}

Enumeration StableModels::enumerate(const Limits& limits, const Visitor& visit) {
  enumerating_ = false;
  return enumerate_with({}, limits, visit);
}

Enumeration StableModels::enumerate_with(std::span<const Literal> also, const Limits& limits,
                                         const Visitor& visit) {
  Enumeration result;
  for (;;) {
    result.outcome = next_with(also, limits);
    if (result.outcome != Outcome::Sat) return result;
    ++result.models;
    if (visit && !visit(*this)) return result;
  }
}

// Literals that hold in every model: those of one model, less what others lack, until no model
// lacks another. Brave consequences are what is left of the atoms whose negation is no such
// literal.
Consequences StableModels::consequences(const Limits& limits, std::span<const Atom> among,
                                        bool cautious) {
  Consequences result;
  search_->forget_activity();
  result.outcome = solve_with({}, limits);
  if (result.outcome != Outcome::Sat) return result;
  std::vector<Atom> asked(among.begin(), among.end());
  if (among.empty()) {
    for (Atom a = 1; a <= program_.atoms(); ++a) asked.push_back(a);
  }
  std::ranges::sort(asked);
  asked.erase(std::ranges::unique(asked).begin(), asked.end());
  const auto literal = [&](Atom a) { return completion_.literal(cautious ? a : -a); };
  std::vector<Atom> open;  // always so as far as is known
  std::vector<Atom> sure;  // always so
  for (const Atom a : asked) {
    if (search_->value(literal(a)) < 0) continue;
    (search_->implied_value(literal(a)) > 0 ? sure : open).push_back(a);
  }
  if (!open.empty()) {
    const Literal guard = search_->new_variable();
    while (!open.empty()) {
      std::vector<Literal> clause = {-guard};
      for (const Atom a : open) {
        clause.push_back(-literal(a));
        search_->set_phase(-literal(a));
      }
      search_->add(clause);
      apply_assumptions(std::span(&guard, 1));
      const Outcome outcome = search_->solve(limits);
      if (outcome == Outcome::Unsat) break;
      if (outcome != Outcome::Sat) {
        result.outcome = outcome;
        break;
      }
      check_model_of_many();
      std::erase_if(open, [&](Atom a) { return search_->value(literal(a)) < 0; });
    }
    search_->add({-guard});
  }
  failed_.clear();
  sure.insert(sure.end(), open.begin(), open.end());
  std::ranges::sort(sure);
  if (cautious) {
    result.atoms = std::move(sure);
  } else {
    std::ranges::set_difference(asked, sure, std::back_inserter(result.atoms));
  }
  return result;
}

Consequences StableModels::cautious(const Limits& limits, std::span<const Atom> among) {
  return consequences(limits, among, true);
}

Consequences StableModels::brave(const Limits& limits, std::span<const Atom> among) {
  return consequences(limits, among, false);
}

}  // namespace xlog::solve
