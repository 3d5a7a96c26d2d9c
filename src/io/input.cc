#include "io/input.h"

#include <algorithm>
#include <filesystem>

#include "base/check.h"
#include "io/byte_source.h"
#include "io/csv.h"
#include "io/fact_loader.h"
#include "io/sqlite.h"
#include "io/sqlite_read.h"

namespace xlog::io {
namespace {

using lang::Predicate;
using lang::PredId;
using lang::Program;
using lang::Session;

// What is named so must be a database, also where the file does not exist (yet).
constexpr std::string_view kDatabaseEndings[] = {".db", ".sqlite", ".sqlite3", ".db3"};

bool is_named_as_database(std::string_view path) {
  return std::ranges::any_of(kDatabaseEndings,
                             [&](std::string_view ending) { return path.ends_with(ending); });
}

bool exists(std::string_view path) {
  std::error_code error;
  return std::filesystem::exists(std::filesystem::path(path), error);
}

// "edge" or "edge/2" -> the predicate that loading the program marked for it.
PredId find_relation(const Input& input, const Program& program, const Session& session) {
  for (uint32_t i = 0; i < program.predicates.size(); ++i) {
    const Predicate& predicate = program.predicates[i];
    if (!predicate.is_input) continue;
    const bool named = input.relation == lang::predicate_name(predicate, session.names) ||
                       input.relation == lang::predicate_signature(predicate, session.names);
    if (named) return {i};
  }
  XLOG_UNREACHABLE("loading the program checked that each --input has one relation");
}

bool load_input(const Input& input, Program& program, Session& session, uint64_t memory_limit) {
  const PredId pred = find_relation(input, program, session);
  FactLoader loader(input.path, pred, program, session, memory_limit);
  if (input.copy != nullptr && !input.copy->reason().empty()) {
    loader.cannot_read(input.copy->reason());
    return false;
  }
  // Before a pipe is opened, whose bytes come once.
  const bool is_stream = input.path == "-" || is_pipe(input.path);
  ByteSource source;
  if (!source.open(input.copy != nullptr ? input.copy->path() : input.path)) {
    loader.cannot_read(source.reason());
    return false;
  }
  if (is_sqlite(source.head())) {
    if (is_stream) {
      loader.cannot_read(input.path == "-" ? "a SQLite database cannot be read from standard input"
                                           : "a SQLite database cannot be read from a pipe");
      return false;
    }
    return load_sqlite(
        input.table.empty() ? lang::predicate_name(program[pred], session.names) : input.table,
        loader);
  }
  if (!input.table.empty()) {
    loader.cannot_read("it is no SQLite database, so it has no tables");
    return false;
  }
  // Few rows of strange text, or none of an empty file, would hide that it is the wrong file.
  if (is_named_as_database(input.path)) {
    loader.cannot_read("it is no SQLite database, as its name says");
    return false;
  }
  return load_csv(source, loader);
}

}  // namespace

Input parse_input(std::string relation, std::string_view text) {
  Input input{std::move(relation), std::string(text), ""};
  if (exists(text)) return input;
  for (const bool must_exist : {true, false}) {
    for (size_t colon = text.find(':'); colon != std::string_view::npos;
         colon = text.find(':', colon + 1)) {
      const std::string_view path = text.substr(0, colon);
      if (must_exist ? path.empty() || !exists(path) : !is_named_as_database(path)) continue;
      input.path = path;
      input.table = text.substr(colon + 1);
      return input;
    }
  }
  return input;
}

bool load_inputs(const std::vector<Input>& inputs, Program& program, Session& session,
                 uint64_t memory_limit) {
  bool ok = true;
  for (const Input& input : inputs) ok = load_input(input, program, session, memory_limit) && ok;
  return ok;
}

}  // namespace xlog::io
