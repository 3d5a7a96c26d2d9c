#include "relation/meet_code.h"

#include <algorithm>

#include "base/check.h"

namespace xlog::relation {

using kernel::Buffer;
using kernel::KernelBuilder;
using kernel::Range;
using plan::ColumnUse;
using plan::Step;

namespace {

constexpr uint32_t kBlock = 256;      // values that are found before the steps after it see them
constexpr uint32_t kLookupCost = 16;  // of a set, in tests of a mark
constexpr uint64_t kMostWords = 1u << 20;  // of a mark

bool ignores(const Step& atom) {
  return std::ranges::any_of(atom.columns,
                             [](const auto& c) { return c.use == ColumnUse::Ignore; });
}

// The keys of a lookup of one value: those of the list, and the target.
std::vector<uint32_t> probe_keys(const Step& atom) {
  std::vector<uint32_t> keys = plan::key_columns(atom);
  keys.push_back(plan::target_column(atom));
  return keys;
}

}  // namespace

Result<uint32_t> mark_words(Machine& machine, const Step& meet, const RelationOf& relation_of) {
  if (machine.form() == Form::Groups || meet.members.size() == 1) return 0u;
  uint64_t most = 0;
  for (const Step& member : meet.members) {
    Relation& relation = relation_of(member.pred);
    const uint32_t column = plan::target_column(member);
    Result<std::optional<uint64_t>> bound = relation.bound(column);
    if (!bound.ok()) return bound.error();
    if (relation.types()[column] != Type::U32 || !*bound) return 0u;
    most = std::max(most, **bound);
  }
  const uint64_t words = most / kWordBits + 1;
  return words > kMostWords ? 0u : static_cast<uint32_t>(words);
}

MeetCode::MeetCode(KernelBuilder& k, const Step& meet, const RelationOf& relation_of, bool marked,
                   const std::optional<ClaimedSet>& claimed)
    : k_(k), marked_(marked) {
  if (marked_) {
    words_ = k.val(Type::U32, "words");
    marks_ = k.own(Type::U32, "marks");
  }
  for (const Step& atom : meet.members) {
    const Relation& relation = relation_of(atom.pred);
    Member& member = members_.emplace_back();
    member.atom = &atom;
    member.keys = plan::key_columns(atom);
    member.column = plan::target_column(atom);
    member.repeats = ignores(atom);
    member.list = declare_index(k, relation.index_kind(member.keys, member.column),
                                relation.types(), member.keys);
    if (member.repeats) {
      const std::vector<uint32_t> keys = probe_keys(atom);
      member.probe = declare_index(k, relation.index_kind(keys), relation.types(), keys);
    } else {
      member.set = claimed && claimed->pred == atom.pred
                       ? claimed->set
                       : declare_set(k, relation.set_shape(), relation.types(), kernel::Mode::In);
    }
  }
}

Status append_meet_arguments(const Step& meet, const RelationOf& relation_of, uint32_t words,
                             const device::Buffer& marks, std::optional<lang::PredId> claimed,
                             std::vector<device::Argument>& arguments) {
  if (words > 0) {
    arguments.emplace_back(kernel::Scalar::u32(words));
    arguments.emplace_back(device::View{marks});
  }
  for (const Step& atom : meet.members) {
    Relation& relation = relation_of(atom.pred);
    Result<Index*> list = relation.index(plan::key_columns(atom), plan::target_column(atom));
    if (!list.ok()) return list.error();
    (*list)->append_arguments(row_limit(relation, atom.part), arguments);
    if (ignores(atom)) {
      Result<Index*> probe = relation.index(probe_keys(atom));
      if (!probe.ok()) return probe.error();
      (*probe)->append_arguments(row_limit(relation, atom.part), arguments);
    } else if (claimed != atom.pred) {
      if (Status ready = relation.reserve(0); !ready.ok()) return ready;
      relation.append_set_arguments(arguments);
    }
  }
  return Done{};
}

void MeetCode::begin(Value instance) {
  zero_ = k_.u32(0);
  block_ = k_.private_array(block_type(), kBlock);
  filled_ = k_.private_array(Type::U32, 1);
  if (!marked_) return;
  for (size_t m = 1; m < members_.size(); ++m) {
    Member& member = members_[m];
    const uint32_t marks = static_cast<uint32_t>(members_.size() - 1);
    member.first_word = (instance * marks + static_cast<uint32_t>(m - 1)) * words_;
    member.is_marked = k_.private_array(Type::Bool, 1);
    k_.store(member.is_marked, zero_, k_.boolean(false));
    for (uint32_t key : member.keys) {
      const Type type = member.list.columns[key].type();
      member.marked_keys.push_back(k_.private_array(type, 1));
      k_.store(member.marked_keys.back(), zero_, k_.number(type, 0));
    }
  }
}

void MeetCode::end() {
  if (!marked_) return;
  for (size_t m = 1; m < members_.size(); ++m) {
    Member& member = members_[m];
    k_.if_then(member.is_marked[zero_], [&] {
      Values old;
      for (const Buffer& key : member.marked_keys) old.push_back(key[zero_]);
      set_marks(member, old, false);
    });
  }
}

// ---- lists ----

void MeetCode::set_keys(const Slots& slots) {
  for (Member& member : members_) {
    member.key.clear();
    for (const plan::ColumnArg& column : member.atom->columns) {
      if (column.use == ColumnUse::Key) {
        member.key.push_back(term_code(k_, column.term, slots).value);
      }
    }
  }
}

void MeetCode::look_up(const Slots& slots) {
  set_keys(slots);
  for (Member& member : members_) member.length = count_rows(k_, member.list, member.key);
}

// ---- marks ----

Value MeetCode::has_same_keys(Member& member) {
  Value same = member.is_marked[zero_];
  for (size_t j = 0; j < member.keys.size(); ++j) {
    same = same & same_words(k_, member.marked_keys[j][zero_], member.key[j]);
  }
  return same;
}

void MeetCode::set_marks(Member& member, const Values& key, bool to) {
  for_each_range(k_, member.list, key, [&](Range rows) {
    k_.for_range(rows.lo, rows.hi, [&](Value row) {
      const Value value = member.list.columns[member.column][row];
      const Value word = member.first_word + (value >> 5);
      const Value bit = k_.u32(1) << (value & (kWordBits - 1));
      k_.store(marks_, word, to ? marks_[word] | bit : zero_);
    });
  });
}

void MeetCode::mark(Member& member) {
  k_.if_then(!has_same_keys(member), [&] {
    k_.if_then(member.is_marked[zero_], [&] {
      Values old;
      for (const Buffer& key : member.marked_keys) old.push_back(key[zero_]);
      set_marks(member, old, false);
    });
    set_marks(member, member.key, true);
    k_.store(member.is_marked, zero_, k_.boolean(true));
    for (size_t j = 0; j < member.keys.size(); ++j) {
      k_.store(member.marked_keys[j], zero_, member.key[j]);
    }
  });
}

// ---- one binding ----

Value MeetCode::has(Member& member, Value value) {
  if (!member.repeats) {
    Values row(member.atom->columns.size());
    for (size_t j = 0; j < member.keys.size(); ++j) row[member.keys[j]] = member.key[j];
    row[member.column] = value;
    return find_row(k_, member.set, row);
  }
  Values key = member.key;
  key.push_back(value);
  return has_rows(k_, member.probe, key);
}

// Whether a row of the walked list is a value of the meet.
Value MeetCode::passes(size_t way, Value row, Value first, Value value) {
  Member& walks = walked(way);
  std::optional<Value> all;
  auto require = [&](Value condition) { all = all ? *all & condition : condition; };
  if (walks.repeats) {
    const Value before = k_.select(row == first, row, row - 1);
    require((row == first) | !same_words(k_, walks.list.columns[walks.column][before], value));
  }
  if (way == 0) {
    for (size_t m = 1; m < members_.size(); ++m) {
      const Value word = marks_[members_[m].first_word + (value >> 5)];
      require(((word >> (value & (kWordBits - 1))) & 1) != 0);
    }
    return all ? *all : k_.boolean(true);
  }
  for (Member& member : members_) {
    if (&member != &walks) require(has(member, value));
  }
  return all ? *all : k_.boolean(true);
}

Value MeetCode::count_range(size_t way, Range rows) {
  return k_.for_range(rows.lo, rows.hi, {zero_}, [&](Value row, const Values& sum) {
    const Value value = walked(way).list.columns[walked(way).column][row];
    return Values{sum[0] + k_.cast(Type::U32, passes(way, row, rows.lo, value))};
  })[0];
}

// Puts values of `rows`, a part of a run from `first` on, into the block.
void MeetCode::fill_block(size_t way, Value first, Range rows) {
  const Values end = k_.for_range(rows.lo, rows.hi, {zero_}, [&](Value row, const Values& filled) {
    const Value value = walked(way).list.columns[walked(way).column][row];
    k_.store(block_, filled[0], value);
    if (notes_rows_) k_.store(block_rows_, filled[0], row);
    return Values{filled[0] + k_.cast(Type::U32, passes(way, row, first, value))};
  });
  k_.store(filled_, zero_, end[0]);
}

Value MeetCode::choose(Value shortest) {
  Value way = k_.u32(1);
  for (size_t m = 1; m < members_.size(); ++m) {
    way = k_.select(members_[m].length == shortest, k_.u32(static_cast<uint32_t>(m + 1)), way);
  }
  if (!marked_) return way;
  Value cost = k_.cast(Type::U64, members_[0].length);
  for (size_t m = 1; m < members_.size(); ++m) {
    const Value marking = k_.cast(Type::U64, members_[m].length) * 2;
    cost = cost + k_.select(has_same_keys(members_[m]), k_.number(Type::U64, 0), marking);
  }
  return k_.select(cost <= k_.cast(Type::U64, shortest) * kLookupCost, zero_, way);
}

void MeetCode::for_each_way(Value way, const std::function<void(size_t)>& body) {
  const size_t first = marked_ ? 0 : 1;
  std::function<void(size_t)> from = [&](size_t w) {
    if (w == members_.size()) return body(w);
    k_.if_then(
        way == k_.u32(static_cast<uint32_t>(w)), [&] { body(w); }, [&] { from(w + 1); });
  };
  from(first);
}

void MeetCode::with_way(const Slots& slots, const std::function<Value(Value)>& forced,
                        const std::function<void(Value way)>& body) {
  look_up(slots);
  Value shortest = members_[0].length;
  for (size_t m = 1; m < members_.size(); ++m) shortest = k_.min(shortest, members_[m].length);
  k_.if_then(shortest != 0, [&] {
    const Value way = forced(choose(shortest));
    if (marked_) {
      k_.if_then(way == 0, [&] {
        for (size_t m = 1; m < members_.size(); ++m) mark(members_[m]);
      });
    }
    body(way);
  });
}

Value MeetCode::count(const Slots& slots, LoopCut* cut) {
  const Buffer total = k_.private_array(Type::U32, 1);
  k_.store(total, zero_, zero_);
  const auto best = [](Value way) { return way; };
  with_way(slots, best, [&](Value way) {
    for_each_way(way, [&](size_t w) {
      if (cut != nullptr) cut->look(walked(w).length);
      for_each_range(k_, walked(w).list, walked(w).key, [&](Range rows) {
        k_.store(total, zero_, total[zero_] + count_range(w, rows));
      });
    });
  });
  return total[zero_];
}

// The runs of the list that is walked, in code that stands once for all ways.
void MeetCode::for_each_list(Value way, const Found& found) {
  const Buffer lo = k_.private_array(Type::U32, 1);
  const Buffer hi = k_.private_array(Type::U32, 1);
  const Buffer part = k_.private_array(Type::U32, 1);
  for_each_way(way, [&](size_t w) {
    k_.store(part, zero_, relation::first_part(k_, walked(w).list, walked(w).key));
  });
  k_.loop(k_.u32(UINT32_MAX), part[zero_] != 0, {},
          [&](Value, const Values&) -> std::pair<Value, Values> {
            for_each_way(way, [&](size_t w) {
              const IndexPart here = read_part(k_, walked(w).list, walked(w).key, part[zero_]);
              k_.store(lo, zero_, here.rows.lo);
              k_.store(hi, zero_, here.rows.hi);
              k_.store(part, zero_, here.next);
            });
            found(lo[zero_], hi[zero_]);
            return {part[zero_] != 0, {}};
          });
}

// Of a run that begins at `first`, the values of `rows`: they stand in the block.
void MeetCode::walk_list(Value way, Value first, Range rows,
                         const std::function<void(Value j)>& each) {
  k_.for_range(zero_, (rows.hi - rows.lo + (kBlock - 1)) / kBlock, [&](Value b) {
    const Value begin = rows.lo + b * kBlock;
    const Value end = begin + k_.min(rows.hi - begin, k_.u32(kBlock));
    for_each_way(way, [&](size_t w) { fill_block(w, first, {begin, end}); });
    k_.for_range(zero_, filled_[zero_], each);
  });
}

void MeetCode::run(const Slots& slots, const std::function<void(Value)>& each) {
  const auto best = [](Value way) { return way; };
  with_way(slots, best, [&](Value way) {
    for_each_list(way, [&](Value first, Value last) {
      walk_list(way, first, {first, last}, [&](Value j) { each(block_[j]); });
    });
  });
}

void MeetCode::run(const Slots& slots, const std::function<void(Value)>& each, LoopCut& cut,
                   uint32_t loop) {
  block_rows_ = k_.private_array(Type::U32, kBlock);
  notes_rows_ = true;
  cut.enter(loop);
  with_way(
      slots, [&](Value way) { return cut.way(loop, way); },
      [&](Value way) {
        cut.note_way(loop, way);
        for_each_list(way, [&](Value first, Value last) {
          cut.part(loop, {first, last}, [&](Range rows, const LoopCut::NumberOf& number) {
            walk_list(way, first, rows, [&](Value j) {
              cut.item(loop, number(block_rows_[j]), [&] { each(block_[j]); });
            });
          });
        });
      });
  cut.leave(loop);
}

// ---- for groups ----

Value MeetCode::shortest(const Slots& slots) {
  zero_ = k_.u32(0);
  look_up(slots);
  Value least = members_[0].length;
  Value which = zero_;
  for (size_t m = 1; m < members_.size(); ++m) {
    const Value shorter = members_[m].length < least;
    which = k_.select(shorter, k_.u32(static_cast<uint32_t>(m)), which);
    least = k_.min(least, members_[m].length);
  }
  return which;
}

void MeetCode::for_member(Value member, const std::function<void(size_t)>& body) {
  std::function<void(size_t)> from = [&](size_t m) {
    if (m + 1 == members_.size()) return body(m);
    k_.if_then(
        member == k_.u32(static_cast<uint32_t>(m)), [&] { body(m); }, [&] { from(m + 1); });
  };
  from(0);
}

Value MeetCode::most_rows() {
  Value most = k_.u32(0);
  for (const Member& member : members_) most = k_.max(most, k_.len(member.list.longest()));
  return most;
}

Value MeetCode::first_part(Value member) {
  const Buffer part = k_.private_array(Type::U32, 1);
  for_member(member, [&](size_t m) {
    k_.store(part, zero_, relation::first_part(k_, members_[m].list, members_[m].key));
  });
  return part[zero_];
}

IndexPart MeetCode::rows_of(Value member, Value part) {
  const Buffer lo = k_.private_array(Type::U32, 1);
  const Buffer hi = k_.private_array(Type::U32, 1);
  const Buffer next = k_.private_array(Type::U32, 1);
  for_member(member, [&](size_t m) {
    const IndexPart here = read_part(k_, members_[m].list, members_[m].key, part);
    k_.store(lo, zero_, here.rows.lo);
    k_.store(hi, zero_, here.rows.hi);
    k_.store(next, zero_, here.next);
  });
  return {{lo[zero_], hi[zero_]}, next[zero_]};
}

Value MeetCode::value_at(Value member, Value row) {
  const Buffer value = k_.private_array(block_type(), 1);
  for_member(member, [&](size_t m) {
    k_.store(value, zero_, members_[m].list.columns[members_[m].column][row]);
  });
  return value[zero_];
}

Value MeetCode::is_in_all(const Slots& slots, Value member, Value row, Value is_first,
                          Value value) {
  set_keys(slots);
  const Buffer all = k_.private_array(Type::Bool, 1);
  k_.store(all, zero_, k_.boolean(true));
  for (size_t m = 0; m < members_.size(); ++m) {
    Member& other = members_[m];
    k_.if_then(
        member == k_.u32(static_cast<uint32_t>(m)),
        [&] {
          if (!other.repeats) return;
          const Value before = other.list.columns[other.column][k_.select(is_first, row, row - 1)];
          k_.store(all, zero_, all[zero_] & (is_first | !same_words(k_, before, value)));
        },
        [&] { k_.if_then(all[zero_], [&] { k_.store(all, zero_, has(other, value)); }); });
  }
  return all[zero_];
}

}  // namespace xlog::relation
