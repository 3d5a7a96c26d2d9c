// How fast data files come in: rows of several shapes into typed columns, beside a plain scan of
// the same bytes for line ends in the same run, the least that any reader of rows must do.
// Everything runs on one thread and counts that thread's time, so the figures are MB/s a core.
//
//   bench_csv [megabytes] [repetitions]

#include <fmt/format.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "io/input.h"
#include "random_text.h"

namespace {

namespace lang = xlog::lang;
using lang::TypeKind;

using bench::name_of;
using Random = bench::TextRandom;

struct Shape {
  std::string name;
  std::vector<TypeKind> columns;
  std::function<std::string(Random&)> row;
};

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {
      {"integers",
       {TypeKind::U32, TypeKind::U32},
       [](Random& r) { return fmt::format("{},{}\n", r.below(10'000'000), r.below(10'000'000)); }},
      {"long integers",
       {TypeKind::U64, TypeKind::I64},
       [](Random& r) {
         return fmt::format("{}{:09},-{}\n", 1 + r.below(999'999), r.below(1'000'000'000),
                            r.below(2'000'000'000));
       }},
      {"small integers",
       {TypeKind::U32, TypeKind::U32, TypeKind::I32},
       [](Random& r) {
         return fmt::format("{},{},{}\n", r.below(100), r.below(1000), r.below(9));
       }},
      {"few symbols",
       {TypeKind::Symbol, TypeKind::Symbol},
       [](Random& r) {
         return fmt::format("{},{}\n", name_of(r.below(64)), name_of(r.below(64)));
       }},
      {"many symbols",
       {TypeKind::Symbol, TypeKind::Symbol},
       [](Random& r) {
         return fmt::format("{},{}\n", name_of(r.below(200'000)), name_of(r.below(200'000)));
       }},
      {"quoted symbols",
       {TypeKind::Symbol, TypeKind::U32},
       [](Random& r) {
         return fmt::format("\"Item, number {}\",{}\n", r.below(5000), r.below(100'000));
       }},
      {"floats",
       {TypeKind::F64, TypeKind::F64},
       [](Random& r) {
         return fmt::format("{}.{:06},{}.{}\n", r.below(1000), r.below(1'000'000), r.below(10),
                            r.below(1000));
       }},
      {"mixed",
       {TypeKind::U32, TypeKind::Symbol, TypeKind::F64, TypeKind::Bool},
       [](Random& r) {
         return fmt::format("{},{},{}.{},{}\n", r.below(1'000'000), name_of(r.below(20'000)),
                            r.below(100), r.below(100), r.below(2) == 1 ? "true" : "false");
       }},
  };
  return all;
}

void fail(const std::string& what) {
  std::fprintf(stderr, "bench_csv: %s\n", what.c_str());
  std::exit(1);
}

double thread_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double median_seconds(int repetitions, const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) {
    const double begin = thread_seconds();
    work();
    times.push_back(thread_seconds() - begin);
  }
  std::ranges::nth_element(times, times.begin() + repetitions / 2);
  return times[static_cast<size_t>(repetitions / 2)];
}

size_t count_lines(const std::string& text) {
  size_t lines = 0;
  const char* end = text.data() + text.size();
  for (const char* at = text.data(); at < end; ++at, ++lines) {
    at = static_cast<const char*>(std::memchr(at, '\n', static_cast<size_t>(end - at)));
    if (at == nullptr) break;
  }
  return lines;
}

std::string gzip(const std::string& text) {
  z_stream stream = {};
  if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) fail("gzip");
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) fail("gzip");
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const size_t size = ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3);
  if (ZSTD_isError(size) != 0) fail("zstd");
  out.resize(size);
  return out;
}

// Loads a file into a fresh program and checks that every row arrived.
void load(const std::string& path, const Shape& shape, size_t rows) {
  lang::Session session;
  lang::Program program;
  lang::Predicate& predicate = program.predicates.emplace_back();
  predicate.name = session.names.symbols.intern("p");
  predicate.arity = static_cast<uint32_t>(shape.columns.size());
  for (const TypeKind kind : shape.columns) {
    predicate.columns.push_back({{}, lang::Type{kind, nullptr}, {}});
  }
  predicate.is_input = true;
  if (!xlog::io::load_inputs({{"p", path, ""}}, program, session) ||
      predicate.facts->rows != rows) {
    fail(render_text(session.diagnostics, session.sources));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const size_t megabytes = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 64;
  const int repetitions = argc > 2 ? std::atoi(argv[2]) : 5;
  if (megabytes == 0 || megabytes > 2000 || repetitions <= 0) {
    fail("usage: bench_csv [megabytes] [repetitions]");
  }
  std::string folder = (std::filesystem::temp_directory_path() / "xlog_bench_csv.XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) fail("cannot make a folder for the files");

  fmt::print("{} MB a shape, medians of {} runs, time of one thread.\n\n", megabytes, repetitions);
  fmt::print("{:<16}{:>10}{:>12}{:>11}{:>9}{:>11}{:>11}\n", "shape", "rows", "lines MB/s",
             "load MB/s", "x lines", "gzip MB/s", "zstd MB/s");
  for (const Shape& shape : shapes()) {
    Random random;
    std::string text;
    size_t rows = 0;
    for (; text.size() < megabytes * 1'000'000; ++rows) text += shape.row(random);
    const auto measure = [&](const std::string& ending, const std::string& bytes) {
      const std::string path = fmt::format("{}/rows.csv{}", folder, ending);
      std::ofstream(path, std::ios::binary) << bytes;
      return median_seconds(repetitions, [&] { load(path, shape, rows); });
    };
    const double lines_s = median_seconds(repetitions, [&] {
      if (count_lines(text) != rows) fail("the text has another number of lines");
    });
    const double plain_s = measure("", text);
    const double gzip_s = measure(".gz", gzip(text));
    const double zstd_s = measure(".zst", zstd(text));
    const double mb = static_cast<double>(text.size()) / 1e6;
    fmt::print("{:<16}{:>10}{:>12.0f}{:>11.0f}{:>9.1f}{:>11.0f}{:>11.0f}\n", shape.name, rows,
               mb / lines_s, mb / plain_s, plain_s / lines_s, mb / gzip_s, mb / zstd_s);
    std::fflush(stdout);
  }
  std::filesystem::remove_all(folder);
  return 0;
}
