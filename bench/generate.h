// Inputs for the Datalog benchmarks: graphs and programs' facts by family, the same on every
// machine for the same seed. A family's rows come out sorted and without duplicates.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace xlog::bench {

// splitmix64: a few lines, and the same sequence on every platform.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    state_ += 0x9E3779B97F4A7C15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  // Evenly from 0 to n - 1.
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(((next() >> 32) * n) >> 32); }
  // Evenly from [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  bool chance(double p) { return unit() < p; }
  // From 0 to n - 1, small numbers more often; the more so, the larger the power.
  uint32_t skewed(uint32_t n, double power) {
    return std::min(n - 1, static_cast<uint32_t>(n * std::pow(unit(), power)));
  }
  // A whole number whose mean is `rate`.
  uint32_t times(double rate) {
    const auto whole = static_cast<uint32_t>(rate);
    return whole + (chance(rate - whole) ? 1 : 0);
  }

 private:
  uint64_t state_;
};

using Edge = std::pair<uint32_t, uint32_t>;
using Edges = std::vector<Edge>;

// The facts of one relation, row after row.
struct Table {
  std::string relation;
  uint32_t columns = 0;
  std::vector<uint32_t> values;

  size_t rows() const { return values.size() / columns; }
};
using Tables = std::vector<Table>;

inline void sort_unique(Edges& edges) {
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
}

// Draws until there are `count` different edges; an edge from a node to itself does not count.
template <typename Draw>
Edges draw_edges(size_t count, Draw draw) {
  Edges edges;
  edges.reserve(count);
  while (edges.size() < count) {
    for (size_t missing = count - edges.size(); missing > 0; --missing) {
      const Edge edge = draw();
      if (edge.first != edge.second) edges.push_back(edge);
    }
    sort_unique(edges);
  }
  return edges;
}

inline Table table_of(std::string relation, Edges edges) {
  sort_unique(edges);
  Table table{std::move(relation), 2, {}};
  table.values.reserve(2 * edges.size());
  for (const auto& [from, to] : edges) table.values.insert(table.values.end(), {from, to});
  return table;
}

inline Table numbers_table(std::string relation, uint32_t count) {
  Table table{std::move(relation), 1, std::vector<uint32_t>(count)};
  std::iota(table.values.begin(), table.values.end(), 0u);
  return table;
}

// ---- Graphs ----

inline Edges random_edges(uint32_t nodes, size_t edges, Random& random) {
  return draw_edges(edges, [&] { return Edge{random.below(nodes), random.below(nodes)}; });
}

inline Tables random_graph(uint32_t nodes, size_t edges, uint64_t seed) {
  Random random(seed);
  return {table_of("edge", random_edges(nodes, edges, random))};
}

inline Tables weighted_graph(uint32_t nodes, size_t edges, uint32_t heaviest, uint64_t seed) {
  Random random(seed);
  Table table{"edge", 3, {}};
  for (const auto& [from, to] : random_edges(nodes, edges, random)) {
    table.values.insert(table.values.end(), {from, to, 1 + random.below(heaviest)});
  }
  return {table};
}

// Edges go right and down.
inline Tables grid(uint32_t width, uint32_t height) {
  Edges edges;
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < width; ++x) {
      const uint32_t here = y * width + x;
      if (x + 1 < width) edges.push_back({here, here + 1});
      if (y + 1 < height) edges.push_back({here, here + width});
    }
  }
  return {table_of("edge", std::move(edges))};
}

inline Tables path(uint32_t nodes) {
  Edges edges;
  for (uint32_t i = 0; i + 1 < nodes; ++i) edges.push_back({i, i + 1});
  return {table_of("edge", std::move(edges))};
}

// Node 0 leads to `width` nodes, each of them to as many others, and each of those to as many
// again.
inline Tables hub(uint32_t width) {
  Edges edges;
  for (uint32_t i = 0; i < width; ++i) {
    edges.push_back({0, 1 + i});
    for (uint32_t j = 0; j < width; ++j) {
      edges.push_back({1 + i, 1 + width + j});
      edges.push_back({1 + width + i, 1 + 2 * width + j});
    }
  }
  return {table_of("edge", std::move(edges)), numbers_table("start", 1)};
}

// Edges go from parent to child; a tree of depth 0 is one node.
inline Tables binary_tree(uint32_t depth) {
  Edges edges;
  for (uint32_t child = 1; child < (2u << depth) - 1; ++child) {
    edges.push_back({(child - 1) / 2, child});
  }
  return {table_of("edge", std::move(edges))};
}

