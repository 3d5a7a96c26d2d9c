// How fast world views are found: families from the literature on epistemic logic programs, each in
// several sizes. A program is bench/epistemic/NAME.xlog; where $ECLINGO names an eclingo, it runs
// bench/eclingo/NAME.lp in turn, if there is one. Both look for one world view. Times are those of
// the processors, with starting and reading, in whole processes. The family `policies` is made of
// ground rules: of its world views alone the time is taken, in batches on a device and by the
// solver.
//
//   bench_epistemic [--repeat N] [--limit SECONDS] [--most SIZE] [--large] [--device NAME]
//                   [PART-OF-A-FAMILY'S-NAME...]
//
// --most    leaves larger sizes out
// --large   goes on to ten times what others solve: minutes, and gigabytes
// --device  for batches; cpu unless told
// $XLOG     the xlog to measure, instead of the one built beside this program

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "programs.h"
#include "random_units.h"

namespace xlog::bench {
namespace {

namespace fs = std::filesystem;

// ---- Families ----

using Constants = std::vector<std::pair<std::string, uint32_t>>;
using Rows = std::vector<std::vector<uint32_t>>;

struct Instance {
  Constants constants;
  std::vector<std::pair<std::string, Rows>> inputs;  // by relation
};

struct Family {
  std::string name;
  std::string measure;  // what a size counts
  std::vector<uint32_t> sizes;
  std::function<Instance(uint32_t size)> make;
  std::vector<uint32_t> large = {};  // sizes that are only run where they are asked for
};

constexpr uint32_t kSeed = 1;

// One student in four has an unclear grade, and one in eight a poor one.
Instance eligible(uint32_t students) {
  std::mt19937 random(kSeed);
  Rows student, high, unclear, poor, minority;
  for (uint32_t s = 0; s < students; ++s) {
    student.push_back({s});
    const auto kind = random() % 8;
    (kind < 2 ? unclear : kind < 3 ? poor : high).push_back({s});
    if (random() % 4 == 0) minority.push_back({s});
  }
  return {{},
          {{"student", student},
           {"high", high},
           {"unclear", unclear},
           {"poor", poor},
           {"minority", minority}}};
}

// Terms of three literals, one of them over x and two over y: too few for all y.
Instance for_all(uint32_t n) {
  std::mt19937 random(kSeed);
  Rows terms;
  for (uint32_t k = 0; k < n; ++k) {
    for (uint32_t place = 1; place <= 3; ++place) {
      const auto variable = static_cast<uint32_t>(1 + random() % n + (place == 1 ? 0 : n));
      terms.push_back({k, place, variable, static_cast<uint32_t>(random() % 2)});
    }
  }
  return {{{"n", n}}, {{"term", terms}}};
}

// 800 places with roads between them, and one more road to a place that has no other.
Instance roads(uint32_t count) {
  constexpr uint32_t kPlaces = 800;
  std::mt19937 random(kSeed);
  Rows road;
  for (uint32_t r = 0; r < count; ++r) {
    road.push_back(
        {static_cast<uint32_t>(random() % kPlaces), static_cast<uint32_t>(random() % kPlaces)});
  }
  return {{}, {{"road", road}, {"perhaps", {{road[0][0], kPlaces}}}}};
}

// Moves lead to one of the next positions by layer. Every fortieth position may be won by decree.
Instance game(uint32_t moves) {
  constexpr uint32_t kLayers = 8, kPositions = 500, kApart = 40;
  std::mt19937 random(kSeed);
  Rows move, decree;
  for (uint32_t m = 0; m < moves; ++m) {
    const auto layer = static_cast<uint32_t>(random() % (kLayers - 1));
    const auto later = static_cast<uint32_t>(layer + 1 + random() % (kLayers - 1 - layer));
    move.push_back({layer * kPositions + static_cast<uint32_t>(random() % kPositions),
                    later * kPositions + static_cast<uint32_t>(random() % kPositions)});
  }
  for (uint32_t p = 0; p < kLayers * kPositions; p += kApart) decree.push_back({p});
  return {{}, {{"move", move}, {"decree", decree}}};
}

// Acquaintances among a thousand people, and groups of five who all know each other; one in fifty
// is in doubt.
Instance rings(uint32_t acquaintances) {
  constexpr uint32_t kPeople = 1'000, kOfGroup = 5, kToOneGroup = 40;
  std::mt19937 random(kSeed);
  Rows met, perhaps;
  const auto person = [&] { return static_cast<uint32_t>(random() % kPeople); };
  const auto add = [&](uint32_t a, uint32_t b) {
    (random() % 50 == 0 ? perhaps : met).push_back({a, b});
  };
  for (uint32_t i = 0; i < acquaintances; ++i) add(person(), person());
  for (uint32_t i = 0; i < acquaintances; i += kToOneGroup) {
    std::vector<uint32_t> group;
    for (uint32_t k = 0; k < kOfGroup; ++k) {
      group.push_back(person());
      for (uint32_t before = 0; before < k; ++before) add(group[before], group[k]);
    }
  }
  return {{}, {{"met", met}, {"perhaps", perhaps}}};
}

std::vector<Family> families() {
  const auto with = [](const char* constant) {
    return [=](uint32_t size) { return Instance{{{constant, size}}, {}}; };
  };
  const auto toilets = [](uint32_t count, bool clogged_at_first) {
    return [=](uint32_t packages) {
      // Each toilet is flushed between two packages.
      const uint32_t uses = (packages + count - 1) / count;
      const uint32_t length = 2 * uses - (clogged_at_first ? 0 : 1);
      return Instance{{{"packages", packages}, {"length", length}, {"toilets", count}}, {}};
    };
  };
  return {
      {"eligible", "students", {25, 101, 1006, 9968, 100'000, 1'000'000}, eligible},
      {"yale", "horizon", {1, 3, 5, 8, 30, 100}, with("horizon")},
      {"bt", "packages", {10, 20, 30, 40, 60, 100, 150}, with("length"), {300, 1000}},
      {"btc", "steps", {10, 20, 40, 50, 60}, with("length"), {200, 500}},
      {"btuc", "steps", {10, 20, 30, 40, 50}, with("length"), {100, 200, 400}},
      {"bmtc", "packages, 2 toilets", {10, 20, 30}, toilets(2, false), {100, 300}},
      {"bmtuc", "packages, 2 toilets", {10, 20, 30}, toilets(2, true), {100, 300}},
      {"reversible", "horizon", {1, 11, 21, 31, 41, 61, 81}, with("horizon"), {200, 610}},
      {"forall", "variables on each side", {8, 10, 12, 14, 16, 24, 100}, for_all, {160, 300, 400}},
      {"chain", "questions", {1'000, 10'000, 100'000}, with("length")},
      {"roads", "roads", {1'000, 2'000, 4'000}, roads},
      {"game", "moves", {10'000, 100'000, 640'000}, game},
      {"rings", "acquaintances", {4'000, 8'000, 16'000}, rings},
  };
}

// ---- One size ----

struct Tools {
  fs::path xlog, programs, work;
  std::string eclingo;  // empty: not measured
  uint32_t limit_seconds = 120;
  uint32_t repetitions = 1;
};

void write_inputs(const Tools& tools, const Instance& instance) {
  std::ofstream facts(tools.work / "facts.lp");
  for (const auto& [relation, rows] : instance.inputs) {
    std::ofstream file(tools.work / (relation + ".csv"));
    for (const std::vector<uint32_t>& row : rows) {
      file << fmt::format("{}\n", fmt::join(row, ","));
      facts << fmt::format("{}({}).\n", relation, fmt::join(row, ","));
    }
  }
}

std::vector<std::string> xlog_command(const Tools& tools, const std::string& name,
                                      const Instance& instance) {
  std::vector<std::string> command = {
      tools.xlog,       "run",     tools.programs / "epistemic" / (name + ".xlog"),
      "--find-views=1", "--quiet", "--trace=json",
      "--format=csv"};
  for (const auto& [constant, value] : instance.constants) {
    command.insert(command.end(), {"-D", fmt::format("{}={}", constant, value)});
  }
  for (const auto& [relation, rows] : instance.inputs) {
    command.insert(
        command.end(),
        {"--input", fmt::format("{}={}", relation, (tools.work / (relation + ".csv")).string())});
  }
  return command;
}

std::vector<std::string> eclingo_command(const Tools& tools, const std::string& name,
                                         const Instance& instance) {
  std::vector<std::string> command = {tools.eclingo, tools.programs / "eclingo" / (name + ".lp"),
                                      tools.work / "facts.lp", "1"};
  for (const auto& [constant, value] : instance.constants) {
    command.insert(command.end(), {"-c", fmt::format("{}={}", constant, value)});
  }
  return command;
}

struct Best {
  double seconds = INFINITY;
  Ended ended;
};

Best best_of(const Tools& tools, const std::vector<std::string>& command) {
  Best best;
  for (uint32_t i = 0; i < tools.repetitions; ++i) {
    Ended ended = run(command, tools.work, tools.limit_seconds);
    if (ended.cpu_seconds >= best.seconds) continue;
    best.seconds = ended.cpu_seconds;
    best.ended = std::move(ended);
  }
  return best;
}

uint64_t candidates_in(const std::string& messages) {
  const size_t begin = messages.find('{');
  if (begin == std::string::npos) return 0;
  const auto trace = nlohmann::json::parse(messages.substr(begin), nullptr, false);
  if (trace.is_discarded() || !trace["searched"]) return 0;
  return trace["steps"].back()["candidates"];
}

// The time, or nothing where there was no answer.
std::optional<double> measure(const Tools& tools, const Family& family, uint32_t size,
                              std::optional<double> before, uint32_t size_before) {
  const Instance instance = family.make(size);
  write_inputs(tools, instance);
  const Best ours = best_of(tools, xlog_command(tools, family.name, instance));
  const bool answered = ours.ended.exit_code == 0 || ours.ended.exit_code == 3;
  fmt::print("{:<12}{:>8}", family.name, size);
  if (!answered) {
    fmt::print("  not done after {:.1f} s: {}\n", ours.seconds, complaint(ours.ended));
    return std::nullopt;
  }
  std::string growth;
  if (before) {
    growth = fmt::format("{:.1f}", std::log(ours.seconds / *before) /
                                       std::log(static_cast<double>(size) / size_before));
  }
  fmt::print("{:>10.2f}{:>8.0f}{:>12}{:>10}{:>8}", ours.seconds, ours.ended.peak_mb,
             candidates_in(ours.ended.messages), ours.ended.exit_code == 0 ? "found" : "none",
             growth);
  if (!tools.eclingo.empty() && fs::exists(tools.programs / "eclingo" / (family.name + ".lp"))) {
    const Best theirs = best_of(tools, eclingo_command(tools, family.name, instance));
    if (theirs.ended.exit_code == kOutOfTime) {
      fmt::print("  eclingo > {} s", tools.limit_seconds);
    } else {
      fmt::print("  eclingo {:.2f} s, {:.0f} MB", theirs.seconds, theirs.ended.peak_mb);
    }
  }
  fmt::print("\n");
  std::fflush(stdout);
  return ours.seconds;
}

bool measure_policies(const std::string& device_name, uint32_t most) {
  fmt::print("-- policies (random ones, each ten times)\n");
  Result<std::unique_ptr<device::Device>> device = device::open_device(device_name);
  if (!device.ok()) {
    fmt::print(stderr, "bench_epistemic: {}\n", device.error().text());
    return false;
  }
  RandomUnits units(**device);
  for (const uint32_t size : {20'000u, 100'000u, 1'000'000u}) {
    if (size <= most) units.measure(size);
  }
  return true;
}

int main_with(const std::vector<std::string>& arguments) {
  Tools tools;
  uint32_t most = UINT32_MAX;
  bool with_large = false;
  std::string device = "cpu";
  std::vector<std::string> wanted;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto number = [&] {
      return i + 1 < arguments.size() ? static_cast<uint32_t>(std::stoul(arguments[++i])) : 0;
    };
    if (arguments[i] == "--repeat") {
      tools.repetitions = std::max(number(), 1u);
    } else if (arguments[i] == "--limit") {
      tools.limit_seconds = number();
    } else if (arguments[i] == "--most") {
      most = number();
    } else if (arguments[i] == "--large") {
      with_large = true;
    } else if (arguments[i] == "--device" && i + 1 < arguments.size()) {
      device = arguments[++i];
    } else {
      wanted.push_back(arguments[i]);
    }
  }
  const fs::path own_folder = own_program().parent_path();
  tools.xlog = xlog_to_use(own_folder);
  tools.programs = programs_above(own_folder);
  if (const char* eclingo = std::getenv("ECLINGO")) tools.eclingo = eclingo;
  if (tools.eclingo.empty()) fmt::print("No eclingo in $ECLINGO: xlog alone.\n");
  std::string temporary = (fs::temp_directory_path() / "xlog_bench.XXXXXX").string();
  if (tools.programs.empty() || mkdtemp(temporary.data()) == nullptr) {
    fmt::print(stderr, "bench_epistemic: no programs, or no folder for inputs\n");
    return 1;
  }
  tools.work = temporary;
  fmt::print("{:<12}{:>8}{:>10}{:>8}{:>12}{:>10}{:>8}\n", "family", "size", "cpu s", "MB",
             "candidates", "view", "growth");
  const auto is_wanted = [&](const std::string& name) {
    return wanted.empty() || std::ranges::any_of(wanted, [&](const std::string& part) {
             return name.find(part) != std::string::npos;
           });
  };
  for (const Family& family : families()) {
    if (!is_wanted(family.name)) continue;
    fmt::print("-- {} ({})\n", family.name, family.measure);
    std::optional<double> before;
    uint32_t size_before = 1;
    std::vector<uint32_t> sizes = family.sizes;
    if (with_large) sizes.insert(sizes.end(), family.large.begin(), family.large.end());
    for (const uint32_t size : sizes) {
      if (size > most) break;
      before = measure(tools, family, size, before, size_before);
      if (!before) break;
      size_before = size;
    }
  }
  fs::remove_all(tools.work);
  return is_wanted("policies") && !measure_policies(device, most) ? 1 : 0;
}

}  // namespace
}  // namespace xlog::bench

int main(int count, char** arguments) {
  return xlog::bench::main_with({arguments + 1, arguments + count});
}
