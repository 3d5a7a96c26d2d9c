// Programs under random batches of facts, judged after each by the reference evaluator. For tests.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "engine/engine_fixture.h"
#include "epistemic/evaluate.h"
#include "incremental/fact_set.h"
#include "incremental/incremental.h"
#include "incremental/kept_program.h"
#include "incremental/quiet.h"
#include "logic/modes.h"
#include "oracle/evaluate.h"

namespace xlog::incremental {

class Script {
 public:
  using Rows = std::map<std::vector<std::pair<uint8_t, uint64_t>>,
                        std::pair<std::vector<lang::Value>, int64_t>>;

  // False when the program has errors, or the reference no answer.
  enum class Judge : uint8_t { Reference, Run };  // a run, where the reference would take too long
  bool open(const std::string& source, uint64_t seed, logic::AnswerOptions options,
            device::Device* device = nullptr, Judge judge = Judge::Reference) {
    random_.seed(seed);
    judge_ = judge;
    const SourceFile* file = session_.sources.add("test.xlog", "", source);
    std::optional<lang::Program> program = lang::load(*file, session_);
    if (!program || session_.diagnostics.has_errors()) return false;
    options.well_founded = program->pragmas.semantics == "well_founded";
    options_ = options;
    logic::override_pragmas(program->pragmas, options.mode, std::nullopt);
    plain_ = copy_without_facts(*program);
    analysis_ = logic::analyze(*program, session_);
    if (!analysis_ || session_.diagnostics.has_errors()) return false;
    for (const lang::Rule& rule : plain_.rules) {
      const bool folds = std::ranges::any_of(
          rule.body, [](const lang::Literal& literal) { return !literal.body.empty(); });
      if (folds && may_have_no_value(rule)) counts_valueless_ = false;
    }
    if (device != nullptr) counts_valueless_ = false;
    facts_.resize(plain_.predicates.size());
    for (uint32_t p = 0; p < plain_.predicates.size(); ++p) take_facts(*program, p);
    if (!refer()) return false;
    logic::AnswerOptions larger = options;
    if (larger.max_rows > 0) larger.max_rows *= 100;
    Quiet quiet(session_);
    kept_ = keep_inspectable(std::move(*program), session_, larger, device);
    if (kept_ == nullptr) return false;
    kept_answer_ = *kept_->answer();
    return true;
  }

  Inspectable& kept() { return *kept_; }
  const std::string& wanted() const { return wanted_; }
  const lang::Program& program() const { return plain_; }
  uint64_t pick(uint64_t n) { return random_() % n; }
  lang::Session& session() { return session_; }

  // ---- batches ----

  struct Item {
    uint32_t pred;
    std::vector<lang::Value> values;
    int64_t weight;
  };

  // Facts that come and go; with `absent` one that is not there goes too.
  std::vector<Item> random_batch(bool absent) {
    std::vector<Item> items;
    std::vector<std::map<std::vector<std::pair<uint8_t, uint64_t>>, int64_t>> net(facts_.size());
    const uint64_t count = 1 + pick(4);
    for (uint64_t i = 0; i < count; ++i) {
      const std::optional<uint32_t> pred = random_predicate();
      if (!pred) break;
      Rows& rows = facts_[*pred];
      if (!rows.empty() && pick(100) < 45) {
        auto it = rows.begin();
        std::advance(it, pick(rows.size()));
        const bool goes = pick(100) < 80;
        if (goes && it->second.second + net[*pred][it->first] <= 0) continue;
        items.push_back({*pred, it->second.first, goes ? -1 : 1});
      } else {
        items.push_back({*pred, random_row(*pred), 1 + int64_t(pick(8) == 0)});
      }
      net[*pred][key_of(items.back().values)] += items.back().weight;
    }
    if (!absent) return items;
    for (int tries = 0; tries < 20; ++tries) {
      const std::optional<uint32_t> pred = random_predicate();
      if (!pred) break;
      std::vector<lang::Value> row = random_row(*pred);
      const auto there = facts_[*pred].find(key_of(row));
      const int64_t has =
          (there == facts_[*pred].end() ? 0 : there->second.second) + net[*pred][key_of(row)];
      items.push_back({*pred, std::move(row), -has - 1});
      return items;
    }
    return {};
  }

