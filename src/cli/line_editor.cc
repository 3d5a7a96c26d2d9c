#include "cli/line_editor.h"

#include <histedit.h>

#include <algorithm>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace xlog::cli {

struct LineEditor::State {
  EditLine* editor = nullptr;
  History* history = nullptr;
  std::string history_path;
  std::string prompt;
  Complete complete;
  bool cancelled = false;
};

namespace {

constexpr int kHistoryLines = 1000;

template <typename State>
State& state_of(EditLine* editor) {
  void* data = nullptr;
  el_get(editor, EL_CLIENTDATA, &data);
  return *static_cast<State*>(data);
}

bool is_word(char c) {
  return c == '_' || c == ':' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z');
}

std::string common_start(const std::vector<std::string>& words) {
  std::string start = words.front();
  for (const std::string& word : words) {
    const auto [end, _] = std::mismatch(start.begin(), start.end(), word.begin(), word.end());
    start.erase(end, start.end());
  }
  return start;
}

// Tab: completes as far as all candidates agree, then lists them.
template <typename State>
unsigned char complete_word(EditLine* editor, int) {
  const State& state = state_of<State>(editor);
  const LineInfo* info = el_line(editor);
  const std::string_view line(info->buffer, static_cast<size_t>(info->cursor - info->buffer));
  size_t begin = line.size();
  while (begin > 0 && is_word(line[begin - 1])) --begin;
  const std::string_view word = line.substr(begin);

  std::vector<std::string> fitting;
  for (std::string& candidate : state.complete(line)) {
    if (candidate.starts_with(word)) fitting.push_back(std::move(candidate));
  }
  std::ranges::sort(fitting);
  fitting.erase(std::unique(fitting.begin(), fitting.end()), fitting.end());
  if (fitting.empty()) return CC_REFRESH_BEEP;
  const std::string more = common_start(fitting).substr(word.size());
  if (!more.empty()) {
    el_insertstr(editor, more.c_str());
    return CC_REFRESH;
  }
  if (fitting.size() == 1) return CC_NORM;
  std::fputc('\n', stdout);
  for (const std::string& candidate : fitting) std::printf("%s  ", candidate.c_str());
  std::fputc('\n', stdout);
  std::fflush(stdout);
  return CC_REDISPLAY;
}

template <typename State>
unsigned char cancel_line(EditLine* editor, int) {
  state_of<State>(editor).cancelled = true;
  return CC_NEWLINE;
}

template <typename State>
const char* prompt_of(EditLine* editor) {
  return state_of<State>(editor).prompt.c_str();
}

}  // namespace

LineEditor::LineEditor(std::string history_path, Complete complete)
    : state_(std::make_unique<State>()) {
  std::setlocale(LC_CTYPE, "");
  state_->history_path = std::move(history_path);
  state_->complete = std::move(complete);
  state_->editor = el_init("xlog", stdin, stdout, stderr);
  state_->history = history_init();
  EditLine* editor = state_->editor;
  el_set(editor, EL_CLIENTDATA, state_.get());
  el_set(editor, EL_PROMPT, &prompt_of<State>);
  el_set(editor, EL_EDITOR, "emacs");
  HistEvent event;
  history(state_->history, &event, H_SETSIZE, kHistoryLines);
  history(state_->history, &event, H_SETUNIQUE, 1);
  el_set(editor, EL_HIST, history, state_->history);
  if (!state_->history_path.empty()) {
    history(state_->history, &event, H_LOAD, state_->history_path.c_str());
  }
  el_set(editor, EL_ADDFN, "xlog-complete", "Complete the word", &complete_word<State>);
  el_set(editor, EL_BIND, "^I", "xlog-complete", nullptr);
  // While a line is edited Ctrl-C is a key like others; while a query runs it is the usual signal.
  el_set(editor, EL_SETTY, "-d", "-isig", nullptr);
  el_set(editor, EL_ADDFN, "xlog-cancel", "Drop the line", &cancel_line<State>);
  el_set(editor, EL_BIND, "^C", "xlog-cancel", nullptr);
  el_set(editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  el_source(editor, nullptr);
}

LineEditor::~LineEditor() {
  if (!state_->history_path.empty()) {
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(state_->history_path).parent_path(),
                                        ignored);
    HistEvent event;
    history(state_->history, &event, H_SAVE, state_->history_path.c_str());
  }
  history_end(state_->history);
  el_end(state_->editor);
}

LineResult LineEditor::read(const std::string& prompt, std::string& line) {
  state_->prompt = prompt;
  state_->cancelled = false;
  int length = 0;
  const char* text = el_gets(state_->editor, &length);
  if (state_->cancelled) {
    std::fputs("^C\n", stdout);
    std::fflush(stdout);
    return LineResult::Cancelled;
  }
  if (text == nullptr || length <= 0) return LineResult::End;
  line.assign(text, static_cast<size_t>(length));
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
  if (line.find_first_not_of(" \t") != std::string::npos) {
    HistEvent event;
    history(state_->history, &event, H_ENTER, line.c_str());
  }
  return LineResult::Line;
}

std::string default_history_path() {
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state == '/') {
    return std::string(state) + "/xlog/history";
  }
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return "";
  return std::string(home) + "/.local/state/xlog/history";
}

}  // namespace xlog::cli
