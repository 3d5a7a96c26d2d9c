// The set of a relation: which kind it is, how large, and when it becomes another.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "relation/best_code.h"
#include "relation/compact_code.h"
#include "relation/relation.h"

namespace xlog::relation {

using kernel::Scalar;

namespace {

constexpr uint64_t kLeastCells = 16;
constexpr uint64_t kMostBits = uint64_t{1} << 36;  // of a set of bits: words are counted in 32 bits
constexpr uint64_t kShareOfMemory = 16;            // one of so many may be bits of a relation
constexpr uint64_t kBytesForCell = 8;              // of bits instead: they are found at once
constexpr uint64_t kBytesForGrowing = 16;  // the same of a relation that grows, for what will come
constexpr uint64_t kAlwaysBits = uint64_t{1} << 23;  // below it a set of bits costs nothing

// That many cells hold: two thirds, or four fifths of small cells, many of which come at a time.
uint64_t most_rows(SetKind kind, uint64_t cells) {
  return kind == SetKind::Compact ? cells / 5 * 4 : cells / 3 * 2;
}

}  // namespace

void Relation::set_domain(const std::vector<uint64_t>& sizes) {
  bounds_ = sizes;
  size_bits(bit_order_, kWordBits);
}

// No block, and so no word, has bits of two rows that differ in more than the innermost column.
bool Relation::size_bits(const std::vector<uint32_t>& order, uint32_t block_bits) {
  std::vector<uint64_t> padded = bounds_;
  uint64_t& innermost = padded[order.back()];
  innermost = (innermost + block_bits - 1) / block_bits * block_bits;
  uint64_t possible = 1;
  for (size_t c = 0; c < types().size(); ++c) {
    if (types()[c] != Type::U32 || bounds_[c] == 0) return false;
    if (possible > kMostBits / padded[c]) return false;
    possible *= padded[c];
  }
  domain_ = std::move(padded);
  domain_words_ = possible / kWordBits;
  bit_order_ = order;
  return true;
}

Result<bool> Relation::put_innermost(const std::vector<uint32_t>& columns, uint32_t block_bits) {
  if (domain_.empty() || columns.empty()) return false;
  std::vector<uint32_t> order = columns;
  std::ranges::sort(order, {}, [&](uint32_t c) { return bounds_[c]; });
  // What is added to the innermost column at most doubles it.
  if (bounds_[order.back()] < block_bits / 2) return false;
  for (uint32_t c = arity(); c-- > 0;) {
    if (std::ranges::find(columns, c) == columns.end()) order.insert(order.begin(), c);
  }
  if (order == bit_order_ && domain_[order.back()] % block_bits == 0) return true;
  if (forgotten_ > 0 || !size_bits(order, block_bits)) return false;
  if (set_ == nullptr || !has_sizes(set_kind_)) return true;
  Status s = rebuild_set(set_kind_, set_kind_ == SetKind::Bits ? domain_words_ : cells_);
  return s.ok() ? Result<bool>(true) : s.error();
}

uint64_t Relation::cells_for(uint64_t rows) const {
  uint64_t cells = kLeastCells;
  while (most_rows(set_kind_, cells) < rows) cells *= 2;
  return cells;
}

bool Relation::becomes_bits(uint64_t more) const {
  if (set_kind_ == SetKind::Bits) return true;
  const uint64_t wanted = stored() + more;
  return wanted > most_rows(set_kind_, cells_) && prefers_bits(cells_for(wanted));
}

Status Relation::reserve(uint64_t more) {
  if (Status s = bag_.make_room(std::max<uint64_t>(bag_.rows(), 1)); !s.ok()) return s;
  if (set_kind_ == SetKind::Bits && set_ != nullptr) return Done{};
  if (set_kind_ == SetKind::Best) return reserve_best(more);
  const uint64_t wanted = stored() + more;
  if (set_ != nullptr && wanted <= most_rows(set_kind_, cells_)) return Done{};
  uint64_t cells = cells_for(wanted);
  if (prefers_bits(cells)) return rebuild_set(SetKind::Bits, domain_words_);
  const bool has_bounds = !bounds_.empty() && !keeps_best(set_kind_) &&
                          std::ranges::all_of(types(), [](Type type) { return type == Type::U32; });
  const auto fits = [&] {
    return has_bounds && compact_mixing(bounds_, cells, mixing_attempt_).has_value();
  };
  // One that was released may have had more cells than its rows ask for.
  while (set_kind_ == SetKind::Compact && !fits()) cells *= 2;
  return rebuild_set(fits() ? SetKind::Compact : set_kind_, cells);
}

Result<Bag*> Relation::rows_without_set(uint64_t expected) {
  if (stored() > 0 || grows_ || keeps_best(set_kind_) || becomes_bits(expected)) return nullptr;
  set_ = nullptr;
  cells_ = 0;
  if (Status s = bag_.make_room(1); !s.ok()) return s.error();
  return &bag_;
}

void Relation::release_set() {
  if (!finished_ || set_kind_ == SetKind::Bits) return;
  set_ = nullptr;
  cells_ = 0;
}

uint64_t Relation::room() const {
  if (set_kind_ == SetKind::Bits) return UINT64_MAX;
  const uint64_t most = most_rows(set_kind_, cells_);
  return most - std::min<uint64_t>(most, stored());
}

std::vector<uint64_t> Relation::set_numbers() const {
  if (set_kind_ == SetKind::Bits) return domain_;
  if (set_kind_ != SetKind::Compact) return {};
  std::vector<uint64_t> numbers = bounds_;
  const std::vector<uint64_t> mixing = *compact_mixing(bounds_, cells_, mixing_attempt_);
  numbers.insert(numbers.end(), mixing.begin(), mixing.end());
  return numbers;
}

// Whether one bit for each possible row costs no more than so many cells for those that are there.
// A GPU has memory for the bits of what grows, and clears them in no time.
bool Relation::prefers_bits(uint64_t cells) const {
  if (domain_.empty() || keeps_best(set_kind_)) return false;
  const uint64_t bytes = domain_words_ * 4;
  const bool is_cheap = machine_.form() == Form::Groups && grows_ &&
                        bytes <= machine_.device().info().memory / kShareOfMemory;
  return is_cheap || domain_words_ <= kAlwaysBits / kWordBits ||
         bytes <= cells * (grows_ && !finished_ ? kBytesForGrowing : kBytesForCell);
}

Result<bool> Relation::is_crowded() {
  if (set_kind_ != SetKind::Compact) return false;
  uint32_t last = 0;
  const uint64_t size = sizeof(last);
  Status s = machine_.device().read({set_, cells_ * size, size},
                                    std::as_writable_bytes(std::span(&last, 1)));
  if (!s.ok()) return s.error();
  return last != 0;
}

Status Relation::spread_out() {
  if (handled_ > 0) {
    const Bag::Part added{rows_, bag_.rows() - rows_};
    if (Status s = waiting_.append(bag_.columns(), std::span(&added, 1)); !s.ok()) return s;
    bag_.shorten(rows_);
    handled_ = 0;
  }
  ++mixing_attempt_;
  return rebuild_set(SetKind::Compact, cells_);
}

// Where rows crowd together, others are mixed apart. Should that not help, there are more cells: in
// the end one for each row that is possible.
Status Relation::rebuild_set(SetKind kind, uint64_t cells) {
  constexpr uint64_t kFewAttempts = 4;
  for (;;) {
    if (Status s = fill_set(kind, cells); !s.ok()) return s;
    Result<bool> crowded = is_crowded();
    if (!crowded.ok()) return crowded.error();
    if (!*crowded) return Done{};
    if (++mixing_attempt_ > kFewAttempts) cells *= 2;
  }
}

Status Relation::fill_set(SetKind kind, uint64_t cells) {
  if (cells > (uint64_t{1} << 31)) {
    return Error{fmt::format("{} is too large for its set: {} rows", name_, stored()),
                 "split the relation"};
  }
  // Rows say all that other sets have; only groups have to be moved.
  if (kind != SetKind::Best) set_ = values_ = nullptr;
  const device::Buffer before = set_, values_before = values_;
  const uint64_t count_before = before == nullptr ? 0 : cell_count();
  cells_ = cells;
  set_kind_ = kind;
  auto make = [&](Type type, uint8_t byte, device::Buffer& buffer) -> Status {
    Result<device::Buffer> made = make_buffer(machine_.device(), type, cell_count());
    if (!made.ok()) return made.error();
    buffer = *made;
    return machine_.device().fill({buffer, 0, cell_count() * size_of(type)}, std::byte{byte});
  };
  if (Status s = make(cell_type(kind), 0, set_); !s.ok()) return s;
  if (keeps_best(kind)) {
    if (Status s = make(image_type(types()[best_.column]), kNoImage, values_); !s.ok()) return s;
  }
  if (kind == SetKind::Best) return move_best(before, count_before, values_before);
  return stored() == 0 ? Status(Done{}) : insert_stored();
}

// What the code of the set depends on.
std::string Relation::set_name() const {
  std::string name = fmt::format("{}_{}", type_names(types()), static_cast<int>(set_kind_));
  if (keeps_best(set_kind_)) name += fmt::format("_{}{}", best_.column, best_.least ? "l" : "g");
  if (has_sizes(set_kind_)) name += fmt::format("_{}", fmt::join(bit_order_, "_"));
  return name;
}

void Relation::append_set_arguments(std::vector<device::Argument>& arguments) const {
  arguments.emplace_back(device::View{set_, 0, set_bytes()});
  if (keeps_best(set_kind_)) {
    const uint64_t size = size_of(types()[best_.column]);
    arguments.emplace_back(device::View{values_, 0, cell_count() * size});
  }
  if (is_wide(set_kind_)) {
    for (const device::Buffer& buffer : bag_.columns())
      arguments.emplace_back(device::View{buffer});
  }
  for (uint64_t number : set_numbers()) arguments.emplace_back(Scalar::u64(number));
}

}  // namespace xlog::relation
