// The instances of a rule that hold over finished relations, found from what is known of the head.
//
// A body is planned anew for what is bound: the head's variables come first here, while an
// evaluation starts from rows of the body. Both find the same instances. One thing needs care: an
// equation that gave a float its bits in the evaluation (`Y = X`) asks for the same bits here,
// because 0.0 = -0.0 holds but derives another row.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "engine/table.h"
#include "logic/analysis.h"
#include "oracle/matcher.h"

namespace xlog::engine {

using oracle::Bindings;

// `p`, `not not p` and the modal forms that are true when p holds in the only world there is.
bool wants_row(const lang::Literal& literal);

class Instances {
 public:
  static constexpr uint32_t kNoRow = UINT32_MAX;

  Instances(const lang::Program& program, const logic::Analysis& analysis, Tables& tables,
            lang::Names& names, Budget& budget)
      : program_(program), analysis_(analysis), tables_(tables), names_(names), budget_(budget) {}

  // By body literal: the row that it found, or kNoRow for what is no row. What aggregates fold has
  // rows for plain atoms alone: `know p(X, _)` counts once, however many rows there are.
  using RowNumbers = std::vector<uint32_t>;
  using Visit = std::function<void(const Bindings&, const RowNumbers&)>;

  // Every solution of the body that agrees with what is bound. `fixed` leaves literals one row
  // each.
  void solve(uint32_t rule, Bindings& bindings, const Visit& visit,
             const RowNumbers* fixed = nullptr);

  // Calls `reached` for each beginning of the order in which the literals are looked at that can be
  // satisfied, with its length. Returns that order.
  using Reached = std::function<void(size_t, const Bindings&, const RowNumbers&)>;
  std::vector<uint32_t> solve_partly(uint32_t rule, Bindings& bindings, const Reached& reached);

  // The solutions inside the braces of an aggregate or findall of the body.
  void solve_inside(uint32_t rule, uint32_t literal, Bindings& bindings, const Visit& visit);

  // Binds the variables of the head to the values of a row. Columns that an aggregate fills say
  // nothing, nor do those without a value. False when the head cannot be that row.
  bool match_head(uint32_t rule, std::span<const std::optional<lang::Value>> row,
                  Bindings& bindings);
  bool match(const lang::Term& pattern, const lang::Value& value, Bindings& bindings);
  // nullopt when its arithmetic has no value. All variables must be bound.
  std::optional<lang::Value> value_of(const lang::Term& term, const Bindings& bindings);

 private:
  // Which equations of a body bind when the rule is evaluated.
  struct Roles {
    std::vector<bool> binds;
    std::vector<Roles> nested;
  };
  struct Frame {
    const lang::Rule& rule;
    const std::vector<lang::Literal>& body;
    const std::vector<uint32_t>& sequence;
    const logic::BodyOrder& order;  // of the braces
    const Roles& roles;
    Bindings& bindings;
    RowNumbers rows;
    const Visit* visit = nullptr;
    const Reached* reached = nullptr;
    const RowNumbers* fixed = nullptr;
    bool counts = false;  // how often a solution is found matters
  };

  const std::vector<uint32_t>& plan(uint32_t rule, const Bindings& bindings);
  const Roles& roles_of(uint32_t rule);
  Roles roles_of(const std::vector<lang::Literal>& body, const logic::BodyOrder& order,
                 std::vector<bool>& bound) const;

  Frame frame_of(uint32_t rule, const std::vector<uint32_t>& sequence, Bindings& bindings);
  void step(Frame& frame, size_t position);
  void with_match(Frame& frame, size_t position, const lang::Term& pattern,
                  const lang::Value& value);
  void row_of(Frame& frame, size_t position, const lang::Literal& literal);
  void some_row_of(Frame& frame, size_t position, const lang::Literal& literal);
  void no_row_of(Frame& frame, size_t position, const lang::Literal& literal);
  void compare(Frame& frame, size_t position, const lang::Literal& literal);
  void builtin(Frame& frame, size_t position, const lang::Literal& literal);
  void aggregate(Frame& frame, size_t position, const lang::Literal& literal);
  void findall(Frame& frame, size_t position, const lang::Literal& literal);
  void maplist(Frame& frame, size_t position, const lang::Literal& literal, size_t element,
               std::vector<lang::Value>& outputs);
  void solve_braces(Frame& frame, uint32_t literal, const Visit& visit);

  template <typename Visitor>
  void for_each_row(lang::PredId pred, const std::vector<lang::Term>& args, Bindings& bindings,
                    const Visitor& visit);
  bool match_row(const Table& table, uint32_t row, const std::vector<lang::Term>& args,
                 Bindings& bindings);

  const lang::Program& program_;
  const logic::Analysis& analysis_;
  Tables& tables_;
  lang::Names& names_;
  Budget& budget_;
  std::map<uint32_t, Roles> roles_;
  std::map<std::pair<uint32_t, std::vector<bool>>, std::vector<uint32_t>> plans_;
};

}  // namespace xlog::engine
