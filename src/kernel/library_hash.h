// Hash sets of u64 keys in a device buffer: open addressing with linear probing, claimed by
// compare-and-swap. Which cell a key takes depends on timing, so a table is a bag; what is asked of
// it is order-free.
//
//   HashSet seen = hash_set(plan, plan.u32(1 << 20));   // room for so many keys
//   Buffer is_new = hash_insert_first(plan, seen, keys);
//   Buffer known = hash_contains(plan, seen, keys);
//
// Flags are u32, 1 or 0, one for each key.
#pragma once

#include "kernel/plan_builder.h"

namespace xlog::kernel {

// Cells hold a key, or 0 for none; one more cell at the end says whether the key 0 is there.
struct HashSet {
  Buffer cells;  // u64
};

// An empty set with room for `keys` keys: a power of two of cells, at most half of them full.
HashSet hash_set(PlanBuilder& plan, Value keys);
// A set that came as a parameter (PlanBuilder::race), as an earlier plan gave it. A buffer of
// another length than hash_set makes fails kCheckLength.
HashSet hash_set_of(PlanBuilder& plan, Buffer cells);

// Inserts the keys; a set without room fails kCheckFull. Flags one row of each key that was not
// there before. Which of several equal rows that is depends on timing: the flags are a bag, good
// for a count or a launch whose rows are sorted afterwards.
Buffer hash_insert(PlanBuilder& plan, HashSet set, Buffer keys);
// The same, but flags the first row of each new key: a sequence. It takes three more launches.
Buffer hash_insert_first(PlanBuilder& plan, HashSet set, Buffer keys);
// Whether each key is there: a sequence.
Buffer hash_contains(PlanBuilder& plan, HashSet set, Buffer keys);

// The same inside a kernel, for one key: whether it is there; puts it there, and whether that was
// new. Of several instances that put one key, one sees it as new. `cell` is where it is, for those
// who keep more than a key in buffers beside the cells; where it is not, `cell` says nothing.
struct HashFound {
  Value cell, found;
};
HashFound hash_find(Builder& k, Buffer cells, Value key);
struct HashClaim {
  Value cell, is_new;
};
HashClaim hash_claim(Builder& k, Buffer cells, Value key);

// Brings the cell near where the search for a key starts.
void hash_prefetch(Builder& k, Buffer cells, Value key);

// The cell where the search for a key starts; part of the language, so the same on all devices.
Value hash_of(Builder& k, Value key);

}  // namespace xlog::kernel
