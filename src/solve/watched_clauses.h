// What searches that learn share, those for models (search.h) and those that count them
// (count_trail.h): why variables have their values, clauses that are looked at when one of two
// literals becomes false (Moskewicz et al. 2001), and which literals of a learned clause follow
// from the others (Sörensson, Biere 2009).
#pragma once

#include <algorithm>
#include <vector>

#include "solve/weight_constraints.h"

namespace xlog::solve {

// Why a variable has its value: two bits for the kind, the rest for the place.
class Reason {
 public:
  enum Kind : uint32_t { None, Binary, Clause, Constraint };
  Reason() = default;
  Reason(Kind kind, uint32_t place) : bits_(place << 2 | kind) {}
  Kind kind() const { return static_cast<Kind>(bits_ & 3); }
  uint32_t place() const { return bits_ >> 2; }
  // Of Binary: slots keep the sign of a literal in 30 bits.
  static Reason binary(Literal other) { return {Binary, static_cast<uint32_t>(slot(other))}; }
  Literal other() const {
    const auto place_of = static_cast<int32_t>(place());
    return place_of & 1 ? -((place_of + 1) / 2) : place_of / 2;
  }

 private:
  uint32_t bits_ = 0;
};

struct AssignedVariable {
  uint32_t level = 0;
  uint32_t position = 0;  // on the trail
  Reason reason;
};

struct Watch {
  Literal blocker = 0;
  uint32_t clause = 0;  // kBinaryWatch: the blocker is all that is left of the clause
};
constexpr uint32_t kBinaryWatch = UINT32_MAX;

// What a variable is to a lemma that is made.
constexpr uint8_t kSource = 1;   // part of it, or resolved away
constexpr uint8_t kImplied = 2;  // implied by parts of it

// Steps over the members of a search, which makes this a friend.
struct WatchedClauses {
  // What clauses imply of all that was assigned since; false on a conflict.
  template <typename Search>
  static bool propagate(Search& s) {
    while (s.clause_head_ < s.trail_.size()) {
      if (!visit(s, s.trail_[s.clause_head_++])) return false;
    }
    return true;
  }

  // Whether clauses imply the literal from the rest of the lemma. Explanations of other constraints
  // are long and made anew each time, so nothing is followed through them.
  template <typename Search>
  static bool is_redundant(Search& s, Literal literal) {
    const auto may_go = [&](uint32_t v) {
      const Reason::Kind kind = s.info_[v].reason.kind();
      return kind == Reason::Binary || kind == Reason::Clause;
    };
    const size_t first_touched = s.touched_.size();
    s.pending_.assign(1, static_cast<uint32_t>(variable_of(literal)));
    while (!s.pending_.empty()) {
      const uint32_t v = s.pending_.back();
      s.pending_.pop_back();
      bool fails = !may_go(v);
      const auto look = [&](Literal l) {
        const auto u = static_cast<uint32_t>(variable_of(l));
        if (u == v || s.info_[u].level == 0 || s.seen_[u] != 0) return;
        if (!may_go(u) || s.level_stamps_[s.info_[u].level] != s.level_stamp_) {
          fails = true;
          return;
        }
        s.seen_[u] = kImplied;
        s.touched_.push_back(u);
        s.pending_.push_back(u);
      };
      if (!fails) {
        const Reason reason = s.info_[v].reason;
        if (reason.kind() == Reason::Binary) {
          look(reason.other());
        } else {
          const Literal* const begin = s.literals(reason.place());
          for (uint32_t i = 0; i < s.size_of(reason.place()) && !fails; ++i) look(begin[i]);
        }
      }
      if (fails) {
        for (size_t i = first_touched; i < s.touched_.size(); ++i) s.seen_[s.touched_[i]] = 0;
        s.touched_.resize(first_touched);
        return false;
      }
    }
    return true;
  }

 private:
  template <typename Search>
  static bool visit(Search& s, Literal assigned) {
    const Literal falsified = -assigned;
    std::vector<Watch>& list = s.watches_[slot(assigned)];
    const Watch* from = list.data();
    Watch* to = list.data();
    const Watch* const end = from + list.size();
    bool conflict = false;
    while (from != end && !conflict) {
      const Watch watched = *from++;
      const int blocker = s.value(watched.blocker);
      if (blocker > 0) {
        *to++ = watched;
        continue;
      }
      if (watched.clause == kBinaryWatch) {
        *to++ = watched;
        if (blocker == 0) {
          s.enqueue(watched.blocker, Reason::binary(falsified));
        } else {
          s.conflict_.assign({watched.blocker, falsified});
          conflict = true;
        }
        continue;
      }
      Literal* const clause = s.literals(watched.clause);
      const Literal other = clause[0] ^ clause[1] ^ falsified;
      const int other_value = s.value(other);
      if (other_value > 0) {
        *to++ = {other, watched.clause};
        continue;
      }
      const uint32_t size = s.size_of(watched.clause);
      uint32_t k = 2;
      while (k < size && s.value(clause[k]) < 0) ++k;
      clause[0] = other;
      if (k < size) {
        clause[1] = clause[k];
        clause[k] = falsified;
        s.watch(clause[1], {other, watched.clause});
        continue;
      }
      clause[1] = falsified;
      *to++ = {other, watched.clause};
      if (other_value == 0) {
        s.enqueue(other, Reason(Reason::Clause, watched.clause));
      } else {
        s.conflict_.assign(clause, clause + size);
        conflict = true;
      }
    }
    to = std::copy(from, end, to);
    list.resize(static_cast<size_t>(to - list.data()));
    return !conflict;
  }
};

}  // namespace xlog::solve
