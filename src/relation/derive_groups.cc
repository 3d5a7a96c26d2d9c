// Derivations on groups of lanes (group_kernel.h): launches and what follows them.
#include <algorithm>

#include "relation/derive.h"
#include "relation/group_kernel.h"

namespace xlog::relation {

using kernel::Scalar;

namespace {

constexpr uint32_t kGroupsPerUnit = 16;    // that keep a compute unit busy
constexpr uint64_t kLeastRoom = 1u << 16;  // rows of the output
constexpr uint64_t kMostRoom = 1u << 26;
constexpr uint64_t kMostBagRoom = 1u << 31;  // rows are numbered in 32 bits
constexpr uint64_t kShareOfMemory = 32;      // one of so many may be output

}  // namespace

kernel::Id Derivation::build_groups(const RelationOf& relation_of, bool claims) {
  GroupKernel::Options options;
  options.types = types_;
  if (claims) options.claims = into_;
  options.marks = &marks_;
  return GroupKernel(machine_->graph(), *program_, pipeline_, head_, relation_of, options).build();
}

// A set of keys needs cells for all rows that there is room for; one of bits has them.
uint64_t Derivation::most_room(const Relation* claims) const {
  if (claims == nullptr || claims->set_kind() != SetKind::Bits) return kMostRoom;
  const uint64_t share = machine_->device().info().memory / kShareOfMemory;
  return std::clamp(share / (row_bits(types_) / 8), kMostRoom, kMostBagRoom);
}

Result<Derivation::Groups> Derivation::start_groups(const RelationOf& relation_of,
                                                    const Relation* claims) {
  Device& device = machine_->device();
  Result<RowRange> range = driver_rows(relation_of);
  if (!range.ok()) return range.error();
  Groups work{};
  work.rows = *range;
  const uint32_t rows = work.rows.last - work.rows.first;
  if (rows == 0) return work;
  // Few rows are spread over many groups: the lanes of each share out what its rows find.
  const uint32_t busy = std::max(1u, device.info().compute_units) * kGroupsPerUnit;
  work.tile = std::clamp((rows + busy - 1) / busy, 1u, kGroupLanes);
  work.groups = (rows + work.tile - 1) / work.tile;
  for (const auto& [buffer, type, count] :
       {std::tuple{&work.done, Type::U32, uint64_t{work.groups}},
        std::tuple{&work.counters, Type::U32, uint64_t{kGroupCounters}},
        std::tuple{&work.total, Type::U64, uint64_t{1}},
        std::tuple{&work.mishaps, Type::U32, uint64_t{kMishaps}}}) {
    Result<device::Buffer> made = make_buffer(device, type, count);
    if (!made.ok()) return made.error();
    if (Status s = device.fill({*made, 0, count * size_of(type)}, std::byte{0}); !s.ok()) {
      return s.error();
    }
    *buffer = *made;
  }
  // A bag that has grown past the most keeps what it needs.
  output_ = std::max(std::clamp(uint64_t{rows} * 4, kLeastRoom, most_room(claims)), output_);
  return work;
}

Status Derivation::launch_groups(const RelationOf& relation_of, Relation* claims,
                                 const Groups& work) {
  Device& device = machine_->device();
  const bool into_set = claims != nullptr;
  if (Status s = make_regions(output_); !s.ok()) return s;
  if (into_set) {
    if (Status s = claims->reserve(output_); !s.ok()) return s;
  }
  if (Status s = marks_.prepare(*machine_, pipeline_, relation_of, 0); !s.ok()) return s;
  Result<std::vector<device::Argument>> inputs =
      pipeline_arguments(pipeline_, relation_of, marks_, into_set ? into_ : std::nullopt);
  if (!inputs.ok()) return inputs.error();
  if (Status s = compile("groups" + shape(relation_of, into_set),
                         [&] { return build_groups(relation_of, into_set); });
      !s.ok()) {
    return s;
  }
  std::vector<device::Argument> arguments = {Scalar::u32(work.groups),
                                             Scalar::u32(work.rows.first),
                                             Scalar::u32(work.rows.last),
                                             Scalar::u32(work.tile),
                                             Scalar::u32(static_cast<uint32_t>(output_)),
                                             Scalar::boolean(work.again)};
  for (const device::Buffer& buffer : {work.done, work.counters, work.total, work.mishaps}) {
    arguments.emplace_back(device::View{buffer});
  }
  for (const device::Buffer& buffer : regions_) arguments.emplace_back(device::View{buffer});
  if (into_set) claims->append_set_arguments(arguments);
  arguments.insert(arguments.end(), inputs->begin(), inputs->end());
  return device.launch(kernel_, arguments);
}

Result<Derived> Derivation::run_groups_into_set(const RelationOf& relation_of, Relation& head) {
  Device& device = machine_->device();
  Derived derived;
  Result<Groups> started = start_groups(relation_of, &head);
  if (!started.ok()) return started.error();
  Groups& work = *started;
  if (work.groups > 0 && carry_) {
    Result<std::optional<std::vector<uint64_t>>> rows = carry_->run(relation_of, output_);
    if (!rows.ok()) return rows.error();
    if (*rows) {
      derived.rows = (**rows)[0];
      return derived;
    }
  }
  for (bool more = work.groups > 0; more;) {
    if (Status s = launch_groups(relation_of, &head, work); !s.ok()) return s.error();
    Result<std::vector<uint32_t>> counters =
        read_numbers<uint32_t>(device, work.counters, kGroupCounters);
    if (!counters.ok()) return counters.error();
    // Behind the first place without room nothing was put.
    const uint32_t placed = std::min((*counters)[kPlaced], UINT32_MAX - (*counters)[kEnd]);
    more = work.again = (*counters)[kStopped] > 0;
    derived.rows += placed;
    const Bag::Part all{0, placed};
    if (Status s = head.append(regions_, std::span(&all, 1), Relation::Next::New); !s.ok()) {
      return s.error();
    }
    if (Status s = machine_->check(derived.rows); !s.ok()) return s.error();
    if ((*counters)[kCrowded] > 0) {
      if (Status s = head.spread_out(); !s.ok()) return s.error();
      started = start_groups(relation_of, &head);
      if (!started.ok()) return started.error();
      more = true;
      continue;
    }
    if (!more) break;
    // As much as one group asks for at a time has room at least.
    output_ = std::min(most_room(&head), output_ * 4);
    if (Status s = device.fill({work.counters, 0, kGroupCounters * 4}, std::byte{0}); !s.ok()) {
      return s.error();
    }
  }
  regions_.clear();
  if (work.groups == 0) return derived;
  Result<uint64_t> lost = valueless(work.mishaps);
  if (!lost.ok()) return lost.error();
  derived.valueless = *lost;
  return derived;
}

Result<Derived> Derivation::run_groups_into_bag(const RelationOf& relation_of, Bag& bag,
                                                const Filled& filled, const Counted& counted) {
  Device& device = machine_->device();
  Derived derived;
  for (;;) {
    Result<Groups> started = start_groups(relation_of, nullptr);
    if (!started.ok()) return started.error();
    Groups& work = *started;
    if (work.groups == 0) return derived;
    if (Status s = launch_groups(relation_of, nullptr, work); !s.ok()) return s.error();
    Result<std::vector<uint64_t>> total = read_numbers<uint64_t>(device, work.total, 1);
    if (!total.ok()) return total.error();
    derived.rows = (*total)[0];
    Result<uint64_t> lost = valueless(work.mishaps);
    if (!lost.ok()) return lost.error();
    derived.valueless = *lost;
    if (types_.empty() || derived.rows <= output_) break;
    if (derived.rows > kMostBagRoom) {
      return Error{"one rule has more than two thousand million solutions",
                   "add literals that bind more"};
    }
    output_ = derived.rows;
  }
  if (!types_.empty()) {
    if (Status s = bag.append(regions_, static_cast<uint32_t>(derived.rows)); !s.ok()) {
      return s.error();
    }
    if (Status s = filled(); !s.ok()) return s.error();
  }
  regions_.clear();
  if (Status s = machine_->check(counted(derived.rows)); !s.ok()) return s.error();
  return derived;
}

}  // namespace xlog::relation
