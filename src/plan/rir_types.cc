#include "plan/rir_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace xlog::plan {

using lang::ArithOp;
using lang::TermKind;
using lang::Type;
using lang::TypeKind;
using lang::Value;

void RirTypes::has_type(RirTerm& term, const std::optional<Type>& type) {
  terms_.push_back(&term);
  if (type) learn(term, *type);
}

void RirTypes::same_type(std::initializer_list<RirTerm*> terms) {
  terms_.insert(terms_.end(), terms.begin(), terms.end());
  same_.emplace_back(terms);
}

bool RirTypes::learn(RirTerm& term, const Type& type) {
  if (term.type) return false;
  term.type = type;
  return true;
}

// What one of them is, all are.
bool RirTypes::unify(const std::vector<RirTerm*>& terms) {
  const auto known =
      std::ranges::find_if(terms, [](RirTerm* term) { return term->type.has_value(); });
  if (known == terms.end()) return false;
  const Type type = *(*known)->type;
  bool changed = false;
  for (RirTerm* term : terms) changed |= learn(*term, type);
  return changed;
}

// Between a term and its parts; whether something was new.
bool RirTypes::spread(RirTerm& term) {
  bool changed = false;
  for (RirTerm& arg : term.args) changed |= spread(arg);
  if (term.kind == TermKind::Variable) {
    std::optional<Type>& known = known_[term.var.index];
    if (known && !term.type) {
      term.type = known;
      return true;
    }
    if (term.type && !known) {
      known = term.type;
      return true;
    }
    return changed;
  }
  if (term.kind == TermKind::Constant) {
    const bool is_symbol = term.literal == RirLiteral::String;
    return is_symbol ? learn(term, {TypeKind::Symbol, nullptr}) || changed : changed;
  }
  if (term.op == ArithOp::Cast) return changed;
  if (term.op == ArithOp::If) {
    changed |= unify({&term.args[0], &term.args[1]});
    return unify({&term, &term.args[2], &term.args[3]}) || changed;
  }
  std::vector<RirTerm*> all = {&term};
  for (RirTerm& arg : term.args) all.push_back(&arg);
  return unify(all) || changed;
}

// A type for the first constant that has none; whether there was one.
bool RirTypes::guess(RirTerm& term) {
  if (std::ranges::any_of(term.args, [&](RirTerm& arg) { return guess(arg); })) return true;
  if (term.kind != TermKind::Constant || term.type) return false;
  switch (term.literal) {
    case RirLiteral::Integer:
      return learn(term, {TypeKind::I64, nullptr});
    case RirLiteral::Float:
      return learn(term, {TypeKind::F64, nullptr});
    case RirLiteral::String:
      return learn(term, {TypeKind::Symbol, nullptr});
    case RirLiteral::Word:
      return learn(term, {term.text == "true" || term.text == "false" ? TypeKind::Bool
                          : term.text == "inf" || term.text == "nan"  ? TypeKind::F64
                                                                      : TypeKind::Symbol,
                          nullptr});
    case RirLiteral::Structure:
      return false;
  }
  return false;
}

void RirTypes::solve() {
  for (bool more = true; more;) {
    more = false;
    for (RirTerm* term : terms_) more |= spread(*term);
    for (const std::vector<RirTerm*>& same : same_) more |= unify(same);
    if (more) continue;
    more = std::ranges::any_of(terms_, [&](RirTerm* term) { return guess(*term); });
  }
  for (size_t v = 0; v < known_.size(); ++v) {
    if (known_[v]) rule_.variables[v].type = *known_[v];
  }
}

lang::Term RirTypes::term(const RirTerm& from) {
  // `-5` is a number, but where there is none below 0 it can only be computed; so is `-0`.
  const bool is_negative =
      from.kind == TermKind::Constant && from.negative && from.literal == RirLiteral::Integer;
  if (is_negative && from.type &&
      (from.magnitude == 0 || lang::type_class(from.type->kind) == lang::TypeClass::Unsigned)) {
    RirTerm minus;
    minus.kind = TermKind::Arith;
    minus.op = ArithOp::Neg;
    minus.type = from.type;
    minus.args = {from};
    minus.args[0].negative = false;
    return term(minus);
  }
  lang::Term made;
  made.kind = from.kind;
  made.op = from.op;
  made.compare = from.compare;
  made.var = from.var;
  if (from.type) {
    made.type = *from.type;
  } else if (!problem_) {
    problem_ = {from.line, fmt::format("nothing says of which type `{}` is", from.text)};
  }
  if (from.kind == TermKind::Constant && from.type) made.value = value(from, *from.type);
  for (const RirTerm& arg : from.args) made.args.push_back(term(arg));
  return made;
}

