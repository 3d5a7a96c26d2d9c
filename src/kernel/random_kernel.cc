#include "kernel/random_kernel.h"

#include <algorithm>

#include "kernel/builder.h"
#include "kernel/random_values.h"

namespace xlog::kernel {

namespace {

constexpr uint32_t kAccCells = 16;
constexpr uint32_t kMostDepth = 3;

// Arguments of a call are computed in an order that compilers choose, and each draw changes the
// next: so at most one argument of a call draws (braces keep the order).
class Generator {
 public:
  Generator(Graph& graph, uint64_t seed, const RandomOptions& options)
      : options_(options),
        random_(seed),
        lanes_(options.groups ? pick<uint32_t>({1, 2, 7, 8, 32}) : 0),
        k_(graph, "random", lanes_) {
    for (Type type : kValueTypes) {
      if (!options.floats && is_float(type)) continue;
      if (!options.wide && size_of(type) == 8) continue;
      types_.push_back(type);
    }
  }

  Id run() {
    parameters();
    for (uint32_t s = 0; s < options_.statements; ++s) statement(0, true);
    results();
    return k_.finish();
  }

 private:
  template <typename T>
  T pick(std::vector<T> list) {
    return list[random_.below(list.size())];
  }
  bool chance(uint32_t percent) { return random_.below(100) < percent; }
  Type any_type() { return types_[random_.below(types_.size())]; }
  Type int_type() {
    return options_.wide ? pick<Type>({Type::U8, Type::U32, Type::U64, Type::I32, Type::I64})
                         : pick<Type>({Type::U8, Type::U32, Type::I32});
  }
  Type atomic_type() {
    return options_.wide ? pick<Type>({Type::U32, Type::U64, Type::I32, Type::I64})
                         : pick<Type>({Type::U32, Type::I32});
  }
  Fold order_free_fold() {
    return pick<Fold>({Fold::Add, Fold::Min, Fold::Max, Fold::And, Fold::Or, Fold::Xor});
  }

  // `home_` is the cell that belongs to this instance, or lane, in out, own and race parameters.
  void parameters() {
    Value n = k_.val(Type::U32, "n");
    for (int v = 0; v < 2; ++v) {
      Value value = k_.val(any_type(), v == 0 ? "a" : "b");
      pool_.push_back(value);
      if (value.type() == Type::U32) uniform_.push_back(value);
    }
    const std::string_view in_names[] = {"x", "y", "z"}, out_names[] = {"p", "q"};
    for (auto name : in_names) in_.push_back(k_.in(any_type(), name));
    for (auto name : out_names) out_.push_back(k_.out(any_type(), name));
    own_ = k_.own(any_type(), "own");
    if (options_.atomics) {
      for (auto name : {"s", "t"}) {
        Buffer acc = k_.acc(atomic_type(), name);
        acc_.emplace_back(acc, order_free_fold());
      }
      race_ = k_.race(atomic_type(), "race");
    }
    if (lanes_ == 0) {
      home_ = k_.grid(n);
    } else {
      group_ = k_.group(n);
      lane_ = k_.lane();
      home_ = group_ * lanes_ + lane_;
      pool_.push_back(lane_);
      pool_.push_back(group_);
      uniform_.push_back(group_);
      // Local arrays stand at the top of a kernel.
      for (int t = 0; t < 2; ++t) tiles_.push_back(k_.local(any_type(), lanes_));
      counts_ = k_.local(atomic_type(), lanes_);
    }
    uniform_.push_back(n);
    uniform_.push_back(k_.u32(3));
    pool_.push_back(home_);
    for (Buffer buffer : in_) pool_.push_back(buffer[home_]);
  }

  Value constant(Type type) { return k_.constant(random_value(random_, type)); }

  // Something of the type that is there at this place.
  Value value(Type type) {
    std::vector<Value> fitting;
    for (Value v : pool_) {
      if (v.type() == type) fitting.push_back(v);
    }
    if (fitting.empty() || chance(15)) {
      if (chance(40)) return constant(type);
      return convert(type, pool_[random_.below(pool_.size())]);
    }
    // Recent values more often: chains grow deep.
    const size_t back = std::min(random_.below(fitting.size()), random_.below(fitting.size()));
    return fitting[fitting.size() - 1 - back];
  }

