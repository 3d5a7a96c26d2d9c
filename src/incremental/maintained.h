// Answers that follow the facts: a program whose facts come and go, with every answer equal to that
// of a fresh run over the facts that are there.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "lang/program.h"
#include "logic/answer.h"

namespace xlog::incremental {

// Facts of one predicate that come (weight above 0) or go (below), `arity` values a row. Facts are
// a Z-set: one that came twice has to go twice.
struct FactChanges {
  lang::PredId pred;
  std::vector<lang::Value> values;  // row after row, of the types of the predicate's columns
  std::vector<int64_t> weights;     // a row each
};

// A row of a query that appeared, disappeared, or changed its status. In a program with several
// world views: of the first view.
struct RowChange {
  std::vector<lang::Value> values;
  std::optional<logic::RowStatus> before, after;  // none: it is not there
};

// What the last batch cost.
struct Effort {
  uint64_t instances = 0;   // of rules that were looked at
  uint64_t units = 0;       // of what worlds differ in, that were solved; equal ones count once
  uint64_t components = 0;  // that changed something was done in
  uint64_t recomputed = 0;  // of those, evaluated afresh because that is cheaper or the only way
  std::vector<std::string> reasons;  // for each that was recomputed: its name and why
};

// Whether there was no answer but an error before the last batch, and is none now: a program
// without open parts, or under the well-founded semantics, whose constraints are violated.
struct Violated {
  bool before = false, now = false;
};

class Maintained {
 public:
  virtual ~Maintained() = default;

  virtual const lang::Program& program() const = 0;
  // All or nothing: after an error (a fact that is not there retracted, a weight past 64 bits, a
  // limit) facts and answers are as before.
  virtual Status apply(std::span<const FactChanges> batch) = 0;
  // As a fresh run answers. Reports what a fresh run reports; nullopt on refusal or limit.
  virtual std::optional<logic::Answer> answer() = 0;
  // What the last batch changed in a query (by Program::queries), in canonical order.
  // Means nothing where either side is violated().
  virtual Result<std::vector<RowChange>> changes(uint32_t query) = 0;
  virtual Violated violated() = 0;
  // The facts of a predicate that are there, in canonical order, each once with its weight.
  virtual FactChanges facts(lang::PredId pred) const = 0;
  virtual const Effort& effort() const = 0;
};

}  // namespace xlog::incremental
