#include "plan/multiway.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace xlog::plan {

namespace {

// A list shorter than this is walked and tested value by value: a lookup of the other lists would
// cost as much.
constexpr double kFewRows = 3;

bool has_use(const Step& step, ColumnUse use) {
  return std::ranges::any_of(step.columns, [&](const ColumnArg& c) { return c.use == use; });
}

bool is_variable(const ColumnArg& column, VarId var) {
  return column.use != ColumnUse::Ignore && column.term.kind == lang::TermKind::Variable &&
         column.term.var == var;
}

size_t occurrences(const Step& step, VarId var) {
  return static_cast<size_t>(std::ranges::count_if(
      step.columns, [&](const ColumnArg& column) { return is_variable(column, var); }));
}

class MeetFormer {
 public:
  MeetFormer(Pipeline& pipeline, const lang::Rule& rule, const std::vector<double>& estimates)
      : pipeline_(pipeline),
        rule_(rule),
        estimates_(estimates),
        level_(rule.variables.size(), SIZE_MAX) {}

  void run() {
    std::vector<Step> steps = std::move(pipeline_.steps);
    pipeline_.steps.clear();
    bool has_driver = false;
    for (size_t s = 0; s < steps.size();) {
      const bool may_meet = has_driver && can_meet(steps[s]);
      has_driver |= can_drive(steps[s]) || steps[s].kind == StepKind::Host;
      std::vector<Step> tests, others;
      size_t after = s + 1;
      for (; may_meet && after < steps.size() && steps[after].kind == StepKind::Exists; ++after) {
        (tests_one_of(steps[after], steps[s]) ? tests : others).push_back(steps[after]);
      }
      if (tests.empty()) {
        keep(std::move(steps[s++]));
        continue;
      }
      const double rows = estimates_[s];
      if (rows < kFewRows) {
        steps[s].reason = fmt::format("about {:.1f} rows each, tested one by one", rows);
        for (; s < after; ++s) keep(std::move(steps[s]));
        continue;
      }
      meet(steps[s], std::move(tests), rows);
      for (Step& other : others) keep(std::move(other));
      s = after;
    }
    sort_driver();
  }

 private:
  // Rows that a `_` tells apart count where somebody counts solutions: such an atom stays a lookup.
  bool can_meet(const Step& step) const {
    return step.kind == StepKind::Match && binds(step) && !has_use(step, ColumnUse::Same) &&
           has_use(step, ColumnUse::Key) &&
           (rule_.aggregates.empty() || !has_use(step, ColumnUse::Ignore));
  }

  // Whether a test has a variable of the lookup, once, beside a key: it is a list of its values.
  static bool tests_one_of(const Step& test, const Step& match) {
    if (key_columns(test).size() < 2) return false;
    bool any = false;
    for (const ColumnArg& column : match.columns) {
      if (column.use != ColumnUse::Bind) continue;
      const size_t times = occurrences(test, column.term.var);
      if (times > 1) return false;
      any |= times == 1;
    }
    return any;
  }

  void keep(Step step) {
    for (const ColumnArg& column : step.columns) {
      if (column.use == ColumnUse::Bind) level_[column.term.var.index] = pipeline_.steps.size();
    }
    if (step.target.valid()) level_[step.target.index] = pipeline_.steps.size();
    for (VarId v : step.outputs) level_[v.index] = pipeline_.steps.size();
    pipeline_.steps.push_back(std::move(step));
  }

  // One variable of `match` after another, each with the tests that it completes.
  void meet(const Step& match, std::vector<Step> tests, double rows) {
    std::vector<VarId> left;
    for (const ColumnArg& column : match.columns) {
      if (column.use == ColumnUse::Bind) left.push_back(column.term.var);
    }
    // Those that are tested come first: what they leave out is not multiplied.
    std::ranges::stable_sort(
        left, [&](VarId a, VarId b) { return tested(tests, a) && !tested(tests, b); });
    const std::string reason =
        fmt::format("about {:.1f} rows each: the shortest list is walked", rows);
    while (!left.empty()) {
      if (tests.empty()) return keep(rest(match, left, rows));
      const VarId target = left.front();
      left.erase(left.begin());
      Step step;
      step.kind = StepKind::Meet;
      step.target = target;
      step.span = match.span;
      step.reason = reason;
      step.rows = std::exchange(rows, 1);  // of all its variables together
      step.members.push_back(member(match, target, left));
      for (size_t t = 0; t < tests.size();) {
        const bool complete = std::ranges::none_of(
            left, [&](VarId later) { return occurrences(tests[t], later) > 0; });
        if (!complete || occurrences(tests[t], target) == 0) {
          ++t;
          continue;
        }
        step.members.push_back(member(tests[t], target, {}));
        tests.erase(tests.begin() + static_cast<std::ptrdiff_t>(t));
      }
      order_members(step);
      keep(std::move(step));
    }
    XLOG_CHECK(tests.empty(), "a test has some variable of the lookup");
  }

