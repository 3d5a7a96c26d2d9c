#include "solve/unfounded.h"

#include <algorithm>

#include "base/check.h"

namespace xlog::solve {

UnfoundedSets::UnfoundedSets(const std::vector<LoopAtom>& atoms)
    : atoms_(atoms.size()), in_set_(atoms.size(), false) {
  std::vector<std::vector<uint32_t>> uses(atoms.size());
  size_t most = 0;
  for (uint32_t a = 0; a < atoms.size(); ++a) {
    AtomInfo& info = atoms_[a];
    info.literal = atoms[a].literal;
    info.supports_begin = static_cast<uint32_t>(supports_.size());
    for (const LoopSupport& support : atoms[a].supports) {
      const auto index = static_cast<uint32_t>(supports_.size());
      const auto begin = static_cast<uint32_t>(needs_.size());
      needs_.insert(needs_.end(), support.needs.begin(), support.needs.end());
      supports_.push_back({support.literal, a, static_cast<uint32_t>(support.needs.size()), begin,
                           static_cast<uint32_t>(needs_.size())});
      for (const uint32_t need : support.needs) uses[need].push_back(index);
      most = std::max(most, slot(-support.literal));
    }
    info.supports_end = static_cast<uint32_t>(supports_.size());
    info.waiting = true;
    candidates_.push_back(a);
  }
  for (uint32_t a = 0; a < atoms.size(); ++a) {
    atoms_[a].uses_begin = static_cast<uint32_t>(uses_.size());
    uses_.insert(uses_.end(), uses[a].begin(), uses[a].end());
    atoms_[a].uses_end = static_cast<uint32_t>(uses_.size());
  }
  falsified_.resize(most + 1);
  for (uint32_t s = 0; s < supports_.size(); ++s) {
    falsified_[slot(-supports_[s].literal)].push_back(s);
  }
}

void UnfoundedSets::undo(const Search&, uint32_t level, size_t trail_size) {
  head_ = std::min(head_, trail_size);
  while (!parked_.empty() && parked_.back().level > level) {
    candidates_.push_back(parked_.back().atom);
    parked_.pop_back();
  }
}

void UnfoundedSets::lose_source(uint32_t atom) {
  work_.assign(1, atom);
  atoms_[atom].source = kNone;
  while (!work_.empty()) {
    const uint32_t a = work_.back();
    work_.pop_back();
    AtomInfo& info = atoms_[a];
    if (!info.waiting) {
      info.waiting = true;
      candidates_.push_back(a);
    }
    for (uint32_t u = info.uses_begin; u < info.uses_end; ++u) {
      Support& support = supports_[uses_[u]];
      if (support.missing++ != 0 || atoms_[support.head].source != uses_[u]) continue;
      atoms_[support.head].source = kNone;
      work_.push_back(support.head);
    }
  }
}

// Gives each candidate a source that has one, and whatever follows from that.
void UnfoundedSets::find_sources(const Search& search) {
  const auto usable = [&](uint32_t s) {
    return supports_[s].missing == 0 && search.value(supports_[s].literal) >= 0;
  };
  work_.clear();
  for (const uint32_t a : candidates_) {
    AtomInfo& info = atoms_[a];
    if (info.source != kNone) continue;
    for (uint32_t s = info.supports_begin; s < info.supports_end; ++s) {
      if (!usable(s)) continue;
      info.source = s;
      work_.push_back(a);
      break;
    }
    while (!work_.empty()) {
      const AtomInfo& founded = atoms_[work_.back()];
      work_.pop_back();
      for (uint32_t u = founded.uses_begin; u < founded.uses_end; ++u) {
        const uint32_t s = uses_[u];
        --supports_[s].missing;
        AtomInfo& head = atoms_[supports_[s].head];
        if (head.source != kNone || !usable(s)) continue;
        head.source = s;
        work_.push_back(supports_[s].head);
      }
    }
  }
}

Learned UnfoundedSets::propagate(Search& search) {
  for (; head_ < search.trail().size(); ++head_) {
    const size_t assigned = slot(search.trail()[head_]);
    if (assigned >= falsified_.size()) continue;
    for (const uint32_t s : falsified_[assigned]) {
      if (atoms_[supports_[s].head].source == s) lose_source(supports_[s].head);
    }
  }
  if (candidates_.empty()) return Learned::Quiet;
  find_sources(search);
  size_t kept = 0;
  for (const uint32_t a : candidates_) {
    AtomInfo& info = atoms_[a];
    if (info.source != kNone) {
      info.waiting = false;
    } else if (search.value(info.literal) < 0) {
      parked_.push_back({a, search.level()});
    } else {
      candidates_[kept++] = a;
    }
  }
  candidates_.resize(kept);
  if (candidates_.empty()) return Learned::Quiet;
  // A true atom gives a conflict, which is more than a consequence.
  const auto found = std::ranges::find_if(
      candidates_, [&](uint32_t a) { return search.value(atoms_[a].literal) > 0; });
  return reject(search, found == candidates_.end() ? candidates_[0] : *found);
}

// The set grows from one atom: a support that could still hold needs an atom without a source.
Learned UnfoundedSets::reject(Search& search, uint32_t atom) {
  set_.assign(1, atom);
  in_set_[atom] = true;
  clause_.assign(1, -atoms_[atom].literal);
  for (size_t i = 0; i < set_.size(); ++i) {
    const AtomInfo info = atoms_[set_[i]];
    for (uint32_t s = info.supports_begin; s < info.supports_end; ++s) {
      const Support& support = supports_[s];
      if (search.value(support.literal) < 0) continue;
      const std::span needs(needs_.data() + support.needs_begin,
                            support.needs_end - support.needs_begin);
      if (std::ranges::any_of(needs, [&](uint32_t n) { return in_set_[n]; })) continue;
      const auto unfounded =
          std::ranges::find_if(needs, [&](uint32_t n) { return atoms_[n].source == kNone; });
      XLOG_CHECK(unfounded != needs.end(), "a support with all it needs is a source");
      in_set_[*unfounded] = true;
      set_.push_back(*unfounded);
    }
  }
  for (const uint32_t a : set_) {
    for (uint32_t s = atoms_[a].supports_begin; s < atoms_[a].supports_end; ++s) {
      const Support& support = supports_[s];
      bool outside = true;
      for (uint32_t n = support.needs_begin; n < support.needs_end; ++n) {
        outside = outside && !in_set_[needs_[n]];
      }
      if (outside) clause_.push_back(support.literal);
    }
  }
  for (const uint32_t a : set_) in_set_[a] = false;
  std::sort(clause_.begin() + 1, clause_.end());
  clause_.erase(std::unique(clause_.begin() + 1, clause_.end()), clause_.end());
  if (std::find(clause_.begin() + 1, clause_.end(), clause_[0]) != clause_.end()) {
    clause_.erase(clause_.begin());
  }
  return search.learn(clause_);
}

}  // namespace xlog::solve
