// What a C++ programmer writes for one query, with no engine under it: a bar for the engines to be
// measured against. Each reads the file `edge.facts` of a folder, works with all cores, and gives a
// count.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "generate.h"

namespace xlog::bench::by_hand {

inline Edges read_edges(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  Edges edges;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at < end;) {
    Edge edge{0, 0};
    at = std::from_chars(at, end, edge.first).ptr + 1;
    at = std::from_chars(at, end, edge.second).ptr + 1;
    edges.push_back(edge);
  }
  return edges;
}

// For each node where its neighbours begin; one more than there are nodes.
struct Graph {
  std::vector<uint32_t> begin, to;

  uint32_t nodes() const { return static_cast<uint32_t>(begin.size() - 1); }
};

// `edges` are sorted.
inline Graph graph_of(const Edges& edges) {
  uint32_t nodes = 0;
  for (const auto& [from, to] : edges) nodes = std::max({nodes, from + 1, to + 1});
  Graph graph;
  graph.begin.assign(nodes + 1, 0);
  for (const auto& [from, to] : edges) {
    ++graph.begin[from + 1];
    graph.to.push_back(to);
  }
  std::partial_sum(graph.begin.begin(), graph.begin.end(), graph.begin.begin());
  return graph;
}

// Calls work(first, last) for blocks of 0 to n - 1 on all cores; the sum of what it gives.
inline uint64_t sum_in_parallel(uint32_t n, uint32_t block,
                                const std::function<uint64_t(uint32_t, uint32_t)>& work) {
  std::atomic<uint32_t> next{0};
  std::atomic<uint64_t> sum{0};
  const auto take_blocks = [&] {
    for (;;) {
      const uint32_t first = next.fetch_add(block);
      if (first >= n) return;
      sum += work(first, std::min(n, first + block));
    }
  };
  std::vector<std::thread> threads;
  for (uint32_t t = 1; t < std::max(1u, std::thread::hardware_concurrency()); ++t) {
    threads.emplace_back(take_blocks);
  }
  take_blocks();
  for (std::thread& thread : threads) thread.join();
  return sum;
}

// The strongly connected components of a graph in an order where each comes after those it reaches
// (Tarjan, with a stack of our own).
struct Strong {
  std::vector<uint32_t> component;  // by node
  uint32_t count = 0;
};

inline Strong strong_components(const Graph& graph) {
  struct Frame {
    uint32_t node, edge;
  };
  const uint32_t nodes = graph.nodes();
  Strong strong{std::vector<uint32_t>(nodes, UINT32_MAX)};
  std::vector<uint32_t> order(nodes, UINT32_MAX), low(nodes), open;
  std::vector<Frame> frames;
  uint32_t next = 0;
  const auto enter = [&](uint32_t node) {
    order[node] = low[node] = next++;
    open.push_back(node);
    frames.push_back({node, graph.begin[node]});
  };
  for (uint32_t root = 0; root < nodes; ++root) {
    if (order[root] != UINT32_MAX) continue;
    enter(root);
    while (!frames.empty()) {
      Frame& frame = frames.back();
      const uint32_t node = frame.node;
      if (frame.edge < graph.begin[node + 1]) {
        const uint32_t to = graph.to[frame.edge++];
        if (order[to] == UINT32_MAX) {
          enter(to);
        } else if (strong.component[to] == UINT32_MAX) {
          low[node] = std::min(low[node], order[to]);
        }
        continue;
      }
      frames.pop_back();
      if (!frames.empty()) low[frames.back().node] = std::min(low[frames.back().node], low[node]);
      if (low[node] != order[node]) continue;
      for (uint32_t member = UINT32_MAX; member != node;) {
        member = open.back();
        open.pop_back();
        strong.component[member] = strong.count;
      }
      ++strong.count;
    }
  }
  return strong;
}

