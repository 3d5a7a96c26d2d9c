// Facts and literals with their values, as source text.
#pragma once

#include <span>
#include <string>

#include "lang/program.h"
#include "oracle/matcher.h"

namespace xlog::engine {

std::string fact_text(const lang::Predicate& predicate, std::span<const lang::Value> values,
                      const lang::Names& names);
// Bound variables are replaced by their values, in braces too.
std::string literal_text(const lang::Literal& literal, const lang::Rule& rule,
                         const oracle::Bindings& bindings, const lang::Program& program,
                         const lang::Names& names);
// "sum(W)"
std::string aggregate_text(const lang::HeadAggregate& aggregate, const lang::Rule& rule,
                           const lang::Program& program, const lang::Names& names);
// Why a literal that does not hold does not; `text` is the literal with its values.
std::string failure_text(const lang::Literal& literal, const std::string& text);
// "1 row", "3 rows"
std::string counted_rows(uint64_t count);

}  // namespace xlog::engine
