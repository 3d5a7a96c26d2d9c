#include "oracle/open_results.h"

#include "oracle/context.h"

namespace xlog::oracle {

OpenResults open_results(const AggregateInput& input, lang::Names& names) {
  std::vector<const std::vector<Value>*> certain, open;
  for (const auto& element : input.elements) {
    (element.condition.empty() ? certain : open).push_back(&element.values);
  }
  auto results = possible_results(input.folds, input.nonempty, certain, open, names);
  if (results) return {std::move(*results), !open.empty()};
  throw LimitExceeded{"an aggregate over too many uncertain rows for the reference evaluator",
                      "aggregate over fewer rows that depend on a choice"};
}

}  // namespace xlog::oracle