// How many pairs (x, y) there are such that a path of at least one edge leads from x to y. Nodes of
// one strong component reach the same, so each component has a row of bits for the components that
// it reaches: the union of the rows of its successors, which come before it. Threads share out
// the columns, each a cache line of bits wide. The rows are kept, as the answer of the query would
// be.
inline uint64_t closure_size(const Edges& edges) {
  constexpr uint32_t kWordBits = 64;
  constexpr uint32_t kLine = 8;  // words
  const Strong strong = strong_components(graph_of(edges));
  std::vector<uint32_t> members(strong.count, 0);
  for (uint32_t c : strong.component) ++members[c];
  // An edge inside a component makes it reach itself.
  Edges between;
  for (const auto& [from, to] : edges) {
    between.push_back({strong.component[from], strong.component[to]});
  }
  sort_unique(between);
  std::vector<uint32_t> begin(strong.count + 1, 0);
  for (const auto& [from, to] : between) ++begin[from + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());

  const uint32_t lines = (strong.count + kWordBits * kLine - 1) / (kWordBits * kLine);
  const uint64_t words = uint64_t{lines} * kLine;
  std::vector<uint64_t> rows(words * strong.count, 0);
  return sum_in_parallel(lines, 1, [&](uint32_t line, uint32_t) {
    const uint32_t first = line * kWordBits * kLine;  // the component of the first bit
    uint64_t pairs = 0;
    for (uint32_t c = first; c < strong.count; ++c) {
      uint64_t* row = &rows[c * words + uint64_t{line} * kLine];
      for (uint32_t e = begin[c]; e < begin[c + 1]; ++e) {
        const uint32_t to = between[e].second;
        const uint64_t* other = &rows[to * words + uint64_t{line} * kLine];
        for (uint32_t w = 0; w < kLine; ++w) row[w] |= other[w];
        const uint32_t bit = to - first;
        if (bit < kWordBits * kLine) row[bit / kWordBits] |= uint64_t{1} << (bit % kWordBits);
      }
      uint64_t reached = 0;  // nodes
      for (uint32_t w = 0; w < kLine; ++w) {
        for (uint64_t bits = row[w]; bits != 0; bits &= bits - 1) {
          reached += members[first + w * kWordBits + static_cast<uint32_t>(std::countr_zero(bits))];
        }
      }
      pairs += reached * members[c];
    }
    return pairs;
  });
}

// Triangles of edges that go from the lower to the higher number. Each edge is turned towards the
// node of the higher degree, so that no node has many; then neighbours are intersected, by marking
// those of one node.
inline uint64_t triangle_count(const Edges& edges) {
  const uint32_t nodes = graph_of(edges).nodes();
  std::vector<uint32_t> degree(nodes, 0);
  for (const auto& [from, to] : edges) {
    ++degree[from];
    ++degree[to];
  }
  std::vector<uint32_t> by_degree(nodes), rank(nodes);
  std::iota(by_degree.begin(), by_degree.end(), 0u);
  std::stable_sort(by_degree.begin(), by_degree.end(),
                   [&](uint32_t x, uint32_t y) { return degree[x] < degree[y]; });
  for (uint32_t i = 0; i < nodes; ++i) rank[by_degree[i]] = i;
  Edges turned;
  for (const auto& [from, to] : edges) turned.push_back(low_to_high({rank[from], rank[to]}));
  std::sort(turned.begin(), turned.end());
  const Graph graph = graph_of(turned);
  return sum_in_parallel(graph.nodes(), 64, [&](uint32_t first, uint32_t last) {
    thread_local std::vector<uint32_t> marked;  // by node: the last one it is a neighbour of, + 1
    marked.resize(graph.nodes());
    uint64_t triangles = 0;
    for (uint32_t x = first; x < last; ++x) {
      for (uint32_t e = graph.begin[x]; e < graph.begin[x + 1]; ++e) marked[graph.to[e]] = x + 1;
      for (uint32_t e = graph.begin[x]; e < graph.begin[x + 1]; ++e) {
        const uint32_t y = graph.to[e];
        for (uint32_t f = graph.begin[y]; f < graph.begin[y + 1]; ++f) {
          triangles += marked[graph.to[f]] == x + 1 ? 1 : 0;
        }
      }
    }
    return triangles;
  });
}

}  // namespace xlog::bench::by_hand
