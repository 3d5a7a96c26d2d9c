// What worlds differ in, as rows that can be kept. Each rule of such a component becomes rules for
// the rows that may hold, and one for its instances, whose rows have the arguments of all atoms
// that stay open:
//
//   top(S) ; middle(S) :- unclear(S), not know out(S).
//
//   __xlog_instance_9(S) :- unclear(S).            the ground rules; out(S) is looked up
//   top(S) :- __xlog_instance_9(S).                what may hold
//   middle(S) :- __xlog_instance_9(S).
//
// As oracle/instantiate.h has it, a negated atom may always hold, and so may a modal one of the
// rule's own component. Of a fold (open_folds.h) the rows that may hold are all its results, and
// its instances are its groups. A fold has few results where few of its elements are open: for what
// it reads there are rows that certainly hold too,
//
//   __xlog_certain_12(S) :- __xlog_stated_11(S).   top(S) as a fact
//   __xlog_certain_12(S) :- settled(S), __xlog_certain_13(S), not middle(S).
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "incremental/open_folds.h"
#include "lang/load.h"
#include "lang/program.h"
#include "logic/analysis.h"
#include "logic/answer.h"
#include "oracle/ground.h"

namespace xlog::incremental {

// An argument of an atom: a column of the instance's row, or a constant.
struct Place {
  std::optional<uint32_t> column;
  lang::Value value;
  lang::TypeKind kind{};
};

// An atom that may differ between worlds, in a rule.
struct Mention {
  lang::PredId pred;
  oracle::GroundKind kind = oracle::GroundKind::Pos;  // of a literal
  lang::Modal modal = lang::Modal::None;
  std::vector<Place> args;
};

struct InstanceTable {
  static constexpr uint32_t kNone = UINT32_MAX;

  uint32_t table = 0;  // the predicate whose rows are the instances
  uint32_t rule = 0;   // of the source
  oracle::GroundHead head = oracle::GroundHead::Normal;
  std::vector<Mention> heads;  // none: a constraint, or the bounds of a choice
  std::vector<Mention> body;   // of an element of a choice: of the rule's body, then its condition

  // A choice with bounds has instances of its body, and for each element instances of body and
  // condition, with the columns of the body first.
  uint32_t bound = kNone;          // of an element: the table with the body
  uint32_t body_columns = 0;       // so many columns has that one
  uint32_t body_mentions = 0;      // so many of `body` are there too
  std::vector<uint32_t> elements;  // of a body: the tables of the elements
  std::optional<Place> lower, upper;
  bool is_bound() const { return !elements.empty(); }

  // The groups of a fold. Its heads are the results of the group, and its body what is folded.
  std::optional<OpenFold> fold;
  bool is_constraint() const { return heads.empty() && !fold; }
};

struct OpenProgram {
  bool kept = false;       // as rows, as above
  std::string reason;      // why not, where there is something open
  std::vector<bool> open;  // by predicate, while it is kept: worlds differ in it
  bool is_open(lang::PredId pred) const { return pred.index < open.size() && open[pred.index]; }
  std::vector<InstanceTable> tables;
  std::vector<OpenFold> folds;
  // The one whose results, or certain results, are the rows of a predicate.
  const OpenFold* fold_of(lang::PredId pred) const {
    const auto found = std::ranges::find_if(folds, [&](const OpenFold& fold) {
      return fold.fold == pred || fold.certain_fold == pred;
    });
    return found == folds.end() || !is_open(found->fold) ? nullptr : &*found;
  }
  bool is_element(lang::PredId pred) const {
    return std::ranges::any_of(tables, [&](const InstanceTable& table) {
      return table.fold && table.fold->element == pred;
    });
  }
  std::map<lang::PredId, lang::PredId> stated;  // by predicate: another one, which has its facts
};

// Why what worlds differ in cannot be kept, or "".
std::string why_worlds_are_not_kept(const lang::Program& program, const logic::Analysis& analysis,
                                    const logic::AnswerOptions& options);

// Replaces the rules and constraints that are open. Rules that stay keep their numbers, but the
// program has to be analysed again.
OpenProgram keep_open_rules(lang::Program& program, const logic::Analysis& analysis,
                            const logic::AnswerOptions& options, lang::Session& session,
                            std::vector<OpenFold> folds);

// By predicate: worlds differ in it.
std::vector<bool> open_predicates(const lang::Program& program, const logic::Analysis& analysis,
                                  const logic::AnswerOptions& options);

// Whether a rule only shows the rows of another predicate, all columns as they are.
bool shows_rows(const lang::Rule& rule);

}  // namespace xlog::incremental
