// Magic sets, and rules left out that no answer depends on, change nothing: random programs answer
// the same with and without, every query of the program included.
#include "logic/magic.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <random>
#include <string>

#include "base/sanitized.h"
#include "logic/needed.h"
#include "oracle/evaluate.h"

namespace xlog::oracle {
namespace {

std::string random_datalog(std::mt19937& random) {
  const auto pick = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  const auto variable = [&] { return std::string(1, "XYZ"[pick(3)]); };
  std::string text;
  for (uint32_t i = 0; i < 8; ++i) text += fmt::format("e({}, {}). ", pick(6), pick(6));
  for (uint32_t i = 0; i < 4; ++i) text += fmt::format("f({}, {}). ", pick(6), pick(6));
  const char* derived[] = {"p", "q", "r"};
  for (const char* head : derived) {
    text += fmt::format("{}(X, Y) :- {}(X, Y). ", head, pick(2) == 0 ? "e" : "f");
    for (uint32_t i = 0; i <= pick(3); ++i) {
      // The base predicates bind all variables of a negated literal or a comparison.
      std::string body = fmt::format("{}({}, {}), {}(X, Y)", derived[pick(3)], variable(),
                                     variable(), derived[pick(3)]);
      if (pick(3) == 0) body += ", not f(X, Y)";
      if (pick(3) == 0) body += ", X != Y";
      if (pick(4) == 0) body += ", N = count : { e(X, W) }, N < 3";
      text += fmt::format("{}(X, Y) :- {}. ", head, body);
    }
  }
  text +=
      fmt::format("?- p({}, Y). ?- q(X, {}). ?- r({}, {}). ?- p(X, Y). ?- q(1, Y), not e(1, Y).",
                  pick(6), pick(6), pick(6), pick(6));
  return text;
}

enum class Unneeded : uint8_t { Kept, Dropped };

std::string answer_of(const std::string& program, const char* magic, size_t* applied,
                      Unneeded unneeded = Unneeded::Kept) {
  lang::Session session;
  const SourceFile* file = session.sources.add(
      "test.xlog", "", fmt::format("#pragma magic_sets = {}\n{}", magic, program));
  auto loaded = lang::load(*file, session);
  EXPECT_TRUE(loaded && !session.diagnostics.has_errors())
      << render_text(session.diagnostics, session.sources);
  if (!loaded || session.diagnostics.has_errors()) return "";
  auto analysis = logic::analyze(*loaded, session);
  EXPECT_TRUE(analysis) << render_text(session.diagnostics, session.sources) << program;
  if (!analysis) return "";
  for (const logic::MagicDecision& decision :
       logic::apply_magic_sets(*loaded, *analysis, session)) {
    *applied += decision.applied;
  }
  analysis = logic::analyze(*loaded, session);
  if (analysis && unneeded == Unneeded::Dropped) {
    *applied += logic::drop_unneeded(*loaded, *analysis);
    analysis = logic::analyze(*loaded, session);
  }
  EXPECT_TRUE(analysis) << render_text(session.diagnostics, session.sources) << program;
  if (!analysis) return "";
  const auto answer = evaluate(*loaded, *analysis, session, {});
  EXPECT_TRUE(answer && answer->views.size() == 1);
  std::string text;
  for (const logic::QueryAnswer& query : answer->views[0].queries) {
    for (const logic::Row& row : query.rows) {
      for (const lang::Value& value : row.values)
        text += lang::to_source(value, session.names) + " ";
      text += "/ ";
    }
    text += "; ";
  }
  return text;
}

TEST(MagicSets, ChangeNoAnswer) {
  size_t applied = 0;
  for (uint32_t seed = 0; seed < 400 / kPartOfWork; ++seed) {
    std::mt19937 random(seed);
    const std::string program = random_datalog(random);
    ASSERT_EQ(answer_of(program, "auto", &applied), answer_of(program, "off", &applied))
        << "seed " << seed << "\n"
        << program;
  }
  EXPECT_GT(applied, 100u / kPartOfWork);
}

TEST(Needed, ChangesNoAnswer) {
  size_t dropped = 0, ignored = 0;
  for (uint32_t seed = 0; seed < 400 / kPartOfWork; ++seed) {
    std::mt19937 random(seed);
    std::string program = random_datalog(random);
    // One query alone, so that it needs a part of the program.
    program.resize(program.find("?-"));
    program += random() % 2 == 0 ? "?- p(X, Y)." : "?- r(X, Y), not q(X, Y).";
    ASSERT_EQ(answer_of(program, "off", &dropped, Unneeded::Dropped),
              answer_of(program, "off", &ignored))
        << "seed " << seed << "\n"
        << program;
  }
  EXPECT_GT(dropped, 20u / kPartOfWork);
}

}  // namespace
}  // namespace xlog::oracle
