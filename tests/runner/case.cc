#include "tests/runner/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace xlog::conformance {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool is_identifier(std::string_view text) {
  if (text.empty() || std::islower(static_cast<unsigned char>(text[0])) == 0) return false;
  return std::all_of(text.begin(), text.end(), is_word);
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

// Position after the bracketed text that opens at `at`; npos when it does not close.
size_t skip_brackets(std::string_view text, size_t at) {
  int depth = 0;
  bool quoted = false;
  for (; at < text.size(); ++at) {
    char c = text[at];
    if (quoted) {
      if (c == '\\') ++at;
      if (c == '"') quoted = false;
      continue;
    }
    if (c == '"') quoted = true;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '}') && --depth == 0) return at + 1;
  }
  return std::string_view::npos;
}

// Splits at commas outside brackets and quotes. "" gives nothing.
std::vector<std::string> split_commas(std::string_view text) {
  std::vector<std::string> parts;
  int depth = 0;
  bool quoted = false;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth == 0) {
      parts.push_back(trim(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  std::string last = trim(text.substr(begin));
  if (!parts.empty() || !last.empty()) parts.push_back(last);
  return parts;
}

std::string join(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string unquote(std::string_view quoted) {
  std::string text;
  for (size_t i = 1; i + 1 < quoted.size(); ++i) {
    if (quoted[i] != '\\') {
      text += quoted[i];
    } else {
      char c = quoted[++i];
      text += c == 'n' ? '\n' : c == 't' ? '\t' : c;
    }
  }
  return text;
}

// A value as people write it in a case, in canonical form.
std::string canonical_value(std::string_view text) {
  if (text.empty()) return "";
  if (text.front() == '"') return canonical_symbol(unquote(text));
  if (text.front() == '[') {
    std::vector<std::string> parts = split_commas(text.substr(1, text.size() - 2));
    for (std::string& part : parts) part = canonical_value(part);
    return "[" + join(parts) + "]";
  }
  bool number = std::isdigit(static_cast<unsigned char>(text.front())) != 0 ||
                (text.front() == '-' && text.size() > 1 &&
                 std::isdigit(static_cast<unsigned char>(text[1])) != 0);
  if (number) {
    bool is_float = text.find_first_of(".e") != std::string_view::npos;
    return is_float ? canonical_float(std::strtod(std::string(text).c_str(), nullptr))
                    : std::string(text);
  }
  return canonical_symbol(text);  // also a compound term, which answers show as text
}

// "(1, a) (2, b)?" or "yes", "yes?", "no".
bool parse_rows(std::string_view text, std::vector<std::string>& rows) {
  if (text == "no") return true;
  if (text == "yes" || text == "yes?") {
    rows.push_back(text == "yes" ? "()" : "()?");
    return true;
  }
  while (!text.empty()) {
    if (text.front() != '(') return false;
    size_t end = skip_brackets(text, 0);
    if (end == std::string_view::npos) return false;
    std::vector<std::string> values = split_commas(text.substr(1, end - 2));
    for (std::string& value : values) value = canonical_value(value);
    std::string row = "(" + join(values) + ")";
    if (end < text.size() && text[end] == '?') {
      row += '?';
      ++end;
    }
    rows.push_back(std::move(row));
    while (end < text.size() && text[end] == ' ') ++end;
    text.remove_prefix(end);
  }
  return !rows.empty();
}

// `query: rows`; the colon is the last one outside brackets and quotes that is followed by a space
// or the end.
bool parse_answer_line(std::string_view line, QueryRows& out) {
  int depth = 0;
  bool quoted = false;
  size_t colon = std::string_view::npos;
  for (size_t i = 0; i < line.size(); ++i) {
    char c = line[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
    } else if (c == ':' && depth == 0 && i + 1 < line.size() && line[i + 1] == ' ') {
      colon = i;
    }
  }
  if (colon == std::string_view::npos) return false;
  out.query = trim(line.substr(0, colon));
  return parse_rows(trim(line.substr(colon + 1)), out.rows);
}

// "{a, b} {c}": the worlds of one view.
bool parse_view(std::string_view line, View& view) {
  while (!line.empty()) {
    if (line.front() != '{') return false;
    size_t end = skip_brackets(line, 0);
    if (end == std::string_view::npos) return false;
    World world = split_commas(line.substr(1, end - 2));
    std::sort(world.begin(), world.end());
    view.push_back(std::move(world));
    while (end < line.size() && line[end] == ' ') ++end;
    line.remove_prefix(end);
  }
  std::sort(view.begin(), view.end());
  return !view.empty();
}

// "E0301 3:7 text", "E0405 lib/m.xlog:3 text", "E0301 text", "E0301", "E0301|E0302", "E0301*".
bool parse_diagnostic(std::string_view line, ExpectedDiagnostic& out) {
  size_t space = line.find(' ');
  out.code = std::string(line.substr(0, space));
  out.several = out.code.ends_with('*');
  if (out.several) out.code.pop_back();
  for (size_t at = 0; at == 0 || at <= out.code.size(); at += 6) {
    std::string code = out.code.substr(at, 6);
    bool more = code.ends_with('|');
    if (more) code.pop_back();
    bool shape = code.size() == 5 && (code[0] == 'E' || code[0] == 'W') &&
                 code.find_first_not_of("0123456789", 1) == std::string::npos;
    if (!shape) return false;
    if (!more) break;
  }
  std::string rest = space == std::string_view::npos ? "" : trim(line.substr(space));
  std::string place = rest.substr(0, rest.find(' '));

  std::vector<int> numbers;  // the trailing :-separated numbers of the word
  std::string file = place;
  while (!file.empty()) {
    size_t colon = file.rfind(':');
    std::string last = colon == std::string::npos ? file : file.substr(colon + 1);
    bool digits = !last.empty() && last.find_first_not_of("0123456789") == std::string::npos;
    if (!digits) break;
    numbers.insert(numbers.begin(), std::atoi(last.c_str()));
    file = colon == std::string::npos ? "" : file.substr(0, colon);
  }
  bool is_place = !numbers.empty() && numbers.size() <= 2 &&
                  (file.empty() || file.find('.') != std::string::npos);
  if (!is_place) {
    out.text = rest;
    return true;
  }
  out.file = file;
  out.line = numbers[0];
  out.column = numbers.size() > 1 ? numbers[1] : 0;
  out.text = trim(std::string_view(rest).substr(place.size()));
  return true;
}

// Reads one section into `into`. `header` is "answer", "views g91", "error E0301 3:7", ...; the
// lines are what follows.
class SectionReader {
 public:
  SectionReader(Cases& cases, Case& into) : cases_(cases), case_(into) {}

  void read(std::string_view header, const std::vector<std::string_view>& lines, int line) {
    line_ = line;
    std::string_view word = header.substr(0, header.find_first_of(" :"));
    std::string rest = trim(header.substr(word.size()));
    if (!rest.empty() && rest.front() == ':') rest = trim(std::string_view(rest).substr(1));
    if (word == "args") return append_args(rest);
    if (word == "command") return void(case_.command = rest);
    if (word == "program") return void(case_.program_path = rest);
    if (word == "covers") return void(case_.covers = rest);
    if (word == "file") return void(case_.files.emplace_back(rest, whole(lines)));
    if (word == "answer") return read_answer(lines, false);
    if (word == "well_founded") return read_answer(lines, true);
    if (word == "views") return read_views(rest, lines);
    if (word == "error" || word == "warning") return read_diagnostics(rest, lines);
    if (word == "json") return read_json(lines);
    if (word == "output" || word == "text")
      return void(case_.outputs.push_back({rest, whole(lines)}));
    if (word == "exit") return void(case_.exit_code = std::atoi(rest.c_str()));
    fail(fmt::format("unknown section `{}`", word));
  }

 private:
  void fail(std::string_view message) {
    cases_.errors.push_back(fmt::format("line {}: {}", line_, message));
  }

  static std::string whole(const std::vector<std::string_view>& lines) {
    std::string text;
    for (std::string_view line : lines) text.append(line).append("\n");
    return text;
  }

  static std::vector<std::string> content(const std::vector<std::string_view>& lines) {
    std::vector<std::string> result;
    for (std::string_view line : lines) {
      std::string text = trim(line);
      if (!text.empty() && text.rfind("//", 0) != 0) result.push_back(std::move(text));
    }
    return result;
  }

  void append_args(std::string_view text) {
    for (std::string& word : split_words(text)) case_.args.push_back(std::move(word));
  }

  void read_answer(const std::vector<std::string_view>& lines, bool well_founded) {
    AnswerBlock block{well_founded, {}};
    for (const std::string& line : content(lines)) {
      if (line == "view") {
        block.views.emplace_back();
        continue;
      }
      if (block.views.empty()) block.views.emplace_back();
      QueryRows rows;
      if (!parse_answer_line(line, rows)) fail(fmt::format("not an answer line: `{}`", line));
      block.views.back().push_back(std::move(rows));
    }
    if (block.views.empty()) fail("an empty answer");
    case_.answers.push_back(std::move(block));
  }

  // "g91, faeel show p, q"
  void read_views(const std::string& header, const std::vector<std::string_view>& lines) {
    ViewsBlock block;
    size_t show = header.find(" show ");
    block.modes = split_commas(std::string_view(header).substr(0, show));
    if (show != std::string::npos)
      block.shown = split_commas(std::string_view(header).substr(show + 6));
    for (const std::string& mode : block.modes) {
      if (mode != "g91" && mode != "faeel" && mode != "faeel19")
        fail(fmt::format("unknown mode `{}`", mode));
    }
    if (block.modes.empty()) fail("`views` needs a mode");
    bool none = false;
    for (const std::string& line : content(lines)) {
      if (line == "none") {
        none = true;
        continue;
      }
      View view;
      if (!parse_view(line, view)) fail(fmt::format("not a world view: `{}`", line));
      block.views.push_back(std::move(view));
    }
    if (none == !block.views.empty()) fail("`views` needs world views, or `none`");
    std::sort(block.views.begin(), block.views.end());
    case_.views.push_back(std::move(block));
  }

  void read_diagnostics(const std::string& header, const std::vector<std::string_view>& lines) {
    std::vector<std::string> wanted = content(lines);
    if (!header.empty()) wanted.insert(wanted.begin(), header);
    if (wanted.empty()) fail("a diagnostic needs its code");
    for (const std::string& line : wanted) {
      ExpectedDiagnostic diagnostic;
      if (!parse_diagnostic(line, diagnostic)) fail(fmt::format("not a diagnostic: `{}`", line));
      case_.diagnostics.push_back(std::move(diagnostic));
    }
  }

  void read_json(const std::vector<std::string_view>& lines) {
    for (const std::string& line : content(lines)) {
      size_t equals = line.find(" = ");
      if (line.front() != '/' || equals == std::string::npos) {
        fail(fmt::format("not `/pointer = value`: `{}`", line));
        continue;
      }
      case_.json.push_back({trim(line.substr(0, equals)), trim(line.substr(equals + 3))});
    }
  }

  Cases& cases_;
  Case& case_;
  int line_ = 0;
};

bool starts_with(std::string_view line, std::string_view prefix) {
  return line.substr(0, prefix.size()) == prefix;
}

}  // namespace

std::string trim(std::string_view text) {
  size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1));
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  bool quoted = false, open = false;
  for (char c : text) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ' ' && !quoted) {
      open = false;
      continue;
    }
    if (!open) words.emplace_back();
    open = true;
    if (c != '"') words.back() += c;
  }
  return words;
}

