// A pipeline as kernel code: nested loops over the rows that its steps find. Who drives it and what
// happens to its rows is up to the kernel around it (derive.h, count.h).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "plan/pipeline.h"
#include "relation/loop_cut.h"
#include "relation/meet_code.h"
#include "relation/relation.h"
#include "relation/term_code.h"

namespace xlog::relation {

// The values of a range inside a pipeline: one row of the driver should not take for ever.
constexpr uint32_t kMostRange = 1u << 30;

// What a launch counts besides rows: instances whose arithmetic has no value, and ranges of too
// many values.
enum Mishap : uint32_t { kValueless, kTooLong, kMishaps };

// The rows that a step may see.
struct RowRange {
  uint32_t first, last;
};
// Rows of the columns that a step may see; words of the bits where there are only those.
RowRange rows_of(const Relation& relation, plan::Part part);
// The same for a driver; of the bits only those that agree with the constants of its first columns.
RowRange driven_rows(const Relation& relation, const plan::Step& step);

// Bits for the marks of a pipeline's meets, zero between launches.
class Marks {
 public:
  // For so many instances.
  Status prepare(Machine& machine, const plan::Pipeline& pipeline, const RelationOf& relation_of,
                 uint32_t instances);
  // By step; 0: no marks.
  uint32_t words(size_t step) const { return words_[step]; }
  const device::Buffer& bits(size_t step) const { return bits_[step]; }

 private:
  std::vector<uint32_t> words_;
  std::vector<device::Buffer> bits_;
  std::vector<uint64_t> capacity_;
};

// A word of a relation's bits, and those of it that agree with the constants of a step.
struct BitWord {
  Value word, bits;
};

// What the code of a pipeline depends on besides it, and the code of a relation's set.
std::string shape_text(const plan::Pipeline& pipeline, const RelationOf& relation_of,
                       const Marks& marks);
std::string shape_text(const Relation& relation);

// How many loops are nested in the code of a pipeline, that of the driver included. `counted`:
// nobody asks for the bindings of the last step.
uint32_t loop_count(const plan::Pipeline& pipeline, const RelationOf& relation_of, bool counted);

class PipelineCode {
 public:
  // Declares what the steps read as parameters of `k`. The kernel says which row of the driver's
  // relation, or which value of its range, an instance takes. `claimed` is the set that
  // the kernel itself fills, if it does: steps that ask it use the same parameter.
  PipelineCode(kernel::KernelBuilder& k, const lang::Program& program,
               const plan::Pipeline& pipeline, const RelationOf& relation_of, const Marks& marks,
               const std::optional<ClaimedSet>& claimed);

  // The columns of the driver; none where there is none and the pipeline runs once.
  const kernel::Columns& driver_columns() const;
  // The bits of the driver, where it has no columns.
  const SetCode* driver_bits() const;
  // Of the words that driven_rows counts, the one with this number.
  BitWord driver_word(Value at);
  // Whether the driver is a range: its rows are numbers.
  bool drives_range() const;

  // From here on the code of an instance is for a piece of them. The driver's loops, over its rows
  // and over the bits of a word, are the kernel's.
  void cut_loops(LoopCut& cut) { cut_ = &cut; }

  // Around the code of an instance.
  void begin(Value instance);
  void end();
  // The code for one row of the driver.
  struct Sink {
    std::function<void(const Slots&)> emit;  // a binding that has passed all steps
    std::function<void()> no_value;          // arithmetic had none
    std::function<void()> too_long;          // a range has more than kMostRange values
    std::function<void(Value)> count;        // so many bindings, where nobody asks which
  };
  void run(const Values& row, const Sink& sink);

 protected:
  struct Access {
    kernel::Columns columns;  // of the relation, or of the index
    SetCode set;
    IndexCode index;
    std::vector<uint32_t> keys;
    Value first, last;  // rows that may be seen
    std::unique_ptr<MeetCode> meet;
  };
  void declare(size_t s, const RelationOf& relation_of, const Marks& marks,
               const std::optional<ClaimedSet>& claimed);
  void step(size_t s);
  void match(size_t s);
  void range(size_t s);
  uint32_t loop_of(size_t s) const;
  // Calls `body` for all of these rows, or for those of the instance's piece.
  void walk_rows(size_t s,
                 const std::function<void(const std::function<void(kernel::Range)>&)>& ranges,
                 const std::function<void(Value row)>& body);
  // A value of the target of a range: its first one and `offset` more.
  Value range_value(Value first, Value offset);
  // How many values a range has, 0 past kMostRange; and whether that is why.
  struct RangeSize {
    Value count, too_long;
  };
  RangeSize range_size(const plan::Step& step, Value lo, Value hi);
  Value exists(size_t s);
  void with_row(size_t s, const std::function<Value(size_t column)>& value, bool check_keys);
  Values key_values(const plan::Step& step) const;
  void when(const TermCode& code, const std::function<void()>& then);

  kernel::KernelBuilder& k_;
  const plan::Pipeline& pipeline_;
  std::optional<size_t> driver_;
  std::vector<Access> access_;  // by step
  Slots slots_;
  Values driver_row_;
  Sink sink_;
  LoopCut* cut_ = nullptr;
};

// Makes the columns that steps other than the driver walk. Before rows_of() and
// pipeline_arguments().
Status prepare_columns(const plan::Pipeline& pipeline, const RelationOf& relation_of);
// What to give a kernel for the parameters that PipelineCode declared, in order. Brings the indexes
// that the steps use up to date. `claimed`: the relation whose set the kernel fills.
Result<std::vector<device::Argument>> pipeline_arguments(const plan::Pipeline& pipeline,
                                                         const RelationOf& relation_of,
                                                         const Marks& marks,
                                                         std::optional<lang::PredId> claimed);
// Whether some step asks the set of a relation.
bool asks_set(const plan::Pipeline& pipeline, lang::PredId pred);
// Whether some step asks for more of a relation than its set, other than the driver.
bool looks_up(const plan::Pipeline& pipeline, lang::PredId pred);

}  // namespace xlog::relation
