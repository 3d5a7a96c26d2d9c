// A program that holds a network of links and asks, after every change, what became reachable.
// It uses nothing of xlog but its public header. Built and run by the tests; by hand, after
// `./dev install`:
//
//   g++ -std=c++20 reachable.cc -o reachable $(pkg-config --cflags --libs --static xlog)
#include <cstdio>
#include <string>

#include "xlog/session.h"

using namespace xlog::api;  // NOLINT(google-build-using-namespace)

constexpr const char* kProgram = R"(
pred link(symbol, symbol).
reach(X, Y) :- link(X, Y).
reach(X, Z) :- reach(X, Y), link(Y, Z).
?- reach(berlin, City).
)";

template <typename T>
T take(Result<T> result) {
  if (!result.ok()) {
    std::fprintf(stderr, "%s\n", result.error().text().c_str());
    std::exit(1);
  }
  return std::move(result.value());
}

void print_changes(Session& session) {
  for (const QueryChanges& query : take(session.changes())) {
    for (const RowChange& row : query.rows) {
      std::printf("  %s %s\n",
                  row.after ? "now reachable:" : "no longer:   ", row.values[0].text().c_str());
    }
  }
}

int main() {
  Session session = take(Session::open_text(kProgram));

  take(session.insert("link(berlin, prague). link(prague, vienna)."));
  take(session.insert("link", {"vienna", "Novi Sad"}));
  std::printf("commit %lu\n", static_cast<unsigned long>(take(session.commit()).number));
  print_changes(session);

  take(session.retract("link(prague, vienna)."));
  std::printf("commit %lu\n", static_cast<unsigned long>(take(session.commit()).number));
  print_changes(session);

  // A fact that is not there cannot be retracted, and then nothing is.
  take(session.retract("link(prague, rome)."));
  const Result<Commit> refused = session.commit();
  std::printf("refused: %s\n", refused.ok() ? "no" : refused.error().message.c_str());
  session.rollback();

  take(session.undo(2));
  std::printf("after undo:");
  for (const Table& table : take(session.answer()).tables()) {
    for (const Row& row : table.rows) std::printf(" %s", row.values[0].text().c_str());
  }
  std::printf("\n");
}
