#include "engine/component.h"

#include <algorithm>

#include "base/check.h"
#include "logic/binding.h"
#include "oracle/aggregates.h"
#include "plan/build.h"
#include "relation/aggregate.h"

namespace xlog::engine {

using lang::Literal;
using lang::LiteralKind;
using lang::PredId;
using lang::Rule;

plan::Pipeline Rules::pipeline(uint32_t rule, std::optional<uint32_t> delta, uint32_t component) {
  plan::VersionOptions options;
  options.delta = delta;
  options.grows = [this, component](PredId pred) { return inside(pred, component); };
  return plan::build_pipeline(program_, rule, options, [this](PredId pred) {
    // An estimate that fails leaves the written order; the device's trouble shows in what follows.
    Result<plan::Statistics> known = database_.statistics(pred);
    return known.ok() ? *known : plan::Statistics{};
  });
}

StagedDerivation Rules::version(uint32_t rule, std::optional<uint32_t> delta, uint32_t component) {
  const lang::HeadElement& head = program_.rules[rule].head[0];
  std::vector<lang::Term> terms = head.args;
  // What a rule folds with the best of its own recursion are candidates for the relation.
  for (const lang::HeadAggregate& aggregate : program_.rules[rule].aggregates) {
    terms[aggregate.column] = aggregate.value;
  }
  return {
      machine_,         program_, host_, pipeline(rule, delta, component), estimates_.source(rule),
      std::move(terms), head.pred};
}

StagedDerivation Rules::into_bag(uint32_t rule, const std::vector<lang::Term>& terms) {
  return {machine_, program_, host_, pipeline(rule, {}, UINT32_MAX), estimates_.source(rule),
          terms,    {}};
}

Status Rules::derive(StagedDerivation& derivation, ComponentRun& run) {
  Trace::Timed timed(trace_, TraceKind::Rule, version_of(derivation.pipeline()));
  timed.event.rows_in = driving_rows(derivation.pipeline());
  if (Status go_on = machine_.check(0); !go_on.ok()) return go_on;
  Result<relation::Derived> derived =
      derivation.run([this](PredId pred) -> relation::Relation& { return database_[pred]; });
  if (!derived.ok()) return derived.error();
  timed.event.rows_out = derived->rows;
  run.rows += derived->rows;
  rows_ += derived->rows;
  count_valueless(derivation.pipeline().rule, derived->valueless);
  return Done{};
}

void Rules::count_valueless(uint32_t rule, uint64_t count) {
  if (!counts_valueless_) return host_.forget_valueless();
  count += host_.take_valueless();
  if (count == 0) return;
  if (valueless_.count == 0) valueless_.span = program_.rules[rule].span;
  valueless_.count += count;
}

RuleVersion Rules::version_of(const plan::Pipeline& pipeline) const {
  RuleVersion version{estimates_.source(pipeline.rule), {}};
  const std::vector<Literal>& body = program_.rules[version.rule].body;
  for (const plan::Step& step : pipeline.steps) {
    if (!step.pred.valid() || step.part != plan::Part::New) continue;
    for (uint32_t i = 0; i < body.size() && !version.literal; ++i) {
      const bool is_it = body[i].pred == estimates_.source(step.pred) && body[i].span == step.span;
      if (is_it) version.literal = i;
    }
  }
  return version;
}

// How many rows a pipeline begins with.
uint64_t Rules::driving_rows(const plan::Pipeline& pipeline) {
  const std::optional<size_t> driver = plan::driver_of(pipeline);
  if (!driver) return 1;
  if (pipeline.steps[*driver].kind == plan::StepKind::Range) {
    return plan::constant_size(pipeline.steps[*driver]).value_or(0);
  }
  const relation::Relation& relation = database_[pipeline.steps[*driver].pred];
  switch (pipeline.steps[*driver].part) {
    case plan::Part::New:
      return relation.rows() - relation.fresh();
    case plan::Part::Old:
      return relation.fresh();
    case plan::Part::All:
      break;
  }
  return relation.rows();
}

// Whether a rule that reads its own component has a head variable that no atom brings.
bool Rules::makes_values(uint32_t c) const {
  return std::ranges::any_of(analysis_.components[c].rules, [&](uint32_t r) {
    const Rule& rule = program_.rules[r];
    std::vector<bool> brought(rule.variables.size(), false);
    bool reads_itself = false;
    for (const Literal& literal : rule.body) {
      if (literal.kind != LiteralKind::Atom || literal.nots != 0) continue;
      reads_itself |= inside(literal.pred, c);
      for (const lang::Term& arg : literal.args) {
        if (arg.kind == lang::TermKind::Variable) brought[arg.var.index] = true;
      }
    }
    auto is_made = [&](const lang::Term& term) {
      return term.kind == lang::TermKind::Arith ||
             (term.kind == lang::TermKind::Variable && !brought[term.var.index]);
    };
    return reads_itself &&
           (std::ranges::any_of(rule.head[0].args, is_made) ||
            std::ranges::any_of(rule.aggregates, is_made, &lang::HeadAggregate::value));
  });
}

// A column of so many times one value.
Result<device::Buffer> Rules::repeated(const kernel::Scalar& value, uint32_t rows) {
  const uint32_t size = kernel::size_of(value.type);
  std::vector<std::byte> bytes(uint64_t{rows} * size);
  for (uint32_t r = 0; r < rows; ++r) kernel::store_scalar(value, &bytes[uint64_t{r} * size]);
  Result<device::Column> column = device::upload(machine_.device(), value.type, bytes);
  if (!column.ok()) return column.error();
  return column->buffer;
}

// A rule with aggregates in its head: its solutions as a bag of groups and values, then the folds.
Status Rules::aggregate(uint32_t index, ComponentRun& run) {
  const Rule& rule = program_.rules[index];
  const lang::HeadElement& head = rule.head[0];
  auto is_aggregate = [&](uint32_t column) {
    return std::ranges::any_of(rule.aggregates, [&](const auto& a) { return a.column == column; });
  };
  std::vector<lang::Term> terms;
  std::vector<uint32_t> order;  // of the head's columns: groups, then aggregates; no constants
  for (uint32_t c = 0; c < head.args.size(); ++c) {
    if (is_aggregate(c) || head.args[c].kind == lang::TermKind::Constant) continue;
    terms.push_back(head.args[c]);
    terms.back().type = program_[head.pred].columns[c].type;
    order.push_back(c);
  }
  const uint32_t groups = static_cast<uint32_t>(terms.size());
  std::vector<relation::AggregateColumn> columns;
  for (const lang::HeadAggregate& a : rule.aggregates) {
    relation::AggregateColumn column;
    column.fn = a.fn;
    column.result = relation::column_type(program_[head.pred].columns[a.column].type.kind);
    if (a.has_value) {  // a count of it too: only rows where it has a value count
      column.value = static_cast<uint32_t>(terms.size());
      terms.push_back(a.value);
    }
    columns.push_back(column);
    order.push_back(a.column);
  }
  auto relation_of = [this](PredId pred) -> relation::Relation& { return database_[pred]; };
  StagedDerivation derivation = into_bag(index, terms);
  Trace::Timed timed(trace_, TraceKind::Rule, {estimates_.source(index), {}});
  timed.event.rows_in = driving_rows(derivation.pipeline());
  std::vector<kernel::Type> types;
  for (const lang::Term& term : terms) types.push_back(relation::column_type(term.type.kind));
  relation::Aggregation aggregation(machine_, types, groups, columns);
  Result<relation::Derived> derived =
      derivation.run(relation_of, aggregation.bag(), [&] { return aggregation.take(); });
  if (!derived.ok()) return derived.error();
  count_valueless(index, derived->valueless);
  relation::Relation& into = database_[head.pred];
  relation::Aggregated folded;
  if (!terms.empty()) {
    Result<relation::Aggregated> made = aggregation.finish();
    if (!made.ok()) return made.error();
    folded = std::move(*made);
  } else if (derived->rows > 0) {
    // Nothing but counts of all solutions.
    folded.rows = 1;
    for (size_t c = 0; c < columns.size(); ++c) {
      Result<device::Buffer> number = repeated(kernel::Scalar::u64(derived->rows), 1);
      if (!number.ok()) return number.error();
      folded.columns.push_back(*number);
    }
  }
  if (folded.rows == 0) return Done{};
  std::vector<device::Buffer> buffers(head.args.size());
  for (size_t c = 0; c < order.size(); ++c) buffers[order[c]] = folded.columns[c];
  for (size_t c = 0; c < head.args.size(); ++c) {
    if (buffers[c] != nullptr) continue;
    const lang::TypeKind kind = program_[head.pred].columns[c].type.kind;
    const uint64_t word = to_word(head.args[c].value, kind, database_.names());
    Result<device::Buffer> constant = repeated(relation::to_scalar({kind, word}), folded.rows);
    if (!constant.ok()) return constant.error();
    buffers[c] = *constant;
  }
  Result<uint32_t> added = into.absorb(buffers, folded.rows);
  if (!added.ok()) return added.error();
  timed.event.rows_out = *added;
  run.rows += *added;
  return Done{};
}

namespace {

// Whether a device has no fold for it: lists are numbers of the host's table, and logsumexp works
// in the host's floats.
bool folds_on_host(const lang::HeadAggregate& aggregate) {
  return aggregate.fn == lang::AggregateFn::Findall ||
         aggregate.fn == lang::AggregateFn::LogSumExp ||
         (aggregate.has_value && !lang::is_numeric(aggregate.value.type.kind));
}

lang::Term any_value() {
  lang::Term term;
  term.type.kind = lang::TypeKind::U64;
  return term;
}

}  // namespace

// A rule whose groups the host folds, of all solutions.
Status Rules::fold_on_host(uint32_t index, ComponentRun& run) {
  const Rule& rule = program_.rules[index];
  const lang::HeadElement& head = rule.head[0];
  const std::vector<lang::PredicateColumn>& columns = program_[head.pred].columns;
  auto aggregate_of = [&](uint32_t column) {
    return std::ranges::find(rule.aggregates, column, &lang::HeadAggregate::column);
  };
  std::vector<lang::Term> terms;  // groups, then the values of the aggregates
  std::vector<oracle::Fold> folds;
  for (uint32_t c = 0; c < head.args.size(); ++c) {
    if (aggregate_of(c) == rule.aggregates.end()) terms.push_back(head.args[c]);
  }
  const size_t groups = terms.size();
  for (const lang::HeadAggregate& aggregate : rule.aggregates) {
    folds.push_back({oracle::fold_kind(aggregate.fn), columns[aggregate.column].type});
    terms.push_back(aggregate.has_value ? aggregate.value : any_value());
  }
  std::vector<kernel::Type> types;
  std::vector<lang::TypeKind> kinds;
  for (const lang::Term& term : terms) {
    kinds.push_back(term.type.kind);
    types.push_back(relation::column_type(term.type.kind));
  }
  StagedDerivation derivation = into_bag(index, terms);
  Trace::Timed timed(trace_, TraceKind::Rule, {estimates_.source(index), {}});
  timed.event.rows_in = driving_rows(derivation.pipeline());
  relation::Bag bag(machine_, types);
  Result<relation::Derived> derived =
      derivation.run([this](PredId pred) -> relation::Relation& { return database_[pred]; }, bag);
  if (!derived.ok()) return derived.error();
  count_valueless(index, derived->valueless);
  lang::Names& names = database_.names();
  Result<std::vector<std::vector<lang::Value>>> rows =
      download_rows(machine_.device(), bag.columns(), kinds, bag.rows(), names);
  if (!rows.ok()) return rows.error();

  const auto less = [&](const std::vector<lang::Value>& a, const std::vector<lang::Value>& b) {
    return std::ranges::lexicographical_compare(
        a, b, [&](const auto& x, const auto& y) { return lang::compare(x, y, names) < 0; });
  };
  std::ranges::sort(*rows, less);
  HostRows made;
  made.columns.resize(head.args.size());
  const auto add = [&](uint32_t c, const lang::Value& value) {
    const lang::TypeKind kind = columns[c].type.kind;
    const uint64_t word = to_word(value, kind, names);
    const auto* bytes = reinterpret_cast<const std::byte*>(&word);
    made.columns[c].insert(made.columns[c].end(), bytes,
                           bytes + kernel::size_of(relation::column_type(kind)));
  };
  for (size_t first = 0, end = 0; first < rows->size(); first = end, ++made.rows) {
    const std::vector<lang::Value>& row = (*rows)[first];
    std::vector<std::vector<lang::Value>> values(folds.size());
    for (;
         end < rows->size() && std::equal(row.begin(), row.begin() + static_cast<ptrdiff_t>(groups),
                                          (*rows)[end].begin());
         ++end) {
      for (size_t f = 0; f < folds.size(); ++f) values[f].push_back((*rows)[end][groups + f]);
    }
    size_t group = 0, fold = 0;
    for (uint32_t c = 0; c < head.args.size(); ++c) {
      if (aggregate_of(c) == rule.aggregates.end()) add(c, row[group++]);
    }
    for (const lang::HeadAggregate& aggregate : rule.aggregates) {
      const std::optional<lang::Value> value =
          oracle::fold_values(folds[fold], std::move(values[fold]), names);
      XLOG_CHECK(value.has_value(), "a group has solutions");
      add(aggregate.column, *value);
      ++fold;
    }
  }
  if (made.rows == 0) return Done{};
  std::vector<std::span<const std::byte>> spans(made.columns.begin(), made.columns.end());
  Result<uint32_t> added = database_[head.pred].load(spans, made.rows);
  if (!added.ok()) return added.error();
  timed.event.rows_out = *added;
  run.rows += *added;
  return Done{};
}

// Makes what the round added visible; whether some relation has new rows.
Result<bool> Rules::next_round(const logic::Component& component) {
  bool changed = false;
  for (PredId pred : component.predicates) {
    Result<bool> grew = database_[pred].next_round();
    if (!grew.ok()) return grew.error();
    changed |= *grew;
  }
  return changed;
}

bool Rules::is_only_rule(uint32_t rule, uint32_t c) const {
  const logic::Component& component = analysis_.components[c];
  const auto head_of = [&](uint32_t r) { return program_.rules[r].head[0].pred; };
  return !component.recursive && std::ranges::count(component.rules, head_of(rule), head_of) == 1;
}

// The rules that do not read the component.
Status Rules::run_once(uint32_t c, Kept& kept, ComponentRun& run) {
  for (uint32_t r : analysis_.components[c].rules) {
    const Rule& rule = program_.rules[r];
    const bool recursive = std::ranges::any_of(rule.body, [&](const Literal& literal) {
      return literal.kind == LiteralKind::Atom && inside(literal.pred, c);
    });
    if (recursive) continue;
    if (!rule.aggregates.empty() && !analysis_.best[rule.head[0].pred.index]) {
      const bool on_host = std::ranges::any_of(rule.aggregates, folds_on_host);
      if (Status done = on_host ? fold_on_host(r, run) : aggregate(r, run); !done.ok()) return done;
      continue;
    }
    auto planned = kept.once.find(r);
    if (planned == kept.once.end()) {
      planned = kept.once.emplace(r, version(r, {}, c)).first;
      if (is_only_rule(r, c)) planned->second.fills_alone();
    }
    if (Status done = derive(planned->second, run); !done.ok()) return done;
  }
  return Done{};
}

// One version for each literal that reads the component.
std::vector<Rules::Version> Rules::versions(uint32_t c) {
  std::vector<Version> made;
  for (uint32_t r : analysis_.components[c].rules) {
    const Rule& rule = program_.rules[r];
    for (uint32_t i = 0; i < rule.body.size(); ++i) {
      if (rule.body[i].kind != LiteralKind::Atom || !inside(rule.body[i].pred, c)) continue;
      made.push_back({r, i, version(r, i, c)});
    }
  }
  if (made.size() != 1) return made;
  // Not so where only negation leads back, as in an estimate.
  const Rule& rule = program_.rules[made[0].rule];
  const bool alone = !made[0].derivation.needs_host();
  if (alone && rule.head[0].pred == rule.body[made[0].literal].pred) {
    made[0].derivation.go_on_with_own_rows();
  }
  return made;
}

// Sizes have changed: where that makes for another order of joins, the version is another one from
// here on. What nobody looks up has no columns for lookups.
void Rules::plan_again(uint32_t c, std::vector<Version>& versions) {
  const bool follows_own_rows = versions.size() == 1 && !versions[0].derivation.needs_host();
  if (follows_own_rows) return;
  const auto text = [&](const plan::Pipeline& pipeline) {
    return plan::to_text(pipeline, program_, database_.names());
  };
  for (Version& version : versions) {
    plan::Pipeline again = pipeline(version.rule, version.literal, c);
    const bool looks_up_forgotten =
        std::ranges::any_of(analysis_.components[c].predicates, [&](PredId pred) {
          return database_[pred].may_forget() && relation::looks_up(again, pred);
        });
    if (looks_up_forgotten || text(again) == text(version.derivation.pipeline())) continue;
    version.derivation = this->version(version.rule, version.literal, c);
  }
}

uint64_t Rules::rows_of(const logic::Component& component) {
  uint64_t rows = 0;
  for (PredId pred : component.predicates) rows += database_[pred].rows();
  return rows;
}

// What the rounds read from below stays as it is: where they do not ask whether a row is there,
// rows and their indexes are enough.
void Rules::release_sets_below(uint32_t c, const std::vector<Version>& versions) {
  for (const Version& version : versions) {
    for (const Literal& literal : program_.rules[version.rule].body) {
      if (literal.kind != LiteralKind::Atom || inside(literal.pred, c)) continue;
      const bool asked = std::ranges::any_of(versions, [&](const Version& any) {
        return relation::asks_set(any.derivation.pipeline(), literal.pred);
      });
      if (!asked) database_[literal.pred].release_set();
    }
  }
}

// The versions together, where all of them add to the relation that drives them; one alone does
// that itself.
std::optional<relation::Carry> Rules::carried_together(const std::vector<Version>& versions) {
  if (versions.size() < 2) return std::nullopt;
  const PredId into = program_.rules[versions[0].rule].head[0].pred;
  std::vector<relation::CarriedRule> rules;
  for (const Version& version : versions) {
    const Rule& rule = program_.rules[version.rule];
    const bool own = rule.head[0].pred == into && rule.body[version.literal].pred == into;
    if (!own || version.derivation.needs_host()) return std::nullopt;
    rules.push_back({version.derivation.pipeline(), version.derivation.head(), {}});
  }
  return relation::Carry(machine_, program_, std::move(rules), into);
}

// Whether the rows of all further rounds have come at once. The trace has the rows with the version
// that found them, and the time with the first.
Result<bool> Rules::carry_on(relation::Carry& carry, const std::vector<Version>& versions,
                             ComponentRun& run) {
  const auto begin = std::chrono::steady_clock::now();
  if (Status go_on = machine_.check(0); !go_on.ok()) return go_on.error();
  const uint64_t stored = database_[carry.into()].rows();
  Result<std::optional<std::vector<uint64_t>>> added =
      carry.run([this](PredId pred) -> relation::Relation& { return database_[pred]; }, stored);
  if (!added.ok()) return added.error();
  if (!*added) return false;
  for (size_t i = 0; i < versions.size(); ++i) {
    Trace::Timed timed(trace_, TraceKind::Rule, version_of(versions[i].derivation.pipeline()));
    if (i == 0) timed.event.begin = begin;
    timed.event.rows_out = (**added)[i];
    run.rows += (**added)[i];
    rows_ += (**added)[i];
  }
  return true;
}

Status Rules::run_rounds(uint32_t c, Kept& kept, ComponentRun& run) {
  constexpr uint64_t kGrowth = 16;  // times as many rows as when versions were planned
  constexpr uint64_t kFewRows = 1000;
  if (!kept.versions) kept.versions = this->versions(c);
  std::vector<Version>& versions = *kept.versions;
  release_sets_below(c, versions);
  const logic::Component& component = analysis_.components[c];
  uint64_t planned_for = std::max(rows_of(component), kFewRows);
  for (PredId pred : component.predicates) {
    database_[pred].restart();
    const bool looked_up = std::ranges::any_of(versions, [&](const Version& version) {
      return relation::looks_up(version.derivation.pipeline(), pred);
    });
    if (!looked_up) database_[pred].allow_forgetting();
  }
  std::optional<relation::Carry> carry = carried_together(versions);
  if (carry) {
    Result<bool> arranged = carry->arrange(database_[carry->into()]);
    if (!arranged.ok()) return arranged.error();
    if (!*arranged) carry.reset();
  }
  for (bool changed = true; changed;) {
    trace_.enter_round(++run.rounds);
    Trace::Timed timed(trace_, TraceKind::Round);
    const uint64_t before = run.rows;
    Result<bool> carried = carry ? carry_on(*carry, versions, run) : false;
    if (!carried.ok()) return carried.error();
    for (Version& version : versions) {
      if (*carried) break;
      if (Status done = derive(version.derivation, run); !done.ok()) return done;
    }
    timed.event.rows_out = run.rows - before;
    Result<bool> more = next_round(component);
    if (!more.ok()) return more.error();
    changed = *more;
    if (const uint64_t rows = rows_of(component); rows > planned_for * kGrowth) {
      plan_again(c, versions);
      if (carry) carry = carried_together(versions);
      planned_for = rows;
    }
  }
  return Done{};
}

Result<ComponentRun> Rules::evaluate(uint32_t c) {
  Trace::Timed timed(trace_, TraceKind::Component);
  ComponentRun run;
  Kept kept;
  if (Status done = grow(c, kept, run); !done.ok()) return done.error();
  timed.event.rows_out = run.rows;
  return run;
}

void Rules::clear(uint32_t c, Kept& kept) {
  for (PredId pred : analysis_.components[c].predicates) database_.clear(pred);
  rows_ -= kept.rows;
  kept.rows = 0;
}

Status Rules::grow(uint32_t c, Kept& kept, ComponentRun& run) {
  const logic::Component& component = analysis_.components[c];
  const uint64_t before = rows_;
  counts_valueless_ = kept.counts_valueless;
  machine_.check = [this, makes = makes_values(c)](uint64_t rows) {
    return check_(rows_ + rows, makes);
  };
  for (PredId pred : component.predicates) {
    if (component.recursive) {
      database_[pred].expect_rounds();
    } else {
      database_[pred].allow_forgetting();
    }
    if (const std::optional<logic::Best>& best = analysis_.best[pred.index]) {
      database_[pred].keep_best({best->column, best->fn == lang::AggregateFn::Min});
    }
    if (Status loaded = database_.load_facts(pred); !loaded.ok()) return loaded;
  }
  if (Status done = run_once(c, kept, run); !done.ok()) return done;
  Result<bool> any = next_round(component);
  if (!any.ok()) return any.error();
  if (component.recursive && *any) {
    if (Status done = run_rounds(c, kept, run); !done.ok()) return done;
  }
  for (PredId pred : component.predicates) {
    if (Status done = database_[pred].finish(); !done.ok()) return done;
  }
  kept.rows = rows_ - before;
  counts_valueless_ = true;
  return Done{};
}

Result<Rules::Solutions> Rules::solve(uint32_t constraint) {
  const Rule& rule = program_.rules[constraint];
  Solutions solutions;
  std::vector<lang::Term> terms;
  std::vector<kernel::Type> types;
  std::vector<lang::TypeKind> kinds;
  std::vector<lang::VarId> occurring;
  for (const Literal& literal : rule.body) logic::collect_outside(literal, occurring);
  for (uint32_t v = 0; v < rule.variables.size(); ++v) {
    const lang::Variable& variable = rule.variables[v];
    if (variable.anonymous || variable.helper) continue;
    if (std::ranges::find(occurring, lang::VarId{v}) == occurring.end()) continue;
    lang::Term term;
    term.kind = lang::TermKind::Variable;
    term.var = {v};
    term.type = variable.type;
    solutions.variables.push_back(v);
    kinds.push_back(variable.type.kind);
    types.push_back(relation::column_type(variable.type.kind));
    terms.push_back(std::move(term));
  }
  auto relation_of = [this](PredId pred) -> relation::Relation& { return database_[pred]; };
  StagedDerivation derivation = into_bag(constraint, terms);
  Trace::Timed timed(trace_, TraceKind::Rule, {estimates_.source(constraint), {}});
  timed.event.rows_in = driving_rows(derivation.pipeline());
  relation::Bag bag(machine_, types);
  Result<relation::Derived> derived = derivation.run(relation_of, bag);
  if (!derived.ok()) return derived.error();
  timed.event.rows_out = derived->rows;
  count_valueless(constraint, derived->valueless);
  Result<std::vector<std::vector<lang::Value>>> rows =
      download_rows(machine_.device(), bag.columns(), kinds, bag.rows(), database_.names());
  if (!rows.ok()) return rows.error();
  solutions.rows = std::move(*rows);
  if (terms.empty() && derived->rows > 0) solutions.rows.resize(1);
  return solutions;
}

}  // namespace xlog::engine
