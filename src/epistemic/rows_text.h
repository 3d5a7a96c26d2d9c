// The rows of queries as text, for tests that compare answers.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "lang/program.h"
#include "logic/answer.h"

namespace xlog::epistemic {

inline std::string rows_text(const std::vector<logic::QueryAnswer>& queries,
                             const lang::Program& program, const lang::Names& names) {
  std::string text;
  for (size_t q = 0; q < queries.size(); ++q) {
    text += program.queries[q].text + ":";
    for (const logic::Row& row : queries[q].rows) {
      text += " (";
      for (const lang::Value& value : row.values) text += lang::to_source(value, names) + " ";
      text += fmt::format(")[{}]", logic::spelling(row.status));
    }
    text += "\n";
  }
  return text;
}

}  // namespace xlog::epistemic
