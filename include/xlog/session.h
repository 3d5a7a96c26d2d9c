// xlog inside another program: facts are inserted and retracted, answers follow.
//
//   using namespace xlog::api;
//   Result<Session> session = Session::open_file("reach.xlog");
//   if (!session.ok()) return fail(session.error().text());
//   session->insert("edge(1, 2). edge(2, 3).");        // pending
//   session->insert("edge", {3, 4});                   // the same, from values
//   Result<Commit> commit = session->commit();         // all or nothing
//   for (const QueryChanges& query : session->changes().value()) ...
//   for (const Table& table : session->answer().value().tables()) ...
//
// A session belongs to one thread at a time. Nothing here throws but std::bad_alloc; asking a
// failed Result for its value ends the process.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace xlog::api {

// ---- Results ----

struct Error {
  std::string message;  // what is wrong, with its place in a program or a file where it has one
  std::string help;     // the way out; may be empty

  std::string text() const { return help.empty() ? message : message + "\nhelp: " + help; }
};

struct Done {};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & {
    if (!ok()) std::abort();
    return std::get<0>(state_);
  }
  T value() && {
    if (!ok()) std::abort();
    return std::get<0>(std::move(state_));
  }
  const T& value() const& {
    if (!ok()) std::abort();
    return std::get<0>(state_);
  }
  const Error& error() const {
    if (ok()) std::abort();
    return std::get<1>(state_);
  }
  T* operator->() { return &value(); }
  T& operator*() & { return value(); }
  T operator*() && { return std::move(*this).value(); }

 private:
  std::variant<T, Error> state_;
};

// ---- Values ----

struct Value;

struct Compound {  // f(x, y)
  std::string name;
  std::vector<Value> arguments;
  bool operator==(const Compound&) const;
};

// Integers of all widths come as int64_t, those above its range as uint64_t; floats as double;
// symbols as text; lists as their elements.
struct Value {
  using List = std::vector<Value>;
  std::variant<int64_t, uint64_t, double, bool, std::string, List, Compound> data;

  Value() = default;
  Value(bool v) : data(v) {}                           // NOLINT(google-explicit-constructor)
  Value(double v) : data(v) {}                         // NOLINT(google-explicit-constructor)
  Value(std::string v) : data(std::move(v)) {}         // NOLINT(google-explicit-constructor)
  Value(std::string_view v) : data(std::string(v)) {}  // NOLINT(google-explicit-constructor)
  Value(const char* v) : data(std::string(v)) {}       // NOLINT(google-explicit-constructor)
  Value(List v) : data(std::move(v)) {}                // NOLINT(google-explicit-constructor)
  Value(Compound v) : data(std::move(v)) {}            // NOLINT(google-explicit-constructor)
  template <typename Integer>
    requires(std::is_integral_v<Integer> && !std::is_same_v<Integer, bool>)
  Value(Integer v) {  // NOLINT(google-explicit-constructor)
    data = static_cast<int64_t>(v);
    if constexpr (std::is_unsigned_v<Integer>) {
      if (v > uint64_t{INT64_MAX}) data = static_cast<uint64_t>(v);
    }
  }

  bool operator==(const Value&) const = default;
  // As in a source text: `alice`, "Alice Smith", [1, 2].
  std::string text() const;
};

inline bool Compound::operator==(const Compound& other) const {
  return name == other.name && arguments == other.arguments;
}

// ---- Answers ----

enum class RowStatus : uint8_t {
  Known,      // in every world
  Possible,   // in some
  True,       // of the well-founded model
  Undefined,  // the same: neither true nor false
};

struct Row {
  std::vector<Value> values;
  RowStatus status = RowStatus::Known;
};

struct Table {
  std::string query;  // "reach(1, X)"
  std::vector<std::string> columns;
  std::vector<Row> rows;  // in canonical order; one without values: a query without variables holds
};

struct WorldView {
  std::string worlds;  // how many, as a decimal number of any length
  std::vector<Table> tables;
};

struct Answer {
  std::string world_views = "1";    // how many there are; "0": none, see well_founded
  std::vector<WorldView> views;     // the first ten
  std::vector<Table> well_founded;  // where that was asked for, or there is no world view
  // Of the first view, or the well-founded model.
  const std::vector<Table>& tables() const& {
    return views.empty() ? well_founded : views.front().tables;
  }
  std::vector<Table> tables() && {  // of an answer that ends with the expression
    return std::move(views.empty() ? well_founded : views.front().tables);
  }
};

struct RowChange {
  std::vector<Value> values;
  std::optional<RowStatus> before, after;  // none: it was not there, it is not there
};

struct QueryChanges {
  std::string query;
  std::vector<std::string> columns;
  std::vector<RowChange> rows;  // in canonical order
};

// ---- The session ----

struct Options {
  std::vector<std::pair<std::string, std::string>> inputs = {};  // relation, file
  std::vector<std::string> module_path = {};
  std::vector<std::pair<std::string, std::string>> constants = {};  // name, value
  std::string mode = {};        // "faeel", "g91", "faeel19"; empty: as the program says
  std::string device = "auto";  // "cpu", "cuda", "opencl", ...
  std::string state = {};       // a folder that keeps every commit; empty: none
  bool accept_program = false;  // go on with a state folder of another program
  bool recompute = false;       // every answer afresh instead of following the changes
  double timeout_seconds = 0;   // of one evaluation; 0: none
  uint64_t memory_limit = 0;    // in bytes; 0: none
};

struct Commit {
  uint64_t number = 0;                   // 0: there was nothing to commit
  uint64_t inserted = 0, retracted = 0;  // facts, as often as they come; 2^64 - 1 and more alike
};

class Session {
 public:
  static Result<Session> open_file(const std::string& path, const Options& options = {});
  static Result<Session> open_text(std::string_view program, const Options& options = {});

  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  // Facts as text, each with its period, or one row of values. They are pending until commit().
  Result<Done> insert(std::string_view facts);
  Result<Done> retract(std::string_view facts);
  Result<Done> insert(std::string_view predicate, const std::vector<Value>& row);
  Result<Done> retract(std::string_view predicate, const std::vector<Value>& row);
  void rollback();  // forgets what is pending

  // After an error nothing has changed, and what was pending still is. With a state folder the
  // commit is on disk when this returns.
  Result<Commit> commit();
  uint64_t last_commit() const;
  // Takes back what a commit changed, as a new commit.
  Result<Commit> undo(uint64_t commit);

  Result<Answer> answer();
  Result<Answer> answer_at(uint64_t commit);
  // What the last commit changed, in all queries or in those about a predicate.
  Result<std::vector<QueryChanges>> changes(std::string_view predicate = {});
  Result<std::vector<QueryChanges>> difference(uint64_t from, uint64_t to,
                                               std::string_view predicate = {});

  // Into the state folder, so that the next start is quick; its path.
  Result<std::string> checkpoint();

 private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace xlog::api
