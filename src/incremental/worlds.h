// The world views of a program, kept current as the rows that may hold and the instances of its
// rules come and go (open_program.h): every atom has its bounds, and those that are open belong to
// units (epistemic/units.h). A change is worked in where it reaches:
//
//   what depends on an atom whose rules changed gets new bounds,
//   units with an atom whose bounds or instances changed are found again and solved again,
//   who asks about them too, if the answer is another one,
//   all others keep their views.
//
// Where the well-founded model is asked for, the bounds are the answer, and there are no units.
//
// Units with one view alone, in clusters of such units, are clusters by themselves here. Others
// stay together with all that questions connect them with.
//
//   Worlds worlds(...);
//   worlds.prepare();                    before rows are kept
//   co_await worlds.build();             once all are
//   kept.update(allowance, effort);
//   worlds.update(effort);               with the same allowance; an error: clear() is due
//   worlds.changes(pred) ...; kept.finish(); worlds.finish();
//
// Building takes long: it can rest, as that of the rows (behind.h).
#pragma once

#include <gmpxx.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "epistemic/solved_units.h"
#include "epistemic/views.h"
#include "incremental/instances.h"
#include "incremental/kept.h"
#include "incremental/maintained.h"
#include "logic/analysis.h"
#include "logic/answer.h"
#include "oracle/ground.h"

namespace xlog::incremental {

class Worlds {
 public:
  // The source and its analysis say what is reported of them.
  Worlds(const KeptProgram& program, Kept& kept, const lang::Program& source,
         const logic::Analysis& analysis, lang::Session& session,
         const logic::AnswerOptions& options)
      : program_(program),
        kept_(kept),
        source_(source),
        analysis_(analysis),
        session_(session),
        options_(options),
        instances_(program.worlds, kept),
        shown_(program.worlds.open.size(), false) {
    for (const lang::Query& query : source.queries) {
      const uint32_t pred = program.same_as[query.pred.index].index;
      if (pred < shown_.size()) shown_[pred] = true;
    }
  }

  void prepare() { instances_.prepare(); }
  Work build();
  Status update(Effort& effort);
  Work update_resting();
  void finish();  // the batch: what was is forgotten
  void clear();
  // All that another one of the same program has, as Kept::swap(), together with that.
  void swap(Worlds& other);
  // So many units have been solved since all was built that most of them are not needed any more.
  bool is_worn() const;

  bool has_no_view() const;
  // Under the well-founded semantics: a constraint has a body that is true.
  bool is_violated() const { return !violated_.empty(); }

  // ---- rows of a predicate, in the first view or, where there is none, by the bounds ----

  // Before this batch, until finish(); also where that could not be worked in.
  logic::QueryAnswer rows_before(lang::PredId pred) const;
  // What this batch changed, in canonical order.
  std::vector<RowChange> changes(lang::PredId pred) const;

  // ---- the answer: counts, and the rows of these predicates for each view ----

  void answer(const std::vector<std::optional<lang::PredId>>& shown, logic::Answer& answer);

 private:
  friend class WorldsUpdate;

  static constexpr uint32_t kNone = UINT32_MAX;

  struct Atom {
    oracle::Truth truth = oracle::Truth::False;
    // While a batch is worked in.
    oracle::Truth next = oracle::Truth::False;
    uint8_t marks = 0;
    uint32_t cluster = kNone;      // of an open one
    uint32_t unit = 0, place = 0;  // in the cluster, and in the unit
    uint32_t local = 0;            // number in a ground program that is made
  };
  // Units with their views: for each view of the cluster one of each unit.
  struct Cluster {
    uint32_t units = 0;
    std::vector<AtomRow> atoms;  // in canonical order where there are several views
    std::vector<const epistemic::View*> views;
    size_t view_count() const { return views.size() / units; }
  };
  struct Before {
    oracle::Truth truth = oracle::Truth::False;
    epistemic::AtomStatus first = epistemic::AtomStatus::Never;
  };
  using Chosen = std::map<uint32_t, uint32_t>;  // views other than the first, by cluster

  Atom& at(AtomRow atom) {
    std::vector<Atom>& atoms = atoms_[atom.pred];
    if (atom.row >= atoms.size()) atoms.resize(kept_.table(atom.pred).end());
    return atoms[atom.row];
  }
  const Atom* find(AtomRow atom) const {
    const std::vector<Atom>& atoms = atoms_[atom.pred];
    return atom.row < atoms.size() ? &atoms[atom.row] : nullptr;
  }
  std::optional<logic::RowStatus> status(AtomRow atom) const;
  std::optional<logic::RowStatus> status_before(AtomRow atom) const;
  epistemic::AtomStatus status_in(const Atom& atom, uint32_t view) const;
  std::optional<logic::RowStatus> status(oracle::Truth truth, epistemic::AtomStatus first,
                                         bool no_view) const;

  // ---- clusters ----

  uint32_t add_cluster(Cluster cluster);
  void remove_cluster(uint32_t c);
  void put_in_order(Cluster& cluster) const;
  bool is_before(AtomRow a, AtomRow b) const;

  mpz_class view_count() const;
  mpz_class world_count(const Chosen& chosen) const;
  logic::WorldView view(const std::vector<std::optional<lang::PredId>>& shown,
                        const Chosen& chosen) const;
  template <typename StatusOf>
  logic::QueryAnswer rows_of(lang::PredId pred, const StatusOf& status_of) const;
  void report_no_view();

  const KeptProgram& program_;
  Kept& kept_;
  const lang::Program& source_;
  const logic::Analysis& analysis_;
  lang::Session& session_;
  const logic::AnswerOptions& options_;
  Instances instances_;
  std::vector<bool> shown_;  // by predicate: a query does

  std::vector<std::vector<Atom>> atoms_;         // by predicate and row
  std::vector<std::vector<uint8_t>> looked_at_;  // by instances and row, while a batch is worked in
  std::vector<Cluster> clusters_;
  std::vector<uint32_t> free_clusters_;
  epistemic::SolvedUnits solved_;
  size_t solved_at_build_ = 0;
  // Products are made of these when somebody asks.
  std::map<size_t, uint64_t> clusters_with_;  // so many views
  std::unordered_map<const epistemic::View*, uint64_t> first_views_;
  std::set<uint32_t> several_;  // clusters with several views
  // Constraints and bounds without open atoms that are violated.
  std::set<Instance> violated_;

  bool had_no_view_ = false;
  std::map<AtomRow, Before> before_;  // of this batch
};

}  // namespace xlog::incremental
