#include "epistemic/unit_batch_kernel.h"

#include <functional>

#include "epistemic/small_units.h"
#include "kernel/builder.h"
#include "kernel/plan_builder.h"

namespace xlog::epistemic {

using kernel::Buffer;
using kernel::Id;
using kernel::KernelBuilder;
using kernel::PlanBuilder;
using kernel::Type;
using kernel::Value;
using kernel::Values;

namespace {

// Of 64 cases: where each of the lowest six bits of their numbers is set.
constexpr uint32_t kLowBits = 6;
constexpr uint64_t kLowWords[kLowBits] = {0xaaaaaaaaaaaaaaaa, 0xcccccccccccccccc,
                                          0xf0f0f0f0f0f0f0f0, 0xff00ff00ff00ff00,
                                          0xffff0000ffff0000, 0xffffffff00000000};

// What both kernels share: an instance takes the guesses of one unit that are in its words.
class UnitKernel {
 public:
  UnitKernel(kernel::Graph& graph, std::string_view name) : k_(graph, name) {
    n_ = k_.val(Type::U32, "n");
    for (auto& [buffer, parameter] : {std::pair(&shapes_, "shapes"), std::pair(&starts_, "starts"),
                                      std::pair(&checks_, "checks")}) {
      *buffer = k_.in(Type::U32, parameter);
    }
    codes_ = k_.in(Type::U8, "codes");
    first_ = k_.in(Type::U32, "first");
    unit_of_ = k_.in(Type::U32, "unit_of");
  }

 protected:
  Value word(uint64_t bits) { return k_.constant(kernel::Scalar::u64(bits)); }
  Value none() { return word(0); }
  Value every() { return word(UINT64_MAX); }
  Value flipped(Value v) { return v ^ -1; }
  Value code(Value at) { return k_.cast(Type::U32, codes_[at]); }
  Value wide(Value v) { return k_.cast(Type::U64, v); }

  void begin() {
    instance_ = k_.grid(n_);
    unit_ = unit_of_[instance_];
    part_ = instance_ - first_[unit_];
    const Value shape = shapes_[unit_];
    const auto field = [&](uint32_t at) { return (shape >> at) & UnitShape::kMask; };
    atoms_ = field(UnitShape::kAtoms);
    derived_ = field(UnitShape::kDerived);
    guessed_ = field(UnitShape::kGuessed);
    questions_ = field(UnitShape::kQuestions);
    founding_ = (shape >> UnitShape::kFounding) != 0;
    guesses_at_ = starts_[unit_];
    questions_at_ = guesses_at_ + guessed_;
    rules_at_ = questions_at_ + questions_;
    checks_at_ = checks_[unit_];
    end_ = starts_[unit_ + 1];
    first_question_ = derived_ + guessed_;
    const Value six = k_.u32(kLowBits);
    words_ = k_.u32(1) << (k_.max(guessed_, six) - six);
    const Value bits = guessed_ + questions_;
    const Value cases = (word(1) << wide(k_.u32(1) << k_.min(bits, k_.u32(5)))) - 1;
    valid_ = k_.select(bits < kLowBits, cases, every());
    slots_ = k_.private_array(Type::U64, kSlots);
  }

  // In which cases of a word a bit of their numbers is set.
  Value pattern(Value bit, Value number) {
    const Value six = k_.u32(kLowBits);
    const Value high = (number >> (k_.max(bit, six) - six)) & 1;
    Value words = k_.select(high != 0, every(), none());
    for (uint32_t low = 0; low < kLowBits; ++low) {
      words = k_.select(bit == low, word(kLowWords[low]), words);
    }
    return words;
  }
  Value question_pattern(Value q) { return pattern(guessed_ + q, part_ * words_); }

  struct Question {
    Value atom, all;
  };
  Question question(Value q) {
    const Value c = code(questions_at_ + q);
    return {c & (kAsksForAll - 1), (c & kAsksForAll) != 0};
  }

