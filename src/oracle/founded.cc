// Foundedness (SEMANTICS section 3; Cabalar, Fandinno, Farinas 2019): an atom must not hold only
// because it is known or possible. Without disjunctive heads the founded pairs (atom, world) are a
// least fixpoint. With them, W is founded when there is no unfounded set: pairs <X, I> with X
// within world I, none of which has a rule that supports it from outside.
#include <algorithm>
#include <functional>
#include <set>

#include "oracle/well_founded.h"
#include "oracle/world_views.h"

namespace xlog::oracle {

namespace {

bool body_holds(GroundBody body, const GroundProgram& program, const WorldSet& worlds,
                const Interpretation& world, Context& context) {
  return std::all_of(body.begin(), body.end(), [&](const GroundLiteral& l) {
    return l.kind == GroundKind::Modal ? holds_in(l, worlds)
                                       : holds(l, program, world, context.names());
  });
}

// Modal literals inside aggregates have their values in W and need no foundation: what an aggregate
// reads lies below its rule.
GroundProgram with_plain_aggregates(GroundProgram program, const WorldSet& worlds) {
  for (GroundAggregate& aggregate : program.aggregates) {
    auto input = std::make_shared<AggregateInput>(*aggregate.input);
    const auto is_modal = [](const GroundLiteral& l) { return l.kind == GroundKind::Modal; };
    std::erase_if(input->elements, [&](const AggregateInput::Element& e) {
      return std::any_of(e.condition.begin(), e.condition.end(), [&](const GroundLiteral& l) {
        return is_modal(l) && !holds_in(l, worlds);
      });
    });
    for (AggregateInput::Element& e : input->elements) std::erase_if(e.condition, is_modal);
    aggregate.input = std::move(input);
  }
  return program;
}

// A rule supports its head in a world when no other head atom is true there. Without disjunctive
// heads these are all founded pairs; with them they are some: no unfounded set holds one of them,
// because the first to be derived would be supported from outside.
std::vector<Interpretation> founded_pairs(const GroundProgram& program, const WorldSet& worlds,
                                          logic::Mode mode, Context& context) {
  std::vector<Interpretation> founded(worlds.size(), Interpretation(program.atom_count, false));
  const auto supported = [&](const GroundLiteral& l, size_t w) {
    if (l.kind == GroundKind::Pos) return bool{founded[w][l.index]};
    if (l.kind != GroundKind::Modal || !needs_foundation(l.modal, mode)) return true;
    const auto founded_in = [&](const Interpretation& f) { return f[l.index]; };
    return l.modal == lang::Modal::Know ? std::all_of(founded.begin(), founded.end(), founded_in)
                                        : std::any_of(founded.begin(), founded.end(), founded_in);
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const GroundRule rule : program.rules) {
      for (size_t w = 0; w < worlds.size(); ++w) {
        context.tick();
        std::vector<AtomId> held;
        std::copy_if(rule.heads.begin(), rule.heads.end(), std::back_inserter(held),
                     [&](AtomId a) { return worlds[w][a]; });
        if (held.size() != 1 || founded[w][held[0]]) continue;
        if (!body_holds(rule.body, program, worlds, worlds[w], context)) continue;
        const auto supported_here = [&](const GroundLiteral& l) { return supported(l, w); };
        if (!std::all_of(rule.body.begin(), rule.body.end(), supported_here)) continue;
        founded[w][held[0]] = true;
        changed = true;
      }
    }
  }
  return founded;
}

// Non-empty subsets X of one world as lists of atoms.
void for_each_subset(const std::vector<AtomId>& atoms, Context& context,
                     const std::function<void(const std::set<AtomId>&)>& visit) {
  if (atoms.size() >= 30)
    throw LimitExceeded{"a disjunctive world too large for the reference evaluator", ""};
  for (uint64_t bits = 1; bits < (uint64_t{1} << atoms.size()); ++bits) {
    context.count_candidate();
    std::set<AtomId> subset;
    for (size_t i = 0; i < atoms.size(); ++i) {
      if (bits >> i & 1) subset.insert(atoms[i]);
    }
    visit(subset);
  }
}

// Only the part of the unfounded set under `know` (Y: unfounded in some world) and under `possible`
// (Z: unfounded wherever it holds) matters for the rules, so these are guessed; for a given guess
// all admissible pairs may be taken together.
class UnfoundedSets {
 public:
  // `open` holds, by world, the atoms that may be unfounded.
  UnfoundedSets(GroundProgram program, const WorldSet& worlds, std::vector<Interpretation> open,
                logic::Mode mode, Context& context)
      : program_(std::move(program)),
        worlds_(worlds),
        open_(std::move(open)),
        mode_(mode),
        context_(context) {
    for (const GroundRule rule : program_.rules) {
      for (const GroundLiteral& l : rule.body) {
        if (l.kind != GroundKind::Modal || !needs_foundation(l.modal, mode)) continue;
        if (!holds_in(l, worlds)) continue;
        if (l.modal == lang::Modal::Know && open_somewhere(l.index)) known_.insert(l.index);
        if (l.modal == lang::Modal::Possible && open_wherever_true(l.index))
          possible_.insert(l.index);
      }
    }
  }

