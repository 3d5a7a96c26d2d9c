#include "plan/rir_host.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/check.h"
#include "logic/binding.h"

namespace xlog::plan {

using lang::Literal;
using lang::Rule;
using lang::Term;
using lang::VarId;

namespace {

std::optional<size_t> find_literal(const Rule& rule, std::string_view text,
                                   const lang::Program& program, const lang::Names& names) {
  for (size_t i = 0; i < rule.body.size(); ++i) {
    if (rule.body[i].kind == lang::LiteralKind::Atom) continue;
    if (lang::to_source(rule.body[i], rule, program, names) == text) return i;
  }
  return std::nullopt;
}

bool reads(const Rule& rule, std::string_view name, const lang::Program& program,
           const lang::Names& names) {
  return std::ranges::any_of(rule.body, [&](const Literal& literal) {
    return literal.kind == lang::LiteralKind::Atom &&
           names.symbols.text(program[literal.pred].name) == name;
  });
}

bool has_head(const Rule& rule, std::string_view head, const lang::Program& program,
              const lang::Names& names) {
  Rule alone = rule;
  alone.body.clear();
  std::string text = rule.head.empty() ? "" : lang::to_source(alone, program, names);
  if (text.ends_with('.')) text.pop_back();
  return text == head;
}

using Renaming = std::map<VarId, VarId>;

void rename(Term& term, const Renaming& to) {
  if (term.kind == lang::TermKind::Variable) term.var = to.at(term.var);
  for (Term& arg : term.args) rename(arg, to);
}

void rename(Literal& literal, const Renaming& to) {
  for (Term& arg : literal.args) rename(arg, to);
  rename(literal.lhs, to);
  rename(literal.rhs, to);
  for (Literal& inner : literal.body) rename(inner, to);
}

}  // namespace

const Rule* find_rule(const RirSketch& sketch, const lang::Program& program,
                      const lang::Names& names) {
  const Rule* found = nullptr;
  for (const Rule& rule : program.rules) {
    const bool asks = std::ranges::all_of(sketch.asked, [&](std::string_view text) {
      return find_literal(rule, text, program, names).has_value();
    });
    const bool fits = asks && std::ranges::all_of(sketch.read, [&](std::string_view name) {
                        return reads(rule, name, program, names);
                      });
    if (!fits) continue;
    if (has_head(rule, sketch.head, program, names)) return &rule;
    if (found == nullptr) found = &rule;
  }
  return found;
}

HostLiteral host_literal(
    const Rule& rule, std::string_view text, const lang::Program& program, const lang::Names& names,
    const std::function<VarId(const lang::Variable& known, uint32_t helper)>& variable) {
  const std::optional<size_t> index = find_literal(rule, text, program, names);
  XLOG_CHECK(index.has_value(), "the rule was found by what it asks");
  HostLiteral made{rule.body[*index], {}};
  std::vector<uint32_t> helpers;  // by variable, as they are printed
  uint32_t next = 1;
  for (const lang::Variable& v : rule.variables) {
    helpers.push_back(!v.anonymous && v.name.empty() ? next++ : 0);
  }
  std::vector<VarId> mentioned;
  lang::collect_variables(made.literal, mentioned);
  Renaming to;
  for (VarId v : mentioned) {
    if (to.contains(v)) continue;
    to[v] = variable(rule.variables[v.index], helpers[v.index]);
  }
  const std::vector<uint32_t> components;  // only atoms ask for them
  const logic::Scope scope{program, rule, components, logic::visible_in_body(rule)};
  for (VarId v : logic::binding_of(made.literal, scope).outputs) {
    const bool is_new = std::ranges::find(made.outputs, to.at(v)) == made.outputs.end();
    if (is_new) made.outputs.push_back(to.at(v));
  }
  rename(made.literal, to);
  return made;
}

}  // namespace xlog::plan
