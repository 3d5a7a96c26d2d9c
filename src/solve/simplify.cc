#include "solve/simplify.h"

#include <numeric>

#include "base/check.h"

namespace xlog::solve {
namespace {

// The variables of a formula that are in clauses, numbered from 0 without gaps. A table where the
// numbers are dense enough, else a search among those used.
class UsedVariables {
 public:
  explicit UsedVariables(const Cnf& cnf) {
    const auto most = static_cast<size_t>(cnf.variables());
    if (most <= 8 * cnf.literals() + 1024) {
      number_.assign(most + 1, -1);
      each(cnf, [&](int32_t v) { number_[static_cast<size_t>(v)] = 0; });
      for (size_t v = 1; v < number_.size(); ++v) {
        if (number_[v] < 0) continue;
        number_[v] = static_cast<int32_t>(used_.size());
        used_.push_back(static_cast<int32_t>(v));
      }
      return;
    }
    each(cnf, [&](int32_t v) { used_.push_back(v); });
    std::ranges::sort(used_);
    used_.erase(std::unique(used_.begin(), used_.end()), used_.end());
  }

  uint32_t number(int32_t variable) const {
    if (!number_.empty()) return static_cast<uint32_t>(number_[static_cast<size_t>(variable)]);
    return static_cast<uint32_t>(std::ranges::lower_bound(used_, variable) - used_.begin());
  }
  int32_t variable(uint32_t number) const { return used_[number]; }
  size_t size() const { return used_.size(); }

 private:
  template <typename Visit>
  static void each(const Cnf& cnf, const Visit& visit) {
    for (size_t i = 0; i < cnf.size(); ++i) {
      for (const Literal literal : cnf[i]) visit(variable_of(literal));
    }
  }

  std::vector<int32_t> number_;
  std::vector<int32_t> used_;
};

using Code = uint32_t;  // of a literal: 2 * number of the variable, + 1 for a negation
constexpr Code negation(Code code) { return code ^ 1; }

class Simplifier {
 public:
  Simplifier(const Cnf& cnf, const SimplifyOptions& options)
      : cnf_(cnf), used_(cnf), budget_(options.subsumption_steps) {}

  Simplified run() {
    read_clauses();
    index_occurrences();
    propagate();
    // Clauses that go may leave literals whose negation is nowhere.
    if (!unsat_) remove_subsumed();
    propagate();
    return result();
  }

 private:
  std::span<const Code> clause(uint32_t c) const {
    return std::span(literals_).subspan(begins_[c], begins_[c + 1] - begins_[c]);
  }

  void read_clauses() {
    begins_.push_back(0);
    std::vector<Code> clause;
    for (size_t i = 0; i < cnf_.size(); ++i) {
      clause.clear();
      for (const Literal literal : cnf_[i]) {
        clause.push_back(2 * used_.number(variable_of(literal)) + (literal < 0 ? 1 : 0));
      }
      std::ranges::sort(clause);
      clause.erase(std::unique(clause.begin(), clause.end()), clause.end());
      const bool always_holds = std::ranges::adjacent_find(clause, [](Code a, Code b) {
                                  return b == negation(a);
                                }) != clause.end();
      if (always_holds) continue;
      literals_.insert(literals_.end(), clause.begin(), clause.end());
      begins_.push_back(literals_.size());
    }
    const size_t clauses = begins_.size() - 1;
    alive_.assign(clauses, true);
    left_.resize(clauses);
    for (uint32_t c = 0; c < clauses; ++c) left_[c] = static_cast<uint32_t>(clause_size(c));
  }

  size_t clause_size(uint32_t c) const { return begins_[c + 1] - begins_[c]; }

  void index_occurrences() {
    const size_t codes = 2 * used_.size();
    value_.assign(codes, false);
    count_.assign(codes, 0);
    for (const Code code : literals_) ++count_[code];
    occurrence_begins_.assign(codes + 1, 0);
    for (size_t code = 0; code < codes; ++code) {
      occurrence_begins_[code + 1] = occurrence_begins_[code] + count_[code];
    }
    occurrences_.resize(literals_.size());
    std::vector<size_t> next(occurrence_begins_.begin(), occurrence_begins_.end() - 1);
    for (uint32_t c = 0; c < alive_.size(); ++c) {
      for (const Code code : clause(c)) occurrences_[next[code]++] = c;
      if (left_[c] == 1) set(clause(c)[0]);
      if (left_[c] == 0) unsat_ = true;
    }
    for (Code code = 0; code < codes; ++code) set_if_pure(code);
  }

  std::span<const uint32_t> occurrences(Code code) const {
    return std::span(occurrences_)
        .subspan(occurrence_begins_[code], occurrence_begins_[code + 1] - occurrence_begins_[code]);
  }

  void set(Code code) {
    if (value_[code]) return;
    if (value_[negation(code)]) {
      unsat_ = true;
      return;
    }
    value_[code] = true;
    queue_.push_back(code);
  }

