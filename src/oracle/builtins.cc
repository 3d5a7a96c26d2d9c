#include "oracle/builtins.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "base/check.h"
#include "lang/arith.h"

namespace xlog::oracle {

namespace {

using Args = std::span<const std::optional<Value>>;
using Emit = std::function<void(std::span<const Value>)>;
using lang::BuiltinId;
using lang::Names;
using lang::TypeKind;

bool is_list(const std::optional<Value>& v) { return v && v->kind == TypeKind::List; }

// A copy: emitting may intern new lists and so move the table's storage.
std::vector<Value> elements_of(const Value& list, const Names& names) {
  const auto elements = names.terms.elements(list);
  return {elements.begin(), elements.end()};
}

void emit_row(const Emit& emit, std::initializer_list<Value> row) {
  emit(std::span<const Value>(row.begin(), row.size()));
}

std::vector<Value> without_duplicates(const std::vector<Value>& values) {
  std::vector<Value> kept;
  std::unordered_set<Value> seen;
  for (const Value& v : values) {
    if (seen.insert(v).second) kept.push_back(v);
  }
  return kept;
}

void sort_canonical(std::vector<Value>& values, const Names& names) {
  std::stable_sort(values.begin(), values.end(),
                   [&](const Value& a, const Value& b) { return lang::compare(a, b, names) < 0; });
}

// One list in, one list out: sort, msort, list_to_set, reverse.
void transform(BuiltinId builtin, Args args, Names& names, const Emit& emit) {
  if (!is_list(args[0])) return;
  std::vector<Value> values = elements_of(*args[0], names);
  if (builtin == BuiltinId::Sort || builtin == BuiltinId::ListToSet)
    values = without_duplicates(values);
  if (builtin == BuiltinId::Sort || builtin == BuiltinId::MSort) sort_canonical(values, names);
  if (builtin == BuiltinId::Reverse) std::reverse(values.begin(), values.end());
  emit_row(emit, {*args[0], names.terms.list(values)});
}

void append(Args args, Names& names, const Emit& emit) {
  if (args[0] && args[1]) {
    if (!is_list(args[0]) || !is_list(args[1])) return;
    std::vector<Value> joined = elements_of(*args[0], names);
    const std::vector<Value> back = elements_of(*args[1], names);
    joined.insert(joined.end(), back.begin(), back.end());
    return emit_row(emit, {*args[0], *args[1], names.terms.list(joined)});
  }
  if (!is_list(args[2])) return;
  const std::vector<Value> whole = elements_of(*args[2], names);
  for (size_t cut = 0; cut <= whole.size(); ++cut) {
    const Value front = names.terms.list(std::span(whole).subspan(0, cut));
    const Value back = names.terms.list(std::span(whole).subspan(cut));
    emit_row(emit, {front, back, *args[2]});
  }
}

void functor(Args args, Names& names, const Emit& emit) {
  const Value& term = *args[0];
  if (term.kind == TypeKind::Compound) {
    const auto count = static_cast<uint32_t>(names.terms.args(term).size());
    return emit_row(emit, {term, Value::symbol(names.terms.functor(term)), Value::u32(count)});
  }
  if (term.kind == TypeKind::List) return;  // a list has no functor here
  emit_row(emit, {term, term, Value::u32(0)});
}

void univ(Args args, Names& names, const Emit& emit) {
  if (args[0]) {
    const Value& term = *args[0];
    if (term.kind == TypeKind::List) return;
    std::vector<Value> parts{lang::to_term(term, {term.kind, nullptr}, names)};
    if (term.kind == TypeKind::Compound) {
      const auto inner = names.terms.args(term);
      parts.assign(1, Value::symbol(names.terms.functor(term)));
      parts.insert(parts.end(), inner.begin(), inner.end());
    }
    return emit_row(emit, {term, names.terms.list(parts)});
  }
  if (!is_list(args[1])) return;
  const std::vector<Value> parts = elements_of(*args[1], names);
  if (parts.empty()) return;
  if (parts.size() == 1) return emit_row(emit, {parts[0], *args[1]});
  if (parts[0].kind != TypeKind::Symbol) return;
  emit_row(emit,
           {names.terms.compound(parts[0].as_symbol(), std::span(parts).subspan(1)), *args[1]});
}

void between(Args args, const Names& names, const Emit& emit) {
  const Value& lo = *args[0];
  const Value& hi = *args[1];
  if (lang::compare(lo, hi, names) > 0) return;
  if (args[2]) {
    const bool inside =
        lang::compare(lo, *args[2], names) <= 0 && lang::compare(*args[2], hi, names) <= 0;
    if (inside) emit_row(emit, {lo, hi, *args[2]});
    return;
  }
  for (Value at = lo;; at.bits += 1) {  // stays within the type: lo <= at <= hi
    emit_row(emit, {lo, hi, at});
    if (at == hi) return;
  }
}

}  // namespace

void solve_builtin(BuiltinId builtin, Args args, Names& names, const Emit& emit) {
  switch (builtin) {
    case BuiltinId::IsList:
      if (is_list(args[0])) emit_row(emit, {*args[0]});
      return;
    case BuiltinId::Member:
    case BuiltinId::MemberCheck:
      if (!is_list(args[1])) return;
      if (args[0]) {
        const auto elements = names.terms.elements(*args[1]);
        if (std::ranges::find(elements, *args[0]) == elements.end()) return;
        return emit_row(emit, {*args[0], *args[1]});
      }
      for (const Value& element : without_duplicates(elements_of(*args[1], names)))
        emit_row(emit, {element, *args[1]});
      return;
    case BuiltinId::Length:
      if (!is_list(args[0])) return;
      return emit_row(
          emit,
          {*args[0], Value::u32(static_cast<uint32_t>(names.terms.elements(*args[0]).size()))});
    case BuiltinId::Nth: {
      if (!is_list(args[1])) return;
      const std::vector<Value> elements = elements_of(*args[1], names);
      for (uint32_t i = 0; i < elements.size(); ++i)
        emit_row(emit, {Value::u32(i), *args[1], elements[i]});
      return;
    }
    case BuiltinId::Append:
      return append(args, names, emit);
    case BuiltinId::Sort:
    case BuiltinId::MSort:
    case BuiltinId::ListToSet:
    case BuiltinId::Reverse:
      return transform(builtin, args, names, emit);
    case BuiltinId::Functor:
      return functor(args, names, emit);
    case BuiltinId::Univ:
      return univ(args, names, emit);
    case BuiltinId::Between:
      return between(args, names, emit);
    case BuiltinId::Findall:
    case BuiltinId::Maplist2:
    case BuiltinId::Maplist3:
      break;
  }
  XLOG_UNREACHABLE("findall and maplist are solved by the matcher");
}

}  // namespace xlog::oracle
