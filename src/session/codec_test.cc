#include "session/codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "incremental/fact_set.h"
#include "lang/load.h"

namespace xlog::session {
namespace {

using incremental::FactChanges;
using lang::Value;

struct Loaded {
  explicit Loaded(std::string_view text) {
    const SourceFile* file = session.sources.add("test", "", std::string(text));
    program = lang::load(*file, session);
    EXPECT_FALSE(session.diagnostics.has_errors())
        << render_text(session.diagnostics, session.sources);
  }
  lang::PredId find(std::string_view signature) const {
    for (uint32_t p = 0; p < program->predicates.size(); ++p) {
      if (lang::predicate_signature(program->predicates[p], session.names) == signature) return {p};
    }
    ADD_FAILURE() << "no " << signature;
    return {};
  }
  std::string text(const std::vector<FactChanges>& changes) const {
    std::string out;
    for (const FactChanges& part : changes) {
      const uint32_t arity = (*program)[part.pred].arity;
      for (size_t r = 0; r < part.weights.size(); ++r) {
        out += std::to_string(part.weights[r]) + " " +
               incremental::fact_text(part.pred, std::span(part.values).subspan(r * arity, arity),
                                      *program, session.names) +
               "\n";
      }
    }
    return out;
  }
  lang::Session session;
  std::optional<lang::Program> program;
};

constexpr std::string_view kProgram =
    "pred n(u32, u64, i32, i64, f32, f64, bool). pred s(symbol). pred t(term). pred "
    "l(list<symbol>). "
    "pred z(). -s(a). ?- z().";

std::vector<FactChanges> all_kinds(Loaded& loaded) {
  lang::Names& names = loaded.session.names;
  const Value a = Value::symbol(names.symbols.intern("a"));
  const Value odd = Value::symbol(names.symbols.intern(std::string("odd \"\n\0\xff", 8)));
  const std::vector<Value> both = {a, odd};
  const Value list = names.terms.list(both);
  const std::vector<Value> nested = {list, Value::f64(-0.0), names.terms.list({})};
  return {
      {loaded.find("n/7"),
       {Value::u32(UINT32_MAX), Value::u64(UINT64_MAX), Value::i32(INT32_MIN),
        Value::i64(INT64_MIN), Value::f32(-std::numeric_limits<float>::infinity()),
        Value::f64(std::nan("")), Value::boolean(true)},
       {INT64_MAX}},
      {loaded.find("s/1"), {a, odd}, {1, -1}},
      {loaded.find("-s/1"), {odd}, {-5}},
      {loaded.find("t/1"),
       {names.terms.compound(names.symbols.intern("f"), nested), Value::i64(3), odd},
       {1, 2, 3}},
      {loaded.find("l/1"), {list}, {1}},
      {loaded.find("z/0"), {}, {7}},
  };
}

TEST(Codec, FactsComeBackInAnotherProcess) {
  Loaded here(kProgram);
  const std::vector<FactChanges> facts = all_kinds(here);
  const std::string bytes = encode(facts, *here.program, here.session.names);
  // Other names have other ids there.
  Loaded there("p(zebra, giraffe, \"odd\"). " + std::string(kProgram));
  const auto decoded = decode(bytes, *there.program, there.session.names);
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  EXPECT_EQ(there.text(*decoded), here.text(facts));
  EXPECT_EQ(encode(*decoded, *there.program, there.session.names), bytes);
}

TEST(Codec, OtherBytesAreRefusedOrOtherFactsButNeverACrash) {
  Loaded loaded(kProgram);
  const std::string bytes = encode(all_kinds(loaded), *loaded.program, loaded.session.names);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(
        decode(std::string_view(bytes).substr(0, size), *loaded.program, loaded.session.names).ok())
        << size;
  }
  EXPECT_FALSE(decode(bytes + "x", *loaded.program, loaded.session.names).ok());
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const int bit : {0, 5, 7}) {
      std::string other = bytes;
      other[at] = static_cast<char>(other[at] ^ (1 << bit));
      const auto decoded = decode(other, *loaded.program, loaded.session.names);
      if (!decoded.ok()) continue;
      EXPECT_FALSE(encode(*decoded, *loaded.program, loaded.session.names).empty());
    }
  }
}

TEST(Codec, ValuesAreConvertedToTheTypesOfNow) {
  Loaded narrow("pred p(u32, f32). p(1, 1.5). ?- p(X, Y).");
  const std::vector<FactChanges> facts = {
      {narrow.find("p/2"), {Value::u32(7), Value::f32(0.5F)}, {1}}};
  const std::string bytes = encode(facts, *narrow.program, narrow.session.names);
  Loaded wide("pred p(i64, f64). ?- p(X, Y).");
  const auto converted = decode(bytes, *wide.program, wide.session.names);
  ASSERT_TRUE(converted.ok()) << converted.error().message;
  EXPECT_EQ((*converted)[0].values, (std::vector<Value>{Value::i64(7), Value::f64(0.5)}));
  Loaded other("pred p(symbol, f64). ?- p(X, Y).");
  EXPECT_NE(decode(bytes, *other.program, other.session.names).error().message.find("column 1"),
            std::string::npos);
  Loaded without("pred q(u32). ?- q(X).");
  EXPECT_NE(decode(bytes, *without.program, without.session.names).error().message.find("`p/2`"),
            std::string::npos);
}

TEST(Codec, DigestsAreOfRulesAndTypes) {
  const auto digest = [](std::string_view text) {
    Loaded loaded(text);
    return program_digest(*loaded.program, loaded.session.names);
  };
  const uint64_t base = digest("pred e(u32). p(X) :- e(X). ?- p(X).");
  EXPECT_EQ(digest("pred e(u32). e(5). p(X)   :- e(X). // more\n?- p(1). ?- e(X)."), base);
  EXPECT_NE(digest("pred e(u32). p(X) :- e(X), X > 1. ?- p(X)."), base);
  EXPECT_NE(digest("pred e(u64). p(X) :- e(X). ?- p(X)."), base);
  EXPECT_NE(digest("pred e(u32). p(X) :- e(X). q(X) :- e(X). ?- p(X)."), base);
}

}  // namespace
}  // namespace xlog::session
