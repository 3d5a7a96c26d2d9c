// For tests of the surface syntax: a text, parsed, with everything it needs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lang/parser.h"
#include "lang/printer.h"

namespace xlog::lang {

struct Parsed {
  explicit Parsed(std::string text, const ParseOptions& options = {.bulk_facts = false}) {
    module = parse(*sources.add("test.xlog", "", std::move(text)), names, diagnostics, options);
  }

  // "E0107 3:5" for each diagnostic, in the order of reporting.
  std::vector<std::string> errors() const {
    std::vector<std::string> out;
    for (const Diagnostic& d : diagnostics.all()) {
      const Place place = sources.place(d.span);
      out.push_back(std::string(code_info(d.code).name) + " " + std::to_string(place.line) + ":" +
                    std::to_string(place.column));
    }
    return out;
  }

  std::string printed() const { return print(module, names); }

  template <typename Node>
  const Node& only() const {
    return std::get<Node>(module.statements.at(0).node);
  }

  SourceMap sources;
  Interner names;
  Diagnostics diagnostics;
  Module module;
};

inline std::string repeat(std::string_view text, size_t times) {
  std::string out;
  out.reserve(text.size() * times);
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

}  // namespace xlog::lang
