// The world views of a ground program, factorised: clusters of units do not influence each other,
// so the views of the program are the product of theirs.
#pragma once

#include <gmpxx.h>

#include <functional>
#include <vector>

#include "epistemic/presolve.h"
#include "epistemic/solved_units.h"
#include "epistemic/units.h"
#include "epistemic/views.h"
#include "oracle/context.h"

namespace xlog::epistemic {

class WorldViews {
 public:
  // Of the units of a program without decided atoms (oracle::residual). Units that were solved
  // before may be handed in; views are then theirs and stay as long as they do.
  WorldViews(Units units, oracle::Context& context, SearchCounts& counts,
             const Batching& batching = {}, SolvedUnits* solved = nullptr);

  // Once, before anything is asked. Where a limit ends it, the clusters that were cheaper are
  // solved. A cluster without views ends it too, unless all are wanted.
  enum class Search : uint8_t { UntilNoView, AllClusters };
  void solve(Search search = Search::UntilNoView);

  const Units& units() const { return units_; }
  bool is_solved(uint32_t cluster) const { return is_solved_[cluster]; }
  // How many views a cluster has, and what a unit of it has in one of them.
  uint32_t views_of(uint32_t cluster) const {
    const size_t units = units_.units_of(cluster).size();
    return static_cast<uint32_t>(cluster_views_[cluster].size() / units);
  }
  const View& view(uint32_t unit, uint32_t cluster_view) const;
  // A unit over its own atoms, with the answers from below that it has in one of these views.
  oracle::GroundProgram unit_program(uint32_t unit, uint32_t cluster_view) const;
  mpz_class worlds_of(uint32_t cluster, uint32_t cluster_view) const;

  // Clusters that look the same, but for the numbers of their atoms, have the same text.
  std::string key_of(uint32_t cluster) const;

  // How a unit was decided, where the answers from below are those of the cluster's first view:
  // units that look the same share it.
  using Decision = SolvedUnits::Entry;
  const Decision* decision_of(uint32_t unit) const { return decisions_[unit]; }

  mpz_class count() const;
  logic::WorldCounts world_counts() const;
  // Whether these are all, not just enough for the user.
  bool all_found() const { return all_found_; }

  // Puts the views of each cluster in the order of what they say of its atoms, one after another
  // (Always comes first), and clusters in the order of their least atoms: once, after solve(). The
  // views of the last clusters that have several are listed then, and of all others the first.
  static constexpr size_t kClustersThatCount = 64;
  using Before = std::function<bool(oracle::AtomId, oracle::AtomId)>;
  void put_in_order(const Before& before);

  // One view: for each cluster the number of one of its views.
  using Choice = std::vector<uint32_t>;
  Choice first() const { return Choice(units_.clusters(), 0); }
  // The next one, the last cluster counting fastest; false after the last one.
  bool advance(Choice& choice) const;

  // Of an atom that the program mentions.
  AtomStatus status(oracle::AtomId atom, const Choice& choice) const;
  mpz_class worlds(const Choice& choice) const;
  // The first of its worlds as sets of atoms that hold, at most `most`; they must have been asked
  // for when units were solved.
  std::vector<std::vector<oracle::AtomId>> list_worlds(const Choice& choice, uint64_t most) const;

 private:
  std::vector<uint32_t> cheapest_first() const;
  // False where units have more views than `most` and the cluster is short of views without them.
  bool solve_cluster(uint32_t cluster, uint64_t most);
  const Solution& solution(uint32_t unit, const Units::Holds& answered, uint64_t most);
  const View& view_of(uint32_t unit, const Choice& choice) const;

  oracle::Context& context_;
  SearchCounts& counts_;
  Units units_;
  SolvedUnits own_solved_;
  SolvedUnits& solved_;  // by key and the most views that were wanted
  Batching batching_;
  Presolve presolve_;
  std::vector<uint64_t> key_;                         // of one unit at a time
  std::vector<const View*> combinations_, extended_;  // of one cluster at a time
  std::vector<const Decision*> decisions_;            // by unit
  std::vector<bool> is_solved_;                       // by cluster
  // By cluster: its views one after another, each with a view for each unit.
  std::vector<std::vector<const View*>> cluster_views_;
  std::vector<uint32_t> several_;  // clusters with several views that are listed
  bool all_found_ = true;
};

}  // namespace xlog::epistemic