  bool exist() {
    const std::vector<AtomId> known(known_.begin(), known_.end());
    const std::vector<AtomId> possible(possible_.begin(), possible_.end());
    if (known.size() + possible.size() >= 40) {
      throw LimitExceeded{"too many modal atoms under disjunctions for the reference evaluator",
                          ""};
    }
    for (uint64_t y = 0; y < (uint64_t{1} << known.size()); ++y) {
      for (uint64_t z = 0; z < (uint64_t{1} << possible.size()); ++z) {
        if (exists_for(pick(known, y), pick(possible, z))) return true;
      }
    }
    return false;
  }

 private:
  bool open_somewhere(AtomId atom) const {
    return std::any_of(open_.begin(), open_.end(),
                       [&](const Interpretation& o) { return o[atom]; });
  }

  bool open_wherever_true(AtomId atom) const {
    for (size_t w = 0; w < worlds_.size(); ++w) {
      if (worlds_[w][atom] && !open_[w][atom]) return false;
    }
    return true;
  }

  static std::set<AtomId> pick(const std::vector<AtomId>& atoms, uint64_t bits) {
    std::set<AtomId> picked;
    for (size_t i = 0; i < atoms.size(); ++i) {
      if (bits >> i & 1) picked.insert(atoms[i]);
    }
    return picked;
  }

  bool exists_for(const std::set<AtomId>& y, const std::set<AtomId>& z) {
    bool any = false;
    std::set<AtomId> covered;
    for (size_t w = 0; w < worlds_.size(); ++w) {
      const Interpretation& world = worlds_[w];
      std::vector<AtomId> atoms;
      for (AtomId a = 0; a < program_.atom_count; ++a) {
        if (open_[w][a]) atoms.push_back(a);
      }
      bool here = false;
      for_each_subset(atoms, context_, [&](const std::set<AtomId>& x) {
        for (AtomId a : x) {
          if (known_.contains(a) && !y.contains(a)) return;
        }
        for (AtomId a : z) {
          if (world[a] && !x.contains(a)) return;
        }
        if (is_supported(x, world, y, z)) return;
        here = true;
        for (AtomId a : x) {
          if (known_.contains(a)) covered.insert(a);
        }
      });
      any |= here;
      const bool needs_pair = std::any_of(z.begin(), z.end(), [&](AtomId a) { return world[a]; });
      if (needs_pair && !here) return false;
    }
    return any && covered == y;
  }

  bool is_supported(const std::set<AtomId>& x, const Interpretation& world,
                    const std::set<AtomId>& y, const std::set<AtomId>& z) {
    return std::any_of(program_.rules.begin(), program_.rules.end(), [&](const GroundRule& rule) {
      const auto in_x = [&](AtomId a) { return x.contains(a); };
      if (std::none_of(rule.heads.begin(), rule.heads.end(), in_x)) return false;
      const auto true_outside = [&](AtomId a) { return world[a] && !x.contains(a); };
      if (std::any_of(rule.heads.begin(), rule.heads.end(), true_outside)) return false;
      if (!body_holds(rule.body, program_, worlds_, world, context_)) return false;
      return std::none_of(rule.body.begin(), rule.body.end(), [&](const GroundLiteral& l) {
        if (l.kind == GroundKind::Pos) return x.contains(l.index);
        if (l.kind != GroundKind::Modal || !needs_foundation(l.modal, mode_)) return false;
        return l.modal == lang::Modal::Know ? y.contains(l.index) : z.contains(l.index);
      });
    });
  }

  const GroundProgram program_;
  const WorldSet& worlds_;
  const std::vector<Interpretation> open_;
  logic::Mode mode_;
  Context& context_;
  std::set<AtomId> known_, possible_;
};

}  // namespace

bool is_founded_by_fixpoint(const GroundProgram& source, const WorldSet& worlds, logic::Mode mode,
                            Context& context) {
  return founded_pairs(with_plain_aggregates(source, worlds), worlds, mode, context) == worlds;
}

bool has_unfounded_set(const GroundProgram& source, const WorldSet& worlds, logic::Mode mode,
                       Context& context) {
  return UnfoundedSets(with_plain_aggregates(source, worlds), worlds, worlds, mode, context)
      .exist();
}

bool is_founded(const GroundProgram& source, const WorldSet& worlds, logic::Mode mode,
                Context& context) {
  GroundProgram program = with_plain_aggregates(source, worlds);
  const std::vector<Interpretation> founded = founded_pairs(program, worlds, mode, context);
  if (founded == worlds) return true;
  const bool disjunctive =
      std::any_of(program.rules.begin(), program.rules.end(),
                  [](const GroundRule& r) { return r.kind == GroundHead::Disjunction; });
  if (!disjunctive) return false;
  std::vector<Interpretation> open = worlds;
  for (size_t w = 0; w < worlds.size(); ++w) {
    for (AtomId a = 0; a < program.atom_count; ++a) {
      if (founded[w][a]) open[w][a] = false;
    }
  }
  return !UnfoundedSets(std::move(program), worlds, std::move(open), mode, context).exist();
}

}  // namespace xlog::oracle
