#include "base/line_index.h"

#include <algorithm>
#include <cstring>

namespace xlog {

const SourceFile* LineIndex::file_at(uint32_t offset) const {
  return sources_.file_of({offset, offset});
}

const std::vector<uint32_t>& LineIndex::starts_of(const SourceFile& file) {
  std::vector<uint32_t>& starts = starts_[file.base];
  if (!starts.empty()) return starts;
  starts.push_back(0);
  const char* const begin = file.text.data();
  const char* const end = begin + file.text.size();
  for (const char* at = begin; at < end;) {
    const void* newline = std::memchr(at, '\n', static_cast<size_t>(end - at));
    if (newline == nullptr) break;
    at = static_cast<const char*>(newline) + 1;
    starts.push_back(static_cast<uint32_t>(at - begin));
  }
  return starts;
}

Line LineIndex::line_at(uint32_t offset) {
  const SourceFile* file = file_at(offset);
  if (file == nullptr) return {};
  const std::vector<uint32_t>& starts = starts_of(*file);
  const auto next = std::upper_bound(starts.begin(), starts.end(), offset - file->base);
  const uint32_t begin = *std::prev(next);
  size_t end = next == starts.end() ? file->text.size() : *next - 1;
  if (end > begin && file->text[end - 1] == '\r') --end;
  return {static_cast<uint32_t>(next - starts.begin()), file->base + begin,
          std::string_view(file->text).substr(begin, end - begin)};
}

Place LineIndex::place(uint32_t offset) {
  const SourceFile* file = file_at(offset);
  if (file == nullptr) return {};
  const Line line = line_at(offset);
  const std::string_view before = line.text.substr(0, offset - line.begin);
  // Code points: every byte that is not a UTF-8 continuation starts one.
  const auto column = static_cast<uint32_t>(
      std::count_if(before.begin(), before.end(), [](char c) { return (c & 0xC0) != 0x80; }) + 1);
  return {file->name, line.number, column};
}

}  // namespace xlog
