#include "cli/stats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/profile.h"

namespace xlog::cli {
namespace {

using Json = nlohmann::json;

constexpr const char* kReach =
    "edge(1, 2). edge(2, 3). edge(3, 1).\n"
    "reach(X, Y) :- edge(X, Y).\n"
    "reach(X, Z) :- reach(X, Y), edge(Y, Z).\n"
    "?- reach(X, Y).\n";

void run(const std::string& text, Outcome& outcome, const PipelineOptions& options = {}) {
  const SourceFile* file = outcome.session.sources.add("test.xlog", "", text);
  run_pipeline(*file, options, outcome);
}

Json profile_of(const Outcome& outcome) {
  char* text = nullptr;
  size_t size = 0;
  std::FILE* stream = open_memstream(&text, &size);
  write_profile(outcome, "xlog test", stream);
  std::fclose(stream);
  Json parsed = Json::parse(std::string(text, size));
  std::free(text);
  return parsed;
}

TEST(Stats, JsonHoldsTheDocumentedKeys) {
  Outcome outcome;
  run(kReach, outcome);
  const Json stats = Json::parse(stats_json(outcome));
  for (const char* key :
       {"exit_code", "milliseconds", "stages", "device", "rounds", "rows", "bytes_in", "bytes_out",
        "launches", "kernels_compiled", "kernels_from_cache", "device_peak_bytes",
        "process_peak_bytes", "components", "relations", "rules"}) {
    EXPECT_TRUE(stats.contains(key)) << key;
  }
  EXPECT_EQ(stats["exit_code"], 0);
  EXPECT_EQ(stats["device"], "cpu");
  EXPECT_EQ(stats["rows"], 18);  // of reach and of the query
  EXPECT_GT(stats["launches"], 0);
  EXPECT_EQ(stats["stages"].back()["stage"], "evaluate");

  ASSERT_EQ(stats["relations"].size(), 3u);
  const Json& reach = stats["relations"][1];
  EXPECT_EQ(reach["name"], "reach/2");
  EXPECT_EQ(reach["rows"], 9);
  EXPECT_GT(reach["bytes"], 0);
  EXPECT_TRUE(reach["set"] == "packed" || reach["set"] == "bits");
  EXPECT_TRUE(reach.contains("indexes"));
  EXPECT_EQ(reach["component"], 1);

  ASSERT_EQ(stats["rules"].size(), 3u);
  const Json& once = stats["rules"][0];
  EXPECT_EQ(once["rule"], "reach(X, Y) :- edge(X, Y).");
  EXPECT_EQ(once["place"], "test.xlog:2");
  EXPECT_TRUE(once["version"].is_null());
  EXPECT_EQ(once["rows"], 3);
  const Json& again = stats["rules"][1];
  EXPECT_EQ(again["version"]["literal"], 1);
  EXPECT_EQ(again["version"]["text"], "reach(X, Y)");
  EXPECT_EQ(again["rows"], 6);
  EXPECT_EQ(again["runs"], stats["rounds"]);
  EXPECT_GT(again["milliseconds"], 0);
  EXPECT_EQ(stats["rules"][2]["rule"], "?- reach(X, Y).");
}

TEST(Stats, ARunWithoutTheEngineHasThemToo) {
  PipelineOptions reference;
  reference.reference_only = true;
  Outcome outcome;
  run(kReach, outcome, reference);
  const Json stats = Json::parse(stats_json(outcome));
  EXPECT_TRUE(stats["device"].is_null());
  EXPECT_TRUE(stats["relations"].empty());
  Outcome broken;
  run("p(1", broken);
  EXPECT_EQ(Json::parse(stats_json(broken))["exit_code"], kProgramError);
}

TEST(Stats, TheTableNamesWhatTookTheMost) {
  std::string text = kReach;
  for (int i = 0; i < 10; ++i) text += "p" + std::to_string(i) + "(X) :- edge(X, _).\n";
  Outcome outcome;
  run(text, outcome);
  const std::string table = stats_text(outcome);
  EXPECT_NE(table.find("largest relations"), std::string::npos) << table;
  EXPECT_NE(table.find("reach/2\n"), std::string::npos) << table;
  EXPECT_NE(table.find("test.xlog:"), std::string::npos) << table;
  EXPECT_LE(std::ranges::count(table, '\n'), 35) << "it stays short\n" << table;
}

TEST(Profile, EventsAreNested) {
  PipelineOptions options;
  options.keep_events = true;
  Outcome outcome;
  run(kReach, outcome, options);
  const Json profile = profile_of(outcome);
  // Each kind lies within one of the kind that holds it.
  const std::map<std::string, std::string> holder = {{"component", "stage"},
                                                     {"round", "component"}};
  std::map<std::string, int> seen;
  auto inside = [](const Json& a, const Json& b) {
    constexpr double kRounding = 0.01;
    const double a_begin = a["ts"], b_begin = b["ts"], a_length = a["dur"], b_length = b["dur"];
    return a_begin + kRounding >= b_begin && a_begin + a_length <= b_begin + b_length + kRounding;
  };
  for (const Json& event : profile["traceEvents"]) {
    for (const char* key : {"name", "ph", "pid"}) EXPECT_TRUE(event.contains(key)) << event;
    if (event["ph"] != "X") continue;
    const std::string kind = event["cat"];
    ++seen[kind];
    std::string outer = kind == "rule" ? (event["args"].contains("round") ? "round" : "component")
                        : holder.contains(kind) ? holder.at(kind)
                                                : "";
    if (outer.empty()) continue;
    EXPECT_TRUE(std::ranges::any_of(profile["traceEvents"], [&](const Json& other) {
      return other["ph"] == "X" && other["cat"] == outer && inside(event, other);
    })) << event;
  }
  EXPECT_EQ(seen["component"], 3);
  EXPECT_EQ(seen["round"], outcome.engine->rounds);
  EXPECT_EQ(seen["rule"], 2 + outcome.engine->rounds);
  EXPECT_GE(seen["stage"], 3);
}

TEST(Profile, RulesSayWhatTheyReadAndDerived) {
  PipelineOptions options;
  options.keep_events = true;
  Outcome outcome;
  run(kReach, outcome, options);
  uint64_t derived = 0;
  const Json profile = profile_of(outcome);
  for (const Json& event : profile["traceEvents"]) {
    if (event["ph"] != "X" || event["cat"] != "rule") continue;
    EXPECT_GT(event["args"]["rows_in"], 0);
    derived += event["args"]["rows_out"].get<uint64_t>();
    if (!event["args"].contains("new")) continue;
    EXPECT_EQ(event["args"]["new"], "reach(X, Y)");
    EXPECT_EQ(event["args"]["place"], "test.xlog:3");
  }
  EXPECT_EQ(derived, outcome.engine->rows);
}

TEST(Profile, AProgramThatFailsHasOneToo) {
  Outcome outcome;
  run("p(1", outcome);
  EXPECT_FALSE(profile_of(outcome)["traceEvents"].empty());
}

}  // namespace
}  // namespace xlog::cli
