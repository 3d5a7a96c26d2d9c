#include "solve/aspif.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/text.h"

namespace xlog::solve {
namespace {

enum Statement : int64_t {
  kEnd = 0,
  kRule = 1,
  kMinimize = 2,
  kProject = 3,
  kOutput = 4,
  kExternal = 5,
  kAssume = 6,
  kHeuristic = 7,
  kEdge = 8,
  kTheory = 9,
  kComment = 10,
};

class Reader {
 public:
  Reader(std::string_view text, std::string_view file_name) : text_(text), file_name_(file_name) {}

  Result<AspifText> read() {
    if (!header()) return error_;
    for (;;) {
      if (at_ == text_.size()) {
        fail("the text ends without the line `0`", "it may have been cut off");
        return error_;
      }
      int64_t kind = 0;
      if (!number(kind, "a statement, which starts with its number")) return error_;
      if (kind == kEnd) break;
      if (!statement(kind)) return error_;
    }
    if (!end_of_line()) return error_;
    if (text_.find_first_not_of(" \t\r\n", at_) != std::string_view::npos) {
      fail("text after the line `0`",
           "programs in several steps cannot be read; ground all at once");
      return error_;
    }
    if (heuristics_ > 0) {
      result_.notes.push_back(fmt::format(
          "{} heuristic statements were left out; they do not change the models", heuristics_));
    }
    return std::move(result_);
  }

 private:
  // Always false, so that what failed can say `return fail(...)`.
  bool fail(std::string message, std::string help = "") {
    error_ = {fmt::format("{}:{}: {}", file_name_, line_, message), std::move(help)};
    return false;
  }

  std::string here() const {
    const size_t end = std::min(text_.find_first_of(" \t\r\n", at_), text_.size());
    if (end == at_) return "the line ends";
    return fmt::format("found `{}`", printable(text_.substr(at_, std::min<size_t>(end - at_, 40))));
  }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool number(int64_t& value, std::string_view what) {
    skip_spaces();
    const char* begin = text_.data() + at_;
    const char* end = text_.data() + text_.size();
    const auto [stop, error] = std::from_chars(begin, end, value);
    const bool ends = stop == end || *stop == ' ' || *stop == '\n' || *stop == '\r';
    if (error == std::errc::result_out_of_range) {
      return fail(fmt::format("expected {}, {}: it does not fit in 64 bits", what, here()));
    }
    if (error != std::errc() || !ends) return fail(fmt::format("expected {}, {}", what, here()));
    at_ += static_cast<size_t>(stop - begin);
    return true;
  }

  bool number_within(int64_t& value, int64_t least, int64_t most, std::string_view what) {
    if (!number(value, what)) return false;
    if (value >= least && value <= most) return true;
    return fail(fmt::format("expected {}, found {}", what, value));
  }

  bool end_of_line() {
    skip_spaces();
    if (at_ < text_.size() && text_[at_] == '\r') ++at_;
    if (at_ == text_.size()) return true;
    if (text_[at_] != '\n') return fail(fmt::format("expected the end of the line, {}", here()));
    ++at_;
    ++line_;
    return true;
  }

  bool header() {
    const size_t end = std::min(text_.find('\n'), text_.size());
    std::string_view first = text_.substr(0, end);
    while (first.ends_with('\r') || first.ends_with(' ')) first.remove_suffix(1);
    if (!first.starts_with("asp ")) {
      return fail("a ground program starts with `asp 1 0 0`",
                  "write the ground text with `gringo FILE > ground.lp`");
    }
    if (first.find("incremental") != std::string_view::npos) {
      return fail("the program is in several steps (incremental)", "ground all of it at once");
    }
    if (!first.starts_with("asp 1 ")) {
      return fail(fmt::format("`{}`: only version 1 of the format can be read", printable(first)));
    }
    at_ = end;
    return end_of_line();
  }

