// Builds plans in C++: what runs between kernels, over whole buffers.
//
//   PlanBuilder p(graph, "squares");
//   Buffer x = p.in(Type::U32, "x");
//   Columns y = p.map(p.len(x), [&](Value i) { return Values{x[i] * x[i]}; });
//   Rows big = p.expand(p.len(x), [&](Value i) {
//     p.if_then(p.u32(100) < y[0][i], [&] { p.emit({i, y[0][i]}); });
//   });
//   Id plan = p.finish(big.columns);
//
// Bodies of map and expand are kernel code: they load from any buffer of the plan and use its host
// scalars. A buffer is never changed once an op has made it; only a launch writes into one.
// plan_lower.h turns a plan into launches of kernels, device/plan_runner.h runs it.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "kernel/builder.h"

namespace xlog::kernel {

using Columns = std::vector<Buffer>;

// What an expand gives: its columns, and how many rows they have.
struct Rows {
  Columns columns;
  Value count;
};

struct Scanned {
  Buffer before;  // the fold of everything before each element
  Value total;    // of all elements, on the host
};

struct Sorted {
  Buffer permutation;  // row r of the result was row permutation[r]
  Columns columns;
};

struct Partitioned {
  Buffer starts;  // bucket b holds rows[starts[b]] .. rows[starts[b + 1]]
  Buffer rows;
};

class PlanBuilder : public Builder {
 public:
  PlanBuilder(Graph& graph, std::string_view name) : Builder(graph), info_{std::string(name), 0} {}

  // ---- parameters ----
  Value val(Type type, std::string_view name);
  Buffer in(Type type, std::string_view name) { return buffer(type, Mode::In, name); }
  // A buffer that launches of this plan change: a hash table, say.
  Buffer race(Type type, std::string_view name) { return buffer(type, Mode::Race, name); }

  // ---- buffers ----
  Buffer buf(Type type, Value count);
  // The same for a buffer that is written in full before anybody reads it: it is not cleared.
  Buffer unset_buf(Type type, Value count);
  Buffer copy(const Columns& parts);
  Value read(Buffer b, Value index);
  void launch(Id kernel, const std::vector<Id>& arguments);
  // A check of host scalars: where it fails, the plan ends there with `what` as its error.
  void require(uint32_t code, Value condition, std::string_view what);
  // Columns of one table: they must have one length, or the plan ends.
  void require_equal_lengths(const Columns& columns, std::string_view where);

  // ---- skeletons ----
  Columns map(Value n, const std::function<Values(Value i)>& body);
  Rows expand(Value n, const std::function<void(Value i)>& body);
  void emit(const Values& row);
  Scanned scan(Fold fold, Buffer column);
  Buffer reduce(Fold fold, Buffer column);
  Sorted sort(const Columns& columns);
  Buffer segment(Fold fold, Buffer heads, Buffer column);
  Partitioned partition(Buffer ids, Value buckets);
  Buffer merge(const Columns& first, const Columns& second);
  // The rows that an index column names, of several columns at once.
  Columns gather(const Columns& columns, Buffer rows);

  Id finish(const Columns& results);
  // The same with any nodes, buffers or host scalars, as results.
  Id finish_ids(const std::vector<Id>& results);

  // The effects that `body` appends, in order, without a Block around them.
  std::vector<Id> effects_of(const std::function<void()>& body);

 private:
  Id parameter(Type type, Mode mode, std::string_view name);
  Buffer buffer(Type type, Mode mode, std::string_view name);
  Columns columns_of(Id node, const std::vector<Type>& types, uint32_t first = 0);

  KernelInfo info_;
  std::vector<Id> params_;
};

// A Buf with this flag is not cleared: everything in it is written before it is read.
constexpr uint8_t kBufUnset = 1;

// The column types of a Map (its Yield) or Expand (its Emits); of a FlatMap too.
std::vector<Type> body_columns(const Graph& graph, Id node);

}  // namespace xlog::kernel
