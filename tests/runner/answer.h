// What `xlog run --format json` printed, in the forms that cases are written in.
#pragma once

#include <string>
#include <vector>

#include "tests/runner/case.h"
#include "tests/runner/process.h"

namespace xlog::conformance {

struct ActualDiagnostic {
  std::string code, severity, message, file;
  int line = 0, column = 0;
};

struct ActualAnswer {
  std::vector<std::string> problems;  // breaches of the JSON contract, whatever the case expects
  bool has_answer = false;            // false: diagnostics only
  std::vector<ViewAnswer> views;
  std::vector<View> worlds;  // by view; empty when not asked for
  std::string view_count;
  std::vector<std::string> world_counts;
  bool has_well_founded = false;
  ViewAnswer well_founded;
  std::vector<ActualDiagnostic> diagnostics;
};

// Reads standard output as JSON; where there is none, the diagnostics from the text on standard
// error.
ActualAnswer read_answer(const ProcessResult& process);

// In the notation of the cases, for messages.
std::string show(const ViewAnswer& answer);
std::string show(const std::vector<ViewAnswer>& views);
std::string show(const std::vector<View>& views);
std::string show(const ActualDiagnostic& diagnostic);
std::string show(const ExpectedDiagnostic& diagnostic);

}  // namespace xlog::conformance
