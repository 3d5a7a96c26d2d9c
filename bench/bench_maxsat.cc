// Weighted MaxSAT by family, beside z3 where it is installed and any other MaxSAT solver that reads
// WDIMACS and prints `o COST` and `s OPTIMUM FOUND`, named by XLOG_MAXSAT_SOLVER. Where two have
// proved an optimum, the costs must be equal. Times are seconds on the wall; theirs count the start
// of the process and reading, ours does not, a few milliseconds here.
//
//   bench_maxsat [seconds [name]]    the limit for each (default 10), instances whose name holds it
//   XLOG_MAXSAT_SOLVER=/path/to/open-wbo bench_maxsat 60

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "generate_weighted.h"
#include "solve/maxsat.h"

namespace {

namespace bench = xlog::bench;
namespace solve = xlog::solve;
using Clock = std::chrono::steady_clock;

struct Answer {
  double seconds = 0;
  std::optional<uint64_t> optimum;  // none: not proved in time
};

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::string run(const std::string& command) {
  std::FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
  std::string text;
  char part[4096];
  for (size_t n = 0; (n = std::fread(part, 1, sizeof part, pipe)) > 0;) text.append(part, n);
  pclose(pipe);
  return text;
}

void write_wdimacs(const solve::WeightedCnf& formula, const std::string& path) {
  uint64_t top = 1;
  for (const uint64_t weight : formula.weights) top += weight;
  std::ofstream out(path);
  out << "p wcnf " << formula.variables() << ' ' << formula.hard.size() + formula.soft.size() << ' '
      << top << '\n';
  const auto clauses = [&](const solve::Cnf& cnf, const auto& weight_of) {
    for (size_t i = 0; i < cnf.size(); ++i) {
      out << weight_of(i) << ' ';
      for (const solve::Literal literal : cnf[i]) out << literal << ' ';
      out << "0\n";
    }
  };
  clauses(formula.hard, [&](size_t) { return top; });
  clauses(formula.soft, [&](size_t i) { return formula.weights[i]; });
}

void write_smt2(const solve::WeightedCnf& formula, const std::string& path) {
  std::ofstream out(path);
  const auto clause = [&](std::span<const solve::Literal> literals) {
    out << "(or false";
    for (const solve::Literal literal : literals) {
      if (literal > 0) out << " x" << literal;
      if (literal < 0) out << " (not x" << -literal << ')';
    }
    out << ')';
  };
  for (int32_t v = 1; v <= formula.variables(); ++v) out << "(declare-const x" << v << " Bool)\n";
  for (size_t i = 0; i < formula.hard.size(); ++i) {
    out << "(assert ";
    clause(formula.hard[i]);
    out << ")\n";
  }
  for (size_t i = 0; i < formula.soft.size(); ++i) {
    out << "(assert-soft ";
    clause(formula.soft[i]);
    out << " :weight " << formula.weights[i] << ")\n";
  }
  out << "(check-sat)\n(get-objectives)\n";
}

Answer ours(const solve::WeightedCnf& formula, double limit) {
  const Clock::time_point begin = Clock::now();
  solve::Limits limits;
  limits.deadline = begin + std::chrono::milliseconds(static_cast<int64_t>(limit * 1000));
  const solve::MaxsatResult result = solve::solve_maxsat(formula, limits);
  Answer answer{seconds_since(begin), std::nullopt};
  if (result.outcome == solve::Outcome::Optimal) answer.optimum = result.cost;
  return answer;
}

Answer z3(const solve::WeightedCnf& formula, double limit, const std::string& scratch) {
  write_smt2(formula, scratch);
  const Clock::time_point begin = Clock::now();
  const std::string text = run(fmt::format("timeout {} z3 {}", limit, scratch));
  Answer answer{seconds_since(begin), std::nullopt};
  const size_t digits = text.find_first_of("0123456789");
  if (text.starts_with("sat") && digits != std::string::npos) {
    answer.optimum = std::strtoull(text.c_str() + digits, nullptr, 10);
  }
  return answer;
}

Answer other(const std::string& solver, const solve::WeightedCnf& formula, double limit,
             const std::string& scratch) {
  write_wdimacs(formula, scratch);
  const Clock::time_point begin = Clock::now();
  const std::string text = "\n" + run(fmt::format("timeout {} {} {}", limit, solver, scratch));
  Answer answer{seconds_since(begin), std::nullopt};
  const size_t last = text.rfind("\no ");
  if (text.find("\ns OPTIMUM FOUND") != std::string::npos && last != std::string::npos) {
    answer.optimum = std::strtoull(text.c_str() + last + 3, nullptr, 10);
  }
  return answer;
}

std::string shown(const std::optional<Answer>& answer) {
  if (!answer) return "-";
  return answer->optimum ? fmt::format("{:.3f}", answer->seconds) : "no time left";
}

}  // namespace

int main(int argc, char** argv) {
  const double limit = argc > 1 ? std::atof(argv[1]) : 10;
  const std::string wanted = argc > 2 ? argv[2] : "";
  if (limit <= 0) {
    std::fprintf(stderr, "usage: bench_maxsat [seconds [name]]\n");
    return 2;
  }
  const char* solver = std::getenv("XLOG_MAXSAT_SOLVER");
  const bool has_z3 = std::system("z3 --version >/dev/null 2>&1") == 0;
  const std::string scratch =
      std::filesystem::temp_directory_path() / fmt::format("bench_maxsat_{}", getpid());
  bool agree = true;
  fmt::print("{:<18} {:>6} {:>6} {:>6} {:>10} {:>14} {:>14} {:>14}\n", "instance", "vars", "hard",
             "soft", "optimum", "xlog", "z3", "other");
  for (const auto& [name, formula] : bench::weighted_families()) {
    if (name.find(wanted) == std::string::npos) continue;
    const Answer mine = ours(formula, limit);
    std::optional<Answer> peers[2];
    if (has_z3) peers[0] = z3(formula, limit, scratch);
    if (solver != nullptr) peers[1] = other(solver, formula, limit, scratch);
    fmt::print("{:<18} {:>6} {:>6} {:>6} {:>10} {:>14} {:>14} {:>14}\n", name, formula.variables(),
               formula.hard.size(), formula.soft.size(),
               mine.optimum ? fmt::format("{}", *mine.optimum) : "-", shown(mine), shown(peers[0]),
               shown(peers[1]));
    std::fflush(stdout);
    for (const std::optional<Answer>& peer : peers) {
      if (!peer || !peer->optimum || !mine.optimum || *peer->optimum == *mine.optimum) continue;
      fmt::print("  another optimum there: {}\n", *peer->optimum);
      agree = false;
    }
  }
  std::filesystem::remove(scratch);
  return agree ? 0 : 1;
}
