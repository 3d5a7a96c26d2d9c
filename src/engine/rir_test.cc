// Plans as text: every pipeline of random programs is read back as it was printed, and pipelines
// that are given as text run as others do.
#include "plan/rir.h"

#include <gtest/gtest.h>

#include <set>

#include "base/sanitized.h"
#include "engine/engine_fixture.h"
#include "engine/random_fold_program.h"
#include "engine/random_list_program.h"
#include "plan/prepare.h"
#include "plan/relational.h"
#include "relation/derive.h"

namespace xlog::engine {
namespace {

using plan::Pipeline;
using plan::Step;

// Terms of two rules whose variables have other numbers. Minus of a number is read as a number.
bool same(const lang::Term& a, const lang::Term& b) {
  const bool negates = a.kind == lang::TermKind::Arith && a.op == lang::ArithOp::Neg &&
                       a.args[0].kind == lang::TermKind::Constant;
  if (negates && b.kind == lang::TermKind::Constant) return a.type == b.type;
  if (a.kind != b.kind || a.type != b.type || a.args.size() != b.args.size()) return false;
  if (a.kind == lang::TermKind::Constant && a.value != b.value) return false;
  if (a.kind == lang::TermKind::Arith && a.op != b.op) return false;
  for (size_t i = 0; i < a.args.size(); ++i) {
    if (!same(a.args[i], b.args[i])) return false;
  }
  return true;
}

bool same(const Step& a, const Step& b) {
  const bool one = a.kind == b.kind && a.pred == b.pred && a.part == b.part && a.order == b.order &&
                   a.columns.size() == b.columns.size() && a.members.size() == b.members.size() &&
                   a.target.valid() == b.target.valid() && a.outputs.size() == b.outputs.size();
  if (!one) return false;
  for (size_t c = 0; c < a.columns.size(); ++c) {
    if (a.columns[c].use != b.columns[c].use) return false;
    const bool ignored = a.columns[c].use == plan::ColumnUse::Ignore;
    if (!ignored && !same(a.columns[c].term, b.columns[c].term)) return false;
  }
  for (size_t m = 0; m < a.members.size(); ++m) {
    if (!same(a.members[m], b.members[m])) return false;
  }
  switch (a.kind) {
    case plan::StepKind::Filter:
      return a.compare == b.compare && same(a.lhs, b.lhs) && same(a.rhs, b.rhs);
    case plan::StepKind::Let:
      return same(a.lhs, b.lhs);
    case plan::StepKind::Range:
      return same(a.lhs, b.lhs) && same(a.rhs, b.rhs);
    default:
      return true;
  }
}

bool same(const Pipeline& a, const Pipeline& b) {
  if (a.steps.size() != b.steps.size()) return false;
  for (size_t s = 0; s < a.steps.size(); ++s) {
    if (!same(a.steps[s], b.steps[s])) return false;
  }
  return true;
}

// All versions of all rules that have pipelines. Gives how many there were.
uint64_t expect_inverse(const std::string& source) {
  lang::Session session;
  std::optional<lang::Program> program =
      lang::load(*session.sources.add("test.xlog", "", source), session);
  if (!program || session.diagnostics.has_errors()) return 0;
  std::optional<logic::Analysis> analysis = logic::analyze(*program, session);
  if (!analysis) return 0;
  plan::prepare(*program, *analysis, session, false);
  plan::Estimates estimates(*program, *analysis);
  uint64_t count = 0;
  for (uint32_t c = 0; c < analysis->components.size(); ++c) {
    estimates.begin(c);
    const auto inside = [&](lang::PredId pred) { return analysis->component_of[pred.index] == c; };
    for (uint32_t r : analysis->components[c].rules) {
      if (plan::why_not_relational(*program, program->rules[r])) continue;
      std::vector<std::optional<uint32_t>> versions = {std::nullopt};
      for (uint32_t i = 0; i < program->rules[r].body.size(); ++i) {
        const lang::Literal& literal = program->rules[r].body[i];
        const bool grows = literal.kind == lang::LiteralKind::Atom && literal.nots == 0 &&
                           literal.modal == lang::Modal::None && inside(literal.pred);
        if (grows) versions.emplace_back(i);
      }
      for (const auto& delta : versions) {
        const Pipeline pipeline =
            plan::build_pipeline(*program, r, {delta, inside}, estimates.statistics());
        for (const auto show : {plan::Show::Steps, plan::Show::Estimates}) {
          const std::string text = plan::to_text(pipeline, *program, session.names, show);
          const Result<Pipeline> read = plan::parse_pipeline(text, "plan.rir", *program, session);
          EXPECT_TRUE(read.ok()) << read.error().text() << "\n" << text << source;
          if (!read.ok()) return count;
          EXPECT_EQ(plan::to_text(*read, *program, session.names, show), text) << source;
          EXPECT_TRUE(same(pipeline, *read)) << text << source;
          program->rules.pop_back();
          ++count;
        }
      }
    }
    estimates.finish(c);
  }
  return count;
}

TEST(Rir, IsTheInverseOfPrinting) {
  const char* times = std::getenv("XLOG_RANDOM_TIMES");
  const uint64_t programs = (kSanitized ? 60 : 600) * (times == nullptr ? 1 : std::stoull(times));
  uint64_t count = 0;
  for (uint64_t seed = 1; seed <= programs && !HasFailure(); ++seed) {
    count += expect_inverse(ProgramGenerator(seed).run().text());
    if (seed % 4 == 1) count += expect_inverse(ListProgramGenerator(seed).run().text());
    if (seed % 4 == 2) count += expect_inverse(FoldProgramGenerator(seed).run().text());
    if (HasFailure()) fmt::print("seed {}\n", seed);
  }
  EXPECT_GT(count, programs);
}

// ---- running them ----

// Runs a pipeline over the facts of a program; the rows that its head's relation has then.
std::set<std::vector<uint64_t>> rows_after(const std::string& source, const std::string& text,
                                           const std::string& device_name, relation::Form form) {
  lang::Session session;
  std::optional<lang::Program> program =
      lang::load(*session.sources.add("test.xlog", "", source), session);
  if (!program) return {};
  const Result<Pipeline> pipeline = plan::parse_pipeline(text, "plan.rir", *program, session);
  EXPECT_TRUE(pipeline.ok()) << pipeline.error().text();
  if (!pipeline.ok()) return {};
  Result<std::unique_ptr<device::Device>> device = device::open_device(device_name);
  EXPECT_TRUE(device.ok());
  relation::Machine machine(**device, form);
  Database database(machine, *program, session.names);
  const lang::HeadElement head = program->rules[pipeline->rule].head[0];
  for (uint32_t p = 0; p < program->predicates.size(); ++p) {
    if (!program->predicates[p].rules.empty() || lang::PredId{p} == head.pred) continue;
    EXPECT_TRUE(database.load_facts({p}).ok());
    EXPECT_TRUE(database[{p}].next_round().ok());
    EXPECT_TRUE(database[{p}].finish().ok());
  }
  relation::Derivation derivation(machine, *program, *pipeline, head.args, head.pred);
  const Result<relation::Derived> derived =
      derivation.run([&](lang::PredId pred) -> relation::Relation& { return database[pred]; });
  EXPECT_TRUE(derived.ok()) << derived.error().text();
  EXPECT_TRUE(database[head.pred].next_round().ok());
  Result<std::vector<std::vector<lang::Value>>> rows = database.rows(head.pred);
  EXPECT_TRUE(rows.ok());
  std::set<std::vector<uint64_t>> all;
  for (const std::vector<lang::Value>& row : *rows) {
    std::vector<uint64_t> bits;
    for (const lang::Value& value : row) bits.push_back(value.bits);
    all.insert(bits);
  }
  EXPECT_EQ(all.size(), derived->rows);
  return all;
}

// Whatever the order of its steps and the way its lists are met, a rule has one answer.
TEST(Rir, PipelinesOfOneRuleGiveTheSameRows) {
  std::string source =
      "pred e(u32, u32). pred t(u32, u32, u32). pred t_used(u32).\n"
      "t_used(X) :- t(X, _, _). ?- t_used(X).\n";
  std::mt19937 random(3);
  std::set<std::pair<uint32_t, uint32_t>> edges;
  while (edges.size() < 300) edges.insert({random() % 40, random() % 40});
  for (const auto& [a, b] : edges) source += fmt::format("e({}, {}).\n", a, b);
  std::set<std::vector<uint64_t>> wanted;
  for (const auto& [x, y] : edges) {
    for (uint32_t z = 0; z < 40; ++z) {
      if (x != 7 && edges.contains({y, z}) && edges.contains({x, z})) wanted.insert({x, y, z});
    }
  }
  for (const char* text : {
           "scan e(X, Y)\nfilter X != 7\nlookup e(=Y, Z)\nexists e(=X, =Z)\ninsert t(X, Y, Z)",
           "scan e(X, Y) by X\nmeet Z: e(=Y, Z), e(=X, Z)\nfilter 7 != X\ninsert t(X, Y, Z)",
           "scan e(Y, Z)\nmeet X: e(X, =Z), e(X, =Y)\nfilter 7 != X\ninsert t(X, Y, Z)",
           "range Z = 0..39\nlookup e(Y, =Z)\nlookup e(X, =Y)\nexists e(=X, =Z)\n"
           "filter X != 7\ninsert t(X, Y, Z)",
           "range Z = 0..39\nlet Seven = 14 - 7\nlookup e(X, =Z)\nlookup e(=X, Y)\n"
           "filter X != Seven\nexists e(=Y, =Z)\ninsert t(X, Y, Z)",
       }) {
    for (const auto form : {relation::Form::Chunks, relation::Form::Groups}) {
      EXPECT_EQ(rows_after(source, text, "interp", form), wanted) << text;
    }
  }
}

}  // namespace
}  // namespace xlog::engine
