// Whether nothing in a world view holds only because it is known or possible (SEMANTICS: faeel).
//
// Without disjunctive heads the founded pairs (atom, world) are a least fixpoint. Here it is taken
// over the questions, not over the worlds: starting with none supported, a question is supported
// once its atom is founded in all worlds (`know`) or in one (`possible`), where rules count whose
// questions are supported. The solver is asked about all questions at once that wait: for a world
// that founds the atom of one, or that does not. What such worlds tell about the other questions is
// found without it (founded_worlds.h). With disjunctive heads the worlds are listed and the
// reference is asked.
#pragma once

#include <optional>
#include <vector>

#include "epistemic/translate.h"
#include "epistemic/views.h"
#include "oracle/context.h"
#include "solve/stable_models.h"

namespace xlog::epistemic {

class Foundedness {
 public:
  Foundedness(const oracle::GroundProgram& unit, oracle::Context& context, SearchCounts& counts);

  // Of the worlds under a guess, which `worlds` assumes.
  bool is_founded(const Translation& translation, const std::vector<solve::Literal>& guess,
                  solve::StableModels& worlds);

 private:
  bool by_worlds(solve::StableModels& worlds);
  bool by_questions(const std::vector<solve::Literal>& guess);
  bool asks(const std::vector<solve::Literal>& assumptions);
  void start();

  const oracle::GroundProgram& unit_;
  oracle::Context& context_;
  SearchCounts& counts_;
  bool disjunctive_ = false;
  std::vector<std::pair<oracle::AtomId, bool>> to_found_;  // atoms asked for by positive literals
  std::optional<Translation> translation_;                 // with the rules of what is founded
  Translation::Foundation foundation_;
  solve::StableModels solver_;
};

}  // namespace xlog::epistemic
