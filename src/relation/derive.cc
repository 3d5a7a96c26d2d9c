#include "relation/derive.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace xlog::relation {

using kernel::Buffer;
using kernel::KernelBuilder;
using kernel::Scalar;

namespace {

constexpr uint32_t kChunksPerThread = 8;
constexpr uint32_t kLeastChunk = 256;    // rows of the driver
constexpr uint64_t kLeastOutput = 1024;  // rows of all regions together
constexpr uint64_t kMostOutput = 1u << 21;

// The state of a chunk: the row it goes on with, how many rows its region holds, and how many of
// those it went on with.
enum State : uint32_t { kRow, kFilled, kHandled, kStateWidth };

}  // namespace

// ---- the kernel ----

kernel::Id Derivation::build(const RelationOf& relation_of, bool claims, bool eager) {
  KernelBuilder k(machine_->graph(), "derive");
  const Value chunks = k.val(Type::U32, "chunks");
  const Value length = k.val(Type::U32, "length");
  const Value first = k.val(Type::U32, "first");
  const Value last = k.val(Type::U32, "last");
  const Value region = k.val(Type::U32, "region");
  const Buffer state = k.own(Type::U32, "state");
  const Buffer valueless = k.acc(Type::U32, "valueless");
  kernel::Columns out;
  for (Type type : types_) out.push_back(eager ? k.own(type, "out") : k.out(type, "out"));
  std::optional<ClaimedSet> claimed;
  if (claims) {
    const Relation& head = relation_of(*into_);
    claimed = ClaimedSet{*into_, declare_set(k, head.set_kind(), types_, kernel::Mode::Race)};
  }
  PipelineCode code(k, *program_, pipeline_, relation_of, claimed);

  const Value c = k.grid(chunks);
  const Value zero = k.u32(0);
  const Value none = k.boolean(false);
  const Value base = c * region;
  const Value to = first + k.min(last - first, (c + 1) * length);
  const Buffer filled = k.private_array(Type::U32, 1);
  const Buffer full = k.private_array(Type::Bool, 1);
  k.store(filled, zero, zero);
  k.store(full, zero, none);
  auto no_value = [&] { k.atomic(kernel::Fold::Add, valueless, zero, k.u32(1)); };
  auto emit = [&](const Slots& slots) {
    Values row;
    std::optional<Value> exists;
    for (const lang::Term& term : head_) {
      const TermCode value = term_code(k, term, slots);
      if (value.exists) exists = exists ? *exists & *value.exists : *value.exists;
      row.push_back(value.value);
    }
    if (row.size() < out.size()) row.push_back(zero);  // a relation without columns
    auto store = [&] {
      const Value place = filled[zero];
      for (size_t j = 0; j < row.size(); ++j) k.store(out[j], base + place, row[j]);
      k.store(filled, zero, place + 1);
    };
    auto keep = [&] {
      k.if_then(
          filled[zero] < region,
          [&] {
            if (!claimed) return store();
            k.if_then(claim_row(k, claimed->set, row), store);
          },
          [&] { k.store(full, zero, k.boolean(true)); });
    };
    if (!exists) return keep();
    k.if_then(*exists, keep, no_value);
  };

  const Value from = state[c * kStateWidth + kRow];
  // One row of the driver: whether the region was full before its end.
  auto take = [&](const Values& row) {
    const Value mark = filled[zero];
    code.run(row, emit, no_value);
    if (!claimed) k.store(filled, zero, k.select(full[zero], mark, filled[zero]));
    return full[zero];
  };
  const kernel::Columns& columns = code.driver_columns();
  if (!eager) {
    const Buffer next = k.private_array(Type::U32, 1);
    k.store(next, zero, from);
    // A counted loop, so that the device sees how much there is to do.
    k.for_range(zero, length, [&](Value j) {
      const Value at = first + c * length + j;
      k.if_then((at == next[zero]) & (at < to), [&] {
        Values row;
        for (const Buffer& column : columns) row.push_back(column[at]);
        const Value stopped = take(row);
        k.store(next, zero, k.select(stopped, at, at + 1));
      });
    });
    k.store(state, c * kStateWidth + kRow, next[zero]);
    k.store(state, c * kStateWidth + kFilled, filled[zero]);
    k.store(state, c * kStateWidth + kHandled, zero);
    return k.finish();
  }
  const Values end =
      k.loop(length + region, from < to, {from, zero},
             [&](Value, const Values& at) -> std::pair<Value, Values> {
               const Value in_chunk = at[0] < to;
               Values row;
               for (size_t j = 0; j < columns.size(); ++j) {
                 const Buffer loaded = k.private_array(columns[j].type(), 1);
                 k.if_then(
                     in_chunk, [&] { k.store(loaded, zero, columns[j][at[0]]); },
                     [&] { k.store(loaded, zero, out[j][base + at[1]]); });
                 row.push_back(loaded[zero]);
               }
               const Value stopped = take(row);
               const Value next = k.select(stopped | !in_chunk, at[0], at[0] + 1);
               const Value handled = k.select(stopped | in_chunk, at[1], at[1] + 1);
               return {((next < to) | (handled < filled[zero])) & !stopped, {next, handled}};
             });
  k.store(state, c * kStateWidth + kRow, end[0]);
  k.store(state, c * kStateWidth + kFilled, filled[zero]);
  k.store(state, c * kStateWidth + kHandled, end[1]);
  return k.finish();
}

