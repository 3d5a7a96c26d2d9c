#include "oracle/open_results.h"

#include <fmt/format.h>

#include "oracle/context.h"
#include "oracle/possible_results.h"

namespace xlog::oracle {

OpenResults open_results(const AggregateInput& input, lang::Names& names) {
  std::vector<const std::vector<Value>*> certain, open;
  for (const auto& element : input.elements) {
    (element.condition.empty() ? certain : open).push_back(&element.values);
  }
  auto results = possible_results(input.folds, input.nonempty, certain, open, names);
  if (results) return {std::move(*results), !open.empty()};
  throw LimitExceeded{
      fmt::format("an aggregate over {} rows that may or may not hold has more than {} results",
                  open.size(), kMostResults),
      "aggregate over fewer such rows; counts, minima and maxima have few results, and so have "
      "sums "
      "and averages of small whole numbers",
      input.span};
}

}  // namespace xlog::oracle
