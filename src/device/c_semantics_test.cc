// Rendered C against the definition of the ops (kernel/scalar.h) and against the oracle. A compiler
// run costs far more than a kernel, so that many kernels share one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "device/cc_compile.h"
#include "kernel/builder.h"
#include "kernel/passes.h"
#include "kernel/random_kernel.h"
#include "kernel/text.h"
#include "render/c_family.h"
#include "render/renderer.h"

namespace xlog::device {
namespace {

using kernel::Argument;
using kernel::Buffer;
using kernel::CheckFailure;
using kernel::Graph;
using kernel::HiddenParam;
using kernel::HostBuffer;
using kernel::Id;
using kernel::KernelBuilder;
using kernel::Lowered;
using kernel::Op;
using kernel::Scalar;
using kernel::Type;
using kernel::Value;
using kernel::Values;

// ---- many kernels, one compiler run ----

class Batch {
 public:
  // Gives the kernel's number. A kernel that the target declines fails the test.
  size_t add(Graph& graph, Id kernel) {
    Result<Lowered> lowered = kernel::lower(graph, kernel, render::kC);
    if (!lowered.ok()) {
      ADD_FAILURE() << lowered.error().text();
      return SIZE_MAX;
    }
    const std::string own_name = fmt::format("{}_{}", render::kEntryPoint, entries_.size());
    std::string text = render::render_c(graph, *lowered);
    for (size_t at = 0; (at = text.find(render::kEntryPoint, at)) != std::string::npos;) {
      text.replace(at, render::kEntryPoint.size(), own_name);
      at += own_name.size();
    }
    source_ += text;
    entries_.push_back({own_name, std::move(*lowered), {}});
    return entries_.size() - 1;
  }

  void compile() {
    Result<std::vector<std::byte>> object = compile_c(source_);
    ASSERT_TRUE(object.ok()) << object.error().text();
    for (Entry& entry : entries_) {
      Result<LoadedC> loaded = load_c(*object, entry.name);
      ASSERT_TRUE(loaded.ok()) << loaded.error().text();
      entry.loaded = *loaded;
    }
  }

  // Runs a kernel in two ranges, the second first; in one where the order may show.
  std::optional<CheckFailure> run(size_t number, const Graph& graph,
                                  std::span<const Argument> arguments,
                                  bool in_order = false) const {
    const Entry& entry = entries_[number];
    std::vector<uint64_t> values(graph.params(entry.lowered.kernel).size());
    std::vector<void*> args;
    for (const Argument& argument : arguments) {
      if (const auto* buffer = std::get_if<HostBuffer>(&argument)) {
        args.push_back(buffer->data);
      } else {
        store_scalar(std::get<Scalar>(argument), &values[args.size()]);
        args.push_back(&values[args.size()]);
      }
    }
    std::vector<uint32_t> status(kernel::kCheckCodes, UINT32_MAX);
    for (const HiddenParam& hidden : entry.lowered.hidden) {
      if (hidden.kind == HiddenParam::Kind::Status) {
        args.push_back(status.data());
        continue;
      }
      const Id buffer = graph.params(entry.lowered.kernel)[hidden.of];
      values[args.size()] =
          std::get<HostBuffer>(arguments[hidden.of]).bytes / kernel::size_of(graph.type(buffer));
      args.push_back(&values[args.size()]);
    }
    const uint32_t n = entry.lowered.size_param == Lowered::kNoParam
                           ? entry.lowered.size_constant
                           : std::get<Scalar>(arguments[entry.lowered.size_param]).as_u32();
    const uint32_t middle = in_order ? n : n / 2;
    entry.loaded.entry(middle, n, args.data());
    entry.loaded.entry(0, middle, args.data());
    for (uint32_t code = 0; code < status.size(); ++code) {
      if (status[code] != UINT32_MAX) return CheckFailure{code, status[code]};
    }
    return std::nullopt;
  }