  // Cases that share a guess with one of these.
  Value of_guesses(Value cases) {
    for (uint32_t bit = 0; bit < kLowBits; ++bit) {
      const int64_t step = int64_t{1} << bit;
      const Value up = (cases << step) & word(kLowWords[bit]);
      const Value down = (cases >> step) & word(~kLowWords[bit]);
      cases = k_.select(k_.u32(bit) < guessed_, cases | up | down, cases);
    }
    return cases;
  }
  // What a question is answered where these cases speak against "all" or for "some".
  Value answer(const Question& asked, Value cases) {
    const Value found = of_guesses(cases);
    return k_.select(asked.all, flipped(found), found);
  }

  // Goes through codes once; returns in which slots something was derived.
  Value run(Value from, Value to) {
    const Values end = k_.for_range(from, to, {every(), none()}, [&](Value at, const Values& now) {
      const Value c = code(at);
      const Value slot = c & (kSlots - 1);
      const Value is_head = (c & kHead) != 0;
      const Value before = slots_[slot];
      const Value after = before | k_.select(is_head, now[0], none());
      k_.store(slots_, slot, after);
      const Value flip = k_.select((c & kNegated) != 0, every(), none());
      return Values{k_.select(is_head, every(), now[0] & (before ^ flip)),
                    now[1] | (after ^ before)};
    });
    return end[1];
  }

  // The least model of each case under what is guessed.
  void derive() {
    k_.for_range(k_.u32(0), derived_, [&](Value s) { k_.store(slots_, s, none()); });
    // Each round derives an atom in every case that is not done.
    k_.loop(atoms_ + 2, k_.boolean(true), {}, [&](Value, const Values&) {
      return std::pair(run(rules_at_, checks_at_) != 0, Values{});
    });
  }

  // Sets what is guessed in a word of the instance, derives, and returns the cases that are worlds.
  Value worlds(Value number) {
    k_.for_range(k_.u32(0), guessed_ + questions_,
                 [&](Value g) { k_.store(slots_, derived_ + g, pattern(g, number)); });
    k_.if_then(founding_, [&] {
      k_.for_range(k_.u32(0), questions_, [&](Value q) {
        k_.store(slots_, first_question_ + questions_ + q, slots_[first_question_ + q]);
      });
    });
    derive();
    run(checks_at_, end_);
    const Value unbroken = valid_ & flipped(slots_[atoms_]);
    return k_.for_range(k_.u32(0), guessed_, {unbroken}, [&](Value g, const Values& now) {
      const Value differs = slots_[code(guesses_at_ + g)] ^ slots_[derived_ + g];
      return Values{now[0] & flipped(differs)};
    })[0];
  }

  void for_each_word(const std::function<void(Value number)>& body) {
    k_.for_range(k_.u32(0), words_, [&](Value w) { body(part_ * words_ + w); });
  }
  void for_each_question(const std::function<void(Value q)>& body) {
    k_.for_range(k_.u32(0), questions_, body);
  }

  KernelBuilder k_;
  Value n_;
  Buffer shapes_, starts_, checks_, codes_, first_, unit_of_;
  Value instance_, unit_, part_;
  Value atoms_, derived_, guessed_, questions_, founding_;
  Value guesses_at_, questions_at_, rules_at_, checks_at_, end_;
  Value first_question_;  // its slot
  Value words_;           // of an instance
  Value valid_;           // cases of a word that there are
  Buffer slots_;
};

// Tests all guesses of an instance: which have a world and are answered as guessed by their worlds,
// and are founded.
class TestKernel : public UnitKernel {
 public:
  explicit TestKernel(kernel::Graph& graph) : UnitKernel(graph, "test_guesses") {}

  Id build() {
    const Buffer accepted = k_.out(Type::U64, "accepted");
    const Buffer views = k_.out(Type::U32, "views");
    begin();
    seen_ = k_.private_array(Type::U64, SmallUnits::kMostQuestions);
    supported_ = k_.private_array(Type::U64, SmallUnits::kMostQuestions);
    atoms_before_ = k_.private_array(Type::U64, SmallUnits::kMostAtoms);
    kept_ = k_.private_array(Type::U64, 1);
    k_.store(kept_, k_.u32(0), answered_as_guessed());
    k_.if_then(founding_ & (kept_[0] != 0), [&] {
      const Value kept = kept_[0];
      k_.store(kept_, k_.u32(0), kept & flipped(of_guesses(unfounded(kept))));
    });
    // One case stands for each guess.
    Value firsts = every();
    for (uint32_t bit = 0; bit < kLowBits; ++bit) {
      firsts = k_.select(k_.u32(bit) < guessed_, firsts & word(~kLowWords[bit]), firsts);
    }
    const Value found = kept_[0] & firsts;
    k_.store(accepted, instance_, found);
    k_.store(views, instance_, k_.popc(found));
    return k_.finish();
  }