namespace {

// Of a constant inside a term; nothing for a list or compound term.
std::optional<Type> type_in_term(const RirTerm& term) {
  switch (term.literal) {
    case RirLiteral::Integer:
      return Type{term.magnitude > INT64_MAX && !term.negative ? TypeKind::U64 : TypeKind::I64,
                  nullptr};
    case RirLiteral::Float:
      return Type{TypeKind::F64, nullptr};
    case RirLiteral::String:
      return Type{TypeKind::Symbol, nullptr};
    case RirLiteral::Word: {
      const bool is_number = term.text == "inf" || term.text == "nan";
      return Type{is_number ? TypeKind::F64 : TypeKind::Symbol, nullptr};
    }
    case RirLiteral::Structure:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

Value RirTypes::value(const RirTerm& term, const Type& type) {
  const auto wrong = [&] {
    if (!problem_) {
      problem_ = {term.line, fmt::format("`{}{}` is no value of type {}", term.negative ? "-" : "",
                                         term.text, lang::to_string(type))};
    }
    return Value{type.kind, 0};
  };
  const bool is_named = term.literal == RirLiteral::Word || term.literal == RirLiteral::String;
  switch (type.kind) {
    case TypeKind::U32:
    case TypeKind::U64:
      if (term.literal != RirLiteral::Integer || term.negative) return wrong();
      if (type.kind == TypeKind::U32 && term.magnitude > UINT32_MAX) return wrong();
      return {type.kind, term.magnitude};
    case TypeKind::I32:
    case TypeKind::I64: {
      const uint64_t most = type.kind == TypeKind::I32 ? INT32_MAX : INT64_MAX;
      if (term.literal != RirLiteral::Integer) return wrong();
      if (term.magnitude > most + (term.negative ? 1 : 0)) return wrong();
      return {type.kind, term.negative ? uint64_t{0} - term.magnitude : term.magnitude};
    }
    case TypeKind::F32:
    case TypeKind::F64: {
      if (term.literal == RirLiteral::String || term.literal == RirLiteral::Structure)
        return wrong();
      // Each in its own precision: what is rounded twice may be another number.
      if (term.literal == RirLiteral::Word && term.text != "inf" && term.text != "nan") {
        return wrong();
      }
      const std::string text = (term.negative ? "-" : "") + term.text;
      return type.kind == TypeKind::F32 ? Value::f32(std::strtof(text.c_str(), nullptr))
                                        : Value::f64(std::strtod(text.c_str(), nullptr));
    }
    case TypeKind::Bool:
      if (term.text != "true" && term.text != "false") return wrong();
      return Value::boolean(term.text == "true");
    case TypeKind::Symbol:
    case TypeKind::PredRef:
      if (!is_named) return wrong();
      return {type.kind, term.name.id};
    case TypeKind::List:
    case TypeKind::Compound: {
      const std::optional<Value> found = structure(term, type);
      return found ? *found : wrong();
    }
    case TypeKind::Term: {
      const std::optional<Type> own = type_in_term(term);
      if (own) return value(term, *own);
      const std::optional<Value> found = structure(term, type);
      return found ? *found : wrong();
    }
  }
  return wrong();
}

namespace {

// Whether a value can be a part of a term: see lang::to_term.
bool is_in_term(const Value& value, const lang::Names& names) {
  switch (value.kind) {
    case TypeKind::I64:
    case TypeKind::U64:
    case TypeKind::F64:
    case TypeKind::Symbol:
    case TypeKind::Compound:
      return true;
    case TypeKind::List:
      return std::ranges::all_of(names.terms.elements(value),
                                 [&](const Value& element) { return is_in_term(element, names); });
    default:
      return false;
  }
}

bool fits(const Value& value, const Type& type, const lang::Names& names) {
  if (type.kind == TypeKind::Term) return is_in_term(value, names);
  if (value.kind != type.kind) return false;
  if (type.kind != TypeKind::List) return true;
  return std::ranges::all_of(names.terms.elements(value), [&](const Value& element) {
    return fits(element, *type.element, names);
  });
}

}  // namespace

std::optional<Value> RirTypes::structure(const RirTerm& term, const Type& type) const {
  for (uint32_t id = 0; id < names_.terms.size(); ++id) {
    const Value value{names_.terms.is_list(id) ? TypeKind::List : TypeKind::Compound, id};
    if (fits(value, type, names_) && lang::to_source(value, names_) == term.text) return value;
  }
  return std::nullopt;
}

}  // namespace xlog::plan