// What the code depends on besides the pipeline.
std::string Derivation::shape(const RelationOf& relation_of, bool claims, bool eager) const {
  std::string text = fmt::format("{}{}", claims, eager);
  if (claims) text += fmt::format("{}", static_cast<int>(relation_of(*into_).set_kind()));
  for (const plan::Step& step : pipeline_.steps) {
    if (!step.pred.valid()) continue;
    const Relation& relation = relation_of(step.pred);
    text += fmt::format("{}{}", static_cast<int>(relation.set_kind()),
                        relation.has_direct_index(plan::key_columns(step)));
  }
  return text;
}

Status Derivation::compile(const RelationOf& relation_of, bool claims, bool eager) {
  std::string wanted = shape(relation_of, claims, eager);
  if (compiled_ == wanted) return Done{};
  Device& device = machine_->device();
  Result<device::KernelHandle> kernel =
      device.compile(machine_->graph(), build(relation_of, claims, eager));
  if (!kernel.ok()) return kernel.error();
  kernel_ = *kernel;
  compiled_ = std::move(wanted);
  return Done{};
}

// ---- running it ----

Result<Derived> Derivation::run(const RelationOf& relation_of) {
  XLOG_CHECK(into_.has_value(), "a derivation into a bag is given the bag");
  Relation& head = relation_of(*into_);
  types_ = head.types();
  if (Status s = head.reserve(0); !s.ok()) return s.error();
  if (head.set_kind() == SetKind::Wide) {
    Bag candidates(*machine_, types_);
    const uint32_t before = head.stored();
    Result<Derived> derived = run(relation_of, nullptr, [&](const Launch& done) -> Status {
      std::vector<Bag::Part> parts;
      for (uint32_t c = 0; c < done.chunks; ++c) {
        parts.push_back({uint64_t{c} * done.region, done.states[c * kStateWidth + kFilled]});
      }
      if (Status s = candidates.append(regions_, parts); !s.ok()) return s;
      Result<uint32_t> added = head.absorb(candidates.columns(), candidates.rows());
      candidates.clear();
      return added.ok() ? Status(Done{}) : added.error();
    });
    if (derived.ok()) derived->rows = head.stored() - before;
    return derived;
  }
  // Rows that an instance put into its region and had no room to go on with.
  Bag left(*machine_, types_);
  Result<Derived> derived = run(relation_of, &head, [&](const Launch& done) -> Status {
    std::vector<Bag::Part> handled, others;
    for (uint32_t c = 0; c < done.chunks; ++c) {
      const uint64_t begin = uint64_t{c} * done.region;
      const uint32_t count = done.states[c * kStateWidth + kHandled];
      handled.push_back({begin, count});
      others.push_back({begin + count, done.states[c * kStateWidth + kFilled] - count});
    }
    if (Status s = head.append(regions_, handled, done.eager); !s.ok()) return s;
    return done.eager ? left.append(regions_, others) : head.append(regions_, others, false);
  });
  if (!derived.ok()) return derived;
  const Bag::Part rest{0, left.rows()};
  if (Status s = head.append(left.columns(), std::span(&rest, 1), false); !s.ok()) {
    return s.error();
  }
  return derived;
}

Result<Derived> Derivation::run(const RelationOf& relation_of, Bag& bag) {
  types_ = bag.types();
  return run(relation_of, nullptr, [&](const Launch& done) -> Status {
    std::vector<Bag::Part> parts;
    for (uint32_t c = 0; c < done.chunks; ++c) {
      parts.push_back({uint64_t{c} * done.region, done.states[c * kStateWidth + kFilled]});
    }
    return types_.empty() ? Status(Done{}) : bag.append(regions_, parts);
  });
}

