// What an instantiation takes over from who evaluated parts of the program before (Preset), and
// which of these rows it reads: to take over millions that nobody looks at takes longer than the
// rest.
#pragma once

#include "oracle/context.h"
#include "oracle/evaluate.h"

namespace xlog::oracle {

class Given {
 public:
  explicit Given(const Context& context) : context_(context), preset_(context.preset) {}

  bool is_done(uint32_t component) const { return preset_ != nullptr && preset_->done[component]; }
  bool is_bounded(uint32_t component) const {
    return preset_ != nullptr && !preset_->bounded.empty() && preset_->bounded[component];
  }
  // Whether the rows of a predicate are read by what is evaluated here, or shown.
  bool is_read(lang::PredId pred) const;
  // Of a bounded component: whether its certain rows are. Where all instances are known, a row that
  // is not open is certain, or absent where that is asked for.
  bool are_certain_rows_read(lang::PredId pred) const;

 private:
  bool is_shown(lang::PredId pred) const;
  bool is_walked(uint32_t rule) const;

  const Context& context_;
  const Preset* preset_;
};

}  // namespace xlog::oracle
