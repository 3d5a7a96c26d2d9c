#include "oracle/refuse.h"

#include <fmt/format.h>

namespace xlog::oracle {

bool refuse_unsupported(const lang::Program& program, lang::Session& session) {
  Diagnostics& diagnostics = session.diagnostics;
  const auto refuse = [&](Span span, std::string_view construct, std::string_view help) {
    diagnostics
        .report(Code::NotSupportedByEngine, span,
                fmt::format("`xlog run` cannot evaluate {} yet", construct))
        .help(std::string(help));
  };
  const std::string_view probability =
      "probabilistic inference is not part of this version; `xlog check` checks the program";
  const std::string_view learning =
      "learning is not part of this version; `xlog check` checks the program";
  const size_t before = diagnostics.error_count();
  for (const lang::Rule& rule : program.rules) {
    if (rule.learnable) {
      refuse(rule.span, "a learnable rule", learning);
    } else if (rule.annotated && rule.head_kind == lang::HeadKind::Disjunction) {
      refuse(rule.span, "an annotated disjunction", probability);
    } else if (rule.annotated) {
      refuse(rule.span, rule.body.empty() ? "a probabilistic fact" : "a probabilistic rule",
             probability);
    }
  }
  for (const lang::NeuralDecl& neural : program.neural)
    refuse(neural.span, "a neural predicate", learning);
  for (const lang::Evidence& evidence : program.evidence)
    refuse(evidence.span, "evidence", probability);
  for (const lang::ProbQuery& query : program.prob_queries)
    refuse(query.span, "a probabilistic query", probability);
  return diagnostics.error_count() > before;
}

}  // namespace xlog::oracle