  Value convert(Type type, Value from) {
    if (from.type() == type) return from;
    const bool has_bits = !is_bool(type) && !is_bool(from.type());
    if (has_bits && size_of(type) == size_of(from.type()) && chance(50)) {
      return k_.bitcast(type, from);
    }
    return k_.cast(type, from);
  }

  Value small(uint32_t limit) { return value(Type::U32) % limit; }
  // The same for all lanes of a group.
  Value small_uniform(uint32_t limit) {
    return (uniform_[random_.below(uniform_.size())] + random_.below(limit)) % limit;
  }
  // Inside a parameter, whatever its length; lengths are never 0.
  Value index_in(Buffer buffer) {
    if (chance(30)) return home_;
    return k_.make(Op::Rem, {value(Type::U32), k_.len(buffer)});
  }

  void arithmetic() {
    const Op op =
        static_cast<Op>(static_cast<int>(Op::Add) +
                        random_.below(static_cast<int>(Op::Log2) - static_cast<int>(Op::Add) + 1));
    if (op == Op::Cast || op == Op::Bitcast) {
      pool_.push_back(convert(any_type(), pool_[random_.below(pool_.size())]));
      return;
    }
    Type type = any_type();
    for (int tries = 0; !in_domain(info(op).domain, type); ++tries) {
      if (tries == 50) return;
      type = any_type();
    }
    switch (info(op).operands) {
      case 1:
        pool_.push_back(k_.make(op, {value(type)}));
        break;
      case 2:
        pool_.push_back(k_.make(op, {value(type), value(type)}));
        break;
      default:
        if (op == Op::Select) {
          pool_.push_back(k_.make(op, {value(Type::Bool), value(type), value(type)}));
        } else {
          pool_.push_back(k_.make(op, {value(type), value(type), value(type)}));
        }
    }
  }

  // `uniform`: all lanes of the group come here together.
  void statement(uint32_t depth, bool uniform) {
    if (lanes_ != 0 && uniform && chance(12)) return group_statement(depth);
    const uint32_t roll = random_.below(100);
    if (roll < 60) return arithmetic();
    if (roll < 68) return load();
    if (roll < 74) return own_access();
    if (roll < 78) return atomic();
    if (roll < 82) return array();
    if (roll < 84) return check();
    if (depth >= kMostDepth) return arithmetic();
    if (roll < 90) return branch(depth);
    if (!options_.loops) return arithmetic();
    if (roll < 96) return counted(depth);
    return bounded(depth);
  }

  void load() {
    Buffer buffer = in_[random_.below(in_.size())];
    if (chance(10)) k_.prefetch(buffer, value(Type::U32));  // wherever that is
    if (chance(70)) {
      pool_.push_back(buffer[index_in(buffer)]);
      return;
    }
    // An index that may lie outside, behind its guard; the value leaves by way of `own`.
    Value index = value(Type::U32);
    k_.if_then(index < k_.len(buffer),
               [&] { k_.store(own_, home_, convert(own_.type(), buffer[index])); });
  }

  void own_access() {
    if (chance(50)) pool_.push_back(own_[home_]);
    k_.store(own_, home_, value(own_.type()));
  }

  void atomic() {
    if (!options_.atomics) return arithmetic();
    if (chance(60)) {
      const auto& [acc, fold] = acc_[random_.below(acc_.size())];
      Value index = value(Type::U32) % kAccCells;
      k_.atomic(fold, acc, index, value(acc.type()));
      return;
    }
    // On a cell of one's own even the results are deterministic.
    const Type type = race_.type();
    if (chance(50)) {
      const Fold fold = chance(30) ? Fold::Exch : order_free_fold();
      pool_.push_back(k_.atomic(fold, race_, home_, value(type)));
    } else {
      Value expected = chance(50) ? race_[home_] : value(type);
      pool_.push_back(k_.cas(race_, home_, expected, value(type)));
    }
  }

  void array() {
    if (!options_.arrays) return arithmetic();
    const size_t outer = arrays_.size();
    if (outer == 0 || chance(30)) {
      const uint32_t size = pick<uint32_t>({1, 3, 4, 8});
      Buffer fresh = k_.private_array(any_type(), size);
      if (chance(50)) {
        k_.for_range(k_.u32(0), k_.u32(size), [&](Value j) {
          k_.store(fresh, j, chance(50) ? convert(fresh.type(), j) : value(fresh.type()));
        });
      } else {
        for (uint32_t c = 0; c < size; ++c) k_.store(fresh, k_.u32(c), value(fresh.type()));
      }
      arrays_.push_back({fresh, size});
    }
    const auto [buffer, size] = arrays_[random_.below(arrays_.size())];
    Value index = small(size);
    k_.store(buffer, index, value(buffer.type()));
    pool_.push_back(buffer[small(size)]);
  }

