// Random group kernels, run as written and as the group passes rewrite them. They keep the rules of
// groups by construction: barriers stand under values that all lanes share, and a local cell is
// written by one lane between two barriers.
#include <gtest/gtest.h>

#include <random>

#include "base/sanitized.h"
#include "kernel/builder.h"
#include "kernel/oracle.h"
#include "kernel/pass.h"
#include "kernel/verify.h"

namespace xlog::kernel {
namespace {

constexpr uint32_t kGroups = 2;
constexpr uint32_t kCells = 64;  // of `in`
const Target kTarget{.name = "test"};

class RandomGroupKernel {
 public:
  RandomGroupKernel(Graph& graph, uint32_t lanes, uint64_t seed)
      : random_(seed),
        k_(graph, "random", lanes),
        n_(k_.val(Type::U32, "n")),
        in_(k_.in(Type::U32, "in")),
        out_(k_.out(Type::U32, "out")),
        sums_(k_.acc(Type::U32, "sums")),
        lanes_(k_.u32(lanes)) {
    Value g = k_.group(n_), lane = k_.lane();
    shared_ = {g, k_.u32(3)};
    mine_ = {lane, g * lanes + lane};
  }

  Id build() {
    tile_ = k_.local(Type::U32, static_cast<uint32_t>(k_.graph().value(lanes_.id).as_u32()));
    scratch_ = k_.private_array(Type::U32, 3);
    for (uint32_t j = 0; j < 3; ++j) k_.store(scratch_, k_.u32(j), any() + j);
    together(0);
    Value sum = k_.u32(1);
    for (Value v : mine_) sum = sum * 31 + v;
    for (Value v : shared_) sum = sum * 31 + v;
    sum = sum * 31 + scratch_[k_.lane() % 3];
    k_.store(out_, mine_[1], sum);
    return k_.finish();
  }

 private:
  uint64_t dice(uint64_t n) { return random_() % n; }
  Value shared() { return shared_[dice(shared_.size())]; }
  Value mine() { return mine_[dice(mine_.size())]; }
  Value any() { return dice(3) == 0 ? shared() : mine(); }
  Fold fold() {
    constexpr Fold folds[] = {Fold::Add, Fold::Min, Fold::Max, Fold::And, Fold::Or, Fold::Xor};
    return folds[dice(6)];
  }

  // What is defined in a block is out of sight after it.
  template <typename F>
  void scoped(const F& body) {
    const size_t s = shared_.size(), m = mine_.size();
    body();
    shared_.resize(s);
    mine_.resize(m);
  }

  // Effects that all lanes reach together.
  void together(int depth) {
    const int count = 3 + static_cast<int>(dice(5));
    for (int i = 0; i < count; ++i) {
      switch (dice(depth < 3 ? 12 : 9)) {
        case 0:
          mine_.push_back(k_.gscan(fold(), any()));
          break;
        case 1:
          shared_.push_back(k_.greduce(fold(), any()));
          break;
        case 2:
          shared_.push_back(in_[shared() % kCells]);
          break;
        case 3:
          exchange();
          break;
        case 4:
          shared_.push_back(shared() * 5 + shared());
          break;
        case 5:
          mine_.push_back(any() ^ (any() >> 3));
          break;
        case 6:
          k_.barrier();
          break;
        case 7:
        case 8:
          alone(0);
          break;
        case 9:
          for_together(depth);
          break;
        case 10:
          while_together(depth);
          break;
        default:
          k_.if_then((shared() & 1) == 0, [&] { scoped([&] { together(depth + 1); }); },
                     [&] { scoped([&] { together(depth + 1); }); });
      }
    }
  }

  // Each lane writes its cell and reads another's.
  void exchange() {
    k_.store(tile_, k_.lane(), any());
    k_.barrier();
    const bool one_cell = dice(3) == 0;
    Value index = one_cell ? shared() : k_.lane() + shared();
    Value got = tile_[index % lanes_];
    k_.barrier();
    (one_cell ? shared_ : mine_).push_back(got);
  }

  Values pick_carried(uint64_t& of_lanes) {
    of_lanes = dice(3);
    Values inits = {shared()};
    for (uint64_t i = 0; i < of_lanes; ++i) inits.push_back(any());
    return inits;
  }

  Values next_values(const Values& carried) {
    Values next = {shared() + carried[0]};
    for (size_t i = 1; i < carried.size(); ++i) next.push_back(any() ^ carried[carried.size() - i]);
    return next;
  }

  void see(const Values& values) {
    shared_.push_back(values[0]);
    mine_.insert(mine_.end(), values.begin() + 1, values.end());
  }

