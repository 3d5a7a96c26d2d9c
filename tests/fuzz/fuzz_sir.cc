// Any bytes go through the parser of solver jobs without a crash. When they are a job, printing and
// parsing again gives the same one; when they are not, the error names a line.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "solve/sir.h"

namespace {

void require(bool condition, const char* what, const std::string& text) {
  if (condition) return;
  std::fprintf(stderr, "%s:\n%s\n", what, text.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using xlog::solve::parse_sir;
  using xlog::solve::print_sir;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto job = parse_sir(text, "input");
  if (!job.ok()) {
    require(job.error().message.starts_with("input:"), "an error without a place", text);
    return 0;
  }
  const std::string printed = print_sir(*job);
  const auto again = parse_sir(printed, "printed");
  require(again.ok(), "what was printed does not parse", printed);
  require(*again == *job, "print and parse are not inverse", printed);
  require(print_sir(*again) == printed, "printing is no fixed point", printed);
  return 0;
}
