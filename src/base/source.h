// Source texts and places in them. All files of one run share a single 32-bit offset space, so a
// Span is eight bytes and names its file by itself.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace xlog {

// Half-open byte range [begin, end) in a SourceMap. The default span (0,0) means "no place".
struct Span {
  uint32_t begin = 0;
  uint32_t end = 0;

  bool empty() const { return begin == 0 && end == 0; }
  friend bool operator==(Span, Span) = default;
};

// The smallest span that covers both; an empty one does not count.
Span cover(Span a, Span b);

struct Place {
  std::string_view file;  // the name as the user gave it
  uint32_t line = 0;      // from 1
  uint32_t column = 0;    // from 1, counted in code points
};

struct SourceFile {
  std::string name;  // shown in diagnostics
  std::string path;  // absolute path, empty for stdin, the REPL and tests
  std::string text;
  uint32_t base = 0;  // offset of text[0] in the map
};

// Owns the texts of a run.
//
//   SourceMap sources;
//   const SourceFile* file = sources.add("a.xlog", "/home/me/a.xlog", text);   // nullptr: 4 GiB in
//   all exceeded sources.place(span).line;
class SourceMap {
 public:
  SourceMap() = default;
  SourceMap(const SourceMap&) = delete;
  SourceMap& operator=(const SourceMap&) = delete;

  // Returns nullptr when the offset space (4 GiB) is used up.
  const SourceFile* add(std::string name, std::string path, std::string text);

  const SourceFile* file_of(Span span) const;  // nullptr for the empty span
  std::string_view text(Span span) const;
  Place place(Span span) const;  // of span.begin
  std::string_view line_text(
      Span span) const;                  // the line that holds span.begin, without its newline
  uint32_t line_begin(Span span) const;  // offset of that line's first byte
  const std::vector<std::unique_ptr<SourceFile>>& files() const { return files_; }

 private:
  std::vector<std::unique_ptr<SourceFile>> files_;
  uint32_t next_base_ = 1;  // so that no real span is (0,0)
};

}  // namespace xlog
