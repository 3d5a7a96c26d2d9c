// Keeps what an evaluation reports from the user until somebody asks for the answer.
#pragma once

#include <optional>
#include <utility>

#include "base/result.h"
#include "lang/load.h"
#include "logic/answer.h"

namespace xlog::incremental {

class Quiet {
 public:
  explicit Quiet(lang::Session& session)
      : session_(session), before_(std::exchange(session.diagnostics, {})) {}
  ~Quiet() { session_.diagnostics = std::move(before_); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

  // The reason why there is no result.
  Error error() const { return first_error(session_); }
  static Error first_error(const lang::Session& session) {
    for (const Diagnostic& diagnostic : session.diagnostics.all()) {
      if (diagnostic.severity != Severity::Error) continue;
      const bool limit =
          diagnostic.code == Code::LimitReached || diagnostic.code == Code::MemoryExhausted;
      return {diagnostic.message, diagnostic.help_text,
              limit ? ErrorKind::Limit : ErrorKind::Failure};
    }
    return {"the program could not be evaluated", ""};
  }
  Diagnostics take() { return std::exchange(session_.diagnostics, {}); }

 private:
  lang::Session& session_;
  Diagnostics before_;
};

// An answer that a limit ended is none: rows that it lacks may hold, so that nothing can be
// compared with it. What was said names the limit.
inline std::optional<logic::Answer> if_finished(std::optional<logic::Answer> answer) {
  if (answer && answer->unfinished) return std::nullopt;
  return answer;
}

// Says again what was kept.
inline void repeat(const Diagnostics& kept, lang::Session& session) {
  for (const Diagnostic& diagnostic : kept.all()) {
    session.diagnostics.report(diagnostic.code, diagnostic.span, diagnostic.message) = diagnostic;
  }
}

}  // namespace xlog::incremental
