// Test helpers: what passes make of a kernel, text by text.
//
//   EXPECT_EQ(after({simplify}, "kernel k(...) {...}"), printed("kernel k(...) {...}"));
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "kernel/pass.h"
#include "kernel/text.h"
#include "kernel/verify.h"

namespace xlog::kernel {

using PassFunction = Id (*)(PassContext& context, Id kernel);

inline Id parse_one(Graph& graph, std::string_view text) {
  auto kernels = parse(graph, text, "test");
  EXPECT_TRUE(kernels.ok()) << kernels.error().text();
  return kernels->front();
}

// What passes make of a kernel, as text.
inline std::string after(std::initializer_list<PassFunction> passes, std::string_view text) {
  Graph graph;
  Id kernel = parse_one(graph, text);
  const Target target{.name = "test"};
  PassContext context{graph, target, nullptr, "test", 0, {}};
  for (PassFunction pass : passes) {
    kernel = pass(context, kernel);
    verify_or_die(graph, kernel, Spec::Kernel, "test");
  }
  return print(graph, kernel);
}

// A text as the printer writes it.
inline std::string printed(std::string_view text) {
  Graph graph;
  return print(graph, parse_one(graph, text));
}

}  // namespace xlog::kernel
