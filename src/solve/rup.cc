#include "solve/rup.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <unordered_map>

#include "solve/limit_watch.h"
#include "solve/proof_reader.h"

namespace xlog::solve {
namespace {

constexpr size_t code_of(Literal literal) {
  return 2 * static_cast<size_t>(variable_of(literal)) + (literal < 0 ? 1 : 0);
}

class Checker {
 public:
  // Until the first conflict without assumptions: from then on everything follows.
  bool refuted() const { return refuted_; }

  void add(std::span<const Literal> literals) {
    const std::span<const Literal> sorted = sort(literals);
    const auto id = static_cast<uint32_t>(clauses_.size());
    clauses_.push_back({arena_.size(), static_cast<uint32_t>(sorted.size()), true});
    arena_.insert(arena_.end(), sorted.begin(), sorted.end());
    by_hash_.emplace(hash(sorted), id);
    if (!refuted_) watch(id);
  }

  // False where there is no such clause.
  bool remove(std::span<const Literal> literals) {
    const std::span<const Literal> sorted = sort(literals);
    auto [at, end] = by_hash_.equal_range(hash(sorted));
    for (; at != end; ++at) {
      Clause& clause = clauses_[at->second];
      std::vector<Literal> found(literals_of(clause).begin(), literals_of(clause).end());
      std::ranges::sort(found);  // watching changes their order
      if (!std::ranges::equal(found, sorted)) continue;
      clause.alive = false;
      by_hash_.erase(at);
      return true;
    }
    return false;
  }

  // Whether unit propagation from the clause's negation meets a conflict. Leaves that state for
  // has_rat() where it does not; undo() ends both.
  bool has_rup(std::span<const Literal> literals) {
    for (const Literal literal : literals) {
      need(literal);
      if (holds(literal)) return true;
      if (!holds(-literal)) assign(-literal);
    }
    return !propagate();
  }

  bool has_rat(std::span<const Literal> literals) {
    if (literals.empty()) return false;
    const Literal pivot = literals.front();
    const size_t from = trail_.size();
    // Decided without assumptions: then the unit clause -pivot stands against the pivot.
    if (std::find(trail_.begin(), trail_.begin() + static_cast<ptrdiff_t>(root_), -pivot) !=
        trail_.begin() + static_cast<ptrdiff_t>(root_)) {
      return false;
    }
    for (const Clause& clause : clauses_) {
      if (!clause.alive) continue;
      const std::span<Literal> other = literals_of(clause);
      if (std::ranges::find(other, -pivot) == other.end()) continue;
      const bool fine = resolvent_has_rup(other, pivot);
      undo_to(from);
      if (!fine) return false;
    }
    return true;
  }

  void undo() { undo_to(root_); }

 private:
  struct Clause {
    size_t begin;
    uint32_t size;
    bool alive;
  };
  struct Watch {
    uint32_t clause;
    Literal other;  // another literal of it: while that holds, the clause need not be looked at
  };

  std::span<Literal> literals_of(const Clause& clause) {
    return std::span(arena_).subspan(clause.begin, clause.size);
  }

  // Into scratch_, without repetitions; makes room for the variables.
  std::span<const Literal> sort(std::span<const Literal> literals) {
    scratch_.assign(literals.begin(), literals.end());
    std::ranges::sort(scratch_);
    scratch_.erase(std::unique(scratch_.begin(), scratch_.end()), scratch_.end());
    if (!scratch_.empty()) {
      need(scratch_.front());
      need(scratch_.back());
    }
    return scratch_;
  }

  static uint64_t hash(std::span<const Literal> sorted) {
    return XXH3_64bits(sorted.data(), sorted.size_bytes());
  }

  void need(Literal literal) {
    const size_t codes = code_of(literal) | 1;
    if (codes < holds_.size()) return;
    const size_t room = std::max(codes + 1, 2 * holds_.size());
    holds_.resize(room);
    watches_.resize(room);
  }

  bool holds(Literal literal) const { return holds_[code_of(literal)] != 0; }

  void assign(Literal literal) {
    holds_[code_of(literal)] = 1;
    trail_.push_back(literal);
  }

  void undo_to(size_t size) {
    while (trail_.size() > size) {
      holds_[code_of(trail_.back())] = 0;
      trail_.pop_back();
    }
    propagated_ = size;
  }

  // What is decided now stays, so a clause that holds needs no watching ever.
  void watch(uint32_t id) {
    const std::span<Literal> literals = literals_of(clauses_[id]);
    size_t open = 0;
    for (Literal& literal : literals) {
      if (holds(literal)) return;
      if (!holds(-literal)) std::swap(literal, literals[open++]);
    }
    if (open == 0) {
      refuted_ = true;
    } else if (open == 1) {
      assign(literals[0]);
      refuted_ = !propagate();
      root_ = trail_.size();
    } else {
      watches_[code_of(literals[0])].push_back({id, literals[1]});
      watches_[code_of(literals[1])].push_back({id, literals[0]});
    }
  }

