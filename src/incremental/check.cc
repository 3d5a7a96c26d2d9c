// Everything that is counted, counted again from the rows that are there. For tests.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "incremental/kept.h"

namespace xlog::incremental {

class Recheck {
 public:
  explicit Recheck(Kept& kept) : kept_(kept) {}

  std::string run() {
    const logic::AnswerOptions options;
    Allowance allowance(options, UINT64_MAX);
    kept_.runner_.begin(allowance);
    for (Kept::Part& part : kept_.parts_) {
      if (part.kind == KeptKind::Recomputed) continue;
      std::vector<KeptRule> rules = part.rules;
      rules.insert(rules.end(), part.after_rules.begin(), part.after_rules.end());
      for (const KeptRule& rule : rules) count(rule, part);
      if (part.kind == KeptKind::Results) count_results(part.predicates.front());
      for (const lang::PredId pred : part.predicates) {
        const auto best = std::ranges::find(part.best, pred.index, &Kept::BestTable::pred);
        count_facts(pred.index, best == part.best.end() ? pred.index : best->candidates);
      }
    }
    for (Kept::Part& part : kept_.parts_) {
      if (part.kind == KeptKind::Recomputed) continue;
      if (part.kind == KeptKind::Best) {
        for (const Kept::BestTable& best : part.best) check_best(best, part.keeps_worse);
        continue;
      }
      for (const lang::PredId pred : part.predicates) {
        compare(pred.index, part.kind == KeptKind::Supported);
      }
      for (const KeptRule& rule : part.rules) {
        const bool summed =
            rule.target == RuleTarget::Bag && kept_.groups_.at(rule.table).is_linear();
        if (rule.target != RuleTarget::Rows && !summed) compare(rule.table, false);
      }
      for (const KeptRule& rule : part.after_rules) compare(rule.table, false);
    }
    return wrong_;
  }

 private:
  struct Counts {
    int64_t weight = 0, support = 0;
  };
  using Key = std::vector<uint64_t>;

  void count(const KeptRule& rule, const Kept::Part& part) {
    const bool stamped = part.kind == KeptKind::Supported || part.kind == KeptKind::Best;
    const uint32_t component =
        stamped ? kept_.program_.analysis.component_of[part.predicates[0].index] : UINT32_MAX;
    Version version = make_whole_version(rule, kept_.program_, component, kept_.cells_);
    if (part.kind == KeptKind::Best) Kept::read_best_rows(version, part);
    for (Step& step : version.steps) {
      if (step.kind == StepKind::Probe) {
        step.index = kept_.tables_[step.table].index(step.columns);
      }
    }
    Emitted emitted;
    kept_.runner_.run_all(version, {kNew, kNew, kNew, kNew}, emitted);
    Table& table = kept_.tables_[rule.table];
    const bool bag = rule.target == RuleTarget::Bag;
    const auto best = std::ranges::find(part.best, rule.table, &Kept::BestTable::candidates);
    const Table& rows = best == part.best.end() ? table : kept_.tables_[best->rows];
    for (size_t i = 0; i < emitted.count; ++i) {
      const Key key(emitted.cells.begin() + static_cast<ptrdiff_t>(i * table.arity()),
                    emitted.cells.begin() + static_cast<ptrdiff_t>((i + 1) * table.arity()));
      Counts& counts = counts_[rule.table][key];
      ++counts.weight;
      if (bag || !rows.supported()) continue;
      const uint32_t row = rows.find(key.data());
      if (row != kNoRow && emitted.newest[i] < rows.stamp(row)) ++counts.support;
    }
    if (!bag) return;
    // The head of each group is one derivation.
    const Groups& kept_groups = kept_.groups_.at(rule.table);
    std::map<Key, int64_t> solutions;
    for (const auto& [key, counts] : counts_[rule.table]) {
      solutions[Key(key.begin(), key.begin() + kept_groups.key_columns())] += counts.weight;
    }
    const uint32_t head = head_of(rule);
    kept_groups.for_each_head([&](const uint64_t* cells) {
      ++counts_[head][Key(cells, cells + kept_.tables_[head].arity())].weight;
    });
    for (const auto& [key, count] : solutions) {
      const uint32_t group = kept_groups.table().find(key.data());
      if (group == kNoRow || kept_groups.table().weight(group) != count) {
        wrong_ +=
            fmt::format("a group of table {} has other than {} solutions\n", rule.table, count);
      }
    }
  }

  uint32_t head_of(const KeptRule& rule) const {
    return kept_.program_.program.rules[rule.rule].head[0].pred.index;
  }

  void count_results(lang::PredId pred) {
    const OpenFold& fold = *kept_.program_.worlds.fold_of(pred);
    const Table& groups = kept_.tables_[fold.groups.index];
    for (uint32_t r = 0; r < groups.end(); ++r) {
      if (!groups.is_used(r)) continue;
      const std::optional<std::set<Key>> results =
          kept_.results_of(fold, pred != fold.fold, groups.row(r));
      for (const Key& row : *results) counts_[pred.index][row].weight = 1;
    }
  }