  // "" or how the kept answers differ from those of the reference.
  std::string apply(const std::vector<Item>& items, bool must_fail = false) {
    std::vector<FactChanges> batch;
    const bool apart = items.size() % 2 == 0;  // each fact on its own, or many of a predicate
    for (const Item& item : items) {
      if (batch.empty() || apart || batch.back().pred.index != item.pred) {
        batch.push_back({{item.pred}, {}, {}});
      }
      FactChanges& changes = batch.back();
      changes.values.insert(changes.values.end(), item.values.begin(), item.values.end());
      changes.weights.push_back(item.weight);
    }
    const std::vector<std::string> digest = kept_->digest();
    Status done = [&] {
      const Quiet quiet(session_);
      return kept_->apply(batch);
    }();
    if (must_fail) {
      if (done.ok()) return "a fact that is not there was retracted\n";
      if (kept_->digest() != digest) return "a batch that failed changed something\n";
      return compare({});
    }
    const logic::Answer before = kept_answer_;
    for (const Item& item : items) add(item.pred, item.values, item.weight);
    if (!refer()) {
      over_ = true;
      return "";
    }
    if (!done.ok()) return "the batch was refused: " + done.error().text() + "\n";
    return compare(before);
  }

  bool over() const { return over_; }  // the reference has no answer any more

  // A batch that fails half-way, in that way, leaves all as it was.
  std::string fail(const std::vector<Item>& items, Inspectable::Way way,
                   const std::function<void()>& afterwards) {
    std::vector<FactChanges> batch;
    for (const Item& item : items) {
      batch.push_back({{item.pred}, item.values, {item.weight}});
    }
    kept_->set_way(way);
    const Status done = [&] {
      const Quiet quiet(session_);
      return kept_->apply(batch);
    }();
    kept_->set_way(Inspectable::Way::Choose);
    afterwards();
    if (!done.ok()) return compare({});
    for (const Item& item : items) add(item.pred, item.values, item.weight);
    over_ = !refer();
    return over_ ? "" : compare({});
  }

  std::vector<Item> everything() const {
    std::vector<Item> items;
    for (uint32_t p = 0; p < facts_.size(); ++p) {
      for (const auto& [key, row] : facts_[p]) items.push_back({p, row.first, row.second});
    }
    return items;
  }

  std::string text(const std::vector<Item>& items) const {
    std::string text;
    for (const Item& item : items) {
      text += fmt::format("{:+} {}(", item.weight,
                          lang::predicate_name(plain_.predicates[item.pred], session_.names));
      for (const lang::Value& value : item.values) {
        text += lang::to_source(value, session_.names) + ",";
      }
      text += ")\n";
    }
    return text;
  }

  // Answer, differences, facts and counts, against the reference.
  std::string compare(const std::optional<logic::Answer>& before) {
    std::string found;
    {
      const Quiet quiet(session_);
      const std::optional<logic::Answer> answer = kept_->answer();
      const std::string got = text_of(answer);
      if (got != wanted_) found += fmt::format("--- kept\n{}--- reference\n{}", got, wanted_);
      const std::string in_order = answer ? engine::text_of(*answer, plain_, session_.names) : "";
      if (in_order != in_order_) {
        found += fmt::format("--- kept\n{}--- in order\n{}", in_order, in_order_);
      }
      const bool is_error = answer && answer->constraint_error;
      const Violated violated = kept_->violated();
      if (answer && violated.now != is_error)
        found += "it is not known that constraints are violated\n";
      if (before && violated.before != before->constraint_error) {
        found += "it is not known that constraints were violated\n";
      }
      if (answer) kept_answer_ = *answer;
    }
    if (before) found += compare_changes(*before);
    found += compare_facts();
    return found + kept_->check();
  }

