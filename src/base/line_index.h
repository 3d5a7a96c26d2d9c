// Places of many spans in the same texts. SourceMap::place reads its file from the start; this
// remembers where the lines of a file begin, so thousands of diagnostics on a large file cost one
// pass over it.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "base/source.h"

namespace xlog {

struct Line {
  uint32_t number = 0;    // from 1
  uint32_t begin = 0;     // offset of its first byte in the SourceMap
  std::string_view text;  // without the line end
};

//   LineIndex lines(sources);
//   lines.place(span.begin).column;
class LineIndex {
 public:
  explicit LineIndex(const SourceMap& sources) : sources_(sources) {}

  const SourceFile* file_at(uint32_t offset) const;  // nullptr when it lies in no file
  Line line_at(uint32_t offset);
  Place place(uint32_t offset);

 private:
  const std::vector<uint32_t>& starts_of(const SourceFile& file);

  const SourceMap& sources_;
  std::map<uint32_t, std::vector<uint32_t>>
      starts_;  // by SourceFile::base; offsets inside the file
};

}  // namespace xlog
