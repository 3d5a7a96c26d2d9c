#include "oracle/world_views.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "oracle/stable.h"

namespace xlog::oracle {

namespace {

using lang::Modal;

enum class Status : uint8_t { False, PossibleOnly, Known };

bool asks_known(Modal modal) {
  return modal == Modal::Know || modal == Modal::NotKnow || modal == Modal::NotPossibleNot;
}

bool is_negated(Modal modal) { return modal == Modal::NotKnow || modal == Modal::NotPossible; }

// The modal atoms with the statuses worth telling apart: an atom that is only asked whether it is
// known needs no PossibleOnly.
struct ModalAtom {
  AtomId atom;
  bool asked_known = false, asked_possible = false;

  std::vector<Status> statuses() const {
    if (asked_known && asked_possible) return {Status::False, Status::PossibleOnly, Status::Known};
    return {Status::False, Status::Known};
  }
};

std::vector<ModalAtom> modal_atoms(const GroundProgram& program) {
  std::map<AtomId, ModalAtom> atoms;
  const auto visit = [&](AtomId atom, const GroundLiteral& literal) {
    if (literal.kind != GroundKind::Modal) return;
    ModalAtom& entry = atoms[atom];
    entry.atom = atom;
    (asks_known(literal.modal) ? entry.asked_known : entry.asked_possible) = true;
  };
  const auto visit_body = [&](GroundBody body) {
    for (const GroundLiteral& literal : body) for_each_atom(literal, program, visit);
  };
  for (const GroundRule rule : program.rules) visit_body(rule.body);
  for (const GroundBound& bound : program.bounds) {
    visit_body(bound.body);
    for (const auto& element : bound.elements) visit_body(element.condition);
  }
  std::vector<ModalAtom> list;
  for (const auto& [id, entry] : atoms) list.push_back(entry);
  return list;
}

bool holds_with(Modal modal, Status status) {
  const bool value = asks_known(modal) ? status == Status::Known : status != Status::False;
  return is_negated(modal) ? !value : value;
}

// Does the set of worlds give every modal literal the value that was assumed?
bool reproduces(const std::vector<ModalAtom>& atoms, const std::vector<Status>& assumed,
                const WorldSet& worlds) {
  for (size_t i = 0; i < atoms.size(); ++i) {
    const auto holds_at = [&](const Interpretation& world) { return world[atoms[i].atom]; };
    const bool known = std::all_of(worlds.begin(), worlds.end(), holds_at);
    const bool possible = std::any_of(worlds.begin(), worlds.end(), holds_at);
    if (atoms[i].asked_known && known != (assumed[i] == Status::Known)) return false;
    if (atoms[i].asked_possible && possible != (assumed[i] != Status::False)) return false;
  }
  return true;
}

}  // namespace

bool holds_in(const GroundLiteral& modal, const WorldSet& worlds) {
  const auto holds_at = [&](const Interpretation& world) { return world[modal.index]; };
  const bool value = asks_known(modal.modal) ? std::all_of(worlds.begin(), worlds.end(), holds_at)
                                             : std::any_of(worlds.begin(), worlds.end(), holds_at);
  return is_negated(modal.modal) ? !value : value;
}

std::vector<WorldSet> world_views(const GroundProgram& program, logic::Mode mode,
                                  Context& context) {
  const std::vector<ModalAtom> atoms = modal_atoms(program);
  std::map<AtomId, size_t> position;
  for (size_t i = 0; i < atoms.size(); ++i) position[atoms[i].atom] = i;

  std::vector<WorldSet> views;
  std::vector<size_t> choice(atoms.size(),
                             0);  // index into statuses(), counted up like an odometer
  while (true) {
    context.count_candidate();
    std::vector<Status> assumed;
    for (size_t i = 0; i < atoms.size(); ++i) assumed.push_back(atoms[i].statuses()[choice[i]]);
    const GroundProgram reduct = replace_literals(program, [&](const GroundLiteral& literal) {
      if (literal.kind != GroundKind::Modal) return Truth::Unknown;
      return holds_with(literal.modal, assumed[position.at(literal.index)]) ? Truth::True
                                                                            : Truth::False;
    });
    WorldSet worlds = stable_models(reduct, context);
    if (!worlds.empty() && reproduces(atoms, assumed, worlds)) {
      std::sort(worlds.begin(), worlds.end());
      if (mode == logic::Mode::G91 || is_founded(program, worlds, mode, context))
        views.push_back(std::move(worlds));
    }
    size_t i = 0;
    while (i < atoms.size() && ++choice[i] == atoms[i].statuses().size()) choice[i++] = 0;
    if (i == atoms.size()) return views;
  }
}

}  // namespace xlog::oracle
