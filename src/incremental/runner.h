// Runs versions of rules: enumerates the solutions that a changed row is part of.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "incremental/steps.h"
#include "incremental/table.h"
#include "lang/load.h"
#include "logic/answer.h"
#include "oracle/context.h"

namespace xlog::incremental {

// The flags that a row must have to be seen: by literals before the changed row, and by those after
// it; of predicates of the rule's own component, and of others. A negated literal sees a row with
// any of them, so both kinds of literal see the state after the losses of a step as kOld | kNew.
struct Sight {
  uint8_t before, after;
  uint8_t own_before = kNew, own_after = kOld;
};

// Rows that solutions gave, in the order in which they were found.
struct Emitted {
  std::vector<uint64_t> cells;
  std::vector<uint32_t> newest;  // of the own rows in the body: the greatest birth stamp
  std::vector<int8_t> signs;
  size_t count = 0;

  void clear() {
    cells.clear();
    newest.clear();
    signs.clear();
    count = 0;
  }
};

// What a batch may cost, and why it had to stop. Work is counted in rows that are looked at and
// rows that are found, so that what is done is the same on every machine.
class Allowance {
 public:
  // Past `most_work`, once it has taken `least_seconds`, evaluating afresh is cheaper; work that
  // can rest does so after `rest_after`.
  Allowance(const logic::AnswerOptions& options, uint64_t most_work,
            uint64_t rest_after = UINT64_MAX, double least_seconds = 0)
      : options_(options),
        most_work_(most_work),
        rest_after_(rest_after),
        least_seconds_(least_seconds) {}

  // Some steps later look again. False: stop.
  bool look(uint64_t work);
  // When the first `done` of `all` changed rows took so much work that the rest is hopeless, it is
  // too much at once.
  void look_ahead(uint64_t work, uint64_t done, uint64_t all) {
    constexpr uint64_t kEnough = 8, kPart = 16;
    if (work >= most_work_ / kPart && done >= kEnough) foresee(work, done, all);
  }
  void count_rows(uint64_t rows, bool makes_values, std::string_view help = oracle::kEndlessHelp);
  void fail(Error error);
  // It cannot be kept, or not at a price that is worth it.
  void give_up() { too_many_ = true; }

  bool stopped() const { return error_.has_value() || too_many_; }
  bool too_many() const { return too_many_; }  // evaluating afresh is cheaper, or the only way
  const std::optional<Error>& error() const { return error_; }
  uint64_t most_rows() const;
  uint64_t most_work() const { return most_work_; }
  uint64_t rest_after() const { return rest_after_; }

 private:
  void foresee(uint64_t work, uint64_t done, uint64_t all);
  double seconds() const;

  const logic::AnswerOptions& options_;
  uint64_t most_work_, rest_after_;
  double least_seconds_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  uint64_t made_rows_ = 0;
  bool too_many_ = false;
  std::optional<Error> error_;
};

class Runner {
 public:
  Runner(std::vector<Table>& tables, Cells& cells, lang::Names& names)
      : tables_(tables), cells_(cells), names_(names) {}

  void begin(Allowance& allowance) {
    constexpr uint64_t kStepsPerLook = 0x1000;
    allowance_ = &allowance;
    look_mask_ = allowance.most_work() < kStepsPerLook ? 0 : kStepsPerLook - 1;
    instances_ = 0;
    steps_ = 0;
    stop_ = false;
  }
  uint64_t work() const { return steps_ + instances_; }
  void add_work(uint64_t steps) { steps_ += steps; }
  // One step of others. False: stop.
  bool step() {
    tick();
    return !stop_;
  }
  // From here on run() adds the solutions with `row` in the place of the changed row.
  void set_up(const Version& version, const Sight& sight, Emitted& out);
  void run(uint32_t row, int8_t sign);
  // All solutions, of a version without a changed row.
  void run_all(const Version& version, const Sight& sight, Emitted& out);
  uint64_t instances() const { return instances_; }

 private:
  void go(size_t s, uint32_t newest);
  void rows(const Step& step, size_t s, uint32_t newest);
  void match(const Step& step, size_t s, uint32_t newest);
  void builtin(const Step& step, size_t s, uint32_t newest);
  void emit(const Step& step, uint32_t newest);
  bool compare(const Step& step);
  bool use(const std::vector<ColumnUse>& uses, const uint64_t* cells);
  bool read(const Operand& operand, uint64_t& cell);
  bool key_of(const Step& step);
  uint8_t mask(const Step& step) const;

  std::optional<lang::Value> value_of(const Operand& operand);
  std::optional<lang::Value> value_of(const lang::Term& term);
  lang::Value value_of(lang::VarId v) const;
  void tick() {
    if ((++steps_ & look_mask_) == 0) stop_ = !allowance_->look(work());
  }

  std::vector<Table>& tables_;
  Cells& cells_;
  lang::Names& names_;
  Allowance* allowance_ = nullptr;
  uint64_t instances_ = 0, steps_ = 0;
  uint64_t look_mask_ = 0;
  bool stop_ = false;

  const Version* version_ = nullptr;
  Sight sight_{};
  Emitted* out_ = nullptr;
  int8_t sign_ = 1;
  std::vector<uint64_t> registers_;
  std::vector<uint64_t> key_;
};

}  // namespace xlog::incremental
