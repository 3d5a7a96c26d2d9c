// Random ground programs for the oracle's own tests.
#pragma once

#include <random>
#include <vector>

#include "oracle/ground.h"

namespace xlog::oracle {

struct RandomShape {
  uint32_t atoms = 4;
  uint32_t rules = 6;
  bool choice = true;
  bool disjunction = true;
  bool constraints = true;
  bool modal = true;
};

inline GroundProgram random_program(std::mt19937& random, const RandomShape& shape) {
  const auto pick = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  GroundProgram program;
  program.atom_count = shape.atoms;
  for (uint32_t r = 0; r < shape.rules; ++r) {
    GroundHead head = GroundHead::Normal;
    std::vector<AtomId> heads = {pick(shape.atoms)};
    std::vector<GroundLiteral> body;
    const uint32_t kind = pick(10);
    if (kind == 0 && shape.constraints) {
      head = GroundHead::Constraint;
      heads.clear();
    } else if (kind <= 2 && shape.choice) {
      head = GroundHead::Choice;
    } else if (kind <= 4 && shape.disjunction) {
      const AtomId other = pick(shape.atoms);
      if (other != heads[0]) {
        head = GroundHead::Disjunction;
        heads.push_back(other);
      }
    }
    const uint32_t literals = pick(3) + (head == GroundHead::Constraint ? 1 : 0);
    for (uint32_t i = 0; i < literals; ++i) {
      GroundLiteral literal;
      literal.index = pick(shape.atoms);
      const uint32_t form = pick(shape.modal ? 12 : 6);
      if (form < 3) {
        literal.kind = GroundKind::Pos;
      } else if (form < 5) {
        literal.kind = GroundKind::Neg;
      } else if (form == 5) {
        literal.kind = GroundKind::NotNot;
      } else {
        literal.kind = GroundKind::Modal;
        literal.modal = static_cast<lang::Modal>(1 + form - 6);
      }
      body.push_back(literal);
    }
    program.rules.add(head, heads, body, 0);
  }
  return program;
}

}  // namespace xlog::oracle