  void for_together(int depth) {
    uint64_t of_lanes = 0;
    Values inits = pick_carried(of_lanes);
    Values r = k_.for_range(k_.u32(0), shared() % 4, inits, [&](Value j, const Values& carried) {
      Values next;
      scoped([&] {
        shared_.push_back(j);
        see(carried);
        together(depth + 1);
        next = next_values(carried);
      });
      return next;
    });
    see(r);
  }

  void while_together(int depth) {
    uint64_t of_lanes = 0;
    Values inits = pick_carried(of_lanes);
    Value go = (shared() & 3) != 0;
    Values r = k_.loop(k_.u32(4), go, inits, [&](Value t, const Values& carried) {
      std::pair<Value, Values> next;
      scoped([&] {
        shared_.push_back(t);
        see(carried);
        together(depth + 1);
        next = {(shared() & 1) == 0, next_values(carried)};
      });
      return next;
    });
    see(r);
  }

  // Effects of one lane: control may differ.
  void alone(int depth) {
    switch (dice(depth < 2 ? 8 : 5)) {
      case 0:
        mine_.push_back(in_[any() % kCells]);
        break;
      case 1:
        k_.atomic(Fold::Add, sums_, k_.u32(static_cast<uint32_t>(dice(2))), any());
        break;
      case 2:
        k_.check(1 + static_cast<uint32_t>(dice(5)), (any() & 15) != 3);
        break;
      case 3:
        k_.store(scratch_, any() % 3, any());
        break;
      case 4:
        mine_.push_back(scratch_[any() % 3]);
        break;
      case 5:
        k_.if_then((any() & 1) == 0, [&] {
          scoped([&] {
            alone(depth + 1);
            alone(depth + 1);
          });
        });
        break;
      default: {
        Values r = k_.for_range(k_.u32(0), any() % 4, {any()}, [&](Value j, const Values& c) {
          Values next;
          scoped([&] {
            mine_.push_back(j);
            mine_.push_back(c[0]);
            alone(depth + 1);
            next = {any() * 3 + c[0]};
          });
          return next;
        });
        mine_.push_back(r[0]);
      }
    }
  }

  std::mt19937_64 random_;
  KernelBuilder k_;
  Value n_;
  Buffer in_, out_, sums_, tile_, scratch_;
  Value lanes_;
  Values shared_, mine_;
};

struct Memory {
  std::vector<uint32_t> in, out, sums, status;

  Memory(uint32_t lanes, uint64_t seed)
      : in(kCells), out(kGroups * lanes), sums(2, 0), status(kCheckCodes, UINT32_MAX) {
    std::mt19937_64 random(seed);
    for (uint32_t& v : in) v = static_cast<uint32_t>(random() >> (random() % 64));
  }
  static Argument whole(std::vector<uint32_t>& v) {
    return HostBuffer{reinterpret_cast<std::byte*>(v.data()), v.size() * 4};
  }
  Result<OracleReport> run(const Graph& graph, Id kernel, uint64_t schedule) {
    std::vector<Argument> arguments = {Scalar::u32(kGroups), whole(in), whole(out), whole(sums)};
    if (graph.params(kernel).size() > arguments.size()) arguments.push_back(whole(status));
    return run_oracle(graph, kernel, arguments, {.schedule_seed = schedule});
  }
};

TEST(LegaliseGroupsFuzz, SameBytes) {
  for (uint64_t seed = 1; seed <= 150 / kPartOfWork; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    constexpr uint32_t kSizes[] = {1, 2, 3, 5, 8, 11, 16, 70};
    const uint32_t lanes = kSizes[seed % std::size(kSizes)];
    Graph graph;
    PassContext context{graph, kTarget};
    const Id written = RandomGroupKernel(graph, lanes, seed).build();
    const Id kernel = checks_to_status(context, written);
    Memory expected(lanes, seed);
    auto original = expected.run(graph, kernel, 0);
    ASSERT_TRUE(original.ok()) << original.error().message;
    for (auto pass : {lanes_to_loops, collectives_to_local}) {
      const Id rewritten = pass(context, kernel);
      if (pass == lanes_to_loops) {
        const auto problems = verify(graph, rewritten, Spec::Kernel);
        ASSERT_TRUE(problems.empty()) << problems[0].message;
      }
      Memory got(lanes, seed);
      auto changed = got.run(graph, rewritten, seed);
      ASSERT_TRUE(changed.ok()) << changed.error().message;
      ASSERT_EQ(expected.out, got.out);
      ASSERT_EQ(expected.sums, got.sums);
      ASSERT_EQ(expected.status, got.status);
    }
  }
}

}  // namespace
}  // namespace xlog::kernel
