// Every arithmetic op on every type, on the values where machines differ, against the definition
// in kernel/scalar.h.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "device/llvm_fixture.h"
#include "kernel/builder.h"

namespace xlog::device {
namespace {

using kernel::Buffer;
using kernel::Graph;
using kernel::Id;
using kernel::KernelBuilder;
using kernel::Op;
using kernel::Scalar;
using kernel::Type;
using kernel::Value;

std::vector<Scalar> edge_values(Type type) {
  std::vector<Scalar> values;
  if (type == Type::Bool) return {Scalar::boolean(false), Scalar::boolean(true)};
  if (is_int(type)) {
    const uint64_t all = mask_of(type), top = (all >> 1) + 1;
    for (uint64_t bits : {uint64_t{0},
                          uint64_t{1},
                          uint64_t{2},
                          uint64_t{3},
                          uint64_t{7},
                          uint64_t{31},
                          uint64_t{32},
                          uint64_t{33},
                          uint64_t{63},
                          uint64_t{64},
                          uint64_t{100},
                          all,
                          all - 1,
                          top,
                          top - 1,
                          top + 1,
                          uint64_t{0x9E3779B97F4A7C15},
                          uint64_t{0x0123456789abcdef},
                          uint64_t{0xffffff},
                          uint64_t{0x1000001},
                          uint64_t{0xfffffffe}}) {
      values.push_back({type, bits & all});
    }
    return values;
  }
  using Float = std::numeric_limits<float>;
  using Double = std::numeric_limits<double>;
  for (double v : {0.0,
                   -0.0,
                   1.0,
                   -1.0,
                   0.5,
                   -0.5,
                   1.5,
                   -1.5,
                   2.0,
                   3.0,
                   0.1,
                   1e10,
                   -1e10,
                   1e20,
                   255.0,
                   255.5,
                   256.0,
                   2147483647.0,
                   2147483648.0,
                   -2147483648.0,
                   -2147483649.0,
                   4294967295.0,
                   4294967296.0,
                   9223372036854775807.0,
                   -9223372036854775808.0,
                   18446744073709551615.0,
                   16777217.0,
                   double{Float::max()},
                   double{Float::denorm_min()},
                   double{Float::min()},
                   1e-40,
                   Double::infinity(),
                   -Double::infinity(),
                   Double::quiet_NaN(),
                   Double::max(),
                   Double::denorm_min(),
                   Double::min(),
                   0x1.fffffffffffffp30,
                   -0x1.00000001p63}) {
    values.push_back(type == Type::F32 ? Scalar::f32(static_cast<float>(v)) : Scalar::f64(v));
  }
  return values;
}

// A column of elements as they lie in memory.
struct Column {
  Type type;
  std::vector<std::byte> bytes;

  Column(Type t, size_t n) : type(t), bytes(n * size_of(t)) {}
  Scalar get(size_t i) const { return load_scalar(type, bytes.data() + i * size_of(type)); }
  void set(size_t i, Scalar v) { store_scalar(v, bytes.data() + i * size_of(type)); }
};

struct Case {
  std::string name;
  Type result;
  std::function<Value(KernelBuilder&, const std::vector<Value>&)> build;
  std::function<Scalar(std::span<const Scalar>)> expect;
};

Case op_case(Op op, Type result, size_t arity) {
  return {std::string(spelling(op)), result,
          [op, arity](KernelBuilder& k, const std::vector<Value>& v) {
            std::vector<Id> ids;
            for (size_t i = 0; i < arity; ++i) ids.push_back(v[i].id);
            return k.wrap(k.graph().make(op, ids));
          },
          [op, arity](std::span<const Scalar> v) { return evaluate(op, v.first(arity)); }};
}

std::vector<Case> cases_of(Type type) {
  std::vector<Case> cases;
  auto add = [&](Op op, Type result, size_t arity) { cases.push_back(op_case(op, result, arity)); };
  add(Op::Eq, Type::Bool, 2);
  add(Op::Lt, Type::Bool, 2);
  if (is_float(type)) {
    for (Op op : {Op::Add, Op::Sub, Op::Mul, Op::Div}) add(op, type, 2);
    add(Op::Sqrt, type, 1);
    add(Op::Floor, type, 1);
    add(Op::Fma, type, 3);
  } else {
    for (Op op : {Op::And, Op::Or, Op::Xor}) add(op, type, 2);
  }
  if (is_int(type)) {
    for (Op op : {Op::Add, Op::Sub, Op::Mul, Op::MulHi, Op::Div, Op::Rem, Op::Min, Op::Max, Op::Shl,
                  Op::Shr}) {
      add(op, type, 2);
    }
    for (Op op : {Op::Popc, Op::Clz, Op::Ctz}) add(op, Type::U32, 1);
    for (Op op : {Op::Div, Op::Rem, Op::Shl, Op::Shr}) {
      for (int64_t by : {0, 1, -1, 7, 32}) {
        const Scalar right = Scalar::of(type, by);
        cases.push_back({std::string(spelling(op)) + " by " + to_text(right), type,
                         [=](KernelBuilder& k, const std::vector<Value>& v) {
                           return k.make(op, {v[0], k.constant(right)});
                         },
                         [=](std::span<const Scalar> v) {
                           const Scalar both[] = {v[0], right};
                           return evaluate(op, both);
                         }});
      }
    }
  }
  for (Type to : kernel::kValueTypes) {
    if (kernel::cast_problem(Op::Cast, type, to).empty()) {
      cases.push_back(
          {"cast " + std::string(spelling(to)), to,
           [to](KernelBuilder& k, const std::vector<Value>& v) { return k.cast(to, v[0]); },
           [to](std::span<const Scalar> v) { return kernel::cast(to, v[0]); }});
    }
    if (kernel::cast_problem(Op::Bitcast, type, to).empty()) {
      cases.push_back(
          {"bitcast " + std::string(spelling(to)), to,
           [to](KernelBuilder& k, const std::vector<Value>& v) {
             return k.wrap(k.graph().bitcast(to, v[0].id, true));
           },
           [to](std::span<const Scalar> v) { return kernel::bitcast(to, v[0], true); }});
    }
  }
  cases.push_back({"select", type,
                   [](KernelBuilder& k, const std::vector<Value>& v) {
                     return k.select(v[0] == v[1], v[1], v[2]);
                   },
                   [](std::span<const Scalar> v) {
                     return evaluate(Op::Eq, v.first(2)).as_bool() ? v[1] : v[2];
                   }});
  return cases;
}

// Rows that hold every pair of edge values, and three operands of each.
struct Inputs {
  std::vector<Column> columns;
  size_t rows;

