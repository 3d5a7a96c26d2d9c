#include "epistemic/founded_worlds.h"

#include <algorithm>
#include <utility>

namespace xlog::epistemic {

using oracle::AtomId;
using solve::Literal;

FoundedWorlds::FoundedWorlds(AtomId atoms, const Translation::Foundation& foundation,
                             const std::vector<Question>& questions,
                             const std::vector<Literal>& guess, oracle::Context& context)
    : foundation_(foundation),
      questions_(questions),
      guess_(guess),
      context_(context),
      rules_of_atom_(atoms),
      rules_of_question_(questions.size()),
      questions_of_atom_(atoms),
      is_supported_(questions.size(), false) {
  for (uint32_t r = 0; r < foundation.rules.size(); ++r) {
    for (const AtomId a : foundation.rules[r].positive) rules_of_atom_[a].push_back(r);
    for (const size_t q : foundation.rules[r].questions) rules_of_question_[q].push_back(r);
  }
  for (size_t q = 0; q < questions.size(); ++q) {
    const bool needs_support = foundation.supported[q] != 0 && guess[q] > 0;
    if (needs_support) questions_of_atom_[questions[q].atom].push_back(q);
  }
  // The others may fail in some world; and none has to choose.
  start(in_all_, [](const Rule& rule) { return rule.others.empty(); });
  settle();
}

void FoundedWorlds::add(const solve::StableModels& solver) {
  World world;
  for (AtomId a = 0; a < rules_of_atom_.size(); ++a) {
    world.unfounded += solver.holds(Translation::atom(a)) ? 1 : 0;
  }
  start(world, [&](const Rule& rule) {
    return std::ranges::all_of(rule.others, [&](Literal l) { return solver.holds(l); });
  });
  worlds_.push_back(std::move(world));
  settle();
}

void FoundedWorlds::support(size_t question) {
  note(question);
  settle();
}

std::vector<size_t> FoundedWorlds::waiting(bool all) const {
  std::vector<size_t> waiting;
  for (size_t q = 0; q < questions_.size(); ++q) {
    if (questions_[q].all != all || is_supported_[q]) continue;
    if (foundation_.supported[q] == 0 || guess_[q] < 0) continue;
    const auto is_founded = [&](const World& w) { return bool{w.is_founded[questions_[q].atom]}; };
    if (!all || std::ranges::all_of(worlds_, is_founded)) waiting.push_back(q);
  }
  return waiting;
}

bool FoundedWorlds::fits_guess(const Rule& rule) const {
  return std::ranges::all_of(rule.answers, [&](const auto& answer) {
    return (guess_[answer.first] > 0) == answer.second;
  });
}

template <typename MayFire>
void FoundedWorlds::start(World& world, const MayFire& may_fire) {
  world.is_founded.assign(rules_of_atom_.size(), false);
  world.missing.assign(foundation_.rules.size(), kNever);
  for (uint32_t r = 0; r < foundation_.rules.size(); ++r) {
    context_.tick();
    const Rule& rule = foundation_.rules[r];
    if (!fits_guess(rule) || !may_fire(rule)) continue;
    const auto is_open = [&](size_t q) { return !is_supported_[q]; };
    world.missing[r] = static_cast<uint32_t>(rule.positive.size()) +
                       static_cast<uint32_t>(std::ranges::count_if(rule.questions, is_open));
    if (world.missing[r] == 0) found_.push_back(rule.head);
  }
  // Only now: what spreads supports questions, and these are taken up by settle().
  spread(world);
}

void FoundedWorlds::spread(World& world) {
  while (!found_.empty()) {
    context_.tick();
    const AtomId atom = found_.back();
    found_.pop_back();
    if (world.is_founded[atom]) continue;
    world.is_founded[atom] = true;
    --world.unfounded;
    for (const size_t q : questions_of_atom_[atom]) {
      if (!questions_[q].all || &world == &in_all_) note(q);
    }
    for (const uint32_t r : rules_of_atom_[atom]) {
      if (world.missing[r] == kNever || --world.missing[r] > 0) continue;
      found_.push_back(foundation_.rules[r].head);
    }
  }
}

void FoundedWorlds::note(size_t question) {
  if (is_supported_[question]) return;
  is_supported_[question] = true;
  supported_.push_back(question);
}

void FoundedWorlds::settle() {
  const auto take_up = [&](World& world, size_t question) {
    for (const uint32_t r : rules_of_question_[question]) {
      if (world.missing[r] == kNever || --world.missing[r] > 0) continue;
      found_.push_back(foundation_.rules[r].head);
    }
    spread(world);
  };
  while (!supported_.empty()) {
    const size_t question = supported_.back();
    supported_.pop_back();
    take_up(in_all_, question);
    for (World& world : worlds_) take_up(world, question);
  }
  // These have no more to tell.
  std::erase_if(worlds_, [](const World& world) { return world.unfounded == 0; });
}

}  // namespace xlog::epistemic
