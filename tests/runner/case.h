// Conformance cases: a program and what it must answer, as readable text. One struct for both
// sources, the .test files (=== name, program, --- sections) and the fenced blocks of a Markdown
// page. tests/README.md shows the format.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace xlog::conformance {

// `q(X, Y): (1, a) (2, b)?`. Values are canonical texts (canonical_value), so comparing rows is
// comparing texts.
struct QueryRows {
  std::string query;  // as written; a bare name stands for any query on that predicate
  std::vector<std::string>
      rows;  // "(1, a)", with a closing ? for a row that is only possible or undefined
};
using ViewAnswer = std::vector<QueryRows>;

struct AnswerBlock {
  bool well_founded = false;      // compare "well_founded" instead of "world_views"
  std::vector<ViewAnswer> views;  // one unless the block has `view` lines
};

using World = std::vector<std::string>;  // sorted atoms
using View = std::vector<World>;         // sorted

struct ViewsBlock {
  std::vector<std::string> modes;
  std::vector<std::string> shown;  // when not empty: only atoms of these predicates count
  std::vector<View> views;         // sorted
};

struct ExpectedDiagnostic {
  std::string code;      // "E0301" or "E0301|E0302"; the letter gives the severity
  bool several = false;  // written E0301*: one or more of them
  std::string file;      // when the place is not in the main file
  int line = 0;          // 0: anywhere
  int column = 0;        // 0: anywhere on the line
  std::string text;      // must occur in the message
};

// `/world_views/0/world_count = "2"`; a pointer that ends in /# asks for the number of elements.
struct JsonLine {
  std::string pointer;
  std::string value;  // JSON text
};

struct OutputBlock {
  std::string format;  // empty: what a person sees
  std::string text;
};

struct Case {
  std::string name;
  int line = 0;  // in the file of cases
  std::string program;
  std::string program_path;  // instead of `program`: a file below the root folder
  std::string
      covers;  // no program: each .xlog file below this folder must be the program of some case
  std::vector<std::pair<std::string, std::string>>
      files;  // path, text: beside the program in a scratch folder
  std::string command = "run";
  std::vector<std::string> args;
  std::vector<AnswerBlock> answers;
  std::vector<ViewsBlock> views;
  std::vector<ExpectedDiagnostic> diagnostics;
  std::vector<JsonLine> json;
  std::vector<OutputBlock> outputs;
  std::optional<int> exit_code;
};

struct Cases {
  std::vector<Case> cases;
  std::vector<std::string> errors;  // "line 17: ..." for what cannot be read
};

Cases parse_test_file(std::string_view text);
Cases parse_markdown(std::string_view text);

// One value of a row as text: numbers (floats with 12 digits), symbols bare when they are
// identifiers and quoted otherwise, lists in brackets, compound terms as quoted text.
std::string canonical_symbol(std::string_view text);
std::string canonical_float(double value);

// Splits at spaces; "..." keeps spaces together.
std::vector<std::string> split_words(std::string_view text);
std::string trim(std::string_view text);

}  // namespace xlog::conformance