// ---- R-MAT: graphs with few nodes of many edges (Chakrabarti, Zhan, Faloutsos 2004) ----

// A node's number decides in which order a join meets it, so each graph comes in three numberings:
// as drawn (busy nodes low), shuffled, and by ascending degree (busy nodes high).
enum class Numbering : uint8_t { Drawn, Shuffled, ByDegree };
enum class Direction : uint8_t { Directed, LowToHigh };

struct Rmat {
  uint32_t scale = 0;  // 2^scale nodes
  size_t edges = 0;
  // The chances of the quadrants (0,0), (0,1) and (1,0) of the matrix; (1,1) has the rest.
  double a = 0.57;
  double b = 0.19;
  double c = 0.19;

  Edge draw(Random& random) const {
    Edge edge{0, 0};
    for (uint32_t bit = 0; bit < scale; ++bit) {
      const double x = random.unit();
      edge.first = 2 * edge.first + (x >= a + b);
      edge.second = 2 * edge.second + ((x >= a && x < a + b) || x >= a + b + c);
    }
    return edge;
  }
};

inline Edge low_to_high(Edge edge) { return std::minmax(edge.first, edge.second); }

inline std::vector<uint32_t> new_numbers(const Edges& edges, uint32_t nodes, Numbering numbering,
                                         Random& random) {
  std::vector<uint32_t> number(nodes);
  std::iota(number.begin(), number.end(), 0u);
  if (numbering == Numbering::Shuffled) {
    for (uint32_t i = nodes - 1; i > 0; --i) std::swap(number[i], number[random.below(i + 1)]);
  }
  if (numbering == Numbering::ByDegree) {
    std::vector<uint32_t> degree(nodes, 0);
    for (const auto& [from, to] : edges) {
      ++degree[from];
      ++degree[to];
    }
    std::vector<uint32_t> order = number;
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t x, uint32_t y) { return degree[x] < degree[y]; });
    for (uint32_t i = 0; i < nodes; ++i) number[order[i]] = i;
  }
  return number;
}

inline Edges rmat_edges(const Rmat& shape, Direction direction, Numbering numbering,
                        Random& random) {
  const bool directed = direction == Direction::Directed;
  Edges edges = draw_edges(shape.edges, [&] {
    const Edge edge = shape.draw(random);
    return directed ? edge : low_to_high(edge);
  });
  const std::vector<uint32_t> number = new_numbers(edges, 1u << shape.scale, numbering, random);
  for (Edge& edge : edges) {
    edge = {number[edge.first], number[edge.second]};
    if (!directed) edge = low_to_high(edge);
  }
  return edges;
}

inline Tables rmat(const Rmat& shape, Direction direction, Numbering numbering, uint64_t seed) {
  Random random(seed);
  return {table_of("edge", rmat_edges(shape, direction, numbering, random))};
}

// ---- Programs to analyse ----

// Functions that assign among their own variables, now and then across a call, and dereference.
struct CspaShape {
  uint32_t functions = 0;
  uint32_t variables = 0;  // of each function
  double assigned = 0;     // chance that a variable takes an earlier one of its function
  double called = 0;       // chance that a variable goes to some other function
  double dereferenced = 0;
};

inline Tables cspa(const CspaShape& shape, uint64_t seed) {
  Random random(seed);
  Edges assign;
  Edges dereference;
  const auto connect = [&](uint32_t target, uint32_t source) {
    if (target != source) assign.push_back({target, source});
  };
  uint32_t next_location = shape.functions * shape.variables;
  for (uint32_t function = 0; function < shape.functions; ++function) {
    const uint32_t first = function * shape.variables;
    for (uint32_t i = 0; i < shape.variables; ++i) {
      const uint32_t variable = first + i;
      if (i > 0 && random.chance(shape.assigned)) connect(variable, first + random.below(i));
      if (random.chance(shape.called)) {
        connect(random.below(shape.functions * shape.variables), variable);
      }
      if (!random.chance(shape.dereferenced)) continue;
      const uint32_t location = next_location++;
      dereference.push_back({variable, location});
      const uint32_t other = first + random.below(shape.variables);
      if (random.chance(0.5)) {
        connect(location, other);
      } else {
        connect(other, location);
      }
    }
  }
  return {table_of("assign", std::move(assign)), table_of("dereference", std::move(dereference))};
}