  // False at a conflict.
  bool propagate() {
    while (propagated_ < trail_.size()) {
      const Literal false_now = -trail_[propagated_++];
      std::vector<Watch>& watches = watches_[code_of(false_now)];
      size_t kept = 0;
      bool conflict = false;
      for (size_t i = 0; i < watches.size(); ++i) {
        const Watch watch = watches[i];
        if (conflict || holds(watch.other)) {
          watches[kept++] = watch;
          continue;
        }
        const Clause& clause = clauses_[watch.clause];
        if (!clause.alive) continue;
        const std::span<Literal> literals = literals_of(clause);
        if (literals[0] == false_now) std::swap(literals[0], literals[1]);
        if (move_watch(watch.clause, literals)) continue;
        watches[kept++] = {watch.clause, literals[0]};
        if (holds(literals[0])) continue;
        conflict = holds(-literals[0]);
        if (!conflict) assign(literals[0]);
      }
      watches.resize(kept);
      if (conflict) return false;
    }
    return true;
  }

  // The second literal became false: watches another one that is not, if there is one.
  bool move_watch(uint32_t id, std::span<Literal> literals) {
    for (size_t k = 2; k < literals.size(); ++k) {
      if (holds(-literals[k])) continue;
      std::swap(literals[1], literals[k]);
      watches_[code_of(literals[1])].push_back({id, literals[0]});
      return true;
    }
    return false;
  }

  bool resolvent_has_rup(std::span<const Literal> other, Literal pivot) {
    for (const Literal literal : other) {
      if (literal == -pivot || holds(-literal)) continue;
      if (holds(literal)) return true;
      assign(-literal);
    }
    return !propagate();
  }

  std::vector<Literal> arena_;
  std::vector<Clause> clauses_;
  std::unordered_multimap<uint64_t, uint32_t> by_hash_;  // clauses alive; only looked up
  std::vector<uint8_t> holds_;                           // by code
  std::vector<std::vector<Watch>> watches_;              // by code: clauses that watch the literal
  std::vector<Literal> trail_;
  size_t propagated_ = 0;
  size_t root_ = 0;  // how much of the trail is decided for good
  bool refuted_ = false;
  std::vector<Literal> scratch_;
};

std::string clause_text(std::span<const Literal> clause) {
  constexpr size_t kShown = 12;
  std::string out =
      fmt::format("{}", fmt::join(clause.first(std::min(clause.size(), kShown)), " "));
  if (clause.size() > kShown) out += " ...";
  return out.empty() ? "0" : out + " 0";
}

}  // namespace

Result<CheckedProof> check_proof(const Cnf& cnf, std::string_view proof, std::string_view file,
                                 const Limits& limits) {
  Checker checker;
  // A proof may bring variables of its own, but has no room to name many more than it has bytes.
  uint64_t most_variables = proof.size() + 1'000'000;
  for (size_t i = 0; i < cnf.size(); ++i) {
    checker.add(cnf[i]);
    for (const Literal literal : cnf[i]) {
      most_variables = std::max<uint64_t>(
          most_variables, proof.size() + static_cast<uint64_t>(variable_of(literal)));
    }
  }
  LimitWatch watch(limits);
  CheckedProof checked;
  ProofReader reader(proof, file);
  ProofStep step;
  while (!checker.refuted()) {
    if (watch.reached()) {
      return Error{
          fmt::format("{}: stopped at {}, before the proof was checked", file, reader.place()),
          "allow more time or memory", ErrorKind::Limit};
    }
    Result<bool> more = reader.next(step);
    if (!more.ok()) return more.error();
    if (!*more) {
      return Error{fmt::format("{}: the proof ends before the empty clause follows", file),
                   "is the file complete, and of this formula?"};
    }
    for (const Literal literal : step.clause) {
      if (static_cast<uint64_t>(variable_of(literal)) <= most_variables) continue;
      return Error{fmt::format("{}:{}: variable {} is neither the formula's nor the next new one",
                               file, reader.place(), variable_of(literal)),
                   "number the variables that a proof adds without gaps"};
    }
    if (step.deletes) {
      ++(checker.remove(step.clause) ? checked.deleted : checked.unknown_deletions);
      continue;
    }
    const bool rup = checker.has_rup(step.clause);
    const bool allowed = rup || checker.has_rat(step.clause);
    checker.undo();
    if (!allowed) {
      return Error{fmt::format("{}:{}: the clause `{}` does not follow", file, reader.place(),
                               clause_text(step.clause)),
                   "neither unit propagation (RUP) nor its first literal (RAT) allows it; is the "
                   "proof of this formula?"};
    }
    ++checked.added;
    checked.by_rat += rup ? 0 : 1;
    checker.add(step.clause);
  }
  return checked;
}

}  // namespace xlog::solve
