#include "engine/host_tables.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace xlog::engine {

using lang::PredId;
using lang::TypeKind;
using lang::Value;
using plan::HostTable;
using plan::HostTableKind;

namespace {

// Of lists that are made as the program runs; plan/host_tables.cc looks at those of its text.
constexpr uint64_t kMostElements = 1u << 28;

void add_row(lang::FactTable& facts, std::initializer_list<Value> row) {
  size_t c = 0;
  for (const Value& value : row) facts.columns[c++].append_typed(value);
  ++facts.rows;
}

}  // namespace

bool HostTables::is_table(PredId pred) const {
  return std::ranges::find(tables_, pred, &HostTable::pred) != tables_.end();
}

bool HostTables::reads(const logic::Component& component, PredId table) const {
  return std::ranges::any_of(component.rules, [&](uint32_t r) {
    return std::ranges::find(program_.rules[r].body, table, &lang::Literal::pred) !=
           program_.rules[r].body.end();
  });
}

Result<std::vector<PredId>> HostTables::fill(const logic::Component& component, When when) {
  std::vector<PredId> made;
  for (size_t t = 0; t < tables_.size(); ++t) {
    const HostTable& table = tables_[t];
    if (filled_[t] || table.shared != (when == When::First)) continue;
    if (!reads(component, table.pred)) continue;
    filled_[t] = true;
    made.push_back(table.pred);
    lang::Predicate& predicate = program_[table.pred];
    predicate.facts = std::make_unique<lang::FactTable>();
    lang::FactTable& facts = *predicate.facts;
    facts.name = predicate.name;
    facts.arity = predicate.arity;
    facts.columns.resize(predicate.arity);
    for (uint32_t c = 0; c < predicate.arity; ++c) {
      facts.columns[c].convert(predicate.columns[c].type, names_);
    }
    if (table.kind == HostTableKind::Rank) {
      fill_ranks(facts);
      continue;
    }
    if (Status done = add_rests(); !done.ok()) return done.error();
    fill_lists(table, facts);
  }
  return made;
}

void HostTables::fill_ranks(lang::FactTable& facts) const {
  // Truth values become symbols inside terms.
  for (const char* truth : {"true", "false"}) names_.symbols.intern(truth);
  std::vector<uint32_t> by_text(names_.symbols.size());
  std::iota(by_text.begin(), by_text.end(), 0);
  std::ranges::sort(by_text, {}, [&](uint32_t id) { return names_.symbols.text(Symbol{id}); });
  for (uint32_t rank = 0; rank < by_text.size(); ++rank) {
    add_row(facts, {Value::symbol(Symbol{by_text[rank]}), Value::u32(rank)});
  }
}

// Where lists are taken apart, their rests are lists too, and every table has to know them.
Status HostTables::add_rests() {
  if (std::ranges::find(tables_, HostTableKind::Cons, &HostTable::kind) == tables_.end()) {
    return Done{};
  }
  uint64_t made = 0;
  for (uint32_t id = 0; id < names_.terms.size(); ++id) {
    if (!names_.terms.is_list(id)) continue;
    const std::span<const Value> elements = names_.terms.elements({TypeKind::List, id});
    if (elements.empty()) continue;
    made += elements.size();
    if (made > kMostElements) {
      return Error{"lists are too long to be taken apart on the device",
                   "use `member` or `nth` instead of `[X | Rest]`, or `--engine reference`",
                   ErrorKind::Limit};
    }
    // A copy: the new list may move the storage.
    const std::vector<Value> rest(elements.begin() + 1, elements.end());
    names_.terms.list(rest);
  }
  return Done{};
}

void HostTables::fill_lists(const HostTable& table, lang::FactTable& facts) {
  for (uint32_t id = 0; id < names_.terms.size(); ++id) {
    if (!names_.terms.is_list(id)) continue;
    const Value list{TypeKind::List, id};
    const std::span<const Value> elements = names_.terms.elements(list);
    const uint32_t length = static_cast<uint32_t>(elements.size());
    const bool fits = std::ranges::all_of(
        elements, [&](const Value& element) { return element.kind == table.element; });
    if (!fits) continue;
    switch (table.kind) {
      case HostTableKind::Cons:
        if (length == 0) break;
        add_row(facts, {list, elements[0], names_.terms.list(elements.subspan(1))});
        break;
      case HostTableKind::Member:
        for (const Value& element : elements) add_row(facts, {list, element});
        break;
      case HostTableKind::Nth:
        for (uint32_t i = 0; i < length; ++i) add_row(facts, {list, Value::u32(i), elements[i]});
        break;
      case HostTableKind::Length:
        add_row(facts, {list, Value::u32(length)});
        break;
      case HostTableKind::Rank:
        XLOG_UNREACHABLE("ranks are not of lists");
    }
  }
}

}  // namespace xlog::engine
