// A job as text. Numbers are appended by hand: formulas of millions of clauses are printed.
#include <fmt/format.h>

#include <iterator>

#include "base/check.h"
#include "base/text.h"
#include "solve/sir.h"

namespace xlog::solve {
namespace {

class Printer {
 public:
  explicit Printer(std::string& out) : out_(out) {}

  void print(const SirJob& job) {
    put("sir 1 {}\n", name_of(job.kind()));
    std::visit([this](const auto& problem) { print(problem); }, job.problem);
    literals("assume", job.assumptions);
    const SirLimits& limits = job.limits;
    if (limits.conflicts) put("limit conflicts {}\n", *limits.conflicts);
    if (limits.time) {
      put("limit seconds {}.{:03}\n", limits.time->count() / 1000, limits.time->count() % 1000);
    }
    if (limits.memory_bytes) put("limit memory {}\n", *limits.memory_bytes);
    if (job.answer == SirAnswer::Models) {
      put("return models {}\n", job.models);
    } else {
      put("return {}\n", info_of(job.answer).name);
    }
  }

 private:
  template <typename... Arguments>
  void put(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Arguments>(arguments)...);
  }

  void number(int64_t value) {
    out_ += ' ';
    const fmt::format_int text(value);
    out_.append(text.data(), text.size());
  }

  void all(std::span<const Literal> numbers) {
    for (const Literal literal : numbers) number(literal);
  }

  // Nothing where there are none.
  void literals(std::string_view word, std::span<const Literal> numbers) {
    if (numbers.empty()) return;
    out_ += word;
    all(numbers);
    out_ += '\n';
  }

  void clauses(std::string_view word, const Cnf& cnf) {
    for (size_t i = 0; i < cnf.size(); ++i) {
      out_ += word;
      all(cnf[i]);
      out_ += '\n';
    }
  }

  void print(const Cnf& cnf) {
    put("variables {}\n", cnf.variables());
    clauses("clause", cnf);
  }

  void print(const WeightedCnf& formula) {
    put("variables {}\n", formula.variables());
    clauses("hard", formula.hard);
    for (size_t i = 0; i < formula.soft.size(); ++i) {
      put("soft {}", formula.weights[i]);
      all(formula.soft[i]);
      out_ += '\n';
    }
  }

  void print(const GroundProgram& program) {
    put("atoms {}\n", program.atoms());
    for (size_t i = 0; i < program.rules(); ++i) print(program.rule(i));
    for (const Minimize& minimize : program.minimize) {
      put("minimize {}", minimize.priority);
      for (const WeightedLiteral& item : minimize.literals)
        put(" {}={}", item.literal, item.weight);
      out_ += '\n';
    }
    for (const External& external : program.externals) {
      put("external {} {}\n", external.atom, name_of(external.value));
    }
    for (const Shown& shown : program.shown) {
      out_ += "show ";
      quote(shown.text);
      all(shown.condition);
      out_ += '\n';
    }
    if (program.projection) {
      out_ += "project";
      all(*program.projection);
      out_ += '\n';
    }
    literals("assume", program.assumptions);
  }

  void print(const Rule& rule) {
    out_ += rule.head_kind == HeadKind::Choice ? "choice" : "rule";
    all(rule.head);
    if (rule.weighted) {
      put(" <- sum {}", rule.bound);
      for (size_t i = 0; i < rule.body.size(); ++i) put(" {}={}", rule.body[i], rule.weights[i]);
    } else if (!rule.body.empty() || rule.head.empty()) {
      out_ += " <-";
      all(rule.body);
    }
    out_ += '\n';
  }

  void quote(std::string_view text) {
    out_ += '"';
    for (size_t at = 0; at < text.size();) {
      const CodePoint c = decode_utf8(text, at);
      const auto byte = static_cast<unsigned char>(text[at]);
      if (!c.valid || byte < 0x20 || byte == 0x7f) {
        put("\\x{:02x}", byte);
        ++at;
        continue;
      }
      if (byte == '"' || byte == '\\') out_ += '\\';
      out_.append(text, at, c.bytes);
      at += c.bytes;
    }
    out_ += '"';
  }

  std::string& out_;
};

}  // namespace

std::string print_sir(const SirJob& job) {
  XLOG_CHECK(job.kind() != SirKind::Stable || job.assumptions.empty(),
             "a program holds its assumptions itself");
  std::string text;
  Printer(text).print(job);
  return text;
}

}  // namespace xlog::solve
