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
// Items of loops that an instance looks at in one launch: some milliseconds of work, so that others
// get their share of what is left, and somebody can look at the clock.
constexpr uint32_t kFewItems = 1u << 18;
constexpr uint32_t kMostItems = 1u << 20;

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
  options.takes_own_rows = walk != Walk::Piece;
  options.loops = loop_count(pipeline_, relation_of, types_.empty());
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
  budget_ = kFewItems;
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

// Into how many parts rows of the driver are divided before anything is known of them.
uint32_t Derivation::chunks_of(RowRange rows) const {
  const uint32_t threads = std::max(1u, machine_->device().info().compute_units);
  const uint32_t chunks = (rows.last - rows.first) / kLeastChunk;
  return std::max(1u, std::min(threads * kChunksPerThread, chunks));
}

uint64_t Derivation::first_output(RowRange rows) const {
  return std::clamp(uint64_t{rows.last - rows.first} * 4, kLeastOutput, kFirstOutput);
}

Status Derivation::start(size_t numbers, Launches& launches) {
  Device& device = machine_->device();
  Result<device::Buffer> state = make_buffer(device, Type::U32, numbers);
  if (!state.ok()) return state.error();
  launches.state = *state;
  Result<device::Buffer> mishaps = make_buffer(device, Type::U32, kMishaps);
  if (!mishaps.ok()) return mishaps.error();
  launches.mishaps = *mishaps;
  return device.fill({launches.mishaps}, std::byte{0});
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

Status Derivation::make_regions(uint64_t rows) {
  Result<std::vector<device::Buffer>> made = machine_->scratch(types_, rows);
  if (!made.ok()) return made.error();
  regions_ = std::move(*made);
  return Done{};
}

void Derivation::divide_output(Launches& launches) const {
  const uint32_t count = launches.instances;
  // A bag without columns only counts: its regions hold nothing.
  launches.region =
      types_.empty() ? UINT32_MAX : static_cast<uint32_t>((output_ + count - 1) / count);
}

// Room for what instances find, in their regions and in the set.
Status Derivation::give_room(Relation* claims, Launches& launches) {
  const uint32_t count = launches.instances;
  if (claims != nullptr && claims->set_kind() != SetKind::Bits) {
    // Fewer rows at a time rather than a set of twice the size, while some of it is free.
    const uint64_t room = claims->room();
    if (room > std::max<uint64_t>(kLeastRoom, claims->stored() / kShareOfSet)) {
      launches.region = static_cast<uint32_t>(std::min<uint64_t>(launches.region, room / count));
    }
  }
  const uint64_t output = uint64_t{launches.region} * count;
  if (Status s = make_regions(output); !s.ok()) return s;
  return claims == nullptr ? Status(Done{}) : claims->reserve(output);
}

Status Derivation::launch(const RelationOf& relation_of, Relation* claims, Launches& launches,
                          std::span<const uint32_t> own, std::vector<uint32_t>& states) {
  Device& device = machine_->device();
  if (Status s = marks_.prepare(*machine_, pipeline_, relation_of, launches.instances); !s.ok()) {
    return s;
  }
  // Indexes and sets of the other relations, before the code that reads them is chosen.
  Result<std::vector<device::Argument>> inputs =
      pipeline_arguments(pipeline_, relation_of, marks_, claims != nullptr ? into_ : std::nullopt);
  if (!inputs.ok()) return inputs.error();
  const bool into_set = claims != nullptr;
  const bool late = into_set && launches.walk == Walk::Piece && is_far(*claims);
  if (Status s = compile(fmt::format("{}{}{}", static_cast<int>(launches.walk),
                                     late ? " late " : "", shape(relation_of, into_set)),
                         [&] { return build(relation_of, into_set, launches.walk, late); });
      !s.ok()) {
    return s;
  }
  std::vector<device::Argument> arguments = {Scalar::u32(launches.instances)};
  for (uint32_t number : own) arguments.emplace_back(Scalar::u32(number));
  arguments.emplace_back(Scalar::u32(launches.region));
  arguments.emplace_back(Scalar::u32(launches.walk == Walk::Piece ? budget_ : most_));
  arguments.emplace_back(device::View{launches.state});
  arguments.emplace_back(device::View{launches.mishaps});
  for (const device::Buffer& buffer : regions_) arguments.emplace_back(device::View{buffer});
  if (claims != nullptr) claims->append_set_arguments(arguments);
  arguments.insert(arguments.end(), inputs->begin(), inputs->end());
  if (Status s = device.write({launches.state}, std::as_bytes(std::span(states))); !s.ok()) {
    return s;
  }
  if (Status s = device.launch(kernel_, arguments); !s.ok()) return s;
  return device.read({launches.state}, std::as_writable_bytes(std::span(states)));
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

Result<Derived> Derivation::finish(const Launches& launches, Derived derived) {
  regions_.clear();
  Result<uint64_t> lost = valueless(launches.mishaps);
  if (!lost.ok()) return lost.error();
  derived.valueless = *lost;
  return derived;
}

// ---- into a bag ----

Result<Derived> Derivation::run_into_bag(const RelationOf& relation_of, Bag& bag,
                                         const Filled& filled, const Counted& counted) {
  types_ = bag.types();
  if (machine_->form() == Form::Groups) {
    return run_groups_into_bag(relation_of, bag, filled, counted);
  }
  Derived derived;
  Result<RowRange> rows = driver_rows(relation_of);
  if (!rows.ok()) return rows.error();
  if (rows->first == rows->last) return derived;
  Pieces pieces = pieces_of(relation_of, *rows);
  Launches launches;
  if (Status s = start(uint64_t{most_pieces()} * pieces.width(), launches); !s.ok())
    return s.error();
  while (!pieces.empty()) {
    std::vector<uint32_t> taken = pieces.take(most_pieces());
    if (Status s = launch_pieces(relation_of, nullptr, launches, pieces.width(), taken); !s.ok()) {
      return s.error();
    }
    std::vector<Bag::Part> parts;
    for (uint32_t i = 0; i < launches.instances; ++i) {
      const uint32_t found = taken[i * pieces.width() + kPieceFilled];
      derived.rows += found;
      parts.push_back({uint64_t{i} * launches.region, found});
    }
    if (!types_.empty()) {
      if (Status s = bag.append(regions_, parts); !s.ok()) return s.error();
      if (Status s = filled(); !s.ok()) return s.error();
    }
    if (Status s = machine_->check(counted(derived.rows)); !s.ok()) return s.error();
    pieces.put_back(taken);
  }
  return finish(launches, derived);
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

Result<Derived> Derivation::run_into_set(const RelationOf& relation_of, Relation& head) {
  types_ = head.types();
  if (ends_with_one_row() && head.stored() > 0) return Derived{};
  if (machine_->form() == Form::Groups) return run_groups_into_set(relation_of, head);
  Result<RowRange> rows = driver_rows(relation_of);
  if (!rows.ok()) return rows.error();
  if (rows->first == rows->last) return Derived{};
  // Depth first would give a group ever better values, each of which has to be handled; so would
  // many instances that run ahead of each other.
  const bool ahead = carry_ && (!keeps_best(head.set_kind()) || chunks_of(*rows) == 1);
  return ahead ? run_ahead(relation_of, head, *rows)
               : run_pieces_into_set(relation_of, head, *rows);
}

// ---- pieces ----

// One instance for each piece.
uint32_t Derivation::most_pieces() const {
  return std::max(1u, machine_->device().info().compute_units) * kChunksPerThread;
}

Pieces Derivation::pieces_of(const RelationOf& relation_of, RowRange rows) {
  output_ = std::max(first_output(rows), output_);
  Pieces pieces(loop_count(pipeline_, relation_of, types_.empty()));
  pieces.add_rows(rows.first, rows.last, chunks_of(rows));
  return pieces;
}

Status Derivation::launch_pieces(const RelationOf& relation_of, Relation* claims,
                                 Launches& launches, uint32_t width,
                                 std::vector<uint32_t>& pieces) {
  launches.instances = static_cast<uint32_t>(pieces.size()) / width;
  divide_output(launches);
  if (Status s = give_room(claims, launches); !s.ok()) return s;
  const uint32_t longest = longest_rows(pieces, width);
  if (Status s = launch(relation_of, claims, launches, {&longest, 1}, pieces); !s.ok()) return s;
  budget_ = std::min(kMostItems, budget_ * 2);
  return Done{};
}

Result<Derived> Derivation::run_pieces_into_set(const RelationOf& relation_of, Relation& head,
                                                RowRange rows) {
  Derived derived;
  Pieces pieces = pieces_of(relation_of, rows);
  const uint32_t width = pieces.width();
  Launches launches;
  if (Status s = start(uint64_t{most_pieces()} * width, launches); !s.ok()) return s.error();
  // Where the rule goes on with its own rows elsewhere, those stand first.
  const auto next = carry_ ? Relation::Next::NewBesideHandled : Relation::Next::New;
  while (!pieces.empty() && !(derived.rows > 0 && ends_with_one_row())) {
    std::vector<uint32_t> taken = pieces.take(most_pieces());
    if (Status s = launch_pieces(relation_of, &head, launches, width, taken); !s.ok()) {
      return s.error();
    }
    bool full = false;
    std::vector<Bag::Part> parts;
    for (uint32_t i = 0; i < launches.instances; ++i) {
      const uint32_t* piece = &taken[i * width];
      parts.push_back({uint64_t{i} * launches.region, piece[kPieceFilled]});
      derived.rows += piece[kPieceNew];
      full |= piece[kPieceFilled] == launches.region;
    }
    if (Status s = head.append(regions_, parts, next); !s.ok()) return s.error();
    if (Status s = machine_->check(derived.rows); !s.ok()) return s.error();
    Result<bool> crowded = head.is_crowded();
    if (!crowded.ok()) return crowded.error();
    if (*crowded) {
      // What found no place comes again; what did is found there.
      if (Status s = head.spread_out(); !s.ok()) return s.error();
      if (Status s = start(uint64_t{most_pieces()} * width, launches); !s.ok()) return s.error();
      pieces = pieces_of(relation_of, rows);
      continue;
    }
    if (full) output_ = std::min(kMostOutput, output_ * 4);
    pieces.put_back(taken);
  }
  return finish(launches, derived);
}

// ---- ahead, with its own rows ----

// How many rows will come, about, if the rows that were taken so far are like the others: each with
// its own value of what is carried, and followed as far as it leads. 0 where they are too few.
uint64_t Derivation::still_expected(const Relation& head, const Chunks& work,
                                    uint64_t found) const {
  constexpr uint64_t kSample = 32;
  uint64_t taken = 0;
  for (uint32_t c = 0; c < work.launches.instances; ++c) {
    taken += work.states[c * kChunkWidth + kChunkRow] - work.rows.first - c * work.length;
  }
  const uint64_t rows = work.rows.last - work.rows.first;
  const uint64_t all = std::min(rows, carry_->carried_values(head));
  return taken < kSample || taken >= all ? 0 : found / taken * (all - taken);
}

Result<Derivation::Chunks> Derivation::chunks_for(RowRange rows) {
  Chunks work;
  work.rows = rows;
  const uint32_t count = rows.last - rows.first;
  const uint32_t most = chunks_of(rows);
  work.length = (count + most - 1) / most;
  work.launches.instances = (count + work.length - 1) / work.length;
  output_ = std::max(first_output(rows), output_);
  divide_output(work.launches);
  work.states.assign(uint64_t{work.launches.instances} * kChunkWidth, 0);
  for (uint32_t c = 0; c < work.launches.instances; ++c) {
    work.states[c * kChunkWidth + kChunkRow] = rows.first + c * work.length;
  }
  Status started = start(work.states.size(), work.launches);
  return started.ok() ? Result<Chunks>(std::move(work)) : started.error();
}

Result<Derived> Derivation::run_ahead(const RelationOf& relation_of, Relation& head,
                                      RowRange rows) {
  Derived derived;
  Result<Chunks> started = chunks_for(rows);
  if (!started.ok()) return started.error();
  Chunks& work = *started;
  Launches& launches = work.launches;
  uint64_t expected = 0;
  for (bool more = true; more;) {
    Result<std::optional<std::vector<uint64_t>>> carried =
        carry_->run(relation_of, std::max(output_, expected));
    if (!carried.ok()) return carried.error();
    if (*carried) {
      derived.rows += (**carried)[0];
      break;
    }
    const std::vector<uint32_t> before = work.states;
    if (Status s = give_room(&head, launches); !s.ok()) return s.error();
    launches.walk = head.forgets() ? Walk::Stack : Walk::Queue;
    const uint32_t own[] = {work.length, rows.first, rows.last};
    if (Status s = launch(relation_of, &head, launches, own, work.states); !s.ok()) {
      return s.error();
    }
    uint32_t finished = 0;
    for (uint32_t c = 0; c < launches.instances; ++c) {
      const uint32_t* state = &work.states[c * kChunkWidth];
      const uint32_t end = std::min(rows.last, rows.first + (c + 1) * work.length);
      const bool empty = launches.walk != Walk::Stack || state[kChunkFilled] == 0;
      finished += state[kChunkRow] == end && empty ? 1 : 0;
      derived.rows += state[kChunkNew];
    }
    more = finished < launches.instances;
    expected = still_expected(head, work, derived.rows);
    // A stack goes on in the next launch, unless it has no room or others wait for work.
    const bool divides = finished * 2 >= launches.instances;
    std::vector<Bag::Part> handled, others;
    for (uint32_t c = 0; c < launches.instances; ++c) {
      uint32_t* state = &work.states[c * kChunkWidth];
      const uint64_t begin = uint64_t{c} * launches.region;
      if (launches.walk == Walk::Stack) {
        // What is on a stack is counted when it leaves it.
        Status s = head.add_forgotten(state[kChunkNew] + before[c * kChunkWidth + kChunkFilled] -
                                      state[kChunkFilled]);
        if (!s.ok()) return s.error();
        if (!divides && state[kChunkFilled] + 1 < launches.region) continue;
        others.push_back({begin, state[kChunkFilled]});
      } else {
        handled.push_back({begin, state[kChunkHandled]});
        others.push_back(
            {begin + state[kChunkHandled], state[kChunkFilled] - state[kChunkHandled]});
      }
      state[kChunkFilled] = 0;
    }
    if (Status s = head.append(regions_, handled, Relation::Next::Handled); !s.ok()) {
      return s.error();
    }
    if (Status s = head.append(regions_, others, Relation::Next::NewBesideHandled); !s.ok()) {
      return s.error();
    }
    if (Status s = machine_->check(derived.rows); !s.ok()) return s.error();
    Result<bool> crowded = head.is_crowded();
    if (!crowded.ok()) return crowded.error();
    if (*crowded) {
      // What found no place comes again; what did is found there.
      if (Status s = head.spread_out(); !s.ok()) return s.error();
      started = chunks_for(rows);
      if (!started.ok()) return started.error();
      more = true;
      continue;
    }
    output_ = std::min(kMostOutput, output_ * 4);
    if (more && !divides) most_ = std::min(kMostOwnRows, most_ * 8);
  }
  return finish(launches, derived);
}

}  // namespace xlog::relation