Result<Derivation::Launch> Derivation::start(const RelationOf& relation_of, bool eager) {
  Device& device = machine_->device();
  Launch made{};
  made.rows = {0, 1};  // without a driver the pipeline runs once
  if (const std::optional<size_t> driver = driver_of(pipeline_)) {
    const plan::Step& step = pipeline_.steps[*driver];
    made.rows = rows_of(relation_of(step.pred), step.part);
  }
  const uint32_t rows = made.rows.last - made.rows.first;
  if (rows == 0) return made;
  const uint32_t threads = std::max(1u, device.info().compute_units);
  const uint32_t most = std::max(1u, std::min(threads * kChunksPerThread, rows / kLeastChunk));
  made.length = (rows + most - 1) / most;
  made.chunks = (rows + made.length - 1) / made.length;
  made.eager = eager;
  output_ = std::clamp(std::max(uint64_t{rows} * 4, output_), kLeastOutput, kMostOutput);
  // A bag without columns only counts: its regions hold nothing and never fill up.
  made.region = types_.empty() ? UINT32_MAX / made.chunks
                               : static_cast<uint32_t>((output_ + made.chunks - 1) / made.chunks);
  made.states.assign(uint64_t{made.chunks} * kStateWidth, 0);
  for (uint32_t c = 0; c < made.chunks; ++c) {
    made.states[c * kStateWidth + kRow] = made.rows.first + c * made.length;
  }
  Result<device::Buffer> state = make_buffer(device, Type::U32, made.states.size());
  if (!state.ok()) return state.error();
  made.state = *state;
  Result<device::Buffer> valueless = make_buffer(device, Type::U32, 1);
  if (!valueless.ok()) return valueless.error();
  made.valueless = *valueless;
  if (Status s = device.fill({made.valueless, 0, 4}, std::byte{0}); !s.ok()) return s.error();
  if (Status s = device.write({made.state}, std::as_bytes(std::span(made.states))); !s.ok()) {
    return s.error();
  }
  return made;
}

Status Derivation::make_regions(uint64_t rows) {
  if (region_rows_ >= rows || types_.empty()) return Done{};
  regions_.clear();
  for (Type type : types_) {
    Result<device::Buffer> made = make_buffer(machine_->device(), type, rows);
    if (!made.ok()) return made.error();
    regions_.push_back(*made);
  }
  region_rows_ = rows;
  return Done{};
}

Status Derivation::launch(const RelationOf& relation_of, Relation* claims, Launch& launch) {
  Device& device = machine_->device();
  const uint64_t output = uint64_t{launch.region} * launch.chunks;
  if (Status s = make_regions(output); !s.ok()) return s;
  if (claims != nullptr) {
    if (Status s = claims->reserve(output); !s.ok()) return s;
  }
  // Indexes and sets of the other relations, before the code that reads them is chosen.
  Result<std::vector<device::Argument>> inputs =
      pipeline_arguments(pipeline_, relation_of, claims != nullptr ? into_ : std::nullopt);
  if (!inputs.ok()) return inputs.error();
  if (Status s = compile(relation_of, claims != nullptr, launch.eager); !s.ok()) return s;
  std::vector<device::Argument> arguments = {
      Scalar::u32(launch.chunks), Scalar::u32(launch.length), Scalar::u32(launch.rows.first),
      Scalar::u32(launch.rows.last), Scalar::u32(launch.region)};
  arguments.emplace_back(device::View{launch.state});
  arguments.emplace_back(device::View{launch.valueless});
  for (const device::Buffer& buffer : regions_) arguments.emplace_back(device::View{buffer});
  if (claims != nullptr) claims->append_set_arguments(arguments);
  arguments.insert(arguments.end(), inputs->begin(), inputs->end());
  if (Status s = device.launch(kernel_, arguments); !s.ok()) return s;
  return device.read({launch.state}, std::as_writable_bytes(std::span(launch.states)));
}

Result<Derived> Derivation::run(const RelationOf& relation_of, Relation* claims, const Take& take) {
  Device& device = machine_->device();
  Derived derived;
  Result<Launch> started = start(relation_of, eager_ && claims != nullptr);
  if (!started.ok()) return started.error();
  Launch& work = *started;
  if (work.chunks == 0) return derived;
  for (bool more = true; more;) {
    if (Status s = launch(relation_of, claims, work); !s.ok()) return s.error();
    more = false;
    bool stuck = false;
    for (uint32_t c = 0; c < work.chunks; ++c) {
      const uint32_t* state = &work.states[c * kStateWidth];
      const uint32_t end = std::min(work.rows.last, work.rows.first + (c + 1) * work.length);
      derived.rows += state[kFilled];
      more |= state[kRow] < end;
      stuck |= state[kRow] < end && state[kFilled] == 0;
    }
    if (Status s = take(work); !s.ok()) return s.error();
    if (more || work.eager) output_ = std::min(kMostOutput, output_ * 4);
    if (stuck) {
      // One row of the driver gives a bag more rows than a region holds.
      if (work.region > UINT32_MAX / 8 / work.chunks) {
        return Error{"one row has more than 500 million solutions", "add literals that bind more"};
      }
      work.region *= 4;
    }
  }
  Result<std::optional<device::CheckFailure>> failed = device.checks();
  if (!failed.ok()) return failed.error();
  XLOG_CHECK(!failed->has_value(), "a kernel that derives rows failed a check");
  Result<std::vector<uint32_t>> lost = read_numbers<uint32_t>(device, work.valueless, 1);
  if (!lost.ok()) return lost.error();
  derived.valueless = (*lost)[0];
  return derived;
}

}  // namespace xlog::relation
