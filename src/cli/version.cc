// xlog version
#include "base/version.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/pipeline.h"

namespace xlog::cli {
namespace {

#ifdef NDEBUG
constexpr const char* kBuild = "release";
#else
constexpr const char* kBuild = "debug";
#endif

#ifdef __clang__
constexpr const char* kCompiler = "clang " __clang_version__;
#else
constexpr const char* kCompiler = "g++ " __VERSION__;
#endif

constexpr const char* kFeatures[] = {"datalog", "epistemic", "sat",    "maxsat", "sessions",
                                     "repl",    "csv",       "sqlite", "json"};

void print_version(bool json) {
  if (json) {
    nlohmann::ordered_json object;
    object["version"] = kVersion;
    object["commit"] = kCommit;
    object["build"] = kBuild;
    object["compiler"] = kCompiler;
    object["engines"] = {"relational", "reference"};
    object["features"] = kFeatures;
    fmt::print("{}\n", object.dump());
    return;
  }
  fmt::print("xlog {}{}\n", kVersion, *kCommit == '\0' ? "" : fmt::format(" ({})", kCommit));
  fmt::print("build     {}, {}\n", kBuild, kCompiler);
  fmt::print("engines   relational, reference\n");
  fmt::print("features  {}\n", fmt::join(kFeatures, ", "));
}

}  // namespace

void add_version(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("version", "Version, build and features");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "As a JSON object");
  command->footer("Examples:\n  xlog version\n  xlog version --json");
  command->callback([json, &exit_code] {
    print_version(*json);
    exit_code = flush_stdout() ? kAnswered : kProgramError;
  });
}

}  // namespace xlog::cli
