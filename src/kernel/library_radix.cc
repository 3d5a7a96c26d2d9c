// The radix pass, and its serial kernels: each instance walks one chunk in order with 256 counters
// of its own.
#include "kernel/library_radix.h"

#include <fmt/format.h>

namespace xlog::kernel {

Value digit_of(Builder& k, Value word, Value shift) {
  return k.cast(Type::U32, word >> k.cast(word.type(), shift)) & (kDigits - 1);
}

std::string radix_name(std::string_view step, Type type, RowNumbers rows) {
  constexpr std::string_view kSuffix[] = {"", "_number", "_rows"};
  return fmt::format("radix_{}_{}{}", step, spelling(type), kSuffix[static_cast<size_t>(rows)]);
}

// Members are initialised in the order of the arguments in radix_pass.
CountParams::CountParams(KernelBuilder& k, Type type)
    : chunks(k),
      shift(k.val(Type::U32, "shift")),
      words(k.in(type, "words")),
      counts(k.out(Type::U32, "counts")) {}

ScatterParams::ScatterParams(KernelBuilder& k, Type type, RowNumbers numbers)
    : chunks(k),
      shift(k.val(Type::U32, "shift")),
      words(k.in(type, "words")),
      starts(k.in(Type::U32, "starts")),
      to_words(k.out(type, "to_words")) {
  if (numbers == RowNumbers::Carried) rows = k.in(Type::U32, "rows");
  if (numbers != RowNumbers::None) to_rows = k.out(Type::U32, "to_rows");
}

void ScatterParams::move(KernelBuilder& k, Value r, Value word, Value place) const {
  k.store(to_words, place, word);
  if (to_rows) k.store(*to_rows, place, rows ? (*rows)[r] : r);
}

namespace {

Id count_kernel(Library& library, Type type) {
  return library.kernel(radix_name("count", type), [&](KernelBuilder& k) {
    const CountParams p(k, type);
    const Value i = k.grid(p.chunks.count);
    const Range rows = p.chunks.range(k, i);
    const Buffer counters = k.private_array(Type::U32, kDigits);
    k.for_range(k.u32(0), k.u32(kDigits), [&](Value d) { k.store(counters, d, k.u32(0)); });
    k.for_range(rows.lo, rows.hi, [&](Value r) {
      const Value d = digit_of(k, p.words[r], p.shift);
      k.store(counters, d, counters[d] + 1);
    });
    k.for_range(k.u32(0), k.u32(kDigits),
                [&](Value d) { k.store(p.counts, d * p.chunks.count + i, counters[d]); });
  });
}

Id scatter_kernel(Library& library, Type type, RowNumbers numbers) {
  return library.kernel(radix_name("scatter", type, numbers), [&](KernelBuilder& k) {
    const ScatterParams p(k, type, numbers);
    const Value i = k.grid(p.chunks.count);
    const Range rows = p.chunks.range(k, i);
    const Buffer next = k.private_array(Type::U32, kDigits);
    k.for_range(k.u32(0), k.u32(kDigits),
                [&](Value d) { k.store(next, d, p.starts[d * p.chunks.count + i]); });
    k.for_range(rows.lo, rows.hi, [&](Value r) {
      const Value word = p.words[r];
      const Value d = digit_of(k, word, p.shift);
      const Value place = next[d];
      k.store(next, d, place + 1);
      p.move(k, r, word, place);
    });
  });
}

RowNumbers row_numbers(const RadixPass& pass) {
  if (pass.from.rows) return RowNumbers::Carried;
  return pass.targets.front().to.rows ? RowNumbers::Made : RowNumbers::None;
}

}  // namespace

RadixKernels radix_serial(Library& library, PlanBuilder& plan, Type type, RowNumbers rows,
                          Value n) {
  return {library.chunks(plan, n), count_kernel(library, type),
          scatter_kernel(library, type, rows)};
}

void radix_pass(Library& library, PlanBuilder& plan, const RadixPass& pass) {
  const Keyed& from = pass.from;
  const RadixKernels kernels = (library.target.groups ? radix_tiled : radix_serial)(
      library, plan, from.words.type(), row_numbers(pass), pass.n);
  const auto& [length, count] = kernels.chunks;
  const Buffer counts = plan.unset_buf(Type::U32, count * kDigits);
  plan.launch(kernels.count,
              {count.id, length.id, pass.n.id, pass.shift.id, from.words.id, counts.id});
  const Buffer starts =
      library_scan(library, plan, Fold::Add, counts, {.only_if_rows = true}).before;
  for (const auto& [to, chosen] : pass.targets) {
    const Value instances = plan.select(chosen, count, plan.u32(0));
    std::vector<Id> arguments = {instances.id,  length.id, pass.n.id,  pass.shift.id,
                                 from.words.id, starts.id, to.words.id};
    if (from.rows) arguments.push_back(from.rows->id);
    if (to.rows) arguments.push_back(to.rows->id);
    plan.launch(kernels.scatter, arguments);
  }
}

}  // namespace xlog::kernel
