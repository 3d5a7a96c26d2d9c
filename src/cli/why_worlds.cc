#include "cli/why_worlds.h"

#include <algorithm>
#include <chrono>

#include "cli/search_worlds.h"
#include "device/device.h"
#include "engine/literal_text.h"
#include "engine/proof.h"
#include "engine/proof_print.h"
#include "epistemic/findings.h"
#include "logic/needed.h"

namespace xlog::cli {
namespace {

using epistemic::RowWhy;
using epistemic::WhyKind;
using epistemic::WhyNode;

constexpr size_t kMostProofs = 40;
constexpr size_t kMostProofNodes = 60;  // of one of them

WhyKind kind_of(engine::ProofKind kind) {
  switch (kind) {
    case engine::ProofKind::Derived:
      return WhyKind::Derived;
    case engine::ProofKind::Fact:
    case engine::ProofKind::Input:
      return WhyKind::Fact;
    case engine::ProofKind::Absent:
      return WhyKind::Absent;
    case engine::ProofKind::Compare:
    case engine::ProofKind::Builtin:
    case engine::ProofKind::Aggregate:
      return WhyKind::Condition;
  }
  return WhyKind::Condition;
}

// The proofs of rows that are the same in all worlds, from an evaluation of what they rest on.
class Proofs {
 public:
  Proofs(lang::Program& program, const logic::AnswerOptions& options, device::Device* device,
         const std::function<std::string(lang::PredId)>& input_files, lang::Session& session)
      : program_(program),
        options_(options),
        device_(device),
        session_(session),
        printing_{program_, session, input_files} {}

  // False where something was reported.
  bool evaluate(const std::vector<lang::PredId>& preds) {
    logic::keep_needed(program_, preds);
    analysis_ = logic::analyze(program_, session_);
    if (!analysis_) return false;
    settled_ = engine::settle(program_, *analysis_, session_, options_, device_, statistics_);
    return settled_.has_value();
  }

  // Puts the proof under a node. False where something was reported.
  bool prove(RowWhy& row, uint32_t id) {
    lang::Goal goal;
    goal.pred = row.nodes[id].pred;
    goal.text = engine::fact_text(program_[goal.pred], row.nodes[id].row, session_.names);
    for (const lang::Value& value : row.nodes[id].row) {
      lang::Term& term = goal.args.emplace_back();
      term.kind = lang::TermKind::Constant;
      term.value = value;
    }
    program_.goal = std::move(goal);
    const std::optional<engine::Explanation> found =
        engine::explain_goal(program_, *analysis_, *settled_, session_,
                             {.max_rows = options_.max_rows,
                              .timeout_seconds = options_.timeout_seconds,
                              .memory_limit = options_.memory_limit,
                              .start = start_});
    if (!found) return false;
    if (found->proofs.empty()) return true;
    const engine::Proof& proof = found->proofs.front();
    if (proof.nodes.size() > kMostProofNodes) {
      row.nodes[id].note = "the same in all worlds; its proof is long: ask for it by itself";
      return true;
    }
    std::vector<uint32_t> ids;
    for (size_t n = 0; n < proof.nodes.size(); ++n) {
      if (n == 0 && row.nodes[id].text == proof.nodes[0].text) {
        ids.push_back(id);
      } else {
        ids.push_back(static_cast<uint32_t>(row.nodes.size()));
        row.nodes.emplace_back().text = proof.nodes[n].text;
      }
    }
    if (ids[0] != id) row.nodes[id].children.push_back(ids[0]);  // under `know p`
    std::vector<bool> used(proof.nodes.size(), false);
    for (size_t n = 0; n < proof.nodes.size(); ++n) copy(proof, n, ids, used, row);
    return true;
  }