 private:
  static std::vector<std::pair<uint8_t, uint64_t>> key_of(const std::vector<lang::Value>& row) {
    std::vector<std::pair<uint8_t, uint64_t>> key;
    for (const lang::Value& v : row) key.emplace_back(static_cast<uint8_t>(v.kind), v.bits);
    return key;
  }

  void add(uint32_t pred, const std::vector<lang::Value>& row, int64_t weight) {
    auto& [values, count] = facts_[pred][key_of(row)];
    values = row;
    count += weight;
    if (count == 0) facts_[pred].erase(key_of(row));
  }

  void take_facts(const lang::Program& program, uint32_t p) {
    const lang::Predicate& predicate = program.predicates[p];
    for (uint32_t c = 0; c < predicate.arity; ++c) {
      values_[lang::to_string(predicate.columns[c].type)];
    }
    if (!predicate.facts) return;
    for (size_t r = 0; r < predicate.facts->rows; ++r) {
      std::vector<lang::Value> row;
      for (uint32_t c = 0; c < predicate.arity; ++c) {
        row.push_back(predicate.facts->columns[c].at(r));
        values_[lang::to_string(predicate.columns[c].type)].push_back(row.back());
      }
      add(p, row, 1);
    }
  }

  std::optional<uint32_t> random_predicate() {
    for (int tries = 0; tries < 50; ++tries) {
      const uint64_t p = pick(plain_.predicates.size());
      const lang::Predicate& predicate = plain_.predicates[p];
      if (predicate.helper) continue;
      // Facts of what rules derive are rarer.
      if (!predicate.rules.empty() && pick(3) > 0) continue;
      const bool has_values = std::ranges::all_of(predicate.columns, [&](const auto& column) {
        return !values_[lang::to_string(column.type)].empty();
      });
      if (has_values) return static_cast<uint32_t>(p);
    }
    return std::nullopt;
  }

  std::vector<lang::Value> random_row(uint32_t pred) {
    std::vector<lang::Value> row;
    for (const lang::PredicateColumn& column : plain_.predicates[pred].columns) {
      const std::vector<lang::Value>& values = values_[lang::to_string(column.type)];
      row.push_back(values[pick(values.size())]);
    }
    return row;
  }

  // Views in an order of their own: evaluators list them as they find them.
  std::string text_of(const std::optional<logic::Answer>& answer) {
    std::string text = "no answer\n";
    if (answer) {
      logic::Answer rest = *answer;
      rest.views.clear();
      text = engine::text_of(rest, plain_, session_.names);
      std::vector<std::string> views;
      for (const logic::WorldView& view : answer->views) {
        logic::Answer one;
        one.views = {view};
        views.push_back(engine::text_of(one, plain_, session_.names));
      }
      std::ranges::sort(views);
      for (const std::string& view : views) text += view;
    }
    for (const Diagnostic* diagnostic : in_order_of_place(session_.diagnostics)) {
      if (diagnostic->code == Code::ConstraintViolated) {
        const std::string& message = diagnostic->message;
        text += message.substr(0, message.find(" is violated")) + "\n";
      } else if (diagnostic->code == Code::DivisionByZero) {
        if (counts_valueless_) text += diagnostic->message + "\n";
      } else {
        text += render_text(*diagnostic, session_.sources);
      }
    }
    return text;
  }

  // The answer of the reference over the facts that are there.
  bool refer() {
    lang::Program program = copy_without_facts(plain_);
    for (uint32_t p = 0; p < facts_.size(); ++p) {
      if (facts_[p].empty()) continue;
      auto table = std::make_unique<lang::FactTable>();
      table->arity = program.predicates[p].arity;
      for (const auto& column : program.predicates[p].columns) {
        table->columns.emplace_back().convert(column.type, session_.names);
      }
      for (const auto& [key, row] : facts_[p]) {
        for (uint32_t c = 0; c < table->arity; ++c) table->columns[c].append_typed(row.first[c]);
        ++table->rows;
      }
      program.predicates[p].facts = std::move(table);
    }
    const Quiet quiet(session_);
    const std::optional<logic::Answer> run =
        epistemic::evaluate(program, *analysis_, session_, options_);
    if (!run) return false;
    in_order_ = engine::text_of(*run, plain_, session_.names);
    if (judge_ == Judge::Run) {
      wanted_ = text_of(run);
      return true;
    }
    session_.diagnostics = {};
    const std::optional<logic::Answer> answer =
        oracle::evaluate(program, *analysis_, session_, options_);
    if (!answer) return false;
    wanted_ = text_of(answer);
    return true;
  }