 private:
  struct Entry {
    std::string name;
    Lowered lowered;
    LoadedC loaded;
  };
  std::string source_;
  std::vector<Entry> entries_;
};

// ---- every op on every type, over edge values ----

std::vector<Scalar> edges(Type type) {
  std::vector<Scalar> values;
  if (kernel::is_bool(type)) return {Scalar::boolean(false), Scalar::boolean(true)};
  if (kernel::is_int(type)) {
    const uint64_t all = kernel::mask_of(type);
    const uint32_t width = kernel::bits_of(type);
    for (uint64_t bits : {uint64_t{0}, uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{7},
                          uint64_t{100}, uint64_t{width - 1}, uint64_t{width}, uint64_t{width + 1},
                          all, all - 1, all - 99, all >> 1, (all >> 1) + 1, (all >> 1) + 2, all / 3,
                          all / 5 * 2, (uint64_t{1} << 24) + 1, (uint64_t{1} << 53) + 1}) {
      values.push_back({type, bits & all});
    }
    return values;
  }
  for (double v : {0.0,
                   0.5,
                   0.75,
                   1.0,
                   1.5,
                   2.5,
                   3.0,
                   255.0,
                   255.5,
                   256.0,
                   1e10,
                   0x1p24,
                   0x1p31,
                   0x1.fffffep30,
                   0x1p32,
                   0x1.fffffep31,
                   0x1.fffffffffffffp31,
                   2147483647.5,
                   0x1p53,
                   0x1p63,
                   0x1.fffffffffffffp62,
                   0x1p64,
                   0x1.fffffffffffffp63,
                   0x1.fffffep63,
                   1.0 / 3,
                   1e-30,
                   1e-40,
                   0x1p-149,
                   3e38,
                   1e300,
                   0x1p-1074,
                   HUGE_VAL}) {
    for (double sign : {1.0, -1.0}) values.push_back(cast(type, Scalar::f64(sign * v)));
  }
  values.push_back(kernel::canonical_nan(type));
  return values;
}

std::vector<std::byte> pack(const std::vector<Scalar>& values) {
  std::vector<std::byte> bytes(values.size() * kernel::size_of(values[0].type));
  for (size_t i = 0; i < values.size(); ++i) {
    store_scalar(values[i], bytes.data() + i * kernel::size_of(values[0].type));
  }
  return bytes;
}

// One kernel a type that computes `compute` for each pair of edge values; what it should give is
// `expected`.
struct PairCase {
  std::string what;
  Type to;
  std::function<Value(KernelBuilder&, Value, Value)> compute;
  std::function<Scalar(Scalar, Scalar)> expected;
};

std::vector<PairCase> pair_cases(Type type) {
  std::vector<PairCase> cases;
  for (int o = static_cast<int>(Op::Add); o <= static_cast<int>(Op::Log2); ++o) {
    const Op op = static_cast<Op>(o);
    if (op == Op::Cast || op == Op::Bitcast) {
      for (Type to : kernel::kValueTypes) {
        if (!kernel::cast_problem(op, type, to).empty()) continue;
        const bool is_cast = op == Op::Cast;
        cases.push_back({fmt::format("{} to {}", spelling(op), spelling(to)), to,
                         [=](KernelBuilder& k, Value a, Value) {
                           return is_cast ? k.cast(to, a) : k.bitcast(to, a);
                         },
                         [=](Scalar a, Scalar) { return is_cast ? cast(to, a) : bitcast(to, a); }});
      }
      continue;
    }
    if (!kernel::in_domain(kernel::info(op).domain, type)) continue;
    const int operands = kernel::info(op).operands;
    const auto rule = kernel::info(op).result;
    const Type to = rule == kernel::ResultRule::Bool    ? Type::Bool
                    : rule == kernel::ResultRule::Count ? Type::U32
                                                        : type;
    cases.push_back({std::string(spelling(op)), to,
                     [=](KernelBuilder& k, Value a, Value b) {
                       if (op == Op::Select) return k.select(a < b, a, b);
                       if (operands == 1) return k.make(op, {a});
                       return operands == 2 ? k.make(op, {a, b}) : k.make(op, {a, b, a});
                     },
                     [=](Scalar a, Scalar b) {
                       Scalar list[] = {a, b, a};
                       if (op == Op::Select) {
                         const Scalar pair[] = {a, b};
                         list[0] = evaluate(Op::Lt, pair), list[1] = a, list[2] = b;
                       }
                       return evaluate(op, std::span(list, static_cast<size_t>(operands)));
                     }});
  }
  return cases;
}

TEST(RenderedC, EveryOpOnEveryTypeOverEdgeValues) {
  Graph graph;
  Batch batch;
  std::vector<Type> types(kernel::kValueTypes.begin(), kernel::kValueTypes.end());
  for (Type type : types) {
    KernelBuilder k(graph, "ops");
    Value n = k.val(Type::U32, "n");
    Buffer a = k.in(type, "a"), b = k.in(type, "b");
    std::vector<PairCase> cases = pair_cases(type);
    std::vector<Buffer> results;
    for (const PairCase& c : cases) results.push_back(k.out(c.to, "r"));
    Value i = k.grid(n);
    Value x = a[i], y = b[i];
    for (size_t c = 0; c < cases.size(); ++c) k.store(results[c], i, cases[c].compute(k, x, y));
    batch.add(graph, k.finish());
  }
  batch.compile();
  for (size_t t = 0; t < types.size(); ++t) {
    const std::vector<Scalar> values = edges(types[t]);
    std::vector<Scalar> left, right;
    for (Scalar a : values) {
      for (Scalar b : values) left.push_back(a), right.push_back(b);
    }
    std::vector<std::byte> a = pack(left), b = pack(right);
    const std::vector<PairCase> cases = pair_cases(types[t]);
    std::vector<std::vector<std::byte>> results;
    std::vector<Argument> arguments = {Scalar::u32(static_cast<uint32_t>(left.size())),
                                       HostBuffer{a.data(), a.size()},
                                       HostBuffer{b.data(), b.size()}};
    for (const PairCase& c : cases) {
      results.emplace_back(left.size() * kernel::size_of(c.to));
      arguments.emplace_back(HostBuffer{results.back().data(), results.back().size()});
    }
    EXPECT_EQ(batch.run(t, graph, arguments), std::nullopt);
    for (size_t c = 0; c < cases.size(); ++c) {
      for (size_t i = 0; i < left.size(); ++i) {
        const Scalar found =
            load_scalar(cases[c].to, results[c].data() + i * kernel::size_of(cases[c].to));
        const Scalar expected = canonical(cases[c].expected(left[i], right[i]));
        ASSERT_EQ(found, expected)
            << spelling(types[t]) << ' ' << cases[c].what << " of " << to_text(left[i]) << ", "
            << to_text(right[i]) << ": " << to_text(found) << ", not " << to_text(expected);
      }
    }
  }
}

// Constants go through literals instead of memory.
TEST(RenderedC, LiteralsAreExact) {
  Graph graph;
  Batch batch;
  std::vector<std::vector<Scalar>> all;
  for (Type type : kernel::kValueTypes) {
    all.push_back(edges(type));
    KernelBuilder k(graph, "literals");
    Value n = k.val(Type::U32, "n");
    Buffer r = k.own(type, "r");
    Value i = k.grid(n);
    for (size_t v = 0; v < all.back().size(); ++v) {
      k.store(r, i + static_cast<int64_t>(v), k.constant(all.back()[v]));
    }
    batch.add(graph, k.finish());
  }
  batch.compile();
  for (size_t t = 0; t < all.size(); ++t) {
    std::vector<std::byte> found(pack(all[t]).size());
    batch.run(t, graph,
              std::vector<Argument>{Scalar::u32(1), HostBuffer{found.data(), found.size()}});
    EXPECT_EQ(found, pack(all[t])) << spelling(all[t][0].type);
  }
}

// ---- against the oracle ----

std::string difference(Batch& batch, size_t number, Graph& graph, Id kernel, uint64_t seed,
                       uint32_t instances) {
  return compare(graph, kernel, random_arguments(graph, kernel, seed, instances),
                 [&](Graph&, Id candidate,
                     std::span<const Argument> arguments) -> Result<std::optional<CheckFailure>> {
                   if (candidate == kernel) return batch.run(number, graph, arguments);
                   Batch alone;  // a smaller kernel that may show the same difference
                   const size_t first = alone.add(graph, candidate);
                   if (first == SIZE_MAX) return Error{"the smaller kernel is declined", ""};
                   alone.compile();
                   return alone.run(first, graph, arguments);
                 });
}

void compare_random_kernels(const kernel::RandomOptions& options, uint64_t first, uint64_t count) {
  Graph graph;
  Batch batch;
  std::vector<Id> kernels;
  for (uint64_t k = 0; k < count; ++k) {
    kernels.push_back(random_kernel(graph, first + k, options));
    ASSERT_NE(batch.add(graph, kernels.back()), SIZE_MAX) << "seed " << first + k;
  }
  batch.compile();
  if (testing::Test::HasFatalFailure()) return;
  for (size_t k = 0; k < kernels.size(); ++k) {
    const uint64_t seed = first + k;
    ASSERT_EQ(difference(batch, k, graph, kernels[k], seed, 37), "") << "seed " << seed;
  }
}

TEST(RenderedC, RandomGridKernelsDoWhatTheOracleDoes) {
  compare_random_kernels({.statements = 12}, 1000, 120);
}

TEST(RenderedC, RandomGroupKernelsDoWhatTheOracleDoes) {
  compare_random_kernels({.groups = true, .statements = 12}, 5000, 60);
}

// Arguments that make sense to most kernels: counts are small, integers count up from 0, so that
// they are sorted, distinct and good as rows.
kernel::RandomArguments counting_arguments(const Graph& graph, Id kernel) {
  constexpr size_t kElements = 1024;
  kernel::RandomArguments arguments;
  for (Id param : graph.params(kernel)) {
    const Type type = graph.type(param);
    arguments.memory.emplace_back();
    if (graph.mode(param) == kernel::Mode::Val) {
      const int64_t instances = graph.kernel_info(kernel).group == 0 ? 40 : 2;
      arguments.list.emplace_back(Scalar::of(type, graph.position(param) == 0 ? instances : 300));
      continue;
    }
    std::vector<Scalar> values;
    for (size_t i = 0; i < kElements; ++i) {
      const auto v = static_cast<int64_t>(graph.mode(param) == kernel::Mode::In ? i : 0);
      values.push_back(kernel::is_float(type)
                           ? cast(type, Scalar::f64(0.37 * static_cast<double>(v)))
                           : Scalar::of(type, v));
    }
    arguments.memory.back() = pack(values);
    arguments.list.emplace_back(
        HostBuffer{arguments.memory.back().data(), arguments.memory.back().size()});
  }
  return arguments;
}

TEST(RenderedC, KernelsInTextFormDoWhatTheOracleDoes) {
  Graph graph;
  Batch batch;
  std::vector<Id> kernels;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator("tests/kernel")) {
    if (entry.path().extension() == ".ir") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (const auto& file : files) {
    std::ifstream in(file);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    Result<std::vector<Id>> parsed = kernel::parse(graph, text, file.string());
    ASSERT_TRUE(parsed.ok()) << parsed.error().text();
    for (Id id : *parsed) {
      if (graph.op(id) != Op::Kernel) continue;
      kernels.push_back(id);
      ASSERT_NE(batch.add(graph, id), SIZE_MAX);
    }
  }
  ASSERT_FALSE(kernels.empty());
  batch.compile();
  if (HasFatalFailure()) return;
  for (size_t k = 0; k < kernels.size(); ++k) {
    const auto runner = [&](Graph&, Id, std::span<const Argument> arguments)
        -> Result<std::optional<CheckFailure>> { return batch.run(k, graph, arguments, true); };
    EXPECT_EQ(compare(graph, kernels[k], counting_arguments(graph, kernels[k]), runner), "")
        << graph.kernel_info(kernels[k]).name;
  }
}

}  // namespace
}  // namespace xlog::device
