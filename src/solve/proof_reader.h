// The steps of a DRAT proof, from its text or its binary form.
//
//   ProofReader reader(bytes, "formula.drat");
//   ProofStep step;
//   for (;;) { Result<bool> more = reader.next(step); if (!more.ok() || !*more) break; ... }
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "solve/cnf.h"

namespace xlog::solve {

struct ProofStep {
  bool deletes = false;
  std::vector<Literal> clause;  // in the order of the proof
};

class ProofReader {
 public:
  ProofReader(std::string_view proof, std::string_view file);

  // False at the end.
  Result<bool> next(ProofStep& step);

  // Of the step that was read last: its line, or in the binary form "byte 123".
  std::string place() const;

 private:
  Result<bool> next_text(ProofStep& step);
  Result<bool> next_binary(ProofStep& step);
  Error error(std::string_view message) const;

  std::string_view proof_;
  std::string_view file_;
  bool binary_;
  size_t at_ = 0;
  size_t step_at_ = 0;
};

}  // namespace xlog::solve
