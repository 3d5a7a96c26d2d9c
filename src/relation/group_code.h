// A pipeline as code of a group kernel, for devices whose lanes run side by side.
//
// Every lane of a group holds one binding. Where a step finds many rows for each, the lanes share
// them out: the numbers of rows are added up, and each lane in turn takes the next row, whoever's
// binding found it. So a lane with a million rows keeps all lanes busy, not itself alone, and the
// work is split by what comes out of a step, not by what goes in. All lanes come to every step
// together; a lane whose binding was dropped is idle until the next step that shares out.
#pragma once

#include "relation/pipeline_code.h"

namespace xlog::relation {

constexpr uint32_t kGroupLanes = 256;

class GroupCode : public PipelineCode {
 public:
  // `head`: the terms that the sink reads.
  GroupCode(kernel::KernelBuilder& k, const lang::Program& program, const plan::Pipeline& pipeline,
            const std::vector<lang::Term>& head, const RelationOf& relation_of, const Marks& marks,
            const std::optional<ClaimedSet>& claimed);

  // The code for one row, or one word of the bits, of the driver a lane. `emit` is called where all
  // lanes are together, with whether this lane's binding has passed all steps; a few of them, then
  // `flush`. `no_value` is called by a lane whose arithmetic had none,
  // `too_long` by one with a range of too many values.
  struct GroupSink {
    std::function<void(const Slots&, Value active)> emit;
    std::function<void()> flush;
    std::function<void()> no_value;
    std::function<void()> too_long;
  };
  void run_driver(Value row, Value active, const GroupSink& sink);

 private:
  // What lanes tell each other where a step shares out its rows.
  struct Shared {
    kernel::Buffer before;                                   // rows of the lanes before
    kernel::Buffer first;                                    // row
    kernel::Buffer extra;                                    // a word of bits, or the way of a meet
    std::vector<std::pair<uint32_t, kernel::Buffer>> slots;  // that are used later
  };

  void declare_shared(const std::vector<lang::Term>& head);
  std::vector<bool> used_from(size_t step, const std::vector<lang::Term>& head) const;
  void step(size_t s, Value active);
  void driver(size_t s, Value active);
  void match(size_t s, Value active);
  void meet(size_t s, Value active);
  void range(size_t s, Value active);
  // Calls `visit` for all rows of all lanes, 256 at a time: for row number `offset` of those that
  // lane `source` found. No lane has more than `most`, which is the same for all.
  using Visit = std::function<void(Value source, Value offset, Value active)>;
  void share_out(size_t s, Value count, Value most, const std::function<void()>& tell,
                 const Visit& visit);
  void bind_row(size_t s, const std::function<Value(size_t)>& value, bool check_keys, Value active);
  void lose(Value active, const TermCode& code);
  // A condition that only a lane with a binding asks for.
  Value ask(Value active, const std::function<Value()>& condition);
  // The rows of all lanes' keys, part by part.
  void for_each_part(Value active, const std::function<Value()>& first,
                     const std::function<IndexPart(Value)>& read,
                     const std::function<void(kernel::Range)>& walk);

  std::vector<std::optional<Shared>> shared_;  // by step
  std::optional<size_t> last_loop_;            // the last step that may find several rows
  Value lane_, row_;
  GroupSink group_sink_;
};

}  // namespace xlog::relation
