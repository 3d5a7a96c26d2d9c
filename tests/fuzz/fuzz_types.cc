// Loads any text as a program: parse, lower, infer types. It must report errors, never crash.
#include <cstddef>
#include <cstdint>
#include <string>

#include "lang/load.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  xlog::lang::Session session;
  std::string text(reinterpret_cast<const char*>(data), size);
  const xlog::SourceFile* file = session.sources.add("fuzz.xlog", "", std::move(text));
  if (file == nullptr) return 0;
  xlog::lang::load(*file, session);
  xlog::render_text(session.diagnostics, session.sources);
  return 0;
}
