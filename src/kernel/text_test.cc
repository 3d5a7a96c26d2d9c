#include "kernel/text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "kernel/builder.h"
#include "kernel/canonical.h"
#include "kernel/equal.h"
#include "kernel/passes.h"
#include "kernel/plan_builder.h"
#include "kernel/plan_lower.h"
#include "kernel/random_kernel.h"
#include "kernel/verify.h"

namespace xlog::kernel {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

// The texts of the ```ir fences of a page, each preceded by line ends so that errors name its line.
std::vector<std::string> ir_fences(const std::string& page) {
  std::vector<std::string> fences;
  for (size_t at = page.find("```ir\n"); at != std::string::npos; at = page.find("```ir\n", at)) {
    const size_t begin = at + 6;
    const size_t end = page.find("```", begin);
    const auto lines = std::count(page.begin(), page.begin() + static_cast<long>(begin), '\n');
    fences.push_back(std::string(static_cast<size_t>(lines), '\n') +
                     page.substr(begin, end - begin));
    at = end;
  }
  return fences;
}

// Print and parse again: the same kernel and the same text.
void expect_round_trip(const Graph& graph, Id root) {
  const std::string text = print(graph, root);
  Graph other;
  auto again = parse(other, text, "printed");
  ASSERT_TRUE(again.ok()) << again.error().text() << "\n" << text;
  EXPECT_TRUE(equal(graph, root, other, again->back())) << text;
  EXPECT_EQ(print(other, again->back()), text);

  const std::string bare = print_canonical(graph, root);
  Graph third;
  auto nameless = parse(third, bare, "canonical");
  ASSERT_TRUE(nameless.ok()) << nameless.error().text() << "\n" << bare;
  EXPECT_TRUE(equal(graph, root, third, nameless->back())) << bare;
  EXPECT_EQ(print(third, nameless->back()), bare);
  EXPECT_EQ(print_canonical(other, again->back()), bare);
  EXPECT_EQ(canonical_bytes(other, again->back()), canonical_bytes(graph, root)) << text;
  EXPECT_EQ(canonical_bytes(third, nameless->back()), canonical_bytes(graph, root)) << bare;
}

// Parses, verifies and round-trips all definitions of a text; gives how many there are.
size_t expect_good(const std::string& text, const std::string& file) {
  Graph graph;
  auto roots = parse(graph, text, file);
  EXPECT_TRUE(roots.ok()) << roots.error().text();
  if (!roots.ok()) return 0;
  for (Id root : *roots) {
    const Spec spec = graph.op(root) == Op::Plan ? Spec::Plan : Spec::Kernel;
    for (const Problem& problem : verify(graph, root, spec)) {
      ADD_FAILURE() << file << ": " << graph.kernel_info(root).name << ": " << problem.message;
    }
    expect_round_trip(graph, root);
  }
  return roots->size();
}

Error error_of(std::string_view text) {
  Graph graph;
  auto result = parse(graph, text, "t.ir");
  EXPECT_FALSE(result.ok()) << text;
  return result.ok() ? Error{} : result.error();
}

// The kernel around some statements, and the error they give.
Error error_in(std::string_view body) {
  return error_of("kernel k(n: u32, x: in u32, f: in f64, y: out u32) {\ni = grid n\n" +
                  std::string(body) + "\nstore y i i\n}\n");
}

void expect_error(const Error& error, std::string_view message) {
  EXPECT_NE(error.text().find(message), std::string::npos)
      << "wanted: " << message << "\ngot: " << error.text();
}

TEST(KernelText, PrintsWhatTheBuilderMade) {
  Graph graph;
  KernelBuilder k(graph, "bucket");
  Value n = k.val(Type::U32, "n");
  Buffer key = k.in(Type::U32, "key");
  Buffer out = k.out(Type::U32, "out");
  Value i = k.name(k.grid(n), "i");
  Value h = key[i];
  h = (h ^ (h >> 16)) * 0x85ebca6b;
  k.store(out, i, h & 1023);
  const Id kernel = k.finish();
  EXPECT_EQ(print(graph, kernel),
            "kernel bucket(n: u32, key: in u32, out: out u32) {\n"
            "  i = grid n\n"
            "  v0 = load key i\n"
            "  v1 = shr v0 16:u32\n"
            "  v2 = xor v0 v1\n"
            "  v3 = mul v2 2246822507:u32\n"
            "  v4 = and v3 1023:u32\n"
            "  store out i v4\n"
            "}\n");
  expect_round_trip(graph, kernel);
}

TEST(KernelText, NamesThatClashOrAreNoNamesArePrintedUniqueAndLegal) {
  Graph graph;
  KernelBuilder k(graph, "a kernel");
  Value n = k.val(Type::U32, "n");
  Buffer x = k.in(Type::U32, "carry");
  Buffer y = k.out(Type::U32, "2y");
  Value i = k.name(k.grid(n), "n");
  Value a = k.name(x[i], "nan_1");
  Value b = k.name(a + i, "v0");
  k.store(y, i, b * 3);
  const Id kernel = k.finish();
  EXPECT_EQ(print(graph, kernel),
            "kernel a_kernel(n: u32, carry_: in u32, _2y: out u32) {\n"
            "  n_1 = grid n\n"
            "  x_nan_1_ = load carry_ n_1\n"
            "  v0 = add x_nan_1_ n_1\n"
            "  v1 = mul v0 3:u32\n"
            "  store _2y n_1 v1\n"
            "}\n");
  expect_round_trip(graph, kernel);
}

TEST(KernelText, SugarIsReadAndNeverPrinted) {
  Graph graph;
  auto roots = parse(graph,
                     "kernel s(n: u32, x: in i32, y: out i32) {\n"
                     "  i = grid n\n"
                     "  a = load x i\n"
                     "  b = select (ge a 0) (neg a) (not a)  # a comment\n"
                     "  c = select (ne a b) b 0xffffffff\n"
                     "  if (le i 7) { store y i c }\n"
                     "}",
                     "s.ir");
  ASSERT_TRUE(roots.ok()) << roots.error().text();
  EXPECT_EQ(print(graph, roots->front()),
            "kernel s(n: u32, x: in i32, y: out i32) {\n"
            "  i = grid n\n"
            "  a = load x i\n"
            "  v0 = lt 7:u32 i\n"
            "  v1 = xor v0 true\n"
            "  if v1 {\n"
            "    v2 = lt a 0:i32\n"
            "    v3 = xor v2 true\n"
            "    v4 = sub 0:i32 a\n"
            "    v5 = xor a -1:i32\n"
            "    b = select v3 v4 v5\n"
            "    v6 = eq a b\n"
            "    v7 = xor v6 true\n"
            "    c = select v7 b -1:i32\n"
            "    store y i c\n"
            "  }\n"
            "}\n");
  expect_round_trip(graph, roots->front());
}

TEST(KernelText, ParametersKeepTheirNamesInEachKernel) {
  Graph graph;
  auto roots = parse(graph,
                     "kernel a(n: u32, x: in u32, y: out u32) {\n i = grid n\n"
                     " v = load x i\n store y i v\n}\n"
                     "kernel b(m: u32, s: in u32, t: out u32) {\n j = grid m\n"
                     " w = load s j\n store t j w\n}\n",
                     "two.ir");
  ASSERT_TRUE(roots.ok()) << roots.error().text();
  EXPECT_EQ(print(graph, (*roots)[0]).substr(0, 46),
            "kernel a(n: u32, x: in u32, y: out u32) {\n  j ");
  EXPECT_EQ(print(graph, (*roots)[1]).substr(0, 46),
            "kernel b(m: u32, s: in u32, t: out u32) {\n  j ");
  EXPECT_EQ(print_canonical(graph, (*roots)[0]), print_canonical(graph, (*roots)[1]));
  EXPECT_TRUE(equal(graph, (*roots)[0], graph, (*roots)[1]));
  EXPECT_EQ(canonical_bytes(graph, (*roots)[0]), canonical_bytes(graph, (*roots)[1]));
}

TEST(KernelText, LiteralsOfEveryTypeReadBackWithTheirBits) {
  const Scalar values[] = {Scalar::boolean(true),
                           Scalar::u8(255),
                           Scalar::u32(UINT32_MAX),
                           Scalar::u64(UINT64_MAX),
                           Scalar::i32(INT32_MIN),
                           Scalar::i64(INT64_MIN),
                           Scalar::i64(INT64_MAX),
                           Scalar::f32(-0.0f),
                           Scalar::f32(1e-45f),
                           Scalar::f32(3.4028235e38f),
                           Scalar::f32(0.1f),
                           Scalar::f64(0.1),
                           Scalar::f64(5e-324),
                           Scalar::f64(1e300),
                           Scalar::f64(-1.0 / 3),
                           canonical_nan(Type::F32),
                           canonical_nan(Type::F64),
                           {Type::F32, 0xffc00001},
                           {Type::F64, 0xfff0000000000001},
                           {Type::F32, 0x7f800000},
                           {Type::F64, 0xfff0000000000000}};
  for (Scalar value : values) {
    Graph graph;
    auto roots = parse(graph,
                       "kernel c(y: out " + std::string(spelling(value.type)) + ") {\n store y 0 " +
                           to_text(value) + "\n}",
                       "c.ir");
    ASSERT_TRUE(roots.ok()) << roots.error().text();
    const Id store = graph.operand(graph.body(roots->front()), 0);
    EXPECT_EQ(graph.value(graph.operand(store, 2)), value) << to_text(value);
    expect_round_trip(graph, roots->front());
  }
}

TEST(KernelText, ResultsThatNobodyUsesAreLeftOut) {
  Graph graph;
  auto roots = parse(graph,
                     "kernel l(n: u32, y: out u32) {\n  i = grid n\n"
                     "  a, b, more = loop t 9 while true carry p 0, q i {\n"
                     "    yield (lt t 3) (add p t) q\n  }\n"
                     "  store y i b\n  check bound (not more)\n  check 7 (lt i n)\n}\n",
                     "l.ir");
  ASSERT_TRUE(roots.ok()) << roots.error().text();
  const std::string text = print(graph, roots->front());
  EXPECT_NE(text.find("  _, b, more = loop t 9:u32 while true carry p 0:u32, q i {\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("    yield v0 v1 q\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  check 0 v"), std::string::npos) << text;
  expect_round_trip(graph, roots->front());
}

TEST(KernelText, EqualSeesEveryDifference) {
  const std::string start = "kernel k(n: u32, x: in u32, y: out u32) {\n i = grid n\n";
  const std::string bodies[] = {
      " a = load x i\n b = load x i\n store y i a\n",
      " a = load x i\n b = load x i\n store y i b\n",
      " a = load x i\n store y i a\n",
      " store y i 1\n",
      " store y i 2\n",
      " if (lt i 3) {\n store y i 2\n }\n",
      " if (lt i 3) {\n } else {\n store y i 2\n }\n",
      " a = for j 0 4 carry p 0, q 1 {\n yield q p\n }\n store y i a\n",
      " a = for j 0 4 carry p 0, q 1 {\n yield p q\n }\n store y i a\n",
      " _, a = for j 0 4 carry p 0, q 1 {\n yield q p\n }\n store y i a\n",
      " for j 0 4 {\n for k 0 4 {\n store y j k\n }\n }\n store y i 0\n",
      " for j 0 4 {\n for k 0 4 {\n store y k j\n }\n }\n store y i 0\n"};
  Graph graph;
  Graph other;
  std::vector<Id> left;
  std::vector<Id> right;
  for (const std::string& body : bodies) {
    auto one = parse(graph, start + body + "}", "a.ir");
    auto two = parse(other, start + body + "}", "b.ir");
    ASSERT_TRUE(one.ok() && two.ok()) << one.error().text();
    left.push_back(one->front());
    right.push_back(two->front());
  }
  for (size_t a = 0; a < left.size(); ++a) {
    for (size_t b = 0; b < right.size(); ++b) {
      EXPECT_EQ(equal(graph, left[a], other, right[b]), a == b) << a << " " << b;
    }
  }
}

TEST(KernelText, AnErrorShowsThePlaceAndAHint) {
  EXPECT_EQ(error_in("  k = load x i\n  d = add key k").text(),
            "t.ir:4:11: `key` is not defined here\n"
            "    d = add key k\n"
            "            ^\n"
            "help: a name is defined before it is used");
  EXPECT_EQ(error_in("count = load x i\nd = add cuont 1").text(),
            "t.ir:4:9: `cuont` is not defined here\n"
            "  d = add cuont 1\n"
            "          ^\n"
            "help: did you mean `count`?");
}

TEST(KernelText, BadTextsHaveErrorsThatSayWhat) {
  expect_error(error_of("hello"), "expected `kernel` or `plan`");
  expect_error(error_of("kernel k(n: u32"), "expected `,` or `)` after a parameter");
  expect_error(error_of("kernel k(n: u33) {\n}"), "expected the type of the parameter");
  expect_error(error_of("kernel k(n: u32, n: u32) {\n}"), "`n` is defined already, in line 1");
  expect_error(error_of("kernel k() {\n}\nkernel k() {\n}"), "there is a `k` already");
  expect_error(error_of("kernel k() {\n"), "this block is never closed");
  expect_error(error_of("kernel k() {\n} }"), "expected the end of the line after `}`");
  expect_error(error_of("kernel k group 0 () {\n}"), "expected the number of lanes");
  expect_error(error_of("kernel k(n: u32) {\n i = grid n\n}"), "would run only once");
  expect_error(error_of("kernel k$() {\n}"), "`$` cannot stand here");
  expect_error(error_of(std::string_view("kernel k\0() {\n}", 14)), "the byte 0x00");
  expect_error(error_in("a = addd i i"), "did you mean `add`?");
  expect_error(error_in("a = add i"), "add takes 2 operands, 1 given");
  expect_error(error_in("a = add i i i"), "add takes 2 operands, 3 given");
  expect_error(error_in("a = add i 1:u64"), "operands of one type, these are u32 and u64");
  expect_error(error_in("a = add i -1"), "-1 does not fit u32 (0 .. 4294967295)");
  expect_error(error_in("a = add i 99999999999999999999999999"), "does not fit u32");
  expect_error(error_in("a = sqrt 1e999:f64"), "does not fit f64");
  expect_error(error_in("a = sqrt 1.0"), "`1.0` is no integer");
  expect_error(error_in("a = add x i"), "add works on values, a buffer needs load");
  expect_error(error_in("a = load i i"), "load needs a buffer first");
  expect_error(error_in("a = load x 1:u64"), "an index is u32, this is u64");
  expect_error(error_in("store y i 1.5:f64"), "the element is u32, this is f64");
  expect_error(error_in("a = store y i 1"), "store gives no value");
  expect_error(error_in("load x i"), "the value of load has no name");
  expect_error(error_in("a, b = load x i"), "load gives one value");
  expect_error(error_in("i = load x i"), "`i` is defined already, in line 2");
  expect_error(error_in("while = load x i"), "is a word of the language");
  expect_error(error_in("a = load x i store y i a"), "one statement a line");
  expect_error(error_in("if i {\n}"), "the condition of an if is bool, this is u32");
  expect_error(error_in("a = for j 0 n carry p 0 {\n}"), "the body of this loop has no `yield`");
  expect_error(error_in("a = for j 0 n carry p 0 {\nyield p p\n}"), "yields 1 value, 2 given");
  expect_error(error_in("a = for j 0 n carry p 0 {\nyield 1:u8\n}"),
               "value 1 of this yield is u32, this is u8");
  expect_error(error_in("a, b = for j 0 n carry p 0 {\nyield p\n}"), "for gives 1 result here");
  expect_error(error_in("for j 0 n {\nyield i\n}"), "carries nothing to yield");
  expect_error(error_in("a = for j 0 n carry p 0 {\nyield p\nstore y j p\n}"),
               "nothing may follow a `yield`");
  expect_error(error_in("yield i"), "`yield` ends the body of a loop");
  expect_error(error_in("for j 0 n {\nin_loop = load x j\n}\nstore y i in_loop"),
               "the one of line 4 lives only inside its block");
  expect_error(error_in("for j 0:u64 n {\n}"), "the start of a loop is u32, this is u64");
  expect_error(error_in("loop t 5 carry p 0 {\n}"), "expected `while`");
  expect_error(error_in("a = alloc shared u32 5"), "expected `local` or `private`");
  expect_error(error_in("a = alloc local u32 n"), "expected the number of elements");
  expect_error(error_in("a = alloc local u32 0"), "at least one element");
  expect_error(error_in("check 16 true"), "a number below 16");
  expect_error(error_in("check fool true"), "bound, overflow, full, index");
  expect_error(error_in("atomic y i 1"), "atomic names what it folds with");
  expect_error(error_in("v = load f i\nw = greduce.or v"), "f64 does not fold with or");
  expect_error(error_in("a = add.x i i"), "add has no form `.x`");
  expect_error(error_in("a = bitcast u64 i"), "bitcast keeps the width");
  expect_error(error_in("p = sort x"), "sort belongs in a plan");
  expect_error(error_in("p = join x x"), "join works on relations");
  expect_error(error_in("a = block i"), "block cannot stand here");
  expect_error(error_in("a = (store y i i)"), "expected an op");
  expect_error(error_in("a = add i (store y i i)"), "store gives no value");
  expect_error(error_in("a = nan_5:f32"), "expected an op");
  expect_error(error_in("a = sqrt nan_5:f32"), "`nan_` takes the bits of a NaN");
  expect_error(error_in("a = add i 1:u33"), "has no known type");
}

TEST(KernelText, BadPlansHaveErrorsThatSayWhat) {
  const auto in_plan = [](std::string_view body) {
    return error_of(
        "kernel k(n: u32, y: out u32) {\n i = grid n\n store y i i\n}\n"
        "plan p(n: u32, x: in u32, f: in f64) {\n" +
        std::string(body) + "\nyield\n}\n");
  };
  expect_error(error_of("plan p() {\n}"), "plan `p` has no `yield`");
  expect_error(in_plan("launch kk n x"), "`kk` is no kernel defined above");
  expect_error(in_plan("launch k n"), "k takes 2 arguments, 1 given");
  expect_error(in_plan("a = load x 0"), "a plan takes one element to the host with `read`");
  expect_error(in_plan("for j 0 n {\n}"), "a plan has no loops of its own");
  expect_error(in_plan("a = map i n {\nb = load x i\n}"), "the body of this map has no `yield`");
  expect_error(in_plan("a = map i n {\nyield x\n}"), "a map yields values");
  expect_error(in_plan("a, c = expand i n {\n}"), "expand gives 1 result here");
  expect_error(in_plan("a, c = expand i n {\nemit i\nemit i i\n}"), "an emit above has 1 column");
  expect_error(in_plan("a, c, d = expand i n {\nemit i\n}"), "expand gives 2 results here");
  expect_error(in_plan("emit n"), "inside the body of an expand");
  expect_error(in_plan("s = scan x"), "scan names what it folds with");
  expect_error(in_plan("s = scan.add n"), "scan works on buffers");
  expect_error(in_plan("s = scan.or f"), "f64 does not fold with or");
  expect_error(in_plan("p, a, b = sort x"), "sort gives 2 results here");
  expect_error(in_plan("s = merge x / f"), "column 1 is u32 in one run and f64 in the other");
  expect_error(in_plan("s = merge x f / x"), "the runs have 2 and 1 columns");
  expect_error(in_plan("s = merge x x"), "expected `/`");
  expect_error(in_plan("s, r = partition f 8"), "the bucket ids are a buffer of u32");
  expect_error(in_plan("c = copy x f"), "copy joins buffers of one type");
  expect_error(in_plan("b = buf u32 1:u64"), "the number of elements is u32, this is u64");
  // The total is a host scalar, so it is no buffer to fold.
  expect_error(in_plan("a, total = expand i n {\nemit i\n}\ns = scan.add total"),
               "scan works on buffers");
}

TEST(KernelText, BuffersStayClearedOrUnset) {
  Graph graph;
  const auto roots =
      parse(graph, "plan p(n: u32) {\n a = buf u32 n\n b = buf.unset u32 n\n yield a b\n}", "t.ir");
  ASSERT_TRUE(roots.ok()) << roots.error().text();
  Graph copy;
  const auto again = parse(copy, print(graph, roots->front()), "t.ir");
  ASSERT_TRUE(again.ok()) << again.error().text();
  const auto effects = copy.operands(copy.body(again->front()));
  EXPECT_EQ(copy[effects[0]].flags & kBufUnset, 0);
  EXPECT_EQ(copy[effects[1]].flags & kBufUnset, kBufUnset);
}

TEST(KernelText, DeepTextsEndInAnErrorNotInTheStack) {
  std::string parens = "kernel k(y: out u32) {\n store y 0 ";
  for (int i = 0; i < 100000; ++i) parens += "(add 1 ";
  expect_error(error_of(parens), "more than 200 blocks or parentheses");
  std::string blocks = "kernel k(y: out u32) {\n";
  for (int i = 0; i < 100000; ++i) blocks += "if true {\n";
  expect_error(error_of(blocks), "more than 200 blocks or parentheses");
  // Errors in a very long line stay short.
  std::string line = "kernel k(y: out u32) {\n store y 0 " + std::string(100000, ' ') + "q }";
  EXPECT_LT(error_of(line).text().size(), 500u);
}

TEST(KernelText, EveryPrefixOfATextIsReadWithoutHarm) {
  const std::string text = read_file("tests/kernel/plans.ir");
  for (size_t size = 0; size < text.size(); ++size) {
    Graph graph;
    auto roots = parse(graph, std::string_view(text).substr(0, size), "prefix");
    EXPECT_TRUE(roots.ok() || roots.error().message.starts_with("prefix:")) << size;
  }
}

TEST(KernelText, RandomKernelsRoundTrip) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomOptions options;
    options.groups = seed % 2 == 0;
    Graph graph;
    const Id kernel = random_kernel(graph, seed, options);
    expect_round_trip(graph, kernel);
    if (HasFailure()) return;
  }
}

TEST(KernelText, TheCorpusParsesVerifiesAndRoundTrips) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator("tests/kernel")) {
    if (entry.path().extension() == ".ir") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  size_t count = 0;
  for (const auto& file : files) count += expect_good(read_file(file), file.string());
  EXPECT_GE(count, 25u);
}