  void set_if_pure(Code code) {
    if (count_[code] > 0 && count_[negation(code)] == 0 && !value_[code]) set(code);
  }

  void remove(uint32_t c) {
    alive_[c] = false;
    for (const Code code : clause(c)) {
      --count_[code];
      // The variable may be decided already, and then nothing is left to gain.
      if (!value_[code]) set_if_pure(negation(code));
    }
  }

  void propagate() {
    while (done_ < queue_.size() && !unsat_) {
      const Code code = queue_[done_++];
      for (const uint32_t c : occurrences(code)) {
        if (alive_[c]) remove(c);
      }
      for (const uint32_t c : occurrences(negation(code))) {
        if (alive_[c]) shorten(c);
      }
    }
  }

  // One of its literals became false.
  void shorten(uint32_t c) {
    if (--left_[c] == 0) {
      unsat_ = true;
    } else if (left_[c] == 1) {
      for (const Code code : clause(c)) {
        if (!value_[negation(code)]) return set(code);
      }
    }
  }

  // Short clauses first, each filed under its rarest literal: a clause that implies another is
  // found under one of the other's literals.
  void remove_subsumed() {
    std::vector<uint32_t> order;
    for (uint32_t c = 0; c < alive_.size(); ++c) {
      if (alive_[c]) order.push_back(c);
    }
    std::ranges::stable_sort(order, {}, [&](uint32_t c) { return left_[c]; });
    std::vector<std::vector<uint32_t>> filed(value_.size());
    std::vector<bool> in_clause(value_.size());
    for (const uint32_t c : order) {
      if (budget_ == 0) return;
      for (const Code code : clause(c)) in_clause[code] = true;
      if (is_subsumed(c, filed, in_clause)) {
        remove(c);
      } else {
        filed[rarest_literal(c)].push_back(c);
      }
      for (const Code code : clause(c)) in_clause[code] = false;
    }
  }

  bool is_subsumed(uint32_t c, const std::vector<std::vector<uint32_t>>& filed,
                   const std::vector<bool>& in_clause) {
    for (const Code code : clause(c)) {
      for (const uint32_t other : filed[code]) {
        budget_ -= std::min(budget_, clause_size(other));
        if (budget_ == 0) return false;
        const bool inside = std::ranges::all_of(clause(other), [&](Code wanted) {
          return in_clause[wanted] || value_[negation(wanted)];
        });
        if (inside) return true;
      }
    }
    return false;
  }

  Code rarest_literal(uint32_t c) const {
    Code best = UINT32_MAX;
    for (const Code code : clause(c)) {
      if (value_[negation(code)]) continue;
      if (best == UINT32_MAX || count_[code] < count_[best]) best = code;
    }
    return best;
  }

  Literal literal(Code code) const {
    const int32_t variable = used_.variable(code / 2);
    return code % 2 == 0 ? variable : -variable;
  }

  Simplified result() const {
    Simplified out;
    out.original_variables = cnf_.variables();
    out.unsat = unsat_;
    if (unsat_) {
      out.formula.add(std::span<const Literal>());
      return out;
    }
    for (const Code code : queue_) out.fixed.push_back(literal(code));
    std::vector<int32_t> number(used_.size(), 0);
    for (uint32_t v = 0; v < used_.size(); ++v) {
      if (value_[2 * v] || value_[2 * v + 1] || count_[2 * v] + count_[2 * v + 1] == 0) continue;
      number[v] = out.formula.new_variable();
      out.original.push_back(used_.variable(v));
    }
    std::vector<Literal> kept;
    for (uint32_t c = 0; c < alive_.size(); ++c) {
      if (!alive_[c]) continue;
      kept.clear();
      for (const Code code : clause(c)) {
        if (value_[negation(code)]) continue;
        kept.push_back(code % 2 == 0 ? number[code / 2] : -number[code / 2]);
      }
      out.formula.add(kept);
    }
    return out;
  }

  const Cnf& cnf_;
  UsedVariables used_;
  size_t budget_;
  std::vector<Code> literals_;
  std::vector<size_t> begins_;
  std::vector<bool> alive_;
  std::vector<uint32_t> left_;  // literals of a clause that are not false
  std::vector<size_t> occurrence_begins_;
  std::vector<uint32_t> occurrences_;
  std::vector<uint32_t> count_;  // of clauses alive with the literal
  std::vector<bool> value_;      // whether the literal is decided to hold
  std::vector<Code> queue_;      // decided literals in order
  size_t done_ = 0;              // of the queue
  bool unsat_ = false;
};

}  // namespace

Model Simplified::extend(const Model& model) const {
  XLOG_CHECK(!unsat, "a formula that cannot hold has no model");
  Model out(original_variables);
  for (const Literal literal : fixed) out.set(literal);
  for (size_t v = 0; v < original.size(); ++v) {
    if (model.holds(static_cast<Literal>(v + 1))) out.set(original[v]);
  }
  return out;
}

Simplified simplify(const Cnf& cnf, const SimplifyOptions& options) {
  return Simplifier(cnf, options).run();
}

}  // namespace xlog::solve
