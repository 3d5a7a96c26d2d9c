#include "relation/derive.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.h"
#include "plan/helper_rule.h"
#include "relation/derive_kernel.h"

namespace xlog::relation {

using kernel::Scalar;

namespace {

constexpr uint32_t kChunksPerThread = 8;
constexpr uint32_t kLeastChunk = 64;         // rows of the driver
constexpr uint64_t kLeastOutput = 1024;      // rows of all regions together
constexpr uint64_t kFirstOutput = 1u << 17;  // at most; then as much as turns out to be needed
constexpr uint64_t kMostOutput = 1u << 19;
constexpr uint64_t kShareOfSet = 64;  // one of so many rows is room enough for output
constexpr uint64_t kLeastRoom = 1u << 15;
// As much as a core has of its cache for itself.
constexpr uint64_t kBytesOfLargeSet = 1u << 20;
// Rows that an instance takes of its own in one launch: few at first, so that what it leaves can be
// divided again, and as a device may begin with slow code.
constexpr uint32_t kFewOwnRows = 1u << 9;
constexpr uint32_t kMostOwnRows = 1u << 24;

// Pairs of a row of the driver and one of the others that an instance meets in one launch: a tenth
// of a second's work at most, but for what lookups find beyond what is expected.
constexpr double kFewPairs = 1u << 18;
constexpr double kMostPairs = 1u << 22;
constexpr double kManyFound = 16;
constexpr double kLeastSlice = 16;  // rows of the driver

// Whether most cells of the set come from memory. Rows that a rule finds one after another often
// lie in the same words of bits.
bool is_far(const Relation& relation) {
  return relation.set_kind() != SetKind::Bits && relation.set_bytes() >= kBytesOfLargeSet;
}

Error too_long(uint32_t most) {
  return {fmt::format("an interval has more than {} values", most), "take a smaller interval",
          ErrorKind::Limit};
}

}  // namespace

kernel::Id Derivation::build(const RelationOf& relation_of, bool claims, Walk walk, bool late) {
  DeriveKernel::Options options;
  options.types = types_;
  options.keeps_rows = walk != Walk::Stack;
  options.takes_own_rows = walk != Walk::Chunk;
  if (claims) options.claims = into_;
  options.claims_late = late;
  options.ends_with_one_row = claims && ends_with_one_row();
  options.marks = &marks_;
  return DeriveKernel(machine_->graph(), *program_, pipeline_, head_, relation_of, options).build();
}

// What the code depends on besides the pipeline.
std::string Derivation::shape(const RelationOf& relation_of, bool claims) const {
  std::string text = fmt::format("{}", claims);
  if (claims) text += shape_text(relation_of(*into_));
  return text + shape_text(pipeline_, relation_of, marks_);
}

Status Derivation::compile(std::string wanted, const std::function<kernel::Id()>& code) {
  if (compiled_ == wanted) return Done{};
  Result<device::KernelHandle> kernel = machine_->device().compile(machine_->graph(), code());
  if (!kernel.ok()) return kernel.error();
  kernel_ = *kernel;
  compiled_ = std::move(wanted);
  most_ = kFewOwnRows;
  pairs_ = kFewPairs;
  return Done{};
}

Result<RowRange> Derivation::driver_rows(const RelationOf& relation_of) {
  if (Status s = prepare_columns(pipeline_, relation_of); !s.ok()) return s.error();
  const std::optional<size_t> driver = driver_of(pipeline_);
  if (!driver) return RowRange{0, 1};  // the pipeline runs once
  const plan::Step& step = pipeline_.steps[*driver];
  if (const std::optional<uint64_t> values = constant_size(step);
      step.kind == plan::StepKind::Range && values) {
    if (*values > UINT32_MAX) return too_long(UINT32_MAX);
    return RowRange{0, static_cast<uint32_t>(*values)};
  }
  return driven_rows(relation_of(step.pred), step);
}

Result<Derivation::Work> Derivation::start(const RelationOf& relation_of) {
  Device& device = machine_->device();
  Result<RowRange> range = driver_rows(relation_of);
  if (!range.ok()) return range.error();
  Work work{};
  work.rows = *range;
  const uint32_t rows = work.rows.last - work.rows.first;
  if (rows == 0) return work;
  const uint32_t threads = std::max(1u, device.info().compute_units);
  const uint32_t most = std::max(1u, std::min(threads * kChunksPerThread, rows / kLeastChunk));
  work.length = (rows + most - 1) / most;
  work.chunks = (rows + work.length - 1) / work.length;
  work.count = work.chunks;
  output_ = std::max(std::clamp(uint64_t{rows} * 4, kLeastOutput, kFirstOutput), output_);
  // A bag without columns only counts: its regions hold nothing and never fill up.
  work.region = types_.empty() ? UINT32_MAX / work.chunks
                               : static_cast<uint32_t>((output_ + work.chunks - 1) / work.chunks);
  work.states.assign(uint64_t{work.chunks} * kStateWidth, 0);
  for (uint32_t c = 0; c < work.chunks; ++c) {
    work.states[c * kStateWidth + kRow] = work.rows.first + c * work.length;
  }
  Result<device::Buffer> state = make_buffer(device, Type::U32, work.states.size());
  if (!state.ok()) return state.error();
  work.state = *state;
  Result<device::Buffer> mishaps = make_buffer(device, Type::U32, kMishaps);
  if (!mishaps.ok()) return mishaps.error();
  work.mishaps = *mishaps;
  if (Status s = device.fill({work.mishaps}, std::byte{0}); !s.ok()) return s.error();
  return work;
}

// How many rows of a key a lookup finds, about.
double Derivation::expected_found(const RelationOf& relation_of, const plan::Step& step) const {
  const Relation& relation = relation_of(step.pred);
  const std::vector<uint32_t> keys = plan::key_columns(step);
  const double rows = relation.rows();
  if (keys.empty()) return rows;
  std::optional<double> found;
  for (uint32_t key : keys) {
    const std::optional<uint64_t> groups = relation.groups(key);
    if (groups && *groups > 0) found = std::min(found.value_or(rows), rows / double(*groups));
  }
  return std::clamp(found.value_or(step.rows), 1.0, std::max(rows, 1.0));
}

Derivation::Met Derivation::expected_met(const RelationOf& relation_of) const {
  const std::optional<size_t> driver = driver_of(pipeline_);
  Met met;
  for (size_t s = 0; s < pipeline_.steps.size(); ++s) {
    const plan::Step& step = pipeline_.steps[s];
    if (driver == s) continue;
    if (step.kind == plan::StepKind::Range) met.known *= plan::expected_size(step);
    if (step.kind == plan::StepKind::Meet) met.found *= std::max(step.rows, 1.0);
    if (step.kind != plan::StepKind::Match) continue;
    const double rows = std::max(expected_found(relation_of, step), 1.0);
    (plan::key_columns(step).empty() ? met.known : met.found) *= rows;
  }
  return met;
}

// How many rows of the driver one launch takes of a chunk, so that somebody can look at the clock.
// Where lookups find many rows the device does not see the work ahead, and may begin with slow
// code: there are few in the first launch.
uint32_t Derivation::slice(const RelationOf& relation_of) const {
  const auto [known, found] = expected_met(relation_of);
  const double pairs = found < kManyFound ? kMostPairs : pairs_;
  // What is found is a guess, which is not trusted so far that there are launches for a few rows.
  const double least = std::min(kMostPairs / known, kLeastSlice);
  return static_cast<uint32_t>(
      std::clamp(pairs / (known * found), std::max(least, 1.0), kMostPairs));
}

Status Derivation::make_regions(uint64_t rows) {
  Result<std::vector<device::Buffer>> made = machine_->scratch(types_, rows);
  if (!made.ok()) return made.error();
  regions_ = std::move(*made);
  return Done{};
}

Status Derivation::launch(const RelationOf& relation_of, Relation* claims, Work& work) {
  Device& device = machine_->device();
  if (claims != nullptr && claims->set_kind() != SetKind::Bits) {
    // Fewer rows at a time rather than a set of twice the size, while some of it is free.
    const uint64_t room = claims->room();
    if (room > std::max<uint64_t>(kLeastRoom, claims->stored() / kShareOfSet)) {
      work.region = static_cast<uint32_t>(std::min<uint64_t>(work.region, room / work.count));
    }
  }
  const uint64_t output = uint64_t{work.region} * work.count;
  if (Status s = make_regions(output); !s.ok()) return s;
  if (claims != nullptr) {
    if (Status s = claims->reserve(output); !s.ok()) return s;
  }
  // Depth first would give a group ever better values, each of which has to be handled; so would
  // many instances that run ahead of each other.
  const bool ahead = claims != nullptr && (!keeps_best(claims->set_kind()) || work.chunks == 1);
  work.walk = !carry_ || !ahead ? Walk::Chunk : claims->forgets() ? Walk::Stack : Walk::Queue;
  if (Status s = marks_.prepare(*machine_, pipeline_, relation_of, work.count); !s.ok()) return s;
  // Indexes and sets of the other relations, before the code that reads them is chosen.
  Result<std::vector<device::Argument>> inputs =
      pipeline_arguments(pipeline_, relation_of, marks_, claims != nullptr ? into_ : std::nullopt);
  if (!inputs.ok()) return inputs.error();
  const bool into_set = claims != nullptr;
  const bool late = into_set && work.walk == Walk::Chunk && is_far(*claims);
  if (Status s = compile(fmt::format("{}{}{}", static_cast<int>(work.walk), late ? " late " : "",
                                     shape(relation_of, into_set)),
                         [&] { return build(relation_of, into_set, work.walk, late); });
      !s.ok()) {
    return s;
  }
  work.most = work.walk == Walk::Chunk ? std::min(work.length, slice(relation_of)) : most_;
  std::vector<device::Argument> arguments = {
      Scalar::u32(work.count),      Scalar::u32(work.next),      Scalar::u32(work.length),
      Scalar::u32(work.rows.first), Scalar::u32(work.rows.last), Scalar::u32(work.region),
      Scalar::u32(work.most)};
  arguments.emplace_back(device::View{work.state});
  arguments.emplace_back(device::View{work.mishaps});
  for (const device::Buffer& buffer : regions_) arguments.emplace_back(device::View{buffer});
  if (claims != nullptr) claims->append_set_arguments(arguments);
  arguments.insert(arguments.end(), inputs->begin(), inputs->end());
  if (Status s = device.write({work.state}, std::as_bytes(std::span(work.states))); !s.ok()) {
    return s;
  }
  if (Status s = device.launch(kernel_, arguments); !s.ok()) return s;
  pairs_ = std::min(kMostPairs, pairs_ * 8);
  return device.read({work.state}, std::as_writable_bytes(std::span(work.states)));
}

// Instances without a value of all launches; an error where a range had too many values.
Result<uint64_t> Derivation::valueless(const device::Buffer& mishaps) {
  Device& device = machine_->device();
  Result<std::optional<device::CheckFailure>> failed = device.checks();
  if (!failed.ok()) return failed.error();
  XLOG_CHECK(!failed->has_value(), "a kernel that derives rows failed a check");
  Result<std::vector<uint32_t>> counted = read_numbers<uint32_t>(device, mishaps, kMishaps);
  if (!counted.ok()) return counted.error();
  if ((*counted)[kTooLong] > 0) return too_long(kMostRange);
  return uint64_t{(*counted)[kValueless]};
}

// ---- into a bag ----

Result<Derived> Derivation::run_into_bag(const RelationOf& relation_of, Bag& bag,
                                         const Filled& filled, const Counted& counted) {
  types_ = bag.types();
  if (machine_->form() == Form::Groups) {
    return run_groups_into_bag(relation_of, bag, filled, counted);
  }
  Derived derived;
  Result<Work> started = start(relation_of);
  if (!started.ok()) return started.error();
  Work& work = *started;
  if (work.chunks == 0) return derived;
  while (work.next < work.chunks) {
    const uint32_t last = std::min(work.chunks, work.next + work.count);
    work.count = last - work.next;
    std::vector<uint32_t> before = work.states;
    if (Status s = launch(relation_of, nullptr, work); !s.ok()) return s.error();
    bool more = false;
    bool stuck = false;
    std::vector<Bag::Part> parts;
    for (uint32_t c = work.next; c < last; ++c) {
      uint32_t* state = &work.states[c * kStateWidth];
      const uint32_t end = std::min(work.rows.last, work.rows.first + (c + 1) * work.length);
      more |= state[kRow] < end;
      stuck |= state[kRow] < end && state[kRow] == before[c * kStateWidth + kRow];
      derived.rows += state[kFilled];
      parts.push_back({uint64_t{c - work.next} * work.region, state[kFilled]});
      state[kFilled] = 0;
    }
    if (!types_.empty()) {
      if (Status s = bag.append(regions_, parts); !s.ok()) return s.error();
      if (Status s = filled(); !s.ok()) return s.error();
    }
    if (Status s = machine_->check(counted(derived.rows)); !s.ok()) return s.error();
    if (!more) work.next = last;
    if (!stuck) continue;
    // One row of the driver gives more rows than a region holds: fewer and larger ones.
    if (work.region > UINT32_MAX / 8) {
      return Error{"one row has more than 500 million solutions", "add literals that bind more"};
    }
    work.region *= 4;
    work.count = std::max(1u, work.count / 4);
  }
  regions_.clear();
  Result<uint64_t> lost = valueless(work.mishaps);
  if (!lost.ok()) return lost.error();
  derived.valueless = *lost;
  return derived;
}

namespace {

// The relation whose rows are all solutions, where nothing else is asked of them.
std::optional<lang::PredId> counted_relation(const plan::Pipeline& pipeline) {
  if (pipeline.steps.size() != 1 || pipeline.steps[0].kind != plan::StepKind::Match) return {};
  const plan::Step& step = pipeline.steps[0];
  const bool all_rows = std::ranges::all_of(step.columns, [](const plan::ColumnArg& column) {
    return column.use == plan::ColumnUse::Bind || column.use == plan::ColumnUse::Ignore;
  });
  return step.part == plan::Part::All && all_rows ? std::optional(step.pred) : std::nullopt;
}

}  // namespace

Result<Derived> Derivation::run(const RelationOf& relation_of, Bag& bag, const Filled& filled) {
  if (const auto counted = counted_relation(pipeline_); counted && bag.types().empty()) {
    return Derived{relation_of(*counted).rows(), 0};
  }
  const bool counts = counts_rows_ && !bag.types().empty();
  return run_into_bag(relation_of, bag, filled, [&](uint64_t found) { return counts ? found : 0; });
}

// ---- into a relation ----

// Where the head's rows go if nobody has to look whether they are there already.
Result<Bag*> Derivation::rows_without_set(const RelationOf& relation_of, Relation& head) {
  if (!alone_ || head_.empty() || !plan::tells_bindings_apart(head_, pipeline_)) return nullptr;
  Result<RowRange> driver = driver_rows(relation_of);
  if (!driver.ok()) return driver.error();
  const Met met = expected_met(relation_of);
  const double expected = double(driver->last - driver->first) * met.known * met.found;
  return head.rows_without_set(static_cast<uint64_t>(std::min(expected, double(UINT32_MAX))));
}

Result<Derived> Derivation::run(const RelationOf& relation_of) {
  XLOG_CHECK(into_.has_value(), "a derivation into a bag is given the bag");
  Relation& head = relation_of(*into_);
  Result<Bag*> rows = rows_without_set(relation_of, head);
  if (!rows.ok()) return rows.error();
  if (*rows != nullptr) {
    return run_into_bag(relation_of, **rows, leave_in_bag, [](uint64_t found) { return found; });
  }
  if (Status s = head.reserve(0); !s.ok()) return s.error();
  if (!is_wide(head.set_kind())) return run_into_set(relation_of, head);
  // Candidates first: their set compares rows where they are stored.
  Bag candidates(*machine_, head.types());
  const uint32_t before = head.stored();
  const auto absorb = [&]() -> Status {
    Result<uint32_t> added = head.absorb(candidates.columns(), candidates.rows());
    candidates.clear();
    return added.ok() ? Status(Done{}) : added.error();
  };
  Result<Derived> derived = run_into_bag(relation_of, candidates, absorb,
                                         [&](uint64_t) { return head.stored() - before; });
  if (derived.ok()) derived->rows = head.stored() - before;
  return derived;
}

// Whether the head has no columns: one row of it is all that there can be. Where instances without
// a value are counted, all of them have to be met nevertheless.
bool Derivation::ends_with_one_row() const {
  return head_.empty() && std::ranges::none_of(program_->rules[pipeline_.rule].body,
                                               [](const auto& l) { return plan::computes(l); });
}

// How many rows will come, about, if the rows that were taken so far are like the others: each with
// its own value of what is carried, and followed as far as it leads. 0 where they are too few.
uint64_t Derivation::still_expected(const Relation& head, const Work& work, uint64_t found) const {
  constexpr uint64_t kSample = 32;
  uint64_t taken = 0;
  for (uint32_t c = 0; c < work.chunks; ++c) {
    taken += work.states[c * kStateWidth + kRow] - work.rows.first - c * work.length;
  }
  const uint64_t rows = work.rows.last - work.rows.first;
  const uint64_t all = std::min(rows, carry_->carried_values(head));
  return taken < kSample || taken >= all ? 0 : found / taken * (all - taken);
}

Result<Derived> Derivation::run_into_set(const RelationOf& relation_of, Relation& head) {
  types_ = head.types();
  if (ends_with_one_row() && head.stored() > 0) return Derived{};
  if (machine_->form() == Form::Groups) return run_groups_into_set(relation_of, head);
  Derived derived;
  Result<Work> started = start(relation_of);
  if (!started.ok()) return started.error();
  Work& work = *started;
  if (work.chunks == 0) return derived;
  uint64_t expected = 0;
  for (bool more = true; more;) {
    if (carry_) {
      Result<std::optional<std::vector<uint64_t>>> rows =
          carry_->run(relation_of, std::max(output_, expected));
      if (!rows.ok()) return rows.error();
      if (*rows) {
        derived.rows += (**rows)[0];
        break;
      }
    }
    const std::vector<uint32_t> before = work.states;
    if (Status s = launch(relation_of, &head, work); !s.ok()) return s.error();
    uint32_t finished = 0;
    bool full = false;
    for (uint32_t c = 0; c < work.chunks; ++c) {
      const uint32_t* state = &work.states[c * kStateWidth];
      const uint32_t end = std::min(work.rows.last, work.rows.first + (c + 1) * work.length);
      full |= state[kRow] < end && state[kRow] - before[c * kStateWidth + kRow] < work.most;
      const bool empty = work.walk != Walk::Stack || state[kFilled] == 0;
      finished += state[kRow] == end && empty ? 1 : 0;
      derived.rows += state[kNew];
    }
    more = finished < work.chunks && !(derived.rows > 0 && ends_with_one_row());
    if (carry_) expected = still_expected(head, work, derived.rows);
    // A stack goes on in the next launch, unless it has no room or others wait for work.
    const bool divides = finished * 2 >= work.chunks;
    std::vector<Bag::Part> handled, others;
    for (uint32_t c = 0; c < work.chunks; ++c) {
      uint32_t* state = &work.states[c * kStateWidth];
      const uint64_t begin = uint64_t{c} * work.region;
      if (work.walk == Walk::Stack) {
        // What is on a stack is counted when it leaves it.
        Status s =
            head.add_forgotten(state[kNew] + before[c * kStateWidth + kFilled] - state[kFilled]);
        if (!s.ok()) return s.error();
        if (!divides && state[kFilled] + 1 < work.region) continue;
        others.push_back({begin, state[kFilled]});
      } else {
        handled.push_back({begin, state[kHandled]});
        others.push_back({begin + state[kHandled], state[kFilled] - state[kHandled]});
      }
      state[kFilled] = 0;
    }
    const auto handled_rows = carry_ ? Relation::Next::Handled : Relation::Next::New;
    const auto other_rows = carry_ ? Relation::Next::NewBesideHandled : Relation::Next::New;
    if (Status s = head.append(regions_, handled, handled_rows); !s.ok()) return s.error();
    if (Status s = head.append(regions_, others, other_rows); !s.ok()) return s.error();
    if (Status s = machine_->check(derived.rows); !s.ok()) return s.error();
    Result<bool> crowded = head.is_crowded();
    if (!crowded.ok()) return crowded.error();
    if (*crowded) {
      // What found no place comes again; what did is found there.
      if (Status s = head.spread_out(); !s.ok()) return s.error();
      started = start(relation_of);
      if (!started.ok()) return started.error();
      more = true;
      continue;
    }
    if (full || work.walk != Walk::Chunk) output_ = std::min(kMostOutput, output_ * 4);
    if (more && !divides) most_ = std::min(kMostOwnRows, most_ * 8);
  }
  regions_.clear();
  Result<uint64_t> lost = valueless(work.mishaps);
  if (!lost.ok()) return lost.error();
  derived.valueless = *lost;
  return derived;
}

}  // namespace xlog::relation
