#include "io/csv_scan.h"

#include <algorithm>
#include <cstring>

namespace xlog::io {

char delimiter_of(std::string_view path, std::string_view text) {
  std::string ending(path.substr(std::min(path.size(), path.rfind('.'))));
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (ending == ".csv") return ',';
  if (ending == ".tsv" || ending == ".tab") return '\t';
  const std::string_view first_line = text.substr(0, text.find('\n'));
  return first_line.find('\t') == std::string_view::npos ? ',' : '\t';
}

CsvScanner::CsvScanner(std::string_view text, char delimiter)
    : at_(text.data()), end_(text.data() + text.size()), delimiter_(delimiter) {
  if (text.starts_with("\xEF\xBB\xBF")) at_ += 3;  // a byte order mark
}

ScanStatus CsvScanner::next() {
  fields_.clear();
  unquoted_.clear();
  while (at_ < end_ && (*at_ == '\n' || (*at_ == '\r' && at_ + 1 < end_ && at_[1] == '\n'))) {
    at_ += *at_ == '\n' ? 1 : 2;
    ++line_;
  }
  row_line_ = line_;
  if (at_ == end_) return ScanStatus::End;
  while (true) {
    if (at_ < end_ && *at_ == '"') {
      const ScanStatus status = quoted_field();
      if (status != ScanStatus::Row) return status;
    } else {
      const char* const begin = at_;
      while (at_ < end_ && *at_ != delimiter_ && *at_ != '\n') ++at_;
      const bool crlf = at_ < end_ ? *at_ == '\n' && at_ > begin && at_[-1] == '\r'
                                   : at_ > begin && at_[-1] == '\r';
      fields_.emplace_back(begin, static_cast<size_t>(at_ - begin) - (crlf ? 1 : 0));
    }
    if (at_ == end_) return ScanStatus::Row;
    if (*at_++ == '\n') break;
  }
  ++line_;
  return ScanStatus::Row;
}

// From the opening quote to the delimiter or line end behind the closing one.
ScanStatus CsvScanner::quoted_field() {
  const char* begin = ++at_;
  std::string* joined = nullptr;  // once a "" was met
  while (true) {
    const auto* quote =
        static_cast<const char*>(std::memchr(at_, '"', static_cast<size_t>(end_ - at_)));
    if (quote == nullptr) {
      line_ += static_cast<uint64_t>(std::count(at_, end_, '\n'));
      at_ = end_;
      return ScanStatus::OpenQuote;
    }
    line_ += static_cast<uint64_t>(std::count(at_, quote, '\n'));
    at_ = quote + 1;
    const bool doubled = at_ < end_ && *at_ == '"';
    if (doubled && joined == nullptr) joined = &unquoted_.emplace_back();
    if (joined != nullptr) joined->append(begin, doubled ? at_ : quote);
    if (!doubled) {
      if (joined == nullptr) fields_.emplace_back(begin, static_cast<size_t>(quote - begin));
      break;
    }
    begin = ++at_;
  }
  if (joined != nullptr) fields_.emplace_back(*joined);
  if (at_ + 1 < end_ && *at_ == '\r' && at_[1] == '\n') ++at_;
  if (at_ + 1 == end_ && *at_ == '\r') ++at_;
  if (at_ == end_ || *at_ == delimiter_ || *at_ == '\n') return ScanStatus::Row;
  skip_line();
  return ScanStatus::TextAfterQuote;
}

void CsvScanner::skip_line() {
  at_ = std::find(at_, end_, '\n');
  if (at_ < end_) ++at_;
  ++line_;
}

void append_field(std::string& out, std::string_view field, char delimiter) {
  const auto special = [&](char c) { return c == delimiter || c == '"' || c == '\n' || c == '\r'; };
  if (std::none_of(field.begin(), field.end(), special)) {
    out += field;
    return;
  }
  out += '"';
  for (const char c : field) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

}  // namespace xlog::io
