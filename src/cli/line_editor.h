// Lines typed at a terminal, with editing, history and completion (libedit).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace xlog::cli {

enum class LineResult : uint8_t { Line, Cancelled, End };  // Ctrl-C cancels, Ctrl-D ends

//   LineEditor editor(history_path, [](std::string_view line) { return candidates; });
//   while (editor.read("xlog> ", line) != LineResult::End) ...
class LineEditor {
 public:
  // `complete` gets the line up to the cursor and the start of the word in it, and gives all words
  // that could stand there.
  using Complete = std::function<std::vector<std::string>(std::string_view line)>;

  LineEditor(std::string history_path, Complete complete);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  LineResult read(const std::string& prompt, std::string& line);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// $XDG_STATE_HOME/xlog/history, or ~/.local/state/xlog/history. Empty when there is no home.
std::string default_history_path();

}  // namespace xlog::cli