  void count_facts(uint32_t p, uint32_t counted) {
    const uint32_t t = kept_.fact_tables_[p];
    if (t == p) return;
    const Table& facts = kept_.tables_[t];
    for (uint32_t r = 0; r < facts.end(); ++r) {
      if (!facts.is_used(r)) continue;
      Counts& counts = counts_[counted][Key(facts.row(r), facts.row(r) + facts.arity())];
      ++counts.weight;
      ++counts.support;
    }
  }

  // A row for each key, the best of its candidates; older instances behind it and the others.
  void check_best(const Kept::BestTable& best, bool keeps_worse) {
    compare(best.candidates, false);
    std::map<Key, Key> wanted;
    for (const auto& [cells, counts] : counts_[best.candidates]) {
      Key key;
      for (const uint32_t c : best.key) key.push_back(cells[c]);
      const auto [it, is_new] = wanted.try_emplace(key, cells);
      if (is_new || !best.column) continue;
      const auto value = [&](const Key& of) {
        return kept_.cells_.value(best.kind, of[*best.column]);
      };
      const auto order = lang::compare(value(cells), value(it->second), kept_.session_.names);
      if (best.least ? order < 0 : order > 0) it->second = cells;
    }
    const Table& shown = kept_.tables_[best.pred];
    const Table& rows = kept_.tables_[best.rows];
    if (shown.new_rows() != wanted.size() || shown.old_rows() != wanted.size()) {
      wrong_ +=
          fmt::format("table {} has {} rows, not {}\n", best.pred, shown.new_rows(), wanted.size());
    }
    for (const auto& [key, cells] : wanted) {
      for (const Table* table : {&shown, &rows}) {
        const uint32_t row = table->find(cells.data());
        if (row != kNoRow && table->flags(row) == (kUsed | kOld | kNew)) continue;
        wrong_ += fmt::format("the best row of a key of table {} is not there\n", best.pred);
      }
    }
    uint64_t count = 0;
    for (uint32_t r = 0; r < rows.end(); ++r) {
      if (!rows.is_used(r)) continue;
      ++count;
      const Key cells(rows.row(r), rows.row(r) + rows.arity());
      const int64_t support = counts_[best.candidates][cells].support;
      if (rows.support(r) == support && support > 0) continue;
      wrong_ += fmt::format("row {} behind table {} has support {}, not {}\n", r, best.pred,
                            rows.support(r), support);
    }
    if (count != rows.new_rows() || (!keeps_worse && count != wanted.size())) {
      wrong_ += fmt::format("{} rows are behind table {}\n", count, best.pred);
    }
  }

  void compare(uint32_t t, bool supported) {
    const Table& table = kept_.tables_[t];
    std::map<Key, Counts>& wanted = counts_[t];
    size_t rows = 0;
    for (uint32_t r = 0; r < table.end(); ++r) {
      if (!table.is_used(r)) continue;
      ++rows;
      const Counts& counts = wanted[Key(table.row(r), table.row(r) + table.arity())];
      const auto support = supported ? static_cast<int64_t>(kept_.tables_[t].support(r)) : 0;
      if (table.weight(r) != counts.weight) {
        wrong_ += fmt::format("row {} of table {} has weight {}, not {}\n", r, t, table.weight(r),
                              counts.weight);
      }
      if (supported && (support != counts.support || support == 0)) {
        wrong_ += fmt::format("row {} of table {} has support {}, not {}\n", r, t, support,
                              counts.support);
      }
      if ((table.flags(r) & ~kUsed) != (kOld | kNew)) {
        wrong_ += fmt::format("row {} of table {} has flags {}\n", r, t, table.flags(r));
      }
    }
    if (rows != wanted.size() || rows != table.new_rows() || rows != table.old_rows()) {
      wrong_ += fmt::format("table {} has {} rows, not {}\n", t, rows, wanted.size());
    }
  }

  Kept& kept_;
  std::map<uint32_t, std::map<Key, Counts>> counts_;  // by table
  std::string wrong_;
};

std::string Kept::check() { return Recheck(*this).run(); }

std::vector<std::string> Kept::digest() const {
  std::vector<std::string> lines;
  for (uint32_t p = 0; p < program_.program.predicates.size(); ++p) {
    const std::string name = lang::predicate_name(program_.program.predicates[p], session_.names);
    for (uint32_t r = 0; r < tables_[p].end(); ++r) {
      if (!tables_[p].is_used(r)) continue;
      std::string line = name + "(";
      for (const lang::Value& value : values(lang::PredId{p}, r)) {
        line += lang::to_source(value, session_.names) + ",";
      }
      lines.push_back(fmt::format("{}) {}", line, tables_[p].weight(r)));
    }
  }
  std::ranges::sort(lines);
  return lines;
}

}  // namespace xlog::incremental