std::string canonical_symbol(std::string_view text) {
  if (is_identifier(text)) return std::string(text);
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string canonical_float(double value) {
  std::string text = fmt::format("{:.12g}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

Cases parse_test_file(std::string_view text) {
  Cases result;
  std::vector<std::string_view> lines = split_lines(text);
  size_t at = 0;
  auto is_mark = [&](size_t i) {
    return starts_with(lines[i], "===") || starts_with(lines[i], "---");
  };
  auto block = [&] {  // the lines up to the next mark
    std::vector<std::string_view> found;
    while (at < lines.size() && !is_mark(at)) found.push_back(lines[at++]);
    return found;
  };

  for (std::string_view line : block()) {  // before the first case only comments
    if (!trim(line).empty() && !starts_with(line, "//"))
      result.errors.push_back("line 1: text before the first case");
  }
  while (at < lines.size()) {
    int line = static_cast<int>(at) + 1;
    if (!starts_with(lines[at], "===")) {
      result.errors.push_back(fmt::format("line {}: a section before the first case", line));
      ++at;
      block();
      continue;
    }
    Case next;
    next.line = line;
    next.name = trim(lines[at++].substr(3));
    for (std::string_view program_line : block()) next.program.append(program_line).append("\n");
    SectionReader reader(result, next);
    while (at < lines.size() && starts_with(lines[at], "---")) {
      std::string header = trim(lines[at].substr(3));
      int header_line = static_cast<int>(++at);
      reader.read(header, block(), header_line);
    }
    result.cases.push_back(std::move(next));
  }
  return result;
}

// ```xlog [--arg ...]     a program; the blocks after it, up to the next program, say what it
// answers
// ```xlog file a/b.xlog   a file beside the next program; also ```csv file edges.csv
// ```answer, ```views g91, ```error, ```warning, ```well_founded, ```text [format]: as the sections
// of a .test file
Cases parse_markdown(std::string_view text) {
  Cases result;
  std::vector<std::string_view> lines = split_lines(text);
  std::vector<std::pair<std::string, std::string>> files;
  std::string heading;
  bool in_program = false;  // an expectation belongs to a program of the same page
  for (size_t at = 0; at < lines.size(); ++at) {
    if (starts_with(lines[at], "#")) {
      heading = trim(lines[at].substr(lines[at].find_first_not_of('#')));
      in_program = false;
    }
    if (!starts_with(lines[at], "```")) continue;
    int line = static_cast<int>(at) + 1;
    std::string info = trim(lines[at].substr(3));
    std::vector<std::string_view> block;
    while (++at < lines.size() && !starts_with(lines[at], "```")) block.push_back(lines[at]);
    if (at == lines.size())
      result.errors.push_back(fmt::format("line {}: a block that does not end", line));

    std::string language = info.substr(0, info.find(' '));
    std::string rest = trim(std::string_view(info).substr(language.size()));
    std::string program;
    for (std::string_view program_line : block) program.append(program_line).append("\n");
    if (starts_with(rest, "file ")) {
      files.emplace_back(rest.substr(5), program);
      continue;
    }
    if (language == "xlog") {
      Case next;
      next.name = fmt::format("line {} ({})", line, heading);
      next.line = line;
      next.program = program;
      next.args = split_words(rest);
      next.files = std::move(files);
      files.clear();
      result.cases.push_back(std::move(next));
      in_program = true;
      continue;
    }
    static const std::vector<std::string> kSections = {"answer",  "views",        "error",
                                                       "warning", "well_founded", "text"};
    bool is_section = std::find(kSections.begin(), kSections.end(), language) != kSections.end();
    if (!is_section || !in_program) continue;  // a block for the eye only
    SectionReader(result, result.cases.back()).read(info, block, line);
  }
  return result;
}

}  // namespace xlog::conformance
