// Loads any bytes as a data file, plain or packed: they must give rows or errors, never a crash,
// and the same rows whatever the size of the batches they are read in.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "io/csv.h"
#include "io/csv_scan.h"

namespace {

namespace io = xlog::io;
namespace lang = xlog::lang;
using lang::TypeKind;

std::vector<std::string> fields(std::string_view text, size_t together) {
  std::vector<std::string> all;
  io::ByteSource source(text);
  io::CsvScanner scanner(source);
  scanner.begin("fuzz");
  io::ScanStatus status;
  while ((status = scanner.next(together)) != io::ScanStatus::End) {
    if (status == io::ScanStatus::Unreadable) break;
    if (status != io::ScanStatus::Rows) {
      all.push_back("fault at " + std::to_string(scanner.line(0)));
      continue;
    }
    for (size_t row = 0; row < scanner.rows(); ++row) {
      all.push_back("line " + std::to_string(scanner.line(row)));
      for (size_t i = 0; i < scanner.width(); ++i) all.emplace_back(scanner.field(row, i));
    }
  }
  return all;
}

void load(std::string_view text, const std::vector<TypeKind>& columns) {
  lang::Session session;
  lang::Program program;
  lang::Predicate& p = program.predicates.emplace_back();
  p.name = session.names.symbols.intern("p");
  p.arity = static_cast<uint32_t>(columns.size());
  for (size_t c = 0; c < columns.size(); ++c) {
    const std::string name(1, static_cast<char>('a' + c));
    p.columns.push_back({session.names.symbols.intern(name), lang::Type{columns[c], nullptr}, {}});
  }
  io::ByteSource source(text);
  io::FactLoader loader("fuzz", {0}, program, session);
  const bool loaded = io::load_csv(source, loader);
  if (loaded == session.diagnostics.has_errors()) std::abort();
  if (!loaded && p.facts->rows != 0) std::abort();
  render_text(session.diagnostics, session.sources);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (io::ByteSource(text).failed()) return 0;
  if (fields(text, 1) != fields(text, 7)) std::abort();
  load(text, {TypeKind::Symbol});
  load(text, {TypeKind::U32, TypeKind::Symbol});
  load(text, {TypeKind::I64, TypeKind::F64, TypeKind::Bool});
  load(text, {TypeKind::Term, TypeKind::U64});
  return 0;
}