  explicit Inputs(Type type) {
    const std::vector<Scalar> edges = edge_values(type);
    const size_t pairs = edges.size() * edges.size();
    rows = pairs * 3;
    columns.assign(3, Column(type, rows));
    for (size_t i = 0; i < rows; ++i) {
      columns[0].set(i, edges[i % edges.size()]);
      columns[1].set(i, edges[i / edges.size() % edges.size()]);
      columns[2].set(i, edges[(i * 7 + i / pairs) % edges.size()]);
    }
  }
};

// One kernel that computes all the cases.
Id build(Graph& graph, Type type, std::span<const Case> cases) {
  KernelBuilder k(graph, "ops");
  Value size = k.val(Type::U32, "n");
  std::vector<Buffer> from;
  for (const char* name : {"a", "b", "c"}) from.push_back(k.in(type, name));
  Value i = k.grid(size);
  std::vector<Value> operands;
  for (Buffer b : from) operands.push_back(b[i]);
  for (const Case& one : cases) {
    k.store(k.out(one.result, "r"), i, one.build(k, operands));
  }
  return k.finish();
}

void expect_exact(Type type, std::span<const Case> cases, Inputs& inputs) {
  Graph graph;
  const Id kernel = build(graph, type, cases);
  const Result<LoadedObject> loaded = compile_for_cpu(graph, as_it_is(graph, kernel));
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  auto count = static_cast<uint32_t>(inputs.rows);
  std::vector<Column> results;
  for (const Case& one : cases) results.emplace_back(one.result, inputs.rows);
  std::vector<void*> args = {&count};
  for (Column& column : inputs.columns) args.push_back(column.bytes.data());
  for (Column& column : results) args.push_back(column.bytes.data());
  loaded->entry()(0, count, args.data());

  for (size_t c = 0; c < cases.size(); ++c) {
    for (size_t row = 0; row < inputs.rows; ++row) {
      const Scalar v[] = {inputs.columns[0].get(row), inputs.columns[1].get(row),
                          inputs.columns[2].get(row)};
      ASSERT_EQ(canonical(results[c].get(row)), canonical(cases[c].expect(v)))
          << cases[c].name << " of " << to_text(v[0]) << ", " << to_text(v[1]) << ", "
          << to_text(v[2]) << " gave " << to_text(results[c].get(row)) << ", not "
          << to_text(cases[c].expect(v));
    }
  }
}

class ExactOps : public testing::TestWithParam<Type> {};

TEST_P(ExactOps, AllInOneKernel) {
  Inputs inputs(GetParam());
  expect_exact(GetParam(), cases_of(GetParam()), inputs);
}

// A short loop is what LLVM vectorises, and vectors take other instructions.
TEST_P(ExactOps, EachInAKernelOfItsOwn) {
  Inputs inputs(GetParam());
  const std::vector<Case> cases = cases_of(GetParam());
  for (const Case& one : cases) expect_exact(GetParam(), {&one, 1}, inputs);
}

TEST(ExactPtx, KeepsFloatsAsTheyAre) {
  PtxAssembler assembler;
  for (Type type : kernel::kValueTypes) {
    for (const Case& one : cases_of(type)) {
      Graph graph;
      const Id kernel = build(graph, type, {&one, 1});
      const Result<std::string> ptx =
          llvm_to_ptx(render::render_llvm_ptx(graph, as_it_is(graph, kernel)), "sm_90");
      ASSERT_TRUE(ptx.ok()) << ptx.error().text();
      assembler.add(*ptx);
      EXPECT_EQ(ptx->find(".ftz"), std::string::npos) << *ptx;
      EXPECT_EQ(ptx->find("fma.") != std::string::npos, one.name == "fma") << *ptx;
      if (!is_float(type)) continue;
      for (const char* rounded : {"add", "sub", "mul", "div", "sqrt", "fma"}) {
        if (one.name != rounded) continue;
        const std::string name = one.name + ".rn." + std::string(spelling(type));
        EXPECT_NE(ptx->find(name), std::string::npos) << name << " in\n" << *ptx;
      }
    }
  }
  if (PtxAssembler::program().empty()) GTEST_SKIP() << "no ptxas here: the PTX was not assembled";
  EXPECT_EQ(assembler.run("sm_90"), "");
}

INSTANTIATE_TEST_SUITE_P(AllTypes, ExactOps, testing::ValuesIn(kernel::kValueTypes),
                         [](const auto& test) { return std::string(spelling(test.param)); });

}  // namespace
}  // namespace xlog::device
