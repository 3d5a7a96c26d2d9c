// What a REPL remembers and does with each line. The program is the text of all accepted
// statements; every query loads it afresh, so an answer is always that of `xlog run` on the same
// text. Facts come and go in a session over that text (cli/session_script.h), which is open until
// the text changes; what it changed is remembered, and counts for every query.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"
#include "cli/statements.h"

namespace xlog::cli {

class ReplSession {
 public:
  ReplSession(PipelineOptions pipeline, ReportOptions report);
  ~ReplSession();
  ReplSession(const ReplSession&) = delete;
  ReplSession& operator=(const ReplSession&) = delete;

  // One line of input. False when the user wants to leave.
  bool feed(std::string_view line);
  // Nothing more comes: an unfinished statement is an error.
  void finish();
  void drop_unfinished();

  bool in_statement() const;  // more lines are expected
  bool had_errors() const { return had_errors_; }
  bool load(const std::string& path);  // :load

  // Whether lines are commands of a session.
  bool in_session() const { return in_session_; }
  void leave_session();

  // What could stand at the end of a line: commands, or predicates and words of the language.
  std::vector<std::string> completions(std::string_view line) const;

  // Facts and rules that come one after the other may wait and be checked together, which is much
  // faster for long input. At a terminal every statement is answered for at once.
  void set_batching(bool batching) { batching_ = batching; }

 private:
  bool command(std::string_view line);
  void take(std::vector<TypedStatement> statements);
  void add_waiting();
  void add(std::vector<std::string> statements);
  void query(const std::string& text);
  void explain(const std::string& stage);
  void set_mode(const std::string& mode);
  void help() const;
  void open_session(const std::string& commands);
  void feed_session(std::string_view line);
  bool start_session();
  void report(const lang::Session& session, bool errors_only);
  std::string program_text() const;
  bool check(const std::string& text, Outcome& outcome) const;

  PipelineOptions pipeline_;
  ReportOptions report_;
  std::vector<std::string> statements_;  // accepted
  std::vector<std::string> waiting_;     // to be checked together
  std::vector<std::string> queries_;     // asked so far; a session follows them
  std::vector<std::string> predicates_;  // names, for completion
  std::string typed_;                    // of the statement that is not finished
  struct Session;
  std::unique_ptr<Session> session_;  // nothing: the program changed since, or none was asked for
  bool in_session_ = false;
  bool batching_ = false;
  bool had_errors_ = false;
};

}  // namespace xlog::cli
