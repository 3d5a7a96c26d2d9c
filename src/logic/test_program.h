// Programs for the tests of this folder, from source text.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lang/load.h"
#include "logic/analysis.h"

namespace xlog::logic {

struct TestProgram {
  lang::Session session;
  std::optional<lang::Program> program;
  std::optional<Analysis> analysis;

  explicit TestProgram(std::string_view text) {
    const SourceFile* file = session.sources.add("test.xlog", "", std::string(text));
    lang::LoadOptions options;
    options.implicit_queries = false;
    program = lang::load(*file, session, options);
    if (program && !session.diagnostics.has_errors()) analysis = analyze(*program, session);
  }

  // "E0601 E0602": the errors in the order in which they were reported.
  std::string errors() const {
    std::string codes;
    for (const Diagnostic& diagnostic : session.diagnostics.all()) {
      if (diagnostic.severity != Severity::Error) continue;
      codes += (codes.empty() ? "" : " ") + std::string(code_info(diagnostic.code).name);
    }
    return codes;
  }

  std::string rendered() const { return render_text(session.diagnostics, session.sources); }

  // By its signature, "p/1".
  PredId pred(std::string_view signature) const {
    for (uint32_t i = 0; i < program->predicates.size(); ++i) {
      if (predicate_signature(program->predicates[i], session.names) == signature) return PredId{i};
    }
    ADD_FAILURE() << "no predicate " << signature;
    return PredId{0};
  }

  const Component& component(std::string_view signature) const {
    return analysis->components[analysis->component_of[pred(signature).index]];
  }

  std::string rule_text(uint32_t rule) const {
    return to_source(program->rules[rule], *program, session.names);
  }
};

}  // namespace xlog::logic