  void check() {
    if (!options_.checks) return arithmetic();
    const uint32_t code = 1 + random_.below(kCheckCodes - 1);
    k_.check(code, value(Type::Bool));
  }

  // Whatever `body` makes is forgotten afterwards: its values live in its block only.
  template <typename Body>
  auto scoped(const Body& body) {
    const size_t values = pool_.size(), arrays = arrays_.size(), uniforms = uniform_.size();
    struct Restore {
      Generator* self;
      size_t values, arrays, uniforms;
      ~Restore() {
        self->pool_.erase(self->pool_.begin() + static_cast<ptrdiff_t>(values), self->pool_.end());
        self->arrays_.erase(self->arrays_.begin() + static_cast<ptrdiff_t>(arrays),
                            self->arrays_.end());
        self->uniform_.erase(self->uniform_.begin() + static_cast<ptrdiff_t>(uniforms),
                             self->uniform_.end());
      }
    } restore{this, values, arrays, uniforms};
    return body();
  }

  void some_statements(uint32_t depth, bool uniform) {
    const uint32_t count = 1 + random_.below(5);
    for (uint32_t s = 0; s < count; ++s) statement(depth, uniform);
  }

  void branch(uint32_t depth, bool uniform = false) {
    Value condition = uniform ? small_uniform(2) == 0 : value(Type::Bool);
    auto body = [&] {
      scoped([&] {
        some_statements(depth + 1, uniform);
        k_.store(own_, home_, value(own_.type()));
      });
    };
    if (chance(50)) {
      k_.if_then(condition, body);
    } else {
      k_.if_then(condition, body, body);
    }
  }

  Values carried_inits() {
    Values inits;
    for (uint32_t c = random_.below(4); c > 0; --c) inits.push_back(value(any_type()));
    return inits;
  }
  Values next_of(const Values& carried) {
    Values next;
    for (Value v : carried) next.push_back(value(v.type()));
    return next;
  }
  void enter_body(Value counter, const Values& carried) {
    pool_.push_back(counter);
    pool_.insert(pool_.end(), carried.begin(), carried.end());
  }

  void counted(uint32_t depth, bool uniform = false) {
    Value lo = uniform ? small_uniform(3) : small(3);
    Value hi = uniform ? small_uniform(6) : small(6);
    Values results = k_.for_range(lo, hi, carried_inits(), [&](Value j, const Values& carried) {
      return scoped([&] {
        enter_body(j, carried);
        if (uniform) uniform_.push_back(j);
        some_statements(depth + 1, uniform);
        return next_of(carried);
      });
    });
    pool_.insert(pool_.end(), results.begin(), results.end());
  }

  void bounded(uint32_t depth) {
    Value bound = chance(50) ? small(7) : k_.u32(random_.below(7));
    Value enters = value(Type::Bool);
    if (!options_.checks) enters = enters & (k_.u32(0) < bound);
    Values results = k_.loop(bound, enters, carried_inits(), [&](Value t, const Values& carried) {
      return scoped([&] {
        enter_body(t, carried);
        some_statements(depth + 1, false);
        // Without checks no loop may still want to go on at its bound.
        Value go = value(Type::Bool);
        if (!options_.checks) go = go & (t + 1 < bound);
        return std::pair{go, next_of(carried)};
      });
    });
    pool_.insert(pool_.end(), results.begin(), results.end());
  }

  // ---- all lanes of a group together ----

  void group_statement(uint32_t depth) {
    switch (random_.below(depth < kMostDepth ? 7 : 5)) {
      case 0: {
        const Fold fold = order_free_fold();
        Value sum = k_.greduce(fold, value(int_type()));
        if (sum.type() == Type::U32) uniform_.push_back(sum);
        pool_.push_back(sum);
        break;
      }
      case 1: {
        const Fold fold = order_free_fold();
        pool_.push_back(k_.gscan(fold, value(int_type())));
        break;
      }
      case 2:
        exchange();
        break;
      case 3:
        histogram();
        break;
      case 4:
        k_.store(own_, home_, value(own_.type()));
        k_.barrier();
        pool_.push_back(own_[group_ * lanes_ + (lane_ + 1) % lanes_]);
        k_.barrier();
        break;
      case 5:
        branch(depth, true);
        break;
      default:
        if (options_.loops) counted(depth, true);
    }
  }

