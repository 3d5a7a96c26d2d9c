// What a run answers: the common form that every evaluator gives and every printer takes.
#pragma once

#include <gmpxx.h>
#include <atomic>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/value.h"

namespace xlog::logic {

enum class Mode : uint8_t { G91, Faeel, Faeel19 };
std::string_view spelling(Mode mode);

enum class RowStatus : uint8_t {
  Known,      // in every world of the view
  Possible,   // in some
  True,       // well-founded answers: true
  Undefined,  // well-founded answers: neither true nor false
};
std::string_view spelling(RowStatus status);

struct Row {
  std::vector<lang::Value> values;
  RowStatus status = RowStatus::Known;
};

struct QueryAnswer {
  std::vector<Row> rows;  // canonical order
};

struct WorldView {
  mpz_class world_count = 1;
  std::vector<QueryAnswer> queries;  // by Program::queries
  std::vector<std::vector<std::string>>
      worlds;  // when asked for: sorted atoms as source text, no helpers
};

// What is asked of the world views of a program.
enum class Ask : uint8_t {
  Views,       // each of them, with its rows
  Counts,      // how many views and worlds there are
  Cautious,    // over all views: the rows that are known in each of them
  Credulous,   // that are known in some
  Everything,  // that are possible in some
};

// A row over all world views; rows share their counts, which can be long.
struct RowOverViews {
  std::vector<lang::Value> values;
  std::shared_ptr<const mpz_class> known_in;     // so many views
  std::shared_ptr<const mpz_class> possible_in;  // so many, those where it is known included
};

struct WorldCounts {
  mpz_class all;    // of all views together
  mpz_class least;  // of a view
  mpz_class most;
};

struct Answer {
  Mode mode = Mode::Faeel;
  mpz_class view_count = 1;
  bool all_found = true;         // else `view_count` were found before the search ended as asked
  std::vector<WorldView> views;  // the first AnswerOptions::max_views of them, in canonical order
  bool well_founded =
      false;  // semantics = well_founded was asked for: only `well_founded_queries` is set
  std::vector<QueryAnswer> well_founded_queries;      // also set when there is no view
  Ask ask = Ask::Views;                               // instead of `views`, where there are some:
  std::optional<WorldCounts> worlds;                  // Counts
  std::vector<std::vector<RowOverViews>> over_views;  // the last three, by Program::queries
  // A limit ended the search for world views (reported). `settled_queries` has what is true or
  // undefined in the well-founded model, and known or possible where parts were solved before.
  bool unfinished = false;
  std::vector<QueryAnswer> settled_queries;
  bool constraint_error =
      false;  // a plain Datalog program violates a constraint (reported): exit code 1
};

// For people: exact as long as it can be read, then "about 9.99e20068".
std::string short_text(const mpz_class& count);

// Whether rows are asked for over all views.
bool is_over_views(Ask ask);
// Whether a row that is known and possible in so many of `views` is asked for.
bool is_asked_for(Ask ask, const mpz_class& known_in, const mpz_class& possible_in,
                  const mpz_class& views);
// Turns an answer that lists all its views into what is asked: by looking at each of them.
void summarise(Answer& answer, Ask ask, const lang::Names& names);

// How far an evaluation is.
struct Progress {
  uint32_t component = 0;  // from 0
  uint32_t components = 0;
  std::string name = {};  // of a predicate of the component
  uint64_t round = 0;
  uint64_t new_rows = 0;  // that this round has added so far
  uint64_t rows = 0;      // of all components
  uint64_t bytes = 0;     // on a device; 0: in the memory of the process alone
  // Of a search for worlds, where the components are done.
  uint64_t clusters = 0;  // independent parts
  uint64_t clusters_done = 0;
  uint64_t candidates = 0;  // guesses about what is known and possible
  uint64_t accepted = 0;
};

struct AnswerOptions {
  Mode mode = Mode::Faeel;
  bool well_founded = false;
  Ask ask = Ask::Views;
  uint64_t max_views = 10;    // UINT64_MAX: all
  uint64_t enough_views = 0;  // end the search once so many are found; 0: find and count all
  uint64_t max_worlds = 0;    // worlds listed a view; UINT64_MAX: all
  uint64_t max_candidates = uint64_t{1} << 24;
  uint64_t max_rows = 0;       // 0: what the evaluator thinks wise
  double timeout_seconds = 0;  // 0: none
  uint64_t memory_limit = 0;   // bytes of the process, and of the device's buffers; 0: none
  bool spends_facts = false;   // nobody else needs the program's facts: they may go once read
  // Called between steps of the evaluation, often: whoever listens decides what is worth showing.
  std::function<void(const Progress&)> progress;
  // Looked at as often: once somebody sets it, the evaluation ends as at a limit.
  std::atomic<bool>* interrupt = nullptr;
};

inline bool is_interrupted(const AnswerOptions& options) {
  return options.interrupt != nullptr && options.interrupt->load(std::memory_order_relaxed);
}
inline constexpr std::string_view kInterrupted = "interrupted before it was finished";

}  // namespace xlog::logic