 private:
  // A part that is used again is shown once.
  void copy(const engine::Proof& proof, size_t n, const std::vector<uint32_t>& ids,
            std::vector<bool>& used, RowWhy& row) {
    const engine::ProofNode& from = proof.nodes[n];
    std::vector<uint32_t> children;
    for (const uint32_t child : from.children) {
      if (!used[child]) {
        used[child] = true;
        children.push_back(ids[child]);
        continue;
      }
      children.push_back(static_cast<uint32_t>(row.nodes.size()));
      WhyNode& again = row.nodes.emplace_back();
      again.text = proof.nodes[child].text;
      again.kind = WhyKind::Again;
      again.note = "shown above";
    }
    WhyNode& to = row.nodes[ids[n]];
    to.kind = kind_of(from.kind);
    to.note = engine::leaf_note(from, printing_);
    to.children = std::move(children);
    if (from.kind != engine::ProofKind::Derived) return;
    const lang::Rule& rule = program_.rules[from.rule];
    to.rule = engine::rule_text(rule, program_, session_);
    to.rule_span = rule.span;
  }

  lang::Program& program_;
  const logic::AnswerOptions& options_;
  device::Device* device_;
  lang::Session& session_;
  engine::ProofPrinting printing_;
  // The search for worlds has kept to the limit before; one proof after the other shares it anew.
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::optional<logic::Analysis> analysis_;
  engine::Statistics statistics_;
  std::optional<engine::Settled> settled_;
};

// The rules of a program, which an evaluation rewrites.
class SavedRules {
 public:
  explicit SavedRules(const lang::Program& program) : rules_(program.rules) {
    for (const lang::Predicate& predicate : program.predicates) of_.push_back(predicate.rules);
  }
  void restore(lang::Program& program) const {
    program.rules = rules_;
    program.predicates.erase(program.predicates.begin() + static_cast<ptrdiff_t>(of_.size()),
                             program.predicates.end());
    for (size_t p = 0; p < of_.size(); ++p) program.predicates[p].rules = of_[p];
  }

 private:
  std::vector<lang::Rule> rules_;
  std::vector<std::vector<uint32_t>> of_;  // by predicate
};

void prove_determined(epistemic::WorldsWhy& why, Proofs& proofs) {
  std::vector<lang::PredId> preds;
  std::vector<std::pair<RowWhy*, uint32_t>> nodes;
  for (RowWhy& row : why.rows) {
    for (uint32_t id = 0; id < row.nodes.size(); ++id) {
      const bool is_known = row.nodes[id].kind == WhyKind::Determined && row.nodes[id].pred.valid();
      if (!is_known || nodes.size() == kMostProofs) continue;
      nodes.emplace_back(&row, id);
      if (std::ranges::find(preds, row.nodes[id].pred) == preds.end()) {
        preds.push_back(row.nodes[id].pred);
      }
    }
  }
  if (nodes.empty() || !proofs.evaluate(preds)) return;
  for (const auto& [row, id] : nodes) {
    if (!proofs.prove(*row, id)) return;
  }
}

}  // namespace

std::optional<epistemic::WorldsWhy> explain_worlds(
    const PipelineOptions& options, epistemic::WhyQuestion question, uint64_t limit,
    const std::function<std::string(lang::PredId)>& input_files, Outcome& outcome) {
  lang::Program& program = *outcome.program;
  lang::Session& session = outcome.session;
  const logic::AnswerOptions answer = answer_options(options, program.pragmas);
  // A query joins what it mentions.
  logic::drop_queries(program);
  const SavedRules as_written(program);
  outcome.analysis = logic::analyze(program, session);
  const std::unique_ptr<device::Device> device = open_for_worlds(options, session);
  if (device == nullptr) return std::nullopt;
  std::optional<epistemic::WorldsWhy> why;
  bool has_views = true;
  search_worlds(answer, *device, outcome, [&](epistemic::Findings& findings) {
    has_views = findings.has_views();
    if (has_views) why = epistemic::explain_rows(findings, question, limit);
  });
  if (!has_views) {
    outcome.exit_code = kNoWorldView;
    session.diagnostics
        .report(Code::NoWorldView, {},
                "the program has no world view, so there is no row to explain")
        .help("`xlog explain FILE --stage worldviews` shows which part of it has none");
  }
  if (!why) return why;
  as_written.restore(program);
  Proofs proofs(program, answer, device.get(), input_files, session);
  prove_determined(*why, proofs);
  return why;
}

}  // namespace xlog::cli
