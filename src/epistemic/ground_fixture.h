// What tests of ground programs share: a context without a program of the language.
#pragma once

#include "epistemic/views.h"
#include "lang/load.h"
#include "lang/program.h"
#include "logic/analysis.h"
#include "logic/answer.h"
#include "oracle/context.h"

namespace xlog::epistemic {

struct Fixture {
  lang::Program program;
  logic::Analysis analysis;
  lang::Session session;
  logic::AnswerOptions options;
  oracle::Context context{program, analysis, session, options};
  SearchCounts counts;
  Fixture() { options.max_candidates = UINT64_MAX; }
};

}  // namespace xlog::epistemic