  static const logic::QueryAnswer& shown(const logic::Answer& answer, size_t q) {
    return answer.views.empty() ? answer.well_founded_queries[q] : answer.views[0].queries[q];
  }

  std::string row_text(const std::vector<lang::Value>& values) const {
    std::string text;
    for (const lang::Value& value : values) text += lang::to_source(value, session_.names) + ",";
    return text;
  }

  std::string compare_changes(const logic::Answer& before) {
    std::string found;
    const auto status = [](const std::optional<logic::RowStatus>& s) {
      return s ? std::string(logic::spelling(*s)) : "none";
    };
    for (uint32_t q = 0; q < plain_.queries.size(); ++q) {
      std::map<std::string, std::pair<std::string, std::string>> wanted;
      for (const logic::Row& row : shown(before, q).rows) {
        wanted[row_text(row.values)] = {status(row.status), "none"};
      }
      for (const logic::Row& row : shown(kept_answer_, q).rows) {
        wanted.try_emplace(row_text(row.values), "none", "").first->second.second =
            status(row.status);
      }
      std::erase_if(wanted, [](const auto& w) { return w.second.first == w.second.second; });
      const Result<std::vector<RowChange>> changes = kept_->changes(q);
      if (!changes.ok()) return changes.error().text();
      std::map<std::string, std::pair<std::string, std::string>> got;
      for (const RowChange& change : *changes) {
        const bool is_new = got.emplace(row_text(change.values),
                                        std::pair(status(change.before), status(change.after)))
                                .second;
        if (!is_new) found += "a row is there twice\n";
      }
      if (got == wanted) continue;
      found += fmt::format("changes of query {}:\n", q);
      for (const auto& [row, s] : got)
        found += fmt::format("  got {} {} {}\n", row, s.first, s.second);
      for (const auto& [row, s] : wanted)
        found += fmt::format("  not {} {} {}\n", row, s.first, s.second);
    }
    return found;
  }

  std::string compare_facts() {
    for (uint32_t p = 0; p < facts_.size(); ++p) {
      const FactChanges facts = kept_->facts({p});
      Rows got;
      const uint32_t arity = plain_.predicates[p].arity;
      for (size_t i = 0; i < facts.weights.size(); ++i) {
        const std::vector<lang::Value> row(
            facts.values.begin() + static_cast<ptrdiff_t>(i * arity),
            facts.values.begin() + static_cast<ptrdiff_t>((i + 1) * arity));
        got[key_of(row)] = {row, facts.weights[i]};
      }
      if (got != facts_[p]) return fmt::format("the facts of predicate {} differ\n", p);
    }
    return "";
  }

  lang::Session session_;
  Judge judge_ = Judge::Reference;
  std::mt19937_64 random_;
  logic::AnswerOptions options_;
  lang::Program plain_;
  std::optional<logic::Analysis> analysis_;
  std::vector<Rows> facts_;                                 // by predicate
  std::map<std::string, std::vector<lang::Value>> values_;  // by type
  std::unique_ptr<Inspectable> kept_;
  logic::Answer kept_answer_;  // after the last batch; equal to the reference's
  std::string wanted_;
  std::string in_order_;  // with the views in the order of a run
  bool over_ = false;
  // How often arithmetic without a value is met is the reference's alone: a device looks at
  // literals in another order, and an aggregate in a body may be folded for groups that nobody asks
  // for.
  bool counts_valueless_ = true;
};

}  // namespace xlog::incremental
