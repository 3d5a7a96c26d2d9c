// Explanations as text, JSON and Graphviz. docs/language.md describes the forms.
#pragma once

#include <functional>
#include <string>

#include "engine/proof.h"

namespace xlog::engine {

struct ProofPrinting {
  const lang::Program& program;
  lang::Session& session;
  // The files that rows of a predicate were read from: "edges.csv".
  std::function<std::string(lang::PredId)> input_files;
};

std::string proof_text(const Explanation& explanation, const ProofPrinting& printing);
std::string proof_json(const Explanation& explanation, const ProofPrinting& printing);
std::string proof_dot(const Explanation& explanation, const ProofPrinting& printing);

// What is said of a leaf behind its text: "fact  [a.xlog:2]".
std::string leaf_note(const ProofNode& node, const ProofPrinting& printing);

// A rule as `xlog fmt` prints it, on one line.
std::string rule_text(const lang::Rule& rule, const lang::Program& program, lang::Session& session);

}  // namespace xlog::engine
