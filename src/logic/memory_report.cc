#include "logic/memory_report.h"

#include <fmt/format.h>

#include "base/memory.h"

namespace xlog::logic {

void report_memory_shortage(const MemoryShortage& shortage, lang::Session& session) {
  const bool limited = shortage.limit > 0;
  const std::string message = limited ? fmt::format("the memory limit of {} was reached while {}",
                                                    size_text(shortage.limit), shortage.doing)
                                      : fmt::format("no memory was left while {}", shortage.doing);
  Diagnostic& diagnostic =
      session.diagnostics.report(Code::MemoryExhausted, shortage.span, message);
  if (!shortage.place.empty()) diagnostic.at(shortage.place);
  if (shortage.largest) {
    diagnostic.note(fmt::format("the largest relation is `{}`: {} row{}, {}",
                                shortage.largest->name, shortage.largest->rows,
                                shortage.largest->rows == 1 ? "" : "s",
                                size_text(shortage.largest->bytes)));
  }
  if (!shortage.details.empty()) diagnostic.note(shortage.details);
  diagnostic.help(fmt::format(
      "{}; {}",
      limited ? "raise it with `--memory SIZE`" : "use a machine or a `--device` with more memory",
      shortage.advice));
}

std::string relation_name(lang::PredId pred, const lang::Program& program,
                          const lang::Names& names) {
  for (const lang::Query& query : program.queries) {
    if (query.pred == pred) return "?- " + query.text;
  }
  return lang::predicate_signature(program[pred], names);
}

std::optional<RelationSize> largest_fact_table(const lang::Program& program,
                                               const lang::Names& names) {
  std::optional<RelationSize> largest;
  for (uint32_t p = 0; p < program.predicates.size(); ++p) {
    const lang::FactTable* facts = program.predicates[p].facts.get();
    if (facts == nullptr || facts->rows == 0) continue;
    uint64_t row_bytes = 0;
    for (const lang::FactColumn& column : facts->columns) {
      row_bytes += lang::width(column.type().kind);
    }
    if (largest && facts->rows * row_bytes <= largest->bytes) continue;
    largest = {relation_name({p}, program, names), facts->rows, facts->rows * row_bytes};
  }
  return largest;
}

}  // namespace xlog::logic
