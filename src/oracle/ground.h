// Ground programs: what is left of a program when its variables are gone and the parts with a
// single outcome are evaluated.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/column.h"
#include "lang/program.h"
#include "oracle/aggregates.h"
#include "oracle/relation.h"

namespace xlog::oracle {

using AtomId = uint32_t;

enum class GroundKind : uint8_t { Pos, Neg, NotNot, Modal, Aggregate };

struct GroundLiteral {
  GroundKind kind = GroundKind::Pos;
  lang::Modal modal = lang::Modal::None;
  uint32_t index = 0;  // an AtomId; for Aggregate an index into GroundProgram::aggregates

  friend auto operator<=>(const GroundLiteral&, const GroundLiteral&) = default;
};

// The solutions that an aggregate folds over, each with the condition under which it counts.
struct AggregateInput {
  struct Element {
    std::vector<Value> values;  // one a column; none for a plain count
    std::vector<GroundLiteral> condition;
  };
  std::vector<Fold> folds;  // one a column
  bool nonempty = false;    // head aggregates: a group without solutions has no row
  Span span;                // where it is written
  std::vector<Element> elements;
};

// "The aggregate over the elements that count equals this result."
struct GroundAggregate {
  std::shared_ptr<const AggregateInput> input;
  std::vector<Value> result;
};

enum class GroundHead : uint8_t { Constraint, Normal, Disjunction, Choice };

using GroundBody = std::span<const GroundLiteral>;

// A rule as it is read; its parts stand in the program.
struct GroundRule {
  GroundHead kind = GroundHead::Normal;
  std::span<const AtomId> heads;  // Normal, Choice: one. Disjunction: two or more.
  GroundBody body;
  uint32_t source = 0;  // the rule it is an instance of
};

// Rules in a few arrays: programs have millions of them. What operator[] gives is valid until a
// rule is added.
class GroundRules {
 public:
  struct Iterator {
    using value_type = GroundRule;
    using difference_type = ptrdiff_t;
    const GroundRules* rules = nullptr;
    size_t at = 0;
    GroundRule operator*() const { return (*rules)[at]; }
    Iterator& operator++() {
      ++at;
      return *this;
    }
    Iterator operator++(int) { return {rules, at++}; }
    bool operator==(const Iterator&) const = default;
  };

  GroundRules() = default;
  GroundRules(GroundRules&&) = default;
  GroundRules& operator=(GroundRules&&) = default;
  GroundRules(const GroundRules& other) {
    for (const GroundRule rule : other) add(rule.kind, rule.heads, rule.body, rule.source);
  }

  size_t size() const { return entries_.size(); }
  GroundRule operator[](size_t i) const {
    const Entry before = i == 0 ? Entry{} : entries_[i - 1];
    const Entry& entry = entries_[i];
    return {entry.kind,
            std::span(heads_).subspan(before.heads_end, entry.heads_end - before.heads_end),
            std::span(literals_).subspan(before.body_end, entry.body_end - before.body_end),
            entry.source};
  }
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }

  void add(GroundHead kind, std::span<const AtomId> heads, GroundBody body, uint32_t source) {
    for (const AtomId head : heads) heads_.push_back(head);
    for (const GroundLiteral& literal : body) literals_.push_back(literal);
    entries_.push_back({heads_.size(), literals_.size(), source, kind});
  }
  void add(GroundHead kind, std::initializer_list<AtomId> heads,
           std::initializer_list<GroundLiteral> body, uint32_t source) {
    add(kind, std::span(heads.begin(), heads.size()), std::span(body.begin(), body.size()), source);
  }

  // Many at once, by several threads: how many there are, with all their heads and literals, is
  // known before, and each thread writes rules one after another from where it is told to.
  struct Extent {
    uint64_t rules = 0, heads = 0, literals = 0;
    Extent& operator+=(const Extent& other) {
      rules += other.rules;
      heads += other.heads;
      literals += other.literals;
      return *this;
    }
  };
  Extent extent() const { return {entries_.size(), heads_.size(), literals_.size()}; }
  void extend(const Extent& by) {
    entries_.extend(by.rules);
    heads_.extend(by.heads);
    literals_.extend(by.literals);
  }
  class Writer {
   public:
    Writer(GroundRules& rules, const Extent& from) : rules_(rules), at_(from) {}
    // What the next rule is made of, one by one, before end_rule().
    void add_head(AtomId head) { rules_.heads_[at_.heads++] = head; }
    void add_literal(const GroundLiteral& literal) { rules_.literals_[at_.literals++] = literal; }
    void end_rule(GroundHead kind, uint32_t source) {
      rules_.entries_[at_.rules++] = {at_.heads, at_.literals, source, kind};
    }

   private:
    GroundRules& rules_;
    Extent at_;
  };

 private:
  struct Entry {
    uint64_t heads_end = 0, body_end = 0;
    uint32_t source = 0;
    GroundHead kind = GroundHead::Normal;
  };

  Column<Entry> entries_;
  Column<AtomId> heads_;            // of all rules
  Column<GroundLiteral> literals_;  // of all bodies
};

// lower { a : c ; ... } upper: when the body holds, the number of distinct atoms that count lies in
// the bounds. Of a constraint that allows one row for each group, the elements are a group's rows.
struct GroundBound {
  int64_t lower = INT64_MIN, upper = INT64_MAX;
  struct Element {
    uint32_t atom;                         // only tells elements apart
    std::vector<GroundLiteral> condition;  // that the atom holds, and its condition
  };
  std::vector<Element> elements;
  std::vector<GroundLiteral> body;
  uint32_t source = 0;
};

struct GroundProgram {
  uint32_t atom_count = 0;
  GroundRules rules;
  std::vector<GroundBound> bounds;
  std::vector<GroundAggregate> aggregates;
};

// Calls `visit` for every atom that a literal mentions, those in aggregate conditions included.
void for_each_atom(const GroundLiteral& literal, const GroundProgram& program,
                   const std::function<void(AtomId, const GroundLiteral&)>& visit);

// True atoms of one interpretation, indexed by AtomId.
using Interpretation = std::vector<bool>;

// Truth of objective literals, bodies and bounds in one world (modal literals have been replaced).
bool holds(const GroundLiteral& literal, const GroundProgram& program, const Interpretation& world,
           lang::Names& names);
bool holds(GroundBody body, const GroundProgram& program, const Interpretation& world,
           lang::Names& names);
bool holds(const GroundBound& bound, const GroundProgram& program, const Interpretation& world,
           lang::Names& names);

// Whether it does not hold whatever the literals in it do.
bool is_broken(const GroundBound& bound);

// A literal that is neither true nor false yet.
enum class Truth : uint8_t { False, Unknown, True };

// Replaces literals by their truth where `truth` knows it: rules and bounds with a false body go,
// true literals go. Aggregates keep the conditions that are still open. The heads are left alone.
GroundProgram replace_literals(const GroundProgram& program,
                               const std::function<Truth(const GroundLiteral&)>& truth);
// The same for bounds alone, put behind those of `out`.
void replace_in_bounds(const GroundProgram& program,
                       const std::function<Truth(const GroundLiteral&)>& truth, GroundProgram& out);

}  // namespace xlog::oracle