 private:
  void note_answers(Value q, Value cases) {
    const Question asked = question(q);
    const Value truth = slots_[asked.atom];
    const Value tells = cases & k_.select(asked.all, flipped(truth), truth);
    k_.store(seen_, q, seen_[q] | tells);
  }

  Value answered_as_guessed() {
    for_each_question([&](Value q) { k_.store(seen_, q, none()); });
    const Values some = k_.for_range(k_.u32(0), words_, {none()}, [&](Value w, const Values& now) {
      const Value cases = worlds(part_ * words_ + w);
      for_each_question([&](Value q) { note_answers(q, cases); });
      return Values{now[0] | cases};
    });
    const Value with_worlds = of_guesses(some[0]) & valid_;
    return k_.for_range(k_.u32(0), questions_, {with_worlds}, [&](Value q, const Values& now) {
      const Value differs = answer(question(q), seen_[q]) ^ question_pattern(q);
      return Values{now[0] & flipped(differs)};
    })[0];
  }

  // Cases with an atom that holds only because it is believed, as foundedness.h describes: in
  // rounds, a question is supported once its atom is founded in all worlds, or in one.
  Value unfounded(Value kept) {
    for_each_question([&](Value q) { k_.store(supported_, q, none()); });
    return k_.loop(questions_ + 2, k_.boolean(true), {none()}, [&](Value, const Values&) {
      for_each_question([&](Value q) { k_.store(seen_, q, none()); });
      const Values left =
          k_.for_range(k_.u32(0), words_, {none()}, [&](Value w, const Values& now) {
            return Values{now[0] | unfounded_in(part_ * words_ + w)};
          });
      const Values changed =
          k_.for_range(k_.u32(0), questions_, {none()}, [&](Value q, const Values& now) {
            const Value before = supported_[q];
            const Value after = question_pattern(q) & answer(question(q), seen_[q]);
            k_.store(supported_, q, after);
            return Values{now[0] | (kept & (before ^ after))};
          });
      return std::pair(changed[0] != 0, left);
    })[0];
  }

  Value unfounded_in(Value number) {
    const Value cases = worlds(number);
    const auto for_each_atom = [&](const std::function<void(Value)>& body) {
      k_.for_range(k_.u32(0), atoms_, body);
    };
    for_each_atom([&](Value a) { k_.store(atoms_before_, a, slots_[a]); });
    for_each_question(
        [&](Value q) { k_.store(slots_, first_question_ + questions_ + q, supported_[q]); });
    derive();
    for_each_question([&](Value q) { note_answers(q, cases); });
    return k_.for_range(k_.u32(0), atoms_, {none()}, [&](Value a, const Values& now) {
      return Values{now[0] | (cases & (atoms_before_[a] ^ slots_[a]))};
    })[0];
  }

  Buffer seen_;          // by question: cases that speak against "all" or for "some"
  Buffer supported_;     // by question
  Buffer atoms_before_;  // what holds, when slots have what is founded
  Buffer kept_;          // guesses, as all of their cases
};

// Writes the views that were accepted, in the order of instances and guesses.
class ViewKernel : public UnitKernel {
 public:
  explicit ViewKernel(kernel::Graph& graph) : UnitKernel(graph, "write_views") {}

  Id build() {
    const Buffer accepted = k_.in(Type::U64, "accepted");
    const Buffer before = k_.in(Type::U32, "before");
    const Buffer unit = k_.out(Type::U32, "unit");
    worlds_ = k_.own(Type::U32, "worlds");
    holds_ = k_.own(Type::U32, "holds");
    fails_ = k_.own(Type::U32, "fails");
    begin();
    const Value guesses = accepted[instance_];
    const Value first = before[instance_];
    k_.if_then(guesses != 0, [&] {
      const Value end = first + k_.popc(guesses);
      k_.for_range(first, end, [&](Value v) { k_.store(unit, v, unit_); });
      for_each_word([&](Value number) {
        const Value cases = worlds(number);
        k_.for_range(first, end, {guesses}, [&](Value v, const Values& now) {
          note_view(v, cases & cases_of_guess(k_.ctz(now[0])));
          return Values{now[0] & (now[0] - 1)};
        });
      });
    });
    return k_.finish();
  }

