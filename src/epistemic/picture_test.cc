// What is shown of units and world views.
#include "epistemic/picture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "epistemic/explain_units.h"
#include "epistemic/random_source.h"
#include "logic/needed.h"

namespace xlog::epistemic {
namespace {

// False where the program has errors or takes too long.
bool with(const std::string& source, const std::function<void(Findings&)>& use) {
  lang::Session session;
  const SourceFile* file = session.sources.add("a.xlog", "", source);
  std::optional<lang::Program> program = lang::load(*file, session);
  if (!program || session.diagnostics.has_errors()) return false;
  logic::drop_queries(*program);
  const std::optional<logic::Analysis> analysis = logic::analyze(*program, session);
  if (!analysis || session.diagnostics.has_errors()) return false;
  logic::AnswerOptions options;
  options.max_worlds = kPictureWorlds;
  options.max_candidates = 20'000;
  Trace trace;
  return with_findings(*program, *analysis, session, options, nullptr, trace, use);
}

Picture picture(const std::string& source) {
  Picture made;
  EXPECT_TRUE(with(source, [&](Findings& findings) { made = picture_of(findings); }));
  return made;
}

constexpr const char* kDoors =
    "d(1..30). open(D) :- d(D), not know not open(D). { coin(D) } :- d(D). win(D) :- coin(D), "
    "open(D). { x ; y }. z :- know x. sure.";

TEST(Picture, ShowsEqualPartsOnce) {
  const Picture made = picture(kDoors);
  EXPECT_EQ(made.views, mpz_class(1) << 30);
  ASSERT_EQ(made.parts.size(), 3u);  // x with z, and y
  EXPECT_EQ(made.parts[0].equal, 30u);
  ASSERT_EQ(made.parts[0].listed.size(), 2u);
  EXPECT_EQ(made.parts[0].listed[1].known.texts, std::vector<std::string>{"open(1)"});
  EXPECT_EQ(made.parts[0].listed[1].listed[1].texts,
            (std::vector<std::string>{"coin(1)", "win(1)"}));
  EXPECT_EQ(made.parts[0].others.left_out, 23u);
  EXPECT_EQ(made.parts[1].listed[0].worlds, 2);
  const std::string text = picture_text(made);
  EXPECT_NE(text.find("30 equal parts, 2 ^ 30 = 1073741824 world views"), std::string::npos)
      << text;
}

TEST(Picture, IsBounded) {
  std::string source = "n(1..40). { a(X) : n(X) } 20. b :- a(X).\n";
  for (int i = 2; i < 60; ++i)
    source += fmt::format("p{0}(1..{0}). {{ q{0}(X) : p{0}(X) }} 1.\n", i);
  const Picture made = picture(source);
  EXPECT_LE(made.parts.size(), 24u);
  EXPECT_EQ(made.parts.size() + made.parts_left_out, 59u);
  for (const PicturePart& part : made.parts) {
    for (const PictureView& view : part.listed) EXPECT_LE(view.listed.size(), kPictureWorlds);
  }
  EXPECT_LT(picture_json(made).size(), 200'000u);
}

TEST(Picture, NamesThePartWithoutAView) {
  const Picture made = picture("{ q }. p :- not know p.");
  EXPECT_EQ(made.views, 0);
  ASSERT_FALSE(made.parts.empty());
  EXPECT_EQ(made.parts.back().views, 0u);
  EXPECT_EQ(made.parts.back().atoms.texts, std::vector<std::string>{"p"});
}

TEST(Units, TellWhichAreEqualAndHowTheyWereDecided) {
  std::string text, json, dot;
  EXPECT_TRUE(with(kDoors, [&](Findings& findings) {
    text = explain_units(findings, logic::ExplainFormat::Text);
    json = explain_units(findings, logic::ExplainFormat::Json);
    dot = explain_units(findings, logic::ExplainFormat::Dot);
  }));
  EXPECT_NE(text.find("30 equal units: 3 atoms, 3 rules"), std::string::npos) << text;
  EXPECT_NE(text.find("asks       not know not open(1)"), std::string::npos) << text;
  EXPECT_NE(text.find("decided    2 guesses, 2 accepted"), std::string::npos) << text;
  const auto parsed = nlohmann::json::parse(json);
  EXPECT_EQ(parsed["kinds"][0]["units"], 30);
  EXPECT_EQ(parsed["kinds"][0]["accepted"], 2);
  EXPECT_NE(dot.find("digraph units {"), std::string::npos);
}

// Every form, of whatever there is to show; JSON that can be read.
TEST(Picture, OfRandomPrograms) {
  uint32_t shown = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const std::string source = RandomSource(seed).run();
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, source));
    with(source, [&](Findings& findings) {
      const Picture made = picture_of(findings);
      EXPECT_EQ(made.views, findings.view_count());
      mpz_class product = made.views == 0 ? 0 : 1;
      for (const PicturePart& part : made.parts) {
        mpz_class power;
        mpz_ui_pow_ui(power.get_mpz_t(), part.views, part.equal);
        product *= power;
      }
      EXPECT_TRUE(made.parts_left_out > 0 || product == made.views);
      EXPECT_FALSE(picture_text(made).empty());
      EXPECT_FALSE(picture_dot(made).empty());
      EXPECT_EQ(nlohmann::json::parse(picture_json(made))["world_view_count"],
                made.views.get_str());
      EXPECT_FALSE(explain_units(findings, logic::ExplainFormat::Text).empty());
      EXPECT_EQ(nlohmann::json::parse(explain_units(findings, logic::ExplainFormat::Json))["stage"],
                "units");
      ++shown;
    });
  }
  EXPECT_GT(shown, 150u);
}

}  // namespace
}  // namespace xlog::epistemic
