// How fast plain facts come in. Makes a million facts in several shapes, reads them with
// lang::parse() and lang::load(), and sets both against counting the lines of the same buffer in
// the same run: the least that any reader of the text must do.
//
//   bench_load [facts] [repetitions]

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "lang/load.h"
#include "lang/parser.h"
#include "random_text.h"

namespace {

namespace lang = xlog::lang;
using xlog::Diagnostics;
using xlog::Interner;
using xlog::SourceFile;
using xlog::SourceMap;
using Clock = std::chrono::steady_clock;

using bench::name_of;
using Random = bench::TextRandom;

struct Shape {
  std::string name;
  std::function<std::string(Random&, uint32_t)> fact;
};

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {
      {"numbers",
       [](Random& r, uint32_t) {
         return fmt::format("edge({},{}).\n", r.below(100'000), r.below(100'000));
       }},
      {"spaced numbers",
       [](Random& r, uint32_t) {
         return fmt::format("edge({}, {}).\n", r.below(1'000'000'000), r.below(100));
       }},
      {"few symbols",
       [](Random& r, uint32_t) {
         return fmt::format("parent({}, {}).\n", name_of(r.below(64)), name_of(r.below(64)));
       }},
      {"many symbols",
       [](Random& r, uint32_t) {
         return fmt::format("parent({}, {}).\n", name_of(r.below(200'000)),
                            name_of(r.below(200'000)));
       }},
      {"strings",
       [](Random& r, uint32_t) {
         return fmt::format("title({}, \"Item number {}\").\n", r.below(100'000), r.below(5000));
       }},
      {"floats",
       [](Random& r, uint32_t) {
         return fmt::format("w({}, {}.{}).\n", r.below(100'000), r.below(100), r.below(1000));
       }},
      {"interleaved",
       [](Random& r, uint32_t i) {
         static constexpr std::string_view kNames[] = {"edge", "node", "weight", "color"};
         return fmt::format("{}({},{}).\n", kNames[i % 4], r.below(100'000), r.below(100'000));
       }},
  };
  return all;
}

std::string make_text(const Shape& shape, uint32_t facts) {
  Random random;
  std::string text;
  for (uint32_t i = 0; i < facts; ++i) text += shape.fact(random, i);
  return text;
}

double median_seconds(int repetitions, const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) {
    const auto begin = Clock::now();
    work();
    times.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  std::ranges::nth_element(times, times.begin() + repetitions / 2);
  return times[static_cast<size_t>(repetitions / 2)];
}

size_t count_lines(const std::string& text) {
  size_t lines = 0;
  const char* end = text.data() + text.size();
  for (const char* at = text.data(); at < end; ++lines) {
    at = static_cast<const char*>(std::memchr(at, '\n', static_cast<size_t>(end - at)));
    if (at == nullptr) break;
    ++at;
  }
  return lines;
}

struct Memory {
  size_t rows = 0;
  size_t bytes = 0;         // FactTable::bytes()
  size_t column_bytes = 0;  // of the values alone
};

size_t value_bytes(const lang::FactColumn& column) {
  switch (column.form()) {
    case lang::ColumnForm::Int64:
    case lang::ColumnForm::Float64:
      return 8;
    case lang::ColumnForm::Mixed:
      return sizeof(lang::Value);
    default:
      return 4;
  }
}

Memory memory_of(const lang::Module& module) {
  Memory memory;
  memory.bytes = module.statements.capacity() * sizeof(lang::ast::Statement);
  for (const lang::FactTable& table : module.facts) {
    memory.rows += table.rows;
    memory.bytes += table.bytes();
    for (const lang::FactColumn& column : table.columns)
      memory.column_bytes += table.rows * value_bytes(column);
  }
  return memory;
}

void fail(const std::string& what) {
  std::fprintf(stderr, "bench_load: %s\n", what.c_str());
  std::exit(1);
}

struct Result {
  double megabytes, count_s, parse_s, load_s;
  Memory memory;
};

Result measure(const Shape& shape, uint32_t facts, int repetitions,
               const std::filesystem::path& folder) {
  Result result;
  const std::string text = make_text(shape, facts);
  const std::string path = folder / "facts.xlog";
  std::ofstream(path, std::ios::binary) << text;
  result.megabytes = static_cast<double>(text.size()) / 1e6;

  result.count_s = median_seconds(repetitions, [&] {
    if (count_lines(text) != facts) fail("the text has another number of lines");
  });

  SourceMap sources;
  const SourceFile* file = sources.add("facts.xlog", "", text);
  result.parse_s = median_seconds(repetitions, [&] {
    Interner names;
    Diagnostics diagnostics;
    const lang::Module module = lang::parse(*file, names, diagnostics);
    result.memory = memory_of(module);
    if (diagnostics.has_errors() || result.memory.rows != facts) fail("the facts were not read");
  });

  result.load_s = median_seconds(repetitions, [&] {
    lang::Session session;
    const SourceFile* source = lang::read_source(path, session);
    if (source == nullptr || !lang::load(*source, session) || session.diagnostics.has_errors()) {
      fail("the program was not loaded");
    }
  });
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const auto facts =
      static_cast<uint32_t>(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1'000'000);
  const int repetitions = argc > 2 ? std::atoi(argv[2]) : 5;
  if (facts == 0 || repetitions <= 0) fail("usage: bench_load [facts] [repetitions]");

  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() /
      fmt::format("xlog_bench_load_{}", Clock::now().time_since_epoch().count());
  std::filesystem::create_directories(folder);
  fmt::print("{} facts, medians of {} runs. `x lines`: time relative to counting the lines.\n\n",
             facts, repetitions);
  fmt::print("{:<16}{:>8}{:>12}{:>12}{:>9}{:>11}{:>9}{:>12}{:>10}\n", "shape", "MB", "lines MB/s",
             "parse MB/s", "x lines", "load MB/s", "x lines", "bytes/fact", "x column");
  for (const Shape& shape : shapes()) {
    const Result r = measure(shape, facts, repetitions, folder);
    const auto rows = static_cast<double>(r.memory.rows);
    fmt::print("{:<16}{:>8.1f}{:>12.0f}{:>12.0f}{:>9.1f}{:>11.0f}{:>9.1f}{:>12.1f}{:>10.2f}\n",
               shape.name, r.megabytes, r.megabytes / r.count_s, r.megabytes / r.parse_s,
               r.parse_s / r.count_s, r.megabytes / r.load_s, r.load_s / r.count_s,
               static_cast<double>(r.memory.bytes) / rows,
               static_cast<double>(r.memory.bytes) / static_cast<double>(r.memory.column_bytes));
  }
  std::filesystem::remove_all(folder);
  return 0;
}