  static bool tested(const std::vector<Step>& tests, VarId var) {
    return std::ranges::any_of(tests, [&](const Step& t) { return occurrences(t, var) > 0; });
  }

  // The lookup of what nobody tests.
  static Step rest(Step match, const std::vector<VarId>& left, double rows) {
    match.rows = rows;
    for (ColumnArg& column : match.columns) {
      if (column.use != ColumnUse::Bind) continue;
      if (std::ranges::find(left, column.term.var) == left.end()) column.use = ColumnUse::Key;
    }
    return match;
  }

  // The atom as a list of values of `target`: what is bound later does not matter yet.
  static Step member(Step atom, VarId target, const std::vector<VarId>& later) {
    atom.kind = StepKind::Match;
    for (ColumnArg& column : atom.columns) {
      if (column.use == ColumnUse::Ignore) continue;
      const bool variable = column.term.kind == lang::TermKind::Variable;
      if (variable && column.term.var == target) {
        column.use = ColumnUse::Bind;
      } else if (variable && std::ranges::find(later, column.term.var) != later.end()) {
        column.use = ColumnUse::Ignore;
      } else {
        column.use = ColumnUse::Key;
      }
    }
    return atom;
  }

  // The step after which the keys of a member are known.
  size_t known_after(const Step& member) const {
    size_t last = 0;
    for (const ColumnArg& column : member.columns) {
      if (column.use != ColumnUse::Key || column.term.kind != lang::TermKind::Variable) continue;
      last = std::max(last, level_[column.term.var.index]);
    }
    return last;
  }

  void order_members(Step& step) const {
    std::ranges::stable_sort(step.members, [&](const Step& a, const Step& b) {
      return known_after(a) > known_after(b);
    });
  }

  // Lists that depend on few columns of the driver are the same for many of its rows, where these
  // come together.
  void sort_driver() {
    const std::optional<size_t> first = driver_of(pipeline_);
    if (!first) return;
    Step* driver = &pipeline_.steps[*first];
    if (driver->kind != StepKind::Match || driver->part != Part::All) return;
    std::vector<std::vector<uint32_t>> wanted;
    for (const Step& step : pipeline_.steps) {
      if (step.kind == StepKind::Host) break;  // what follows has another driver
      for (size_t m = 1; m < step.members.size(); ++m) {
        std::vector<uint32_t> columns = driver_columns(*driver, step.members[m]);
        if (!columns.empty()) wanted.push_back(std::move(columns));
      }
    }
    std::ranges::stable_sort(wanted, {}, [](const auto& columns) { return columns.size(); });
    for (const std::vector<uint32_t>& columns : wanted) {
      for (uint32_t c : columns) {
        if (std::ranges::find(driver->order, c) == driver->order.end()) driver->order.push_back(c);
      }
    }
  }

  // The columns of the driver that are the variables of a member's keys; none where others are too.
  static std::vector<uint32_t> driver_columns(const Step& driver, const Step& member) {
    std::vector<uint32_t> columns;
    for (const ColumnArg& key : member.columns) {
      if (key.use != ColumnUse::Key || key.term.kind != lang::TermKind::Variable) continue;
      const auto bound = std::ranges::find_if(driver.columns, [&](const ColumnArg& column) {
        return column.use == ColumnUse::Bind && column.term.var == key.term.var;
      });
      if (bound == driver.columns.end()) return {};
      columns.push_back(static_cast<uint32_t>(bound - driver.columns.begin()));
    }
    return columns;
  }

  Pipeline& pipeline_;
  const lang::Rule& rule_;
  const std::vector<double>& estimates_;
  std::vector<size_t> level_;  // by variable: the step that binds it
};

}  // namespace

void form_meets(Pipeline& pipeline, const lang::Rule& rule, const std::vector<double>& estimates) {
  MeetFormer(pipeline, rule, estimates).run();
}

}  // namespace xlog::plan
