// Reads any bytes as a ground program: a program or an error, never a crash; and a program that is
// small enough has the stable models that the definition says.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "solve/aspif.h"
#include "solve/stable_models.h"
#include "solve/stable_testing.h"

namespace {

using xlog::solve::Atom;
using xlog::solve::AtomSet;
using xlog::solve::GroundProgram;
using xlog::solve::Optimum;
using xlog::solve::StableModels;

void compare(GroundProgram program) {
  program.externals.clear();
  program.assumptions.clear();
  const std::vector<AtomSet> expected = xlog::solve::stable_models_by_definition(program);
  StableModels solver({.check_every_model = true});
  if (!solver.add(program).ok()) return;
  std::vector<AtomSet> found;
  solver.enumerate({}, [&](const StableModels& s) {
    AtomSet set = 0;
    for (Atom a = 1; a <= program.atoms(); ++a) {
      if (s.holds(a)) set |= AtomSet{1} << (a - 1);
    }
    found.push_back(set);
    return true;
  });
  std::ranges::sort(found);
  if (found != expected) std::abort();
  if (solver.count({}).models != expected.size()) std::abort();
  const Optimum best = solver.optimize({});
  if (best.model.has_value() == expected.empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto read = xlog::solve::read_aspif(text, "fuzz");
  if (!read.ok()) return 0;
  const GroundProgram& program = read->program;
  const std::string written = xlog::solve::write_aspif(program);
  auto again = xlog::solve::read_aspif(written, "again");
  if (!again.ok() || xlog::solve::write_aspif(again->program) != written) std::abort();
  if (program.atoms() <= 7) compare(program);
  return 0;
}