  // Atoms must be in proportion to the text: a large number alone would cost memory.
  bool atom(int64_t& value, std::string_view what) {
    if (!number(value, what)) return false;
    const auto most =
        std::min<int64_t>(kMostAtoms, 64 * (static_cast<int64_t>(text_.size()) + 1024));
    if (value >= 1 && value <= most) return true;
    return fail(fmt::format("expected {}, found {}; atoms here are 1 to {}", what, value, most));
  }

  bool literal(Literal& out, std::string_view what) {
    skip_spaces();
    const bool negative = at_ < text_.size() && text_[at_] == '-';
    if (negative) ++at_;
    int64_t value = 0;
    if (!atom(value, what)) return false;
    out = static_cast<Literal>(negative ? -value : value);
    result_.program.need_atoms(variable_of(out));
    return true;
  }

  bool count(int64_t& value) { return number_within(value, 0, INT64_MAX, "how many follow"); }

  bool literals(std::vector<Literal>& out) {
    out.clear();
    int64_t n = 0;
    if (!count(n)) return false;
    for (; n > 0; --n) {
      if (!literal(out.emplace_back(), "a literal")) return false;
    }
    return true;
  }

  bool atoms(std::vector<Atom>& out) {
    if (!literals(out)) return false;
    const auto negative = std::ranges::find_if(out, [](Literal l) { return l < 0; });
    if (negative == out.end()) return true;
    return fail(fmt::format("expected an atom, found {}", *negative));
  }

  bool statement(int64_t kind) {
    switch (kind) {
      case kRule:
        return rule() && end_of_line();
      case kMinimize:
        return minimize() && end_of_line();
      case kProject:
        if (!atoms(head_)) return false;
        if (!result_.program.projection) result_.program.projection.emplace();
        result_.program.projection->insert(result_.program.projection->end(), head_.begin(),
                                           head_.end());
        return end_of_line();
      case kOutput:
        return output() && end_of_line();
      case kExternal:
        return external() && end_of_line();
      case kAssume:
        if (!literals(body_)) return false;
        result_.program.assumptions.insert(result_.program.assumptions.end(), body_.begin(),
                                           body_.end());
        return end_of_line();
      case kHeuristic:
        ++heuristics_;
        return rest_of_line();
      case kComment:
        return rest_of_line();
      case kEdge:
        return fail("acyclicity edges (`#edge`) cannot be solved",
                    "write acyclicity with rules, e.g. reachability");
      case kTheory:
        return fail("theory atoms cannot be solved", "write the program without `&` atoms");
      default:
        return fail(fmt::format("there is no statement {}", kind), "statements are 0 to 10");
    }
  }

  bool rest_of_line() {
    at_ = std::min(text_.find('\n', at_), text_.size());
    return end_of_line();
  }

  bool rule() {
    int64_t head_kind = 0;
    int64_t body_kind = 0;
    if (!number_within(head_kind, 0, 1, "the kind of the head, 0 (disjunction) or 1 (choice)") ||
        !atoms(head_) ||
        !number_within(body_kind, 0, 1, "the kind of the body, 0 (normal) or 1 (weighted)")) {
      return false;
    }
    const HeadKind kind = head_kind == 0 ? HeadKind::Disjunction : HeadKind::Choice;
    if (body_kind == 0) {
      if (!literals(body_)) return false;
      result_.program.add_rule(kind, head_, body_);
      return true;
    }
    int64_t bound = 0;
    int64_t n = 0;
    if (!number(bound, "the bound of a weighted body") || !count(n)) return false;
    body_.clear();
    weights_.clear();
    int64_t left = INT64_MAX;
    for (; n > 0; --n) {
      int64_t weight = 0;
      if (!literal(body_.emplace_back(), "a literal") ||
          !number_within(weight, 0, INT64_MAX, "a weight that is not negative")) {
        return false;
      }
      if (weight > left) return fail("the weights of the body add up to more than 63 bits hold");
      left -= weight;
      if (weight == 0) {
        body_.pop_back();
      } else {
        weights_.push_back(weight);
      }
    }
    result_.program.add_weight_rule(kind, head_, bound, body_, weights_);
    return true;
  }