 private:
  Value cases_of_guess(Value first) {
    const Value count = k_.u32(1) << k_.min(guessed_, k_.u32(5));
    const Value few = ((word(1) << wide(count)) - 1) << wide(first);
    return k_.select(guessed_ < kLowBits, few, every());
  }

  void note_view(Value view, Value cases) {
    const Value no = k_.u32(0);
    const Values seen = k_.for_range(no, atoms_, {no, no}, [&](Value a, const Values& now) {
      const Value bit = k_.u32(1) << a;
      const Value truth = slots_[a];
      return Values{now[0] | k_.select((cases & truth) != 0, bit, no),
                    now[1] | k_.select((cases & flipped(truth)) != 0, bit, no)};
    });
    k_.store(worlds_, view, worlds_[view] + k_.popc(cases));
    k_.store(holds_, view, holds_[view] | seen[0]);
    k_.store(fails_, view, fails_[view] | seen[1]);
  }

  Buffer worlds_, holds_, fails_;
};

// Which unit each instance belongs to.
Id placing_kernel(kernel::Graph& graph) {
  KernelBuilder k(graph, "place_instances");
  const Value units = k.val(Type::U32, "units");
  const Buffer first = k.in(Type::U32, "first");
  const Buffer counts = k.in(Type::U32, "counts");
  const Buffer unit_of = k.out(Type::U32, "unit_of");
  const Value u = k.grid(units);
  const Value from = first[u];
  k.for_range(from, from + counts[u], [&](Value i) { k.store(unit_of, i, u); });
  return k.finish();
}

Value instances_of(PlanBuilder& p, Value shape) {
  const Value six = p.u32(kLowBits);
  const Value guessed = (shape >> UnitShape::kGuessed) & UnitShape::kMask;
  const Value questions = (shape >> UnitShape::kQuestions) & UnitShape::kMask;
  return p.u32(1) << (p.max(guessed + questions, six) - p.max(guessed, six));
}

}  // namespace

Id unit_batch_plan(kernel::Graph& graph) {
  const Id place = placing_kernel(graph);
  const Id test = TestKernel(graph).build();
  const Id write = ViewKernel(graph).build();
  PlanBuilder p(graph, "unit_batch");
  const Buffer shapes = p.in(Type::U32, "shapes");
  const Buffer starts = p.in(Type::U32, "starts");
  const Buffer checks = p.in(Type::U32, "checks");
  const Buffer codes = p.in(Type::U8, "codes");
  const Value units = p.len(shapes);
  const Buffer counts =
      p.map(units, [&](Value u) { return Values{instances_of(p, shapes[u])}; })[0];
  const kernel::Scanned first = p.scan(kernel::Fold::Add, counts);
  const Value n = first.total;
  const Buffer unit_of = p.unset_buf(Type::U32, n);
  p.launch(place, {units.id, first.before.id, counts.id, unit_of.id});
  const Buffer accepted = p.unset_buf(Type::U64, n);
  const Buffer found = p.unset_buf(Type::U32, n);
  p.launch(test, {n.id, shapes.id, starts.id, checks.id, codes.id, first.before.id, unit_of.id,
                  accepted.id, found.id});
  const kernel::Scanned before = p.scan(kernel::Fold::Add, found);
  const Buffer unit = p.unset_buf(Type::U32, before.total);
  const Buffer worlds = p.buf(Type::U32, before.total);
  const Buffer holds = p.buf(Type::U32, before.total);
  const Buffer fails = p.buf(Type::U32, before.total);
  // Without views there is nothing to write.
  const Value writers = p.select(before.total == 0, before.total, n);
  p.launch(write,
           {writers.id, shapes.id, starts.id, checks.id, codes.id, first.before.id, unit_of.id,
            accepted.id, before.before.id, unit.id, worlds.id, holds.id, fails.id});
  return p.finish({unit, worlds, holds, fails});
}

}  // namespace xlog::epistemic