// Whatever the passes make can be printed and read too.
TEST(KernelText, LoweredKernelsRoundTrip) {
  const Target targets[] = {{.name = "plain"}, {.name = "groups", .groups = true}};
  for (const char* file : {"basics", "relations", "groups", "races", "numbers"}) {
    Graph graph;
    auto roots = parse(graph, read_file(std::string("tests/kernel/") + file + ".ir"), file);
    ASSERT_TRUE(roots.ok()) << roots.error().text();
    for (Id root : *roots) {
      for (const Target& target : targets) {
        auto lowered = lower(graph, root, target);
        ASSERT_TRUE(lowered.ok()) << lowered.error().text();
        EXPECT_EQ(verify(graph, lowered->kernel, Spec::Ready).size(), 0u);
        expect_round_trip(graph, lowered->kernel);
      }
    }
  }
}

TEST(KernelText, LoweredPlansRoundTrip) {
  for (const PlanTarget& target : {PlanTarget{}, PlanTarget{.groups = true}}) {
    Graph graph;
    auto roots = parse(graph, read_file("tests/kernel/plans.ir"), "plans.ir");
    ASSERT_TRUE(roots.ok()) << roots.error().text();
    for (Id root : *roots) {
      if (graph.op(root) != Op::Plan) continue;
      const Id lowered = lower_plan(graph, root, target);
      for (const Problem& problem : verify(graph, lowered, Spec::ReadyPlan)) {
        ADD_FAILURE() << graph.kernel_info(root).name << ": " << problem.message;
      }
      const std::string text = print_canonical(graph, lowered);
      Graph other;
      auto again = parse(other, text, "lowered");
      ASSERT_TRUE(again.ok()) << again.error().text();
      EXPECT_TRUE(equal(graph, lowered, other, again->back()));
      EXPECT_EQ(print_canonical(other, again->back()), text);
    }
  }
}

TEST(KernelText, TheExamplesOfThePageParseVerifyAndRoundTrip) {
  const auto fences = ir_fences(read_file("docs/kernel.md"));
  EXPECT_GE(fences.size(), 3u);
  for (const std::string& fence : fences) EXPECT_GT(expect_good(fence, "docs/kernel.md"), 0u);
}

}  // namespace
}  // namespace xlog::kernel
