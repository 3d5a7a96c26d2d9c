// Runs a program without a shell: given standard input, collected output, a time limit.
#pragma once

#include <string>
#include <vector>

namespace xlog::conformance {

struct ProcessResult {
  int exit_code = -1;  // 128 + signal when it was killed
  bool timed_out = false;
  std::string out, err;
};

// argv[0] is the path of the program; `folder` is its working directory (empty: ours).
ProcessResult run_process(const std::vector<std::string>& argv, const std::string& input,
                          const std::string& folder, int timeout_seconds);

}  // namespace xlog::conformance
