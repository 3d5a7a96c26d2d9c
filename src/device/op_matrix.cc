#include "device/op_matrix.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <limits>

#include "kernel/builder.h"

namespace xlog::device {

namespace {

using kernel::Buffer;
using kernel::Fold;
using kernel::Graph;
using kernel::Id;
using kernel::KernelBuilder;
using kernel::Op;
using kernel::Type;
using kernel::Value;
using kernel::Values;

constexpr uint32_t kLanes = 48;  // of the group kernels: no power of two, more than one warp

struct Sample {
  Op op;
  Type type;
  Type result;
  uint32_t instances;  // grid instances, or groups
  uint32_t outputs;    // elements of r
  std::vector<std::vector<Scalar>> inputs;
  std::function<Id(Graph&)> build;  // parameters: n, inputs..., r
};

// ---- arithmetic: all pairs of edge values ----

Sample arithmetic(Op op, Type type) {
  const std::vector<Scalar> edges = edge_values(type);
  const auto count = static_cast<uint32_t>(edges.size());
  const uint32_t n = count * count;
  std::vector<Scalar> a, b;
  for (uint32_t i = 0; i < n; ++i) {
    a.push_back(edges[i / count]);
    b.push_back(edges[i % count]);
  }
  const kernel::ResultRule rule = kernel::info(op).result;
  const Type result = rule == kernel::ResultRule::Bool    ? Type::Bool
                      : rule == kernel::ResultRule::Count ? Type::U32
                                                          : type;
  return {op, type, result, n, n, {a, b}, [op, type, result](Graph& graph) {
            KernelBuilder k(graph, "op");
            Value size = k.val(Type::U32, "n");
            Buffer x = k.in(type, "a"), y = k.in(type, "b"), r = k.out(result, "r");
            Value i = k.grid(size);
            Value left = x[i], right = y[i];
            Value value = left;
            switch (kernel::info(op).operands) {
              case 1:
                value = k.make(op, {left});
                break;
              case 2:
                value = k.make(op, {left, right});
                break;
              default:
                value = op == Op::Select ? k.select(left < right, left, right)
                                         : k.make(op, {left, right, left});
            }
            k.store(r, i, value);
            return k.finish();
          }};
}

// Casts to every type, or bitcasts to every type of the width: one sample a target type.
Sample conversion(Op op, Type from, Type to) {
  const std::vector<Scalar> edges = edge_values(from);
  const auto n = static_cast<uint32_t>(edges.size());
  return {op, from, to, n, n, {edges}, [op, from, to](Graph& graph) {
            KernelBuilder k(graph, "conversion");
            Value size = k.val(Type::U32, "n");
            Buffer x = k.in(from, "a"), r = k.out(to, "r");
            Value i = k.grid(size);
            k.store(r, i, op == Op::Cast ? k.cast(to, x[i]) : k.bitcast(to, x[i]));
            return k.finish();
          }};
}

// ---- control and memory ----

std::vector<Scalar> counting(Type type, uint32_t n) {
  std::vector<Scalar> values;
  for (uint32_t i = 0; i < n; ++i) values.push_back(Scalar::of(type, (i * 7 + 3) % 11));
  return values;
}

// A grid kernel over a few dozen instances whose body the caller gives.
Sample grid_sample(Op op, Type type,
                   const std::function<void(KernelBuilder&, Value, Buffer, Buffer)>& body,
                   kernel::Mode mode = kernel::Mode::Out) {
  return {op, type, type, 40, 40, {counting(type, 40)}, [=](Graph& graph) {
            KernelBuilder k(graph, "control");
            Value size = k.val(Type::U32, "n");
            Buffer x = k.in(type, "a"), r = k.buffer(type, mode, "r");
            body(k, k.grid(size), x, r);
            return k.finish();
          }};
}

Sample group_sample(Op op, Type type,
                    const std::function<void(KernelBuilder&, Value, Value, Buffer, Buffer)>& body) {
  const uint32_t n = 3 * kLanes;
  return {op, type, type, 3, n, {counting(type, n)}, [=](Graph& graph) {
            KernelBuilder k(graph, "group", kLanes);
            Value size = k.val(Type::U32, "n");
            Buffer x = k.in(type, "a"), r = k.out(type, "r");
            Value lane = k.lane();
            body(k, k.group(size) * kLanes + lane, lane, x, r);
            return k.finish();
          }};
}

void add_control(std::vector<Sample>& all, Type type) {
  all.push_back(grid_sample(Op::For, type, [](auto& k, Value i, Buffer x, Buffer r) {
    Values sum = k.for_range(k.u32(0), i, {x[i]},
                             [&](Value j, const Values& c) { return Values{k.max(c[0], x[j])}; });
    k.store(r, i, sum[0]);
  }));
  all.push_back(grid_sample(Op::Loop, type, [](auto& k, Value i, Buffer x, Buffer r) {
    Values last = k.loop(k.u32(64), i != 0, {i, x[i]}, [&](Value, const Values& c) {
      Value half = c[0] >> 1;
      return std::pair{half != 0, Values{half, k.min(c[1], x[half])}};
    });
    k.store(r, i, last[1]);
  }));
  all.push_back(grid_sample(Op::If, type, [](auto& k, Value i, Buffer x, Buffer r) {
    k.if_then((i & 1) == 0, [&] { k.store(r, i, x[i]); }, [&] { k.store(r, i, x[i - 1]); });
  }));
  all.push_back(grid_sample(Op::Load, type, [](auto& k, Value i, Buffer x, Buffer r) {
    k.store(r, i, x[k.len(x) - 1 - i]);
  }));
  all.push_back(grid_sample(Op::Prefetch, type, [](auto& k, Value i, Buffer x, Buffer r) {
    k.prefetch(x, (i + 8) * (i + 8));
    k.store(r, i, x[i]);
  }));
  all.push_back(grid_sample(Op::Alloc, type, [](auto& k, Value i, Buffer x, Buffer r) {
    Buffer own = k.private_array(x.type(), 4);
    k.for_range(k.u32(0), k.u32(4), [&](Value j) { k.store(own, j, x[(i + j) % 40]); });
    k.store(r, i, own[i & 3]);
  }));
}

void add_atomics(std::vector<Sample>& all, Type type) {
  // An `acc` parameter takes one fold, so each is a sample of its own.
  for (Fold fold : {Fold::Add, Fold::Min, Fold::Max, Fold::And, Fold::Or, Fold::Xor}) {
    all.push_back(grid_sample(
        Op::Atomic, type,
        [fold](auto& k, Value i, Buffer x, Buffer r) { k.atomic(fold, r, i & 3, x[i]); },
        kernel::Mode::Acc));
  }
  all.push_back(grid_sample(
      Op::Cas, type,
      [type](auto& k, Value i, Buffer x, Buffer r) { k.cas(r, i, k.number(type, 0), x[i]); },
      kernel::Mode::Race));
}

void add_groups(std::vector<Sample>& all, Type type) {
  all.push_back(
      group_sample(Op::Barrier, type, [](auto& k, Value i, Value lane, Buffer x, Buffer r) {
        Buffer tile = k.local(x.type(), kLanes);
        k.store(tile, lane, x[i]);
        k.barrier();
        k.store(r, i, tile[k.u32(kLanes - 1) - lane]);
      }));
  all.push_back(group_sample(Op::GScan, type, [](auto& k, Value i, Value, Buffer x, Buffer r) {
    k.store(r, i, k.gscan(Fold::Add, x[i]) ^ k.gscan(Fold::Max, x[i]));
  }));
  all.push_back(group_sample(Op::GReduce, type, [](auto& k, Value i, Value, Buffer x, Buffer r) {
    k.store(r, i, k.greduce(Fold::Add, x[i]) ^ k.greduce(Fold::Min, x[i]));
  }));
}

std::vector<Sample> samples() {
  std::vector<Sample> all;
  for (int o = 0; o < kernel::kOpCount; ++o) {
    const Op op = static_cast<Op>(o);
    if (!kernel::is_arithmetic(op)) continue;
    for (Type type : kernel::kValueTypes) {
      if (op == Op::Cast || op == Op::Bitcast) {
        for (Type to : kernel::kValueTypes) {
          if (to != type && kernel::cast_problem(op, type, to).empty()) {
            all.push_back(conversion(op, type, to));
          }
        }
      } else if (kernel::in_domain(kernel::info(op).domain, type)) {
        all.push_back(arithmetic(op, type));
      }
    }
  }
  for (Type type : kernel::kValueTypes) {
    if (type == Type::Bool) continue;
    add_control(all, type);
    if (!kernel::is_int(type)) continue;
    if (type != Type::U8) add_atomics(all, type);  // there are none on bytes
    add_groups(all, type);
  }
  return all;
}

std::vector<std::byte> bytes_of(const std::vector<Scalar>& values) {
  std::vector<std::byte> bytes;
  for (const Scalar& value : values) {
    const size_t at = bytes.size();
    bytes.resize(at + kernel::size_of(value.type));
    kernel::store_scalar(value, bytes.data() + at);
  }
  return bytes;
}

// Runs a sample; its output bytes.
Result<std::vector<std::byte>> run_sample(Device& device, const Sample& sample,
                                          const KernelHandle& kernel) {
  std::vector<Argument> arguments = {Scalar::u32(sample.instances)};
  for (const std::vector<Scalar>& input : sample.inputs) {
    const std::vector<std::byte> bytes = bytes_of(input);
    Result<device::Buffer> buffer = device.allocate(bytes.size());
    if (!buffer.ok()) return buffer.error();
    if (Status s = device.write({*buffer}, bytes); !s.ok()) return s.error();
    arguments.emplace_back(View{*buffer});
  }
  std::vector<std::byte> output(size_t{sample.outputs} * kernel::size_of(sample.result));
  Result<device::Buffer> buffer = device.allocate(output.size());
  if (!buffer.ok()) return buffer.error();
  if (Status s = device.write({*buffer}, output); !s.ok()) return s.error();
  arguments.emplace_back(View{*buffer});
  if (Status s = device.launch(kernel, arguments); !s.ok()) return s.error();
  if (Status s = device.read({*buffer}, output); !s.ok()) return s.error();
  return output;
}

OpCell try_sample(Device& device, Device& oracle, const Sample& sample) {
  Graph graph;
  const Id kernel = sample.build(graph);
  OpCell cell{sample.op, sample.type, OpOutcome::Same, ""};
  Result<KernelHandle> there = device.compile(graph, kernel);
  if (!there.ok()) return {sample.op, sample.type, OpOutcome::Declined, there.error().message};
  Result<KernelHandle> here = oracle.compile(graph, kernel);
  if (!here.ok()) return {sample.op, sample.type, OpOutcome::Different, here.error().text()};
  const auto got = run_sample(device, sample, *there);
  const auto want = run_sample(oracle, sample, *here);
  if (!got.ok() || !want.ok()) {
    return {sample.op, sample.type, OpOutcome::Different, (got.ok() ? want : got).error().text()};
  }
  const uint32_t size = kernel::size_of(sample.result);
  for (uint32_t i = 0; i < sample.outputs; ++i) {
    const Scalar a = kernel::load_scalar(sample.result, got->data() + i * size);
    const Scalar b = kernel::load_scalar(sample.result, want->data() + i * size);
    if (a == b) continue;
    std::string operands;
    for (const auto& input : sample.inputs) {
      if (i < input.size()) operands += " " + kernel::to_text(input[i]);
    }
    cell.outcome = OpOutcome::Different;
    cell.detail = fmt::format("({}{}) gives {}, not {}", kernel::spelling(sample.op), operands,
                              kernel::to_text(a), kernel::to_text(b));
    break;
  }
  return cell;
}

}  // namespace

std::vector<Scalar> edge_values(Type type) {
  std::vector<Scalar> values;
  if (type == Type::Bool) return {Scalar::boolean(false), Scalar::boolean(true)};
  if (kernel::is_float(type)) {
    const bool wide = type == Type::F64;
    auto put = [&](double v) {
      values.push_back(wide ? Scalar::f64(v) : Scalar::f32(static_cast<float>(v)));
    };
    for (double v : {0.0, 1.0, 1.5, 3.0, 0.1, 1e10, 4294967296.0, 9.3e18, 1.9e19, 255.5, 127.0}) {
      put(v);
      put(-v);
    }
    put(INFINITY);
    put(-INFINITY);
    values.push_back(kernel::canonical_nan(type));
    values.push_back({type, 1});                                         // least subnormal
    values.push_back({type, wide ? 0x000fffffffffffffu : 0x007fffffu});  // greatest subnormal
    values.push_back({type, wide ? 0x0010000000000000u : 0x00800000u});  // least normal
    values.push_back({type, wide ? 0x7fefffffffffffffu : 0x7f7fffffu});  // greatest
    return values;
  }
  const uint64_t all = kernel::mask_of(type);
  for (uint64_t v : {uint64_t{0}, uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{7}, uint64_t{10},
                     uint64_t{31}, uint64_t{32}, uint64_t{100}, all, all - 1, all >> 1,
                     (all >> 1) + 1, (all >> 1) + 2, all / 3, uint64_t{0x9E3779B97F4A7C15u}}) {
    values.push_back({type, v & all});
  }
  return values;
}

std::vector<OpCell> test_ops(Device& device) {
  auto oracle = open_device("oracle");
  XLOG_CHECK(oracle.ok(), "the oracle always opens");
  std::vector<OpCell> cells;
  for (const Sample& sample : samples()) cells.push_back(try_sample(device, **oracle, sample));
  return cells;
}

}  // namespace xlog::device
