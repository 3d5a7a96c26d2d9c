// Text to a job, line by line.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/diagnostic.h"
#include "base/memory.h"
#include "base/text.h"
#include "solve/sir.h"

namespace xlog::solve {
namespace {

constexpr int64_t kMostSeconds = 1'000'000'000;  // thirty years
constexpr std::string_view kArrow = "<-";

struct Word {
  std::string text;
  bool quoted = false;
};

// Parses one job. Functions that read give false after they have set the error.
class Parser {
 public:
  Parser(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  Result<SirJob> parse() {
    bool begun = false;
    for (size_t begin = 0; begin < text_.size();) {
      const size_t end = std::min(text_.find('\n', begin), text_.size());
      ++line_;
      if (!split(text_.substr(begin, end - begin))) return *error_;
      begin = end + 1;
      if (words_.empty()) continue;
      if (!(begun ? statement() : header())) return *error_;
      begun = true;
    }
    if (!begun) {
      fail("a job without its first line",
           "a job begins with `sir 1 sat`, `sir 1 maxsat` or `sir 1 stable`");
      return *error_;
    }
    return std::move(job_);
  }

 private:
  bool fail(std::string_view what, std::string help = "") {
    error_ =
        Error{fmt::format("{}:{}: {}", name_, std::max<size_t>(line_, 1), what), std::move(help)};
    return false;
  }

  // ---- words ----

  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

  bool split(std::string_view line) {
    words_.clear();
    next_ = 0;
    for (size_t at = 0; at < line.size();) {
      if (is_space(line[at])) {
        ++at;
      } else if (line[at] == '#') {
        break;
      } else if (line[at] == '"') {
        if (!quoted(line, at)) return false;
      } else {
        const size_t begin = at;
        while (at < line.size() && !is_space(line[at]) && line[at] != '#' && line[at] != '"') ++at;
        words_.push_back({std::string(line.substr(begin, at - begin)), false});
      }
    }
    return true;
  }

  bool quoted(std::string_view line, size_t& at) {
    Word word{"", true};
    for (++at; at < line.size() && line[at] != '"'; ++at) {
      if (line[at] != '\\') {
        word.text += line[at];
        continue;
      }
      const char escape = ++at < line.size() ? line[at] : '\0';
      unsigned byte = 0;
      if (escape == '"' || escape == '\\') {
        word.text += escape;
      } else if (escape == 'x' && at + 2 < line.size() &&
                 std::from_chars(&line[at + 1], &line[at + 1] + 2, byte, 16).ptr ==
                     &line[at + 1] + 2) {
        word.text += static_cast<char>(byte);
        at += 2;
      } else {
        return fail("an unknown escape in a string", R"(strings know \", \\ and \xHH)");
      }
    }
    if (at == line.size()) return fail("a string without its closing quote");
    ++at;
    words_.push_back(std::move(word));
    return true;
  }

  bool at_end() const { return next_ == words_.size(); }
  bool at_word(std::string_view text) const {
    return !at_end() && !words_[next_].quoted && words_[next_].text == text;
  }
  std::string shown_word() const {
    return at_end() ? "the end of the line" : fmt::format("`{}`", printable(words_[next_].text));
  }
  bool expect_end() {
    if (at_end()) return true;
    return fail(fmt::format("nothing more was expected, but here is {}", shown_word()));
  }

  // A whole number in all of `text`.
  template <typename Number>
  static bool convert(std::string_view text, Number& value) {
    const char* end = text.data() + text.size();
    const auto [stop, code] = std::from_chars(text.data(), end, value);
    return code == std::errc() && stop == end;
  }

  template <typename Number>
  bool number(Number& value, std::string_view what, Number least, Number most) {
    if (at_end() || words_[next_].quoted || !convert(words_[next_].text, value) || value < least ||
        value > most) {
      return fail(fmt::format("expected {}, but here is {}", what, shown_word()),
                  fmt::format("a number from {} to {}", least, most));
    }
    ++next_;
    return true;
  }

  int32_t most_variables() const {
    return job_.kind() == SirKind::Stable ? kMostAtoms : kMostVariables;
  }

  bool check_literal(Literal literal, std::string_view word) {
    if (literal != 0 && literal >= -most_variables() && literal <= most_variables()) return true;
    return fail(
        fmt::format("`{}` is no literal", printable(word)),
        fmt::format("a literal is a number from 1 to {}, or its negative", most_variables()));
  }

  // To the end of the line, or to an arrow.
  bool literals(std::vector<Literal>& list) {
    for (; !at_end() && !at_word(kArrow); ++next_) {
      const Word& word = words_[next_];
      Literal literal = 0;
      if (word.quoted || !convert(word.text, literal)) literal = 0;
      if (!check_literal(literal, word.text)) return false;
      list.push_back(literal);
    }
    return true;
  }

  bool atoms(std::vector<Atom>& list) {
    if (!literals(list)) return false;
    for (const Atom atom : list) {
      if (atom < 0) return fail(fmt::format("`{}` is no atom", atom), "only bodies hold negations");
    }
    return true;
  }

  // `literal=weight` to the end of the line.
  bool weighted_literals(std::vector<WeightedLiteral>& list) {
    for (; !at_end(); ++next_) {
      const Word& word = words_[next_];
      const size_t equals = word.text.find('=');
      WeightedLiteral item;
      if (word.quoted || equals == std::string::npos ||
          !convert(std::string_view(word.text).substr(0, equals), item.literal) ||
          !convert(std::string_view(word.text).substr(equals + 1), item.weight)) {
        return fail(fmt::format("expected literals with weights, but here is {}", shown_word()),
                    "write `3=2` for literal 3 of weight 2; weights have 64 bits with their sign");
      }
      if (!check_literal(item.literal, word.text)) return false;
      list.push_back(item);
    }
    return true;
  }

  // ---- statements ----

  bool header() {
    if (words_.size() == 3 && at_word("sir") && words_[1].text == "1") {
      const std::string& kind = words_[2].text;
      if (kind == name_of(SirKind::Sat)) return true;
      if (kind == name_of(SirKind::Maxsat)) return job_.problem.emplace<WeightedCnf>(), true;
      if (kind == name_of(SirKind::Stable)) return job_.problem.emplace<GroundProgram>(), true;
    }
    return fail("this is no first line of a job",
                "a job begins with `sir 1 sat`, `sir 1 maxsat` or `sir 1 stable`");
  }

  struct Statement {
    std::string_view word;
    bool of_kind[3];  // by SirKind
    bool (Parser::*parse)();
  };

  bool statement() {
    static constexpr Statement kStatements[] = {
        {"variables", {true, true, false}, &Parser::variables},
        {"clause", {true, false, false}, &Parser::clause},
        {"hard", {false, true, false}, &Parser::hard},
        {"soft", {false, true, false}, &Parser::soft},
        {"atoms", {false, false, true}, &Parser::atom_count},
        {"rule", {false, false, true}, &Parser::rule},
        {"choice", {false, false, true}, &Parser::choice},
        {"minimize", {false, false, true}, &Parser::minimize},
        {"external", {false, false, true}, &Parser::external},
        {"show", {false, false, true}, &Parser::show},
        {"project", {false, false, true}, &Parser::project},
        {"assume", {true, true, true}, &Parser::assume},
        {"limit", {true, true, true}, &Parser::limit},
        {"return", {true, true, true}, &Parser::answer},
    };
    std::vector<std::string_view> known;
    for (const Statement& statement : kStatements) {
      if (!statement.of_kind[job_.problem.index()]) continue;
      known.push_back(statement.word);
      if (!at_word(statement.word)) continue;
      ++next_;
      return (this->*statement.parse)() && expect_end();
    }
    const std::optional<std::string> near = did_you_mean(words_[0].text, known);
    return fail(fmt::format("a {} job has no statement {}", name_of(job_.kind()), shown_word()),
                near ? fmt::format("did you mean `{}`?", *near)
                     : fmt::format("its statements are {}", fmt::join(known, ", ")));
  }

  GroundProgram& program() { return std::get<GroundProgram>(job_.problem); }
  WeightedCnf& weighted() { return std::get<WeightedCnf>(job_.problem); }

  bool variables() {
    int32_t count = 0;
    if (!number(count, "the number of variables", 0, kMostVariables)) return false;
    if (job_.kind() == SirKind::Sat) {
      std::get<Cnf>(job_.problem).need_variables(count);
    } else {
      weighted().hard.need_variables(count);
    }
    return true;
  }

  bool clause() { return add_clause(std::get<Cnf>(job_.problem)); }
  bool hard() { return add_clause(weighted().hard); }

  bool soft() {
    uint64_t weight = 0;
    if (!number(weight, "a weight", uint64_t{0}, UINT64_MAX)) return false;
    if (weight > UINT64_MAX - weight_sum_) {
      return fail("the sum of the weights does not fit in 64 bits", "scale the weights down");
    }
    weight_sum_ += weight;
    if (!add_clause(weighted().soft)) return false;
    weighted().weights.push_back(weight);
    return true;
  }

  bool add_clause(Cnf& cnf) {
    numbers_.clear();
    if (!literals(numbers_)) return false;
    cnf.add(numbers_);
    return true;
  }

  bool atom_count() {
    int32_t count = 0;
    if (!number(count, "the number of atoms", 0, kMostAtoms)) return false;
    program().need_atoms(count);
    return true;
  }

  bool rule() { return add_rule(HeadKind::Disjunction); }
  bool choice() { return add_rule(HeadKind::Choice); }

  bool add_rule(HeadKind kind) {
    std::vector<Atom> head;
    if (!atoms(head)) return false;
    std::vector<Literal> body;
    if (at_word(kArrow)) {
      ++next_;
      if (at_word("sum")) return add_weight_rule(kind, head);
      if (!literals(body)) return false;
    } else if (head.empty()) {
      return fail("a rule without head and body", "a constraint has an arrow: `rule <- 1 -2`");
    }
    program().add_rule(kind, head, body);
    return true;
  }

  bool add_weight_rule(HeadKind kind, const std::vector<Atom>& head) {
    ++next_;
    int64_t bound = 0;
    std::vector<WeightedLiteral> items;
    if (!number(bound, "the bound of a sum", INT64_MIN, INT64_MAX)) return false;
    if (!weighted_literals(items)) return false;
    std::vector<Literal> body;
    std::vector<int64_t> weights;
    int64_t left = INT64_MAX;
    for (const WeightedLiteral& item : items) {
      if (item.weight <= 0) return fail("weights in a body are positive");
      if (item.weight > left) return fail("the sum of the weights does not fit in 63 bits");
      left -= item.weight;
      body.push_back(item.literal);
      weights.push_back(item.weight);
    }
    program().add_weight_rule(kind, head, bound, body, weights);
    return true;
  }

  // Atoms that only other statements name are atoms too.
  void know(Literal literal) { program().need_atoms(variable_of(literal)); }

  bool minimize() {
    Minimize& statement = program().minimize.emplace_back();
    if (!number(statement.priority, "a priority", INT64_MIN, INT64_MAX)) return false;
    if (!weighted_literals(statement.literals)) return false;
    for (const WeightedLiteral& item : statement.literals) know(item.literal);
    return true;
  }

  bool external() {
    External item;
    if (!number(item.atom, "an atom", 1, kMostAtoms)) return false;
    for (const ExternalValue value :
         {ExternalValue::Free, ExternalValue::True, ExternalValue::False, ExternalValue::Release}) {
      if (!at_word(name_of(value))) continue;
      ++next_;
      item.value = value;
      know(item.atom);
      program().externals.push_back(item);
      return true;
    }
    return fail(fmt::format("expected a value, but here is {}", shown_word()),
                "an external atom is free, true, false or release");
  }

  bool show() {
    if (at_end() || !words_[next_].quoted) {
      return fail(fmt::format("expected a text in quotes, but here is {}", shown_word()));
    }
    Shown item;
    item.text = words_[next_++].text;
    if (!literals(item.condition)) return false;
    for (const Literal literal : item.condition) know(literal);
    program().shown.push_back(std::move(item));
    return true;
  }

  bool project() {
    std::vector<Atom> list;
    if (!atoms(list)) return false;
    for (const Atom atom : list) know(atom);
    std::optional<std::vector<Atom>>& projection = program().projection;
    if (!projection) projection.emplace();
    projection->insert(projection->end(), list.begin(), list.end());
    return true;
  }

  bool assume() {
    numbers_.clear();
    if (!literals(numbers_)) return false;
    std::vector<Literal>& list =
        job_.kind() == SirKind::Stable ? program().assumptions : job_.assumptions;
    list.insert(list.end(), numbers_.begin(), numbers_.end());
    if (job_.kind() == SirKind::Stable) {
      for (const Literal literal : numbers_) know(literal);
    }
    return true;
  }

  bool limit() {
    SirLimits& limits = job_.limits;
    if (at_word("conflicts") && !limits.conflicts) {
      ++next_;
      return number(limits.conflicts.emplace(), "a number of conflicts", uint64_t{0}, UINT64_MAX);
    }
    if (at_word("seconds") && !limits.time) {
      ++next_;
      return seconds();
    }
    if (at_word("memory") && !limits.memory_bytes) {
      ++next_;
      if (!at_end()) limits.memory_bytes = parse_size(words_[next_].text);
      if (!limits.memory_bytes) {
        return fail(fmt::format("expected a size, but here is {}", shown_word()),
                    "bytes, or a number with a unit: 500M, 1.5G");
      }
      ++next_;
      return true;
    }
    return fail(fmt::format("expected a limit not given before, but here is {}", shown_word()),
                "limits are conflicts, seconds and memory, each once");
  }

  bool seconds() {
    const std::string text = at_end() ? "" : words_[next_].text;
    const size_t point = std::min(text.find('.'), text.size());
    std::string fraction = text.substr(std::min(point + 1, text.size()));
    const bool three_digits = fraction.size() <= 3 && (point == text.size() || !fraction.empty());
    fraction.resize(3, '0');
    int64_t whole = 0;
    int64_t thousandths = 0;
    if (!three_digits || text.starts_with('-') || fraction.starts_with('-') ||
        !convert(std::string_view(text).substr(0, point), whole) ||
        !convert(std::string_view(fraction), thousandths) || whole > kMostSeconds) {
      return fail(
          fmt::format("expected seconds, but here is {}", shown_word()),
          fmt::format("a number up to {} with at most three digits after the point", kMostSeconds));
    }
    ++next_;
    job_.limits.time = std::chrono::milliseconds(whole * 1000 + thousandths);
    return true;
  }

  std::string answers() const {
    std::vector<std::string_view> names;
    for (size_t i = 0; i <= static_cast<size_t>(SirAnswer::Proof); ++i) {
      const SirAnswerInfo& info = info_of(static_cast<SirAnswer>(i));
      if (info.of_kind[job_.problem.index()]) names.push_back(info.name);
    }
    return fmt::format("{}", fmt::join(names, ", "));
  }

  bool answer() {
    if (answered_) return fail("what to return is said twice");
    answered_ = true;
    for (size_t i = 0; i <= static_cast<size_t>(SirAnswer::Proof); ++i) {
      const SirAnswerInfo& info = info_of(static_cast<SirAnswer>(i));
      if (!info.of_kind[job_.problem.index()] || !at_word(info.name)) continue;
      ++next_;
      job_.answer = info.answer;
      if (info.answer != SirAnswer::Models) return true;
      return number(job_.models, "how many models, 0 for all", uint64_t{0}, UINT64_MAX);
    }
    return fail(fmt::format("a {} job cannot return {}", name_of(job_.kind()), shown_word()),
                fmt::format("it returns {}", answers()));
  }

  std::string_view text_;
  std::string_view name_;
  size_t line_ = 0;
  std::vector<Word> words_;
  size_t next_ = 0;  // the word to read
  SirJob job_;
  uint64_t weight_sum_ = 0;
  bool answered_ = false;
  std::vector<Literal> numbers_;
  std::optional<Error> error_;
};

}  // namespace

Result<SirJob> parse_sir(std::string_view text, std::string_view name) {
  return Parser(text, name).parse();
}

}  // namespace xlog::solve
