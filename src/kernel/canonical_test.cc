#include "kernel/canonical.h"

#include <gtest/gtest.h>

#include <map>

#include "kernel/random_kernel.h"
#include "kernel/text.h"

namespace xlog::kernel {
namespace {

TEST(CanonicalBytes, DifferExactlyWhereTextsDo) {
  std::map<std::string, std::string> texts;  // by bytes
  std::map<std::string, std::string> bytes;  // by texts
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Graph graph;
    random_kernel(graph, seed + 1);  // others of a graph do not matter
    RandomOptions options;
    options.groups = seed % 4 == 3;
    options.statements = seed % 3 == 0 ? 2 : 12;
    const Id kernel = random_kernel(graph, seed / 2, options);
    const std::string text = print_canonical(graph, kernel);
    const std::string all = canonical_bytes(graph, kernel);
    EXPECT_EQ(texts.try_emplace(all, text).first->second, text) << "seed " << seed;
    EXPECT_EQ(bytes.try_emplace(text, all).first->second, all) << "seed " << seed;
    Graph other;
    const auto again = parse(other, text, "printed");
    ASSERT_TRUE(again.ok()) << again.error().text();
    EXPECT_EQ(canonical_bytes(other, again->back()), all) << "seed " << seed;
  }
  EXPECT_GT(texts.size(), 100u);
}

TEST(CanonicalBytes, HoldAllButNames) {
  const std::string text =
      "kernel a(n: u32, x: in u32, y: out u32) {\n  i = grid n\n  v = load x i\n"
      "  w = add v 7\n  store y i w\n}\n";
  const auto bytes_of = [](std::string of) {
    Graph graph;
    const auto read = parse(graph, of, "text");
    EXPECT_TRUE(read.ok()) << read.error().text();
    return read.ok() ? canonical_bytes(graph, read->back()) : of;
  };
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    for (size_t at = 0; (at = changed.find(from, at)) != std::string::npos; at += to.size()) {
      changed.replace(at, from.size(), to);
    }
    return bytes_of(changed);
  };
  EXPECT_EQ(with("kernel a", "kernel b"), bytes_of(text));
  EXPECT_EQ(with("w", "value"), bytes_of(text));
  EXPECT_NE(with("7", "8"), bytes_of(text));
  EXPECT_NE(with("add", "mul"), bytes_of(text));
  EXPECT_NE(with("n: u32, x: in u32, y: out u32", "n: u32, x: in i32, y: out i32"), bytes_of(text));
  EXPECT_NE(with("y: out", "y: race"), bytes_of(text));
}

}  // namespace
}  // namespace xlog::kernel
