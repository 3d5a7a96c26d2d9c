#include "solve/count_order.h"

#include <algorithm>
#include <cmath>
#include <queue>

namespace xlog::solve {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
constexpr size_t kLongClause = 16;
constexpr uint64_t kMostWork = 40'000'000;  // neighbours that are looked at

// Variables are the nodes 1 to n. A sum or a long clause is a node of its own, so that it costs an
// edge for each of its variables and not for each pair of them.
class Elimination {
 public:
  Elimination(const CountFormula& formula, const CountTrail& trail)
      : formula_(formula), trail_(trail) {
    neighbours_.resize(static_cast<size_t>(formula.variables()) + 1);
    for (size_t c = 0; c < formula.clauses.size(); ++c) add_clause(formula.clauses[c]);
    for (const CountSum& sum : formula.sums) {
      const uint32_t hub = new_node();
      for (const WeightedLiteral& t : sum.terms) connect_if_open(hub, t.literal);
      for (const CountSum::Threshold& t : sum.thresholds) connect_if_open(hub, t.holds);
    }
    for (std::vector<uint32_t>& list : neighbours_) {
      std::ranges::sort(list);
      list.erase(std::ranges::unique(list).begin(), list.end());
    }
  }

  // False when that took too long.
  bool run() {
    const size_t count = neighbours_.size();
    place_.assign(count, kNone);
    using Entry = std::pair<size_t, uint32_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    for (uint32_t v = 1; v < count; ++v) {
      if (!neighbours_[v].empty()) queue.emplace(neighbours_[v].size(), v);
    }
    std::vector<uint32_t> merged;
    uint64_t work = 0;
    while (!queue.empty()) {
      const auto [degree, v] = queue.top();
      queue.pop();
      if (place_[v] != kNone || degree != neighbours_[v].size()) continue;
      place_[v] = static_cast<uint32_t>(order_.size());
      order_.push_back(v);
      // Its neighbours, all of which are still there, become a clique.
      for (const uint32_t u : neighbours_[v]) {
        merged.clear();
        std::ranges::set_union(neighbours_[u], neighbours_[v], std::back_inserter(merged));
        std::erase_if(merged, [&](uint32_t w) { return w == u || w == v; });
        work += merged.size();
        neighbours_[u] = merged;
        queue.emplace(neighbours_[u].size(), u);
      }
      width_ = std::max(width_, neighbours_[v].size());
      if (work > kMostWork) return false;
    }
    return true;
  }

  std::vector<double> ranks() const {
    const auto variables = static_cast<size_t>(formula_.variables());
    std::vector<double> ranks(variables + 1, 0);
    const size_t bags = order_.size();
    if (bags == 0) return ranks;
    // The bag of what is eliminated first hangs on the bag of its next neighbour.
    std::vector<std::vector<uint32_t>> tree(bags);
    std::vector<uint32_t> size(bags, 1);
    std::vector<uint32_t> parent(bags, kNone);
    for (uint32_t bag = 0; bag < bags; ++bag) {
      for (const uint32_t u : neighbours_[order_[bag]]) {
        parent[bag] = std::min(parent[bag], place_[u]);
      }
      if (parent[bag] == kNone) continue;
      tree[bag].push_back(parent[bag]);
      tree[parent[bag]].push_back(bag);
      size[parent[bag]] += size[bag];
    }
    std::vector<uint32_t> depth(bags, kNone);
    uint32_t deepest = 0;
    std::vector<uint32_t> open;
    for (uint32_t root = 0; root < bags; ++root) {
      if (parent[root] != kNone) continue;
      // Down to the bag with at most half of the tree below each of its neighbours.
      uint32_t middle = root;
      for (bool moved = true; moved;) {
        moved = false;
        for (const uint32_t next : tree[middle]) {
          if (next == parent[middle] || 2 * size[next] <= size[root]) continue;
          middle = next;
          moved = true;
          break;
        }
      }
      depth[middle] = 0;
      open.assign(1, middle);
      while (!open.empty()) {
        const uint32_t bag = open.back();
        open.pop_back();
        deepest = std::max(deepest, depth[bag]);
        for (const uint32_t next : tree[bag]) {
          if (depth[next] != kNone) continue;
          depth[next] = depth[bag] + 1;
          open.push_back(next);
        }
      }
    }
    std::vector<uint32_t> least(neighbours_.size(), kNone);
    for (uint32_t bag = 0; bag < bags; ++bag) {
      uint32_t& own = least[order_[bag]];
      own = std::min(own, depth[bag]);
      for (const uint32_t u : neighbours_[order_[bag]]) least[u] = std::min(least[u], depth[bag]);
    }
    // The narrower, the more it decides.
    const double n = static_cast<double>(bags);
    const double weight = std::min(1e7, 100 * std::exp(n / static_cast<double>(width_ + 1)) / n);
    for (size_t v = 1; v <= variables; ++v) {
      if (least[v] == kNone) continue;
      ranks[v] = weight * static_cast<double>(deepest - least[v]) / (deepest + 1);
    }
    return ranks;
  }

 private:
  static uint32_t node(Literal literal) { return static_cast<uint32_t>(variable_of(literal)); }
  uint32_t new_node() {
    neighbours_.emplace_back();
    return static_cast<uint32_t>(neighbours_.size() - 1);
  }
  void connect(uint32_t a, uint32_t b) {
    if (a == b) return;
    neighbours_[a].push_back(b);
    neighbours_[b].push_back(a);
  }
  void connect_if_open(uint32_t hub, Literal literal) {
    if (trail_.value(literal) == 0) connect(hub, node(literal));
  }
  void add_clause(std::span<const Literal> clause) {
    open_.clear();
    for (const Literal l : clause) {
      if (trail_.value(l) > 0) return;
      if (trail_.value(l) == 0) open_.push_back(node(l));
    }
    if (open_.size() > kLongClause) {
      const uint32_t hub = new_node();
      for (const uint32_t v : open_) connect(hub, v);
      return;
    }
    for (size_t i = 0; i < open_.size(); ++i) {
      for (size_t j = 0; j < i; ++j) connect(open_[i], open_[j]);
    }
  }

  const CountFormula& formula_;
  const CountTrail& trail_;
  std::vector<uint32_t> open_;                     // of a clause
  std::vector<std::vector<uint32_t>> neighbours_;  // of what is eliminated: those that came later
  std::vector<uint32_t> order_;
  std::vector<uint32_t> place_;  // in the order
  size_t width_ = 0;
};

}  // namespace

std::vector<double> decision_ranks(const CountFormula& formula, const CountTrail& trail) {
  Elimination elimination(formula, trail);
  if (!elimination.run()) {
    return std::vector<double>(static_cast<size_t>(formula.variables()) + 1, 0);
  }
  return elimination.ranks();
}

}  // namespace xlog::solve
