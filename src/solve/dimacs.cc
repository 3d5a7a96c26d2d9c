#include "solve/dimacs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"

namespace xlog::solve {
namespace {

constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Reader {
 public:
  Reader(std::string_view text, std::string_view file)
      : text_(text), file_(file), at_(text.data()), end_(text.data() + text.size()) {}

  Result<Cnf> cnf() {
    Cnf cnf;
    if (!read_cnf(cnf)) return *error_;
    return cnf;
  }

  Result<WeightedCnf> weighted() {
    WeightedCnf cnf;
    if (!(skip() && *at_ == 'p' ? read_old(cnf) : read_new(cnf))) return *error_;
    cnf.hard.need_variables(cnf.soft.variables());
    return cnf;
  }

 private:
  bool fail(const char* at, std::string_view message, std::string help) {
    const auto line = 1 + std::count(text_.data(), at, '\n');
    error_ = Error{fmt::format("{}:{}: {}", file_, line, message), std::move(help)};
    return false;
  }

  // To the next word. False at the end of the text.
  bool skip() {
    for (;;) {
      while (at_ != end_ && is_space(*at_)) ++at_;
      if (at_ == end_) return false;
      if (*at_ != 'c' || !first_of_line()) return true;
      at_ = std::find(at_, end_, '\n');
    }
  }

  bool first_of_line() const {
    const char* before = at_;
    while (before != text_.data() && (before[-1] == ' ' || before[-1] == '\t')) --before;
    return before == text_.data() || before[-1] == '\n';
  }

  // As errors show it.
  std::string word() const {
    const char* stop = std::find_if(at_, end_, is_space);
    constexpr ptrdiff_t kShown = 40;
    const bool cut = stop - at_ > kShown;
    return printable(std::string_view(at_, static_cast<size_t>(cut ? kShown : stop - at_))) +
           (cut ? "..." : "");
  }

  bool word_ends_at(const char* at) const { return at == end_ || is_space(*at); }

  bool take_word(std::string_view wanted) {
    const std::string_view rest(at_, static_cast<size_t>(end_ - at_));
    if (!rest.starts_with(wanted) || !word_ends_at(at_ + wanted.size())) return false;
    at_ += wanted.size();
    return true;
  }

  // A number without a sign. `what` is what it would be: "weight".
  bool read_number(std::string_view what, uint64_t& number) {
    if (!skip()) {
      return fail(end_, fmt::format("the text ends where a {} should be", what),
                  "is the file complete?");
    }
    const auto [stop, problem] = std::from_chars(at_, end_, number);
    if (problem == std::errc::result_out_of_range) {
      return fail(at_, fmt::format("the {} {} is past 64 bits", what, word()),
                  fmt::format("the largest is {}", UINT64_MAX));
    }
    if (problem != std::errc() || !word_ends_at(stop)) {
      return fail(at_, fmt::format("`{}` where a {} should be", word(), what),
                  "write a whole number that is not negative");
    }
    at_ = stop;
    return true;
  }

  bool read_literal(Literal& literal) {
    const char* at = at_;
    const bool negative = *at == '-';
    at += negative ? 1 : 0;
    const char* const digits = at;
    uint64_t number = 0;
    for (; at != end_ && is_digit(*at); ++at) {
      number = number * 10 + static_cast<uint64_t>(*at - '0');
      if (number > variables_) return literal_too_large();
    }
    if (at == digits || !word_ends_at(at) || (negative && number == 0)) {
      return fail(at_, fmt::format("`{}` where a literal or 0 should be", word()),
                  "a clause is literals such as 3 and -3, then 0");
    }
    literal = negative ? -static_cast<Literal>(number) : static_cast<Literal>(number);
    at_ = at;
    return true;
  }

  bool literal_too_large() {
    if (variables_ == kMostVariables) {
      return fail(at_, fmt::format("`{}` is no literal that can be solved for", word()),
                  fmt::format("variables count from 1 to {}", kMostVariables));
    }
    return fail(
        at_,
        fmt::format("literal `{}` is beyond the {} variables of the header", word(), variables_),
        "correct the literal, or raise the first number of the header");
  }

  // Into clause_.
  bool read_clause() {
    clause_.clear();
    const char* const begin = at_;
    for (;;) {
      Literal literal = 0;
      if (!skip()) {
        return fail(begin, "the clause that begins here does not end with 0",
                    "end it with 0; is the file complete?");
      }
      if (!read_literal(literal)) return false;
      if (literal == 0) return true;
      clause_.push_back(literal);
    }
  }

  // "p cnf 3 2", with `p` next.
  bool read_header(std::string_view format, std::string_view other_format) {
    const char* const begin = at_;
    if (!take_word("p") || !skip() || !take_word(format)) {
      if (at_ != begin && at_ != end_ && take_word(other_format)) {
        return fail(begin, fmt::format("this is a formula in the form `{}`", other_format),
                    fmt::format("read it as {}", other_format));
      }
      return fail(begin, "the header cannot be read",
                  fmt::format("write it as `p {} VARIABLES CLAUSES`", format));
    }
    uint64_t variables = 0;
    if (!read_number("number of variables", variables)) return false;
    if (variables > static_cast<uint64_t>(kMostVariables)) {
      return fail(begin, fmt::format("{} variables are more than can be solved for", variables),
                  fmt::format("at most {} have a number", kMostVariables));
    }
    variables_ = variables;
    if (!read_number("number of clauses", clauses_)) return false;
    if (std::find(begin, at_, '\n') == at_) return true;
    return fail(begin, "the header goes on in another line",
                fmt::format("write it as `p {} VARIABLES CLAUSES`", format));
  }

  bool count_clause(const char* begin) {
    if (++seen_ <= clauses_) return true;
    return fail(begin, fmt::format("a clause more than the {} of the header", clauses_),
                "correct the last number of clauses in the header, or take the clause out");
  }

  bool check_count() {
    if (seen_ == clauses_) return true;
    return fail(end_, fmt::format("{} clauses where the header says {}", seen_, clauses_),
                "correct the header; is the file complete?");
  }

  bool read_cnf(Cnf& cnf) {
    if (!skip()) {
      return fail(end_, "there is no formula", "begin with `p cnf VARIABLES CLAUSES`");
    }
    if (*at_ != 'p') {
      return fail(at_, fmt::format("`{}` where the header should be", word()),
                  "begin with `p cnf VARIABLES CLAUSES`");
    }
    if (!read_header("cnf", "wcnf")) return false;
    cnf.need_variables(static_cast<int32_t>(variables_));
    while (skip() && *at_ != '%') {
      const char* const begin = at_;
      if (!read_clause() || !count_clause(begin)) return false;
      cnf.add(clause_);
    }
    return check_count();
  }

  bool add_soft(WeightedCnf& cnf, uint64_t weight, const char* begin) {
    if (weight > UINT64_MAX - total_) {
      return fail(begin, "the weights of the soft clauses add up to more than 64 bits hold",
                  "divide all weights by a common number");
    }
    total_ += weight;
    if (weight == 0) {
      for (const Literal literal : clause_) cnf.hard.need_variables(variable_of(literal));
      return true;
    }
    cnf.soft.add(clause_);
    cnf.weights.push_back(weight);
    return true;
  }

  bool read_old(WeightedCnf& cnf) {
    if (!read_header("wcnf", "cnf")) return false;
    uint64_t top = 0;
    while (at_ != end_ && *at_ != '\n' && is_space(*at_)) ++at_;
    const bool has_top = at_ != end_ && *at_ != '\n';
    if (has_top && !read_number("weight of hard clauses", top)) return false;
    cnf.hard.need_variables(static_cast<int32_t>(variables_));
    while (skip()) {
      const char* const begin = at_;
      uint64_t weight = 0;
      if (!read_number("weight", weight) || !read_clause() || !count_clause(begin)) return false;
      if (has_top && weight >= top) {
        cnf.hard.add(clause_);
      } else if (!add_soft(cnf, weight, begin)) {
        return false;
      }
    }
    return check_count();
  }

  bool read_new(WeightedCnf& cnf) {
    variables_ = kMostVariables;
    while (skip()) {
      const char* const begin = at_;
      if (take_word("h")) {
        if (!read_clause()) return false;
        cnf.hard.add(clause_);
        continue;
      }
      if (!is_digit(*at_)) {
        return fail(at_, fmt::format("`{}` where a clause should begin", word()),
                    "a hard clause begins with h, a soft one with its weight");
      }
      uint64_t weight = 0;
      if (!read_number("weight", weight) || !read_clause() || !add_soft(cnf, weight, begin)) {
        return false;
      }
    }
    return true;
  }

  std::string_view text_;
  std::string_view file_;
  const char* at_;
  const char* end_;
  uint64_t variables_ = 0;  // the most that a literal may name
  uint64_t clauses_ = 0;    // of the header
  uint64_t seen_ = 0;
  uint64_t total_ = 0;  // of the soft clauses' weights
  std::vector<Literal> clause_;
  std::optional<Error> error_;
};

template <typename Number>
void append_number(std::string& out, Number number) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

void append_clause(std::string& out, std::span<const Literal> clause) {
  for (const Literal literal : clause) {
    append_number(out, literal);
    out += ' ';
  }
  out += "0\n";
}

}  // namespace

Result<Cnf> read_cnf(std::string_view text, std::string_view file) {
  return Reader(text, file).cnf();
}

Result<WeightedCnf> read_weighted_cnf(std::string_view text, std::string_view file) {
  return Reader(text, file).weighted();
}

std::string cnf_text(const Cnf& cnf) {
  std::string out = fmt::format("p cnf {} {}\n", cnf.variables(), cnf.size());
  for (size_t i = 0; i < cnf.size(); ++i) append_clause(out, cnf[i]);
  return out;
}

std::string weighted_cnf_text(const WeightedCnf& cnf) {
  std::string out;
  for (size_t i = 0; i < cnf.hard.size(); ++i) {
    out += "h ";
    append_clause(out, cnf.hard[i]);
  }
  for (size_t i = 0; i < cnf.soft.size(); ++i) {
    append_number(out, cnf.weights[i]);
    out += ' ';
    append_clause(out, cnf.soft[i]);
  }
  return out;
}

Result<std::string> old_weighted_cnf_text(const WeightedCnf& cnf) {
  uint64_t most = 0, total = 0;
  for (const uint64_t weight : cnf.weights) {
    most = std::max(most, weight);
    total += weight;
  }
  if (most == UINT64_MAX) {
    return Error{"a soft clause has the largest weight of 64 bits",
                 "write the form of 2022, where hard clauses have no weight"};
  }
  // Readers of that form expect more than all soft clauses together cost, where there is room.
  const uint64_t top = (total == UINT64_MAX ? most : total) + 1;
  std::string out =
      fmt::format("p wcnf {} {} {}\n", cnf.variables(), cnf.hard.size() + cnf.soft.size(), top);
  const auto append = [&out](uint64_t weight, std::span<const Literal> clause) {
    append_number(out, weight);
    out += ' ';
    append_clause(out, clause);
  };
  for (size_t i = 0; i < cnf.hard.size(); ++i) append(top, cnf.hard[i]);
  for (size_t i = 0; i < cnf.soft.size(); ++i) append(cnf.weights[i], cnf.soft[i]);
  return out;
}

}  // namespace xlog::solve
