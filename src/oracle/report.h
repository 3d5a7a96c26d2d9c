// What evaluators of open programs share: rows with their atoms, texts, and what they report.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "logic/answer.h"
#include "oracle/context.h"
#include "oracle/instantiate.h"
#include "oracle/well_founded.h"

namespace xlog::oracle {

// Calls `visit` for every row of a predicate with its atom; rows that are the same in all worlds
// have none.
template <typename Visit>
void for_each_row(const Database& database, lang::PredId pred, const Visit& visit) {
  const Relation& relation = database.relations[pred.index];
  const bool settled = database.states[pred.index] == PredicateState::Settled;
  const std::vector<AtomId>& atoms = database.row_atoms[pred.index];
  for (size_t row = 0; row < relation.size(); ++row) {
    if (settled || database.is_certain(pred, row)) {
      visit(relation.row(row), std::nullopt);
    } else if (row < atoms.size() && atoms[row] != UINT32_MAX) {  // else no instance derives it
      visit(relation.row(row), std::optional<AtomId>(atoms[row]));
    }
  }
}

// Whether a violated constraint is an error of the program.
bool is_plain_datalog(const Context& context);
void report_violation(const Instantiation::Violation& violation, Context& context);
// `open`: what the bounds leave of the program.
void report_no_view(const GroundProgram& open, Context& context);
// The same where the first constraint is known whose body holds whatever the guesses.
void report_no_view(std::optional<uint32_t> violated, Context& context);
void report_more_views(const logic::Answer& answer, Context& context);

logic::QueryAnswer in_canonical_order(logic::QueryAnswer answer, const lang::Names& names);
std::vector<logic::QueryAnswer> well_founded_answers(const Instantiation& instance,
                                                     const Bounds& bounds, const Context& context);
std::string atom_text(lang::PredId pred, std::span<const Value> tuple, const Context& context);
// "X = 1, Y = 2"; for strong negation the atom that holds together with its opposite.
std::string instance_text(const lang::Rule& rule, const Bindings& bindings, const Context& context);

// Lists views and worlds; a limit that ends this says so.
void while_listing(const std::function<void()>& list);

// Runs an evaluation and turns what it throws into diagnostics; reports arithmetic without values.
std::optional<logic::Answer> answer_or_report(Context& context,
                                              const std::function<logic::Answer()>& evaluate);

}  // namespace xlog::oracle
