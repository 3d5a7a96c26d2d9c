#include "oracle/bindings.h"

#include <algorithm>
#include <span>

#include "base/check.h"
#include "lang/arith.h"

namespace xlog::oracle {

using lang::Term;
using lang::TermKind;

bool is_bound(const Term& term, const Bindings& bindings) {
  if (term.kind == TermKind::Variable) return bindings.bound(term.var);
  return std::ranges::all_of(term.args, [&](const Term& arg) { return is_bound(arg, bindings); });
}

bool match_pattern(const Term& pattern, const Value& value, Bindings& bindings, lang::Names& names,
                   const ValueOf& value_of) {
  auto match = [&](const Term& part, const Value& inside) {
    return match_pattern(part, inside, bindings, names, value_of);
  };
  switch (pattern.kind) {
    case TermKind::Variable:
      if (bindings.bound(pattern.var)) return bindings[pattern.var] == value;
      bindings.bind(pattern.var, value);
      return true;
    case TermKind::Constant:
      return pattern.value == value;
    case TermKind::Arith: {
      const std::optional<Value> own = value_of(pattern);
      return own && *own == value;
    }
    case TermKind::List: {
      if (value.kind != lang::TypeKind::List) return false;
      const auto span = names.terms.elements(value);
      const std::vector<Value> elements(span.begin(), span.end());
      const size_t heads = pattern.args.size() - (pattern.has_tail ? 1 : 0);
      if (pattern.has_tail ? elements.size() < heads : elements.size() != heads) return false;
      for (size_t i = 0; i < heads; ++i) {
        if (!match(pattern.args[i], elements[i])) return false;
      }
      if (!pattern.has_tail) return true;
      const Value tail = names.terms.list(std::span(elements).subspan(heads));
      return match(pattern.args.back(), tail);
    }
    case TermKind::Compound: {
      if (value.kind != lang::TypeKind::Compound) return false;
      if (names.terms.functor(value) != pattern.functor) return false;
      const auto span = names.terms.args(value);
      const std::vector<Value> args(span.begin(), span.end());
      if (args.size() != pattern.args.size()) return false;
      for (size_t i = 0; i < args.size(); ++i) {
        // Inside a term values have their general form; the pattern may want one of its own type.
        const Term& part = pattern.args[i];
        std::optional<Value> value_here = args[i];
        if (part.type.kind != lang::TypeKind::Term)
          value_here = lang::from_term(args[i], part.type, names);
        if (!value_here || !match(part, *value_here)) return false;
      }
      return true;
    }
  }
  XLOG_UNREACHABLE("all terms are covered");
}

bool match_argument(const Term& argument, const Value& value, Bindings& bindings,
                    lang::Names& names, const ValueOf& value_of) {
  std::optional<Value> own = value;
  const lang::TypeKind wanted = argument.type.kind;
  if (wanted != lang::TypeKind::Term && wanted != value.kind) {
    own = lang::from_term(value, argument.type, names);
  }
  return own && match_pattern(argument, *own, bindings, names, value_of);
}

}  // namespace xlog::oracle
