#include "base/source.h"

#include <algorithm>

namespace xlog {

Span cover(Span a, Span b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

const SourceFile* SourceMap::add(std::string name, std::string path, std::string text) {
  // One byte beyond the text is reserved, so that "end of file" is a place inside the file.
  if (text.size() + 1 > UINT32_MAX - next_base_) return nullptr;
  auto file = std::make_unique<SourceFile>();
  file->name = std::move(name);
  file->path = std::move(path);
  file->text = std::move(text);
  file->base = next_base_;
  next_base_ += static_cast<uint32_t>(file->text.size()) + 1;
  files_.push_back(std::move(file));
  return files_.back().get();
}

const SourceFile* SourceMap::file_of(Span span) const {
  if (span.empty()) return nullptr;
  auto it = std::upper_bound(files_.begin(), files_.end(), span.begin,
                             [](uint32_t at, const auto& file) { return at < file->base; });
  return it == files_.begin() ? nullptr : std::prev(it)->get();
}

std::string_view SourceMap::text(Span span) const {
  const SourceFile* file = file_of(span);
  if (file == nullptr) return {};
  const std::string_view all = file->text;
  const size_t begin = std::min<size_t>(span.begin - file->base, all.size());
  const size_t end = std::clamp<size_t>(span.end - file->base, begin, all.size());
  return all.substr(begin, end - begin);
}

uint32_t SourceMap::line_begin(Span span) const {
  const SourceFile* file = file_of(span);
  if (file == nullptr) return 0;
  const std::string_view before = std::string_view(file->text).substr(0, span.begin - file->base);
  const size_t newline = before.rfind('\n');
  return file->base + static_cast<uint32_t>(newline == std::string_view::npos ? 0 : newline + 1);
}

std::string_view SourceMap::line_text(Span span) const {
  const SourceFile* file = file_of(span);
  if (file == nullptr) return {};
  const std::string_view rest = std::string_view(file->text).substr(line_begin(span) - file->base);
  std::string_view line = rest.substr(0, rest.find('\n'));
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

Place SourceMap::place(Span span) const {
  const SourceFile* file = file_of(span);
  if (file == nullptr) return {};
  const std::string_view before =
      std::string_view(file->text)
          .substr(0, std::min<size_t>(span.begin - file->base, file->text.size()));
  const auto line = static_cast<uint32_t>(std::count(before.begin(), before.end(), '\n') + 1);
  const std::string_view in_line = before.substr(line_begin(span) - file->base);
  // Code points: every byte that is not a UTF-8 continuation starts one.
  const auto column = static_cast<uint32_t>(
      std::count_if(in_line.begin(), in_line.end(), [](char c) { return (c & 0xC0) != 0x80; }) + 1);
  return {file->name, line, column};
}

}  // namespace xlog
