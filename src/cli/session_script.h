// The commands of `xlog session`, from a terminal or a script: what each line does and prints.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/pipeline.h"
#include "cli/progress.h"
#include "io/write.h"
#include "session/session.h"

namespace xlog::cli {

struct ScriptOptions {
  std::string name;  // of the script, for the places of errors
  io::Format format = io::Format::Table;
  ReportOptions report;
  bool at_terminal = false;
  bool keep_going = false;  // after an error
  bool by_line = false;     // after an error with the next line, as for people who type
};

// What a session takes over of a pipeline.
session::Options session_options(const PipelineOptions& pipeline);

class SessionScript {
 public:
  SessionScript(session::Session& session, ScriptOptions options);

  // One line of input. False when nothing more shall be read: `quit.`, or an error in a script.
  bool feed(std::string_view line);
  // Nothing more comes.
  void finish();
  void drop_unfinished() { typed_.clear(); }

  bool in_statement() const { return !typed_.empty(); }
  int exit_code() const { return exit_code_; }

  std::vector<std::string> completions() const;
  // Shown while a command takes long.
  void set_progress(const std::function<std::unique_ptr<ProgressLine>()>& make) {
    progress_ = make;
  }
  ProgressLine* progress() { return line_.get(); }

  // Everything that was reported, but no warning twice.
  void report(const Diagnostics& diagnostics, const SourceMap& sources);

 private:
  struct Command;
  struct Words;  // of a command
  struct TypedPlace {
    uint64_t line = 1;
    size_t column = 0;  // bytes before it on its line
  };

  bool run(const std::string& statement);
  bool add_facts(const std::string& statement, int64_t weight);
  bool command(const std::string& statement);
  const Command* find_command(const std::string& name) const;

  bool commit(const Words& words);
  bool changes(const Words& words);
  bool answer(const Words& words);
  bool difference(const Words& words);
  bool undo(const Words& words);
  bool cost(const Words& words);
  bool log(const Words& words);
  bool pending(const Words& words);
  bool rollback(const Words& words);
  bool checkpoint(const Words& words);
  bool load(const Words& words);
  bool help(const Words& words);
  bool quit(const Words& words);

  bool fail(const Error& error, int code = kProgramError);
  bool usage(const Command& command);
  bool is_commit(const Words& words, size_t i);
  bool committed(const Result<session::Commit>& done, std::string_view what);
  std::string cost_text() const;
  void say(const std::string& json, const std::string& text);
  std::optional<std::vector<uint32_t>> chosen_queries(const Words& words, size_t at);
  bool print_changes(const Result<std::vector<session::QueryChanges>>& changes, uint64_t from,
                     uint64_t to);

  session::Session& session_;
  ScriptOptions options_;
  std::string typed_;       // what waits for its period
  TypedPlace typed_place_;  // where that starts
  uint64_t line_number_ = 0;
  TypedPlace place_;  // of what is being done
  std::vector<std::string> shown_warnings_;
  std::function<std::unique_ptr<ProgressLine>()> progress_;
  std::unique_ptr<ProgressLine> line_;
  double seconds_ = -1;  // of the last commit that was made here
  int exit_code_ = kAnswered;
  bool left_ = false;

  static const std::vector<Command> kCommands;
};

}  // namespace xlog::cli