  bool minimize() {
    Minimize statement;
    int64_t n = 0;
    if (!number(statement.priority, "a priority") || !count(n)) return false;
    for (; n > 0; --n) {
      WeightedLiteral& term = statement.literals.emplace_back();
      if (!literal(term.literal, "a literal") || !number(term.weight, "a weight")) return false;
    }
    result_.program.minimize.push_back(std::move(statement));
    return true;
  }

  bool output() {
    int64_t size = 0;
    if (!number_within(size, 0, INT64_MAX, "the length of a text")) return false;
    if (at_ == text_.size() || text_[at_] != ' ') return fail("expected a space before the text");
    ++at_;
    if (static_cast<uint64_t>(size) > text_.size() - at_) {
      return fail(
          fmt::format("a text of {} bytes, but only {} are left", size, text_.size() - at_));
    }
    Shown item;
    item.text = text_.substr(at_, static_cast<size_t>(size));
    at_ += static_cast<size_t>(size);
    if (!literals(item.condition)) return false;
    line_ += static_cast<uint64_t>(std::ranges::count(item.text, '\n'));
    result_.program.shown.push_back(std::move(item));
    return true;
  }

  bool external() {
    int64_t a = 0;
    int64_t value = 0;
    if (!atom(a, "an atom") ||
        !number_within(value, 0, 3, "0 (free), 1 (true), 2 (false) or 3 (release)")) {
      return false;
    }
    result_.program.need_atoms(static_cast<Atom>(a));
    result_.program.externals.push_back({static_cast<Atom>(a), static_cast<ExternalValue>(value)});
    return true;
  }

  std::string_view text_;
  std::string_view file_name_;
  size_t at_ = 0;
  uint64_t line_ = 1;
  uint64_t heuristics_ = 0;
  Error error_;
  AspifText result_;
  std::vector<Atom> head_;
  std::vector<Literal> body_;
  std::vector<int64_t> weights_;
};

void append(std::string& out, std::span<const Literal> literals) {
  fmt::format_to(std::back_inserter(out), " {}", literals.size());
  for (const Literal l : literals) fmt::format_to(std::back_inserter(out), " {}", l);
}

}  // namespace

Result<AspifText> read_aspif(std::string_view text, std::string_view file_name) {
  return Reader(text, file_name).read();
}

std::string write_aspif(const GroundProgram& program) {
  std::string out = "asp 1 0 0\n";
  const auto to = std::back_inserter(out);
  for (size_t r = 0; r < program.rules(); ++r) {
    const Rule rule = program.rule(r);
    fmt::format_to(to, "1 {}", rule.head_kind == HeadKind::Choice ? 1 : 0);
    append(out, rule.head);
    if (!rule.weighted) {
      out += " 0";
      append(out, rule.body);
    } else {
      fmt::format_to(to, " 1 {} {}", rule.bound, rule.body.size());
      for (size_t i = 0; i < rule.body.size(); ++i) {
        fmt::format_to(to, " {} {}", rule.body[i], rule.weights[i]);
      }
    }
    out += '\n';
  }
  for (const Minimize& statement : program.minimize) {
    fmt::format_to(to, "2 {} {}", statement.priority, statement.literals.size());
    for (const WeightedLiteral& t : statement.literals) {
      fmt::format_to(to, " {} {}", t.literal, t.weight);
    }
    out += '\n';
  }
  if (program.projection) {
    out += "3";
    append(out, *program.projection);
    out += '\n';
  }
  for (const Shown& item : program.shown) {
    fmt::format_to(to, "4 {} {}", item.text.size(), item.text);
    append(out, item.condition);
    out += '\n';
  }
  for (const External& e : program.externals) {
    fmt::format_to(to, "5 {} {}\n", e.atom, static_cast<int>(e.value));
  }
  if (!program.assumptions.empty()) {
    out += "6";
    append(out, program.assumptions);
    out += '\n';
  }
  out += "0\n";
  return out;
}

}  // namespace xlog::solve
