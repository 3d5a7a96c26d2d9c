// Runs a pipeline over all rows of its driver and keeps what it derives.
//
// An instance takes a piece of the pipeline's loops (pieces.h), and writes what is new to a region
// of its own, so that nothing is counted first and no two instances share a counter. Where a region
// is full, or after some milliseconds of work, the instance stops where it is; the host takes the
// regions in, divides what is left anew, and the next launch goes on from there.
//
// Where a rule is the only one that reads what it derives, an instance takes a chunk of the
// driver's rows and goes on with its own new rows: a chain of a million rounds is one launch. If
// columns are only carried along there, and the relation is a set of bits, whole words of rows go
// through it (carry.h). What a row that had to stop had already given to the set is found there.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "relation/carry.h"
#include "relation/pieces.h"

namespace xlog::relation {

// What happened in a derivation.
struct Derived {
  uint64_t rows = 0;       // that were new, or all of a bag
  uint64_t valueless = 0;  // instances of arithmetic without a value
};

// Told that more rows have come into a bag; may take them from it.
using Filled = std::function<Status()>;
inline Status leave_in_bag() { return Done{}; }
// Of so many rows that came into a bag, those that limits count.
using Counted = std::function<uint64_t(uint64_t found)>;

class Derivation {
 public:
  // `head`: the terms of a row of relation `into`, or of a bag.
  Derivation(Machine& machine, const lang::Program& program, plan::Pipeline pipeline,
             std::vector<lang::Term> head, std::optional<lang::PredId> into)
      : machine_(&machine),
        program_(&program),
        pipeline_(std::move(pipeline)),
        head_(std::move(head)),
        into_(into) {}

  const plan::Pipeline& pipeline() const { return pipeline_; }
  const std::vector<lang::Term>& head() const { return head_; }
  // The pipeline's driver sees the new rows of `into`, and nothing else reads those.
  void go_on_with_own_rows() {
    carry_.emplace(*machine_, *program_, std::vector<CarriedRule>{{pipeline_, head_, {}}}, *into_);
  }
  // Nothing else gives `into` rows.
  void fills_alone() { alone_ = true; }
  // What comes into the bag are no rows of a relation: limits do not count them.
  void finds_bindings() { counts_rows_ = false; }

  // The rows of the head go to relation `into`, which adds the new ones past its rows().
  Result<Derived> run(const RelationOf& relation_of);
  // They go to a bag: every solution is a row. A head without terms is only counted.
  Result<Derived> run(const RelationOf& relation_of, Bag& bag, const Filled& filled = leave_in_bag);

 private:
  // Which rows an instance takes.
  enum class Walk : uint8_t {
    Piece,  // of its piece
    Queue,  // of a chunk of the driver, then those of its region, in order
    Stack,  // those of its region first, which forgets them as it takes them
  };
  // What all launches of a run share.
  struct Launches {
    Walk walk = Walk::Piece;
    uint32_t instances = 0;
    uint32_t region = 0;  // rows of one
    device::Buffer state, mishaps;
  };
  // How a run divides its rows where instances go on with their own.
  struct Chunks {
    RowRange rows;
    uint32_t length;  // of a chunk
    std::vector<uint32_t> states;
    Launches launches;
  };

  // One run on groups (group_kernel.h).
  struct Groups {
    RowRange rows;
    uint32_t tile;    // rows of one group
    uint32_t groups;  // in all
    bool again;       // some of them are done
    device::Buffer done, counters, total, mishaps;
  };

  Result<Derived> run_into_set(const RelationOf& relation_of, Relation& head);
  Result<Derived> run_ahead(const RelationOf& relation_of, Relation& head, RowRange rows);
  Result<Derived> run_pieces_into_set(const RelationOf& relation_of, Relation& head, RowRange rows);
  Result<Derived> run_into_bag(const RelationOf& relation_of, Bag& bag, const Filled& filled,
                               const Counted& counted);
  Result<Derived> run_groups_into_set(const RelationOf& relation_of, Relation& head);
  Result<Derived> run_groups_into_bag(const RelationOf& relation_of, Bag& bag, const Filled& filled,
                                      const Counted& counted);
  uint64_t most_room(const Relation* claims) const;
  Result<Groups> start_groups(const RelationOf& relation_of, const Relation* claims);
  Status launch_groups(const RelationOf& relation_of, Relation* claims, const Groups& work);
  Result<RowRange> driver_rows(const RelationOf& relation_of);
  Result<uint64_t> valueless(const device::Buffer& mishaps);
  uint32_t chunks_of(RowRange rows) const;
  Pieces pieces_of(const RelationOf& relation_of, RowRange rows);
  uint32_t most_pieces() const;
  Result<Chunks> chunks_for(RowRange rows);
  uint64_t first_output(RowRange rows) const;
  uint64_t still_expected(const Relation& head, const Chunks& work, uint64_t found) const;
  Status start(size_t numbers, Launches& launches);
  // Runs as many instances on these states, which are then what they left.
  Status launch(const RelationOf& relation_of, Relation* claims, Launches& launches,
                std::span<const uint32_t> own, std::vector<uint32_t>& states);
  Status launch_pieces(const RelationOf& relation_of, Relation* claims, Launches& launches,
                       uint32_t width, std::vector<uint32_t>& pieces);
  void divide_output(Launches& launches) const;
  Status give_room(Relation* claims, Launches& launches);
  Result<Derived> finish(const Launches& launches, Derived derived);
  Status compile(std::string shape, const std::function<kernel::Id()>& build);
  kernel::Id build(const RelationOf& relation_of, bool claims, Walk walk, bool late);
  kernel::Id build_groups(const RelationOf& relation_of, bool claims);
  std::string shape(const RelationOf& relation_of, bool claims) const;
  double expected_found(const RelationOf& relation_of, const plan::Step& step) const;
  // Rows that a row of the driver meets, about: those that are known beforehand, and those found.
  struct Met {
    double known = 1, found = 1;
  };
  Met expected_met(const RelationOf& relation_of) const;
  Result<Bag*> rows_without_set(const RelationOf& relation_of, Relation& head);
  bool ends_with_one_row() const;
  Status make_regions(uint64_t rows);

  Machine* machine_;
  const lang::Program* program_;
  plan::Pipeline pipeline_;
  std::vector<lang::Term> head_;
  std::optional<lang::PredId> into_;
  std::optional<Carry> carry_;  // where it goes on with its own rows
  bool counts_rows_ = true;
  bool alone_ = false;
  std::vector<Type> types_;  // of the rows

  // Kept from run to run.
  std::string compiled_;  // for which shape the kernel is
  device::KernelHandle kernel_;
  std::vector<device::Buffer> regions_;  // the machine's, while it works
  Marks marks_;
  uint64_t output_ = 0;  // rows that all regions should hold together
  uint32_t most_ = 0;    // rows of its own that an instance takes
  uint32_t budget_ = 0;  // items of loops that it looks at
};

}  // namespace xlog::relation