// Per variable: how many assignments inside its function and to others, loads and stores.
struct AndersenShape {
  uint32_t functions = 0;
  uint32_t variables = 0;
  double assigned = 0;
  double called = 0;
  double loaded = 0;
  double stored = 0;
};

inline Tables andersen(const AndersenShape& shape, uint64_t seed) {
  constexpr double kAddressTaken = 0.25;
  Random random(seed);
  Edges address_of;
  Edges assign;
  Edges load;
  Edges store;
  const uint32_t variables = shape.functions * shape.variables;
  uint32_t next_object = variables;
  for (uint32_t variable = 0; variable < variables; ++variable) {
    const uint32_t first = variable - variable % shape.variables;
    const auto local = [&] { return first + random.below(shape.variables); };
    if (random.chance(kAddressTaken)) address_of.push_back({variable, next_object++});
    for (uint32_t n = random.times(shape.assigned); n > 0; --n)
      assign.push_back({variable, local()});
    for (uint32_t n = random.times(shape.called); n > 0; --n) {
      assign.push_back({random.below(variables), variable});
    }
    for (uint32_t n = random.times(shape.loaded); n > 0; --n) load.push_back({variable, local()});
    for (uint32_t n = random.times(shape.stored); n > 0; --n) store.push_back({variable, local()});
  }
  return {table_of("address_of", std::move(address_of)), table_of("assign", std::move(assign)),
          table_of("load", std::move(load)), table_of("store", std::move(store))};
}

// ---- A social network: who knows, writes, likes and answers what ----

struct SocialShape {
  uint32_t scale = 0;  // 2^scale persons
  size_t acquaintances = 0;
  uint32_t messages = 0;
  uint32_t tags = 0;
  uint32_t cities = 0;
  uint32_t countries = 0;
};

inline Tables social(const SocialShape& shape, uint64_t seed) {
  Random random(seed);
  const uint32_t persons = 1u << shape.scale;
  // Flatter than the plain R-MAT: nobody knows half the world.
  const Rmat flat{shape.scale, shape.acquaintances, 0.45, 0.22, 0.22};
  Edges knows = rmat_edges(flat, Direction::LowToHigh, Numbering::Drawn, random);
  for (size_t i = 0, n = knows.size(); i < n; ++i) {
    knows.push_back({knows[i].second, knows[i].first});
  }
  Edges person_city;
  Edges interest;
  for (uint32_t person = 0; person < persons; ++person) {
    person_city.push_back({person, random.skewed(shape.cities, 2)});
    for (uint32_t n = random.below(8); n > 0; --n) {
      interest.push_back({person, random.skewed(shape.tags, 3)});
    }
  }
  Edges city_country;
  for (uint32_t city = 0; city < shape.cities; ++city) {
    city_country.push_back({city, city % shape.countries});
  }
  Edges creator;
  Edges message_tag;
  Edges reply_of;
  Edges likes;
  for (uint32_t message = 0; message < shape.messages; ++message) {
    creator.push_back({message, random.skewed(persons, 2)});
    for (uint32_t n = random.below(3); n > 0; --n) {
      message_tag.push_back({message, random.skewed(shape.tags, 3)});
    }
    if (message > 0 && random.chance(0.6)) reply_of.push_back({message, random.below(message)});
    for (uint32_t n = random.below(5); n > 0; --n) {
      likes.push_back({random.skewed(persons, 1.5), message});
    }
  }
  return {table_of("knows", std::move(knows)),
          table_of("person_city", std::move(person_city)),
          table_of("city_country", std::move(city_country)),
          table_of("creator", std::move(creator)),
          table_of("message_tag", std::move(message_tag)),
          table_of("interest", std::move(interest)),
          table_of("reply_of", std::move(reply_of)),
          table_of("likes", std::move(likes))};
}

// ---- Files ----

// Writes FOLDER/RELATION.facts with tabs between the columns; false where the disk refuses.
inline bool write_facts(const std::filesystem::path& folder, const Table& table) {
  const std::filesystem::path file = folder / (table.relation + ".facts");
  std::FILE* out = std::fopen(file.c_str(), "w");
  if (out == nullptr) return false;
  char digits[12];
  for (size_t i = 0; i < table.values.size(); ++i) {
    char* end = std::to_chars(digits, digits + 10, table.values[i]).ptr;
    *end++ = (i + 1) % table.columns == 0 ? '\n' : '\t';
    std::fwrite(digits, 1, static_cast<size_t>(end - digits), out);
  }
  const bool written = std::ferror(out) == 0;
  return std::fclose(out) == 0 && written;
}

}  // namespace xlog::bench
