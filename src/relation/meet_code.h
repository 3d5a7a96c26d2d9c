// A Meet as kernel code: the values that several lists of an index have in common.
//
// Each binding chooses by the lengths of its lists. Either the first list is walked and its values
// are tested against marks: bits that an instance keeps of the other lists, which stay while their
// keys do, so that a list that is the same for many bindings is marked once. Or the shortest list
// is walked and each value looked up in the sets of the others. The second alone makes a join
// worst-case optimal; the first is some twenty times as fast a test, and is taken only while it
// costs no more.
#pragma once

#include <functional>
#include <vector>

#include "plan/pipeline.h"
#include "relation/loop_cut.h"
#include "relation/relation.h"
#include "relation/term_code.h"

namespace xlog::relation {

using RelationOf = std::function<Relation&(lang::PredId)>;

// The set of a relation that a kernel puts rows into.
struct ClaimedSet {
  lang::PredId pred;
  SetCode set;
};

// The first row that a step may not see.
uint32_t row_limit(const Relation& relation, plan::Part part);

// Words of bits that hold any value of a Meet's target; 0: without marks, as values are too large
// or of another type, or the device has too many instances for bits of their own.
Result<uint32_t> mark_words(Machine& machine, const plan::Step& meet,
                            const RelationOf& relation_of);
// Marks of one instance.
inline uint64_t marks_of(const plan::Step& meet) { return meet.members.size() - 1; }

class MeetCode {
 public:
  // Declares parameters; append_meet_arguments gives the arguments. `claimed`: the set that the
  // kernel itself fills.
  MeetCode(kernel::KernelBuilder& k, const plan::Step& meet, const RelationOf& relation_of,
           bool marked, const std::optional<ClaimedSet>& claimed);

  // At the beginning and at the end of an instance: between launches no bit is set.
  void begin(Value instance);
  void end();
  // Calls `each` for every value, in code that stands once; or for those of the instance's piece,
  // as loop number `loop` of it.
  void run(const Slots& slots, const std::function<void(Value)>& each);
  void run(const Slots& slots, const std::function<void(Value)>& each, LoopCut& cut, uint32_t loop);
  // The number of values, u32.
  Value count(const Slots& slots, LoopCut* cut);

  // The parts of it, for groups: which member has the shortest list, the rows of it part by part
  // (`part` is 0 where there are no more), the value of a row, and whether all other lists have it.
  void set_keys(const Slots& slots);
  Value shortest(const Slots& slots);
  Value most_rows();  // of any list
  Value first_part(Value member);
  IndexPart rows_of(Value member, Value part);
  Value value_at(Value member, Value row);
  Value is_in_all(const Slots& slots, Value member, Value row, Value is_first, Value value);

 private:
  struct Member {
    const plan::Step* atom;
    std::vector<uint32_t> keys;
    uint32_t column;       // of the target
    bool repeats = false;  // its list may have a value several times, one after another
    IndexCode list;
    SetCode set;      // where all columns are bound
    IndexCode probe;  // else
    // Of the instance, where it has marks.
    std::vector<kernel::Buffer> marked_keys;
    kernel::Buffer is_marked;
    Value first_word;
    // Of the binding.
    Values key;
    Value length;
  };

  void look_up(const Slots& slots);
  void for_member(Value member, const std::function<void(size_t)>& body);
  Value has_same_keys(Member& member);
  void set_marks(Member& member, const Values& key, bool to);
  void mark(Member& member);
  Value has(Member& member, Value value);
  // Which way this binding goes: 0 with marks, 1 + i along the list of member i.
  Value choose(Value shortest);
  Value passes(size_t way, Value row, Value first, Value value);
  Value count_range(size_t way, kernel::Range rows);
  void fill_block(size_t way, Value first, kernel::Range rows);
  // `forced` may choose another way than the one that is best.
  void with_way(const Slots& slots, const std::function<Value(Value way)>& forced,
                const std::function<void(Value way)>& body);
  using Found = std::function<void(Value first, Value last)>;
  void for_each_list(Value way, const Found& found);
  void walk_list(Value way, Value first, kernel::Range rows,
                 const std::function<void(Value j)>& each);
  void for_each_way(Value way, const std::function<void(size_t)>& body);
  Type block_type() const { return members_[0].list.columns[members_[0].column].type(); }
  Member& walked(size_t way) { return members_[way == 0 ? 0 : way - 1]; }

  kernel::KernelBuilder& k_;
  bool marked_;
  Value words_;
  kernel::Buffer marks_;
  std::vector<Member> members_;
  kernel::Buffer block_, filled_;
  kernel::Buffer block_rows_;  // where values of the block were found, for a piece
  bool notes_rows_ = false;
  Value zero_;
};

// In the order of MeetCode's parameters.
Status append_meet_arguments(const plan::Step& meet, const RelationOf& relation_of, uint32_t words,
                             const device::Buffer& marks, std::optional<lang::PredId> claimed,
                             std::vector<device::Argument>& arguments);

}  // namespace xlog::relation