  void exchange() {
    Buffer tile = tiles_[random_.below(tiles_.size())];
    k_.store(tile, lane_, value(tile.type()));
    k_.barrier();
    pool_.push_back(tile[small(lanes_)]);
    if (chance(50)) pool_.push_back(tile[lane_]);
    k_.barrier();
  }

  void histogram() {
    if (!options_.atomics) return exchange();
    Buffer tile = counts_;
    k_.store(tile, lane_, constant(tile.type()));
    k_.barrier();
    const Fold fold = order_free_fold();
    Value index = small(lanes_);
    k_.atomic(fold, tile, index, value(tile.type()));
    k_.barrier();
    pool_.push_back(tile[small(lanes_)]);
    k_.barrier();
  }

  // Everything that is left goes into one number, so that nothing computed is without effect.
  void results() {
    Value digest = k_.u32(0);
    for (Value v : pool_) {
      if (is_float(v.type())) v = k_.bitcast(bits_type(v.type()), v);
      if (size_of(v.type()) == 8) {
        Value bits = k_.cast(Type::U64, v);
        v = k_.cast(Type::U32, bits ^ (bits >> 32));
      }
      digest = digest * 31 + k_.cast(Type::U32, v);
    }
    Buffer last = k_.out(Type::U32, "digest");
    for (Buffer out : out_) {
      if (chance(50)) {
        k_.store(out, home_, value(out.type()));
      } else {
        k_.if_then(value(Type::Bool), [&] { k_.store(out, home_, value(out.type())); });
      }
    }
    k_.store(last, home_, digest);
  }

  const RandomOptions& options_;
  Random random_;
  uint32_t lanes_;
  KernelBuilder k_;
  std::vector<Type> types_;
  std::vector<Value> pool_;     // what may be used here
  std::vector<Value> uniform_;  // u32 values that all lanes of a group agree on
  std::vector<std::pair<Buffer, uint32_t>> arrays_;
  std::vector<Buffer> in_, out_;
  std::vector<std::pair<Buffer, Fold>> acc_;  // one kind of fold each
  std::vector<Buffer> tiles_;                 // one cell for each lane of the group
  Buffer own_, race_, counts_;
  Value home_, group_, lane_;
};

}  // namespace

Id random_kernel(Graph& graph, uint64_t seed, const RandomOptions& options) {
  return Generator(graph, seed, options).run();
}

RandomArguments& RandomArguments::operator=(const RandomArguments& other) {
  memory = other.memory;
  list = other.list;
  for (size_t k = 0; k < list.size(); ++k) {
    if (auto* buffer = std::get_if<HostBuffer>(&list[k])) buffer->data = memory[k].data();
  }
  return *this;
}

RandomArguments random_arguments(const Graph& graph, Id kernel, uint64_t seed, uint32_t instances) {
  Random random(seed ^ 0x5851f42d4c957f2d);
  RandomArguments made;
  const uint32_t homes = instances * std::max(1u, graph.kernel_info(kernel).group);
  const auto params = graph.params(kernel);
  made.memory.resize(params.size());
  for (size_t k = 0; k < params.size(); ++k) {
    const Type type = graph.type(params[k]);
    if (graph.mode(params[k]) == Mode::Val) {
      made.list.emplace_back(k == 0 ? Scalar::u32(instances) : random_value(random, type));
      continue;
    }
    const bool is_acc = graph.mode(params[k]) == Mode::Acc;
    const uint32_t count = is_acc ? kAccCells : homes + 1 + random.below(8);
    auto& bytes = made.memory[k];
    bytes.resize(size_t{count} * size_of(type));
    for (uint32_t c = 0; c < count; ++c) {
      store_scalar(canonical(random_value(random, type)), bytes.data() + c * size_of(type));
    }
    made.list.emplace_back(HostBuffer{bytes.data(), bytes.size()});
  }
  return made;
}

}  // namespace xlog::kernel
