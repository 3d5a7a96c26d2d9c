#include "io/csv_scan.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace xlog::io {
namespace {

constexpr size_t kFirstWindow = size_t{1} << 20;

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

// Which of 64 bytes are separators, and whether all are ASCII.
struct BlockMasks {
  uint64_t separators = 0;
  bool has_high_bit = false;
};

#if defined(__SSE2__)
BlockMasks masks_of(const char* block, char delimiter) {
  const __m128i delimiters = _mm_set1_epi8(delimiter);
  const __m128i line_feeds = _mm_set1_epi8('\n');
  BlockMasks masks;
  int high_bits = 0;
  for (int i = 0; i < 4; ++i) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block) + i);
    const __m128i found =
        _mm_or_si128(_mm_cmpeq_epi8(bytes, delimiters), _mm_cmpeq_epi8(bytes, line_feeds));
    masks.separators |= static_cast<uint64_t>(static_cast<uint16_t>(_mm_movemask_epi8(found)))
                        << (16 * i);
    high_bits |= _mm_movemask_epi8(bytes);
  }
  masks.has_high_bit = high_bits != 0;
  return masks;
}
#else
BlockMasks masks_of(const char* block, char delimiter) {
  BlockMasks masks;
  for (size_t i = 0; i < 64; ++i) {
    const bool found = block[i] == delimiter || block[i] == '\n';
    masks.separators |= static_cast<uint64_t>(found) << i;
    masks.has_high_bit |= static_cast<unsigned char>(block[i]) >= 0x80;
  }
  return masks;
}
#endif

}  // namespace

char delimiter_of(std::string_view path, std::string_view text) {
  std::string name = lower(path);
  for (const std::string_view packed : {".gz", ".zst"}) {
    if (name.ends_with(packed)) name.resize(name.size() - packed.size());
  }
  if (name.ends_with(".csv")) return ',';
  if (name.ends_with(".tsv") || name.ends_with(".tab")) return '\t';
  const std::string_view first_line = text.substr(0, text.find('\n'));
  return first_line.find('\t') == std::string_view::npos ? ',' : '\t';
}

CsvScanner::CsvScanner(ByteSource& source)
    : source_(source), window_(new char[kFirstWindow + kPadding]), capacity_(kFirstWindow) {
  at_ = end_ = window_.get();
  std::memset(window_.get(), 0, kPadding);
}

void CsvScanner::begin(std::string_view name) {
  refill();
  const std::string_view text(at_, static_cast<size_t>(end_ - at_));
  delimiter_ = delimiter_of(name, text);
  if (text.starts_with("\xEF\xBB\xBF")) at_ += 3;  // a byte order mark
}

// Reads on behind the bytes that are left, which move to the front; the window grows when they fill
// it. False when there is nothing more.
bool CsvScanner::refill() {
  if (source_done_) return false;
  const auto left = static_cast<size_t>(end_ - at_);
  if (left >= capacity_ / 2) {
    std::unique_ptr<char[]> larger(new char[2 * capacity_ + kPadding]);
    std::memcpy(larger.get(), at_, left);
    window_ = std::move(larger);
    capacity_ *= 2;
  } else if (left > 0) {
    std::memmove(window_.get(), at_, left);
  }
  at_ = window_.get();
  size_t used = left;
  // The last byte is kept free for the line feed below.
  while (used + 1 < capacity_) {
    const size_t n = source_.read(window_.get() + used, capacity_ - 1 - used);
    if (n == 0) break;
    used += n;
  }
  if (used + 1 < capacity_) {
    source_done_ = true;
    if (used > 0 && window_[used - 1] != '\n') window_[used++] = '\n';
  }
  if (source_.failed()) used = 0;  // half of a row would only make a second error
  end_ = window_.get() + used;
  std::memset(window_.get() + used, 0, kPadding);
  return used > left;
}

void CsvScanner::skip_line() {
  ++line_;
  do {
    at_ = std::find(at_, end_, '\n');
    if (at_ < end_) {
      ++at_;
      return;
    }
  } while (refill());
}

ScanStatus CsvScanner::fault(ScanStatus status) {
  lines_.assign(1, line_);
  return status;
}

ScanStatus CsvScanner::next(size_t max_rows) {
  fields_.clear();
  lines_.clear();
  unquoted_.clear();
  width_ = 0;
  while (true) {
    const Stop stop = scan_rows(max_rows);
    if (!lines_.empty()) return ScanStatus::Rows;  // what stopped it is met again next time
    if (stop == Stop::TextAfterQuote) {
      fault(ScanStatus::TextAfterQuote);
      line_ += lines_in_quotes_;
      at_ = behind_quoted_;
      skip_line();
      return ScanStatus::TextAfterQuote;
    }
    if (static_cast<size_t>(end_ - at_) > kMaxRowBytes) {
      at_ = end_;
      source_done_ = true;
      return fault(ScanStatus::TooLong);
    }
    if (refill()) continue;
    if (source_.failed()) return fault(ScanStatus::Unreadable);
    if (at_ == end_) return ScanStatus::End;
    at_ = end_;  // every other row ends with a line feed
    return fault(ScanStatus::OpenQuote);
  }
}

// Complete rows from at_ on. Separators are found 64 bytes at a time; only a field that starts with
// a quote is looked at byte by byte.
CsvScanner::Stop CsvScanner::scan_rows(size_t max_rows) {
  fields_.clear();
  lines_in_quotes_ = 0;
  const char* field = at_;
  const char* block = at_;
  BlockMasks masks = masks_of(block, delimiter_);
  is_ascii_ = !masks.has_high_bit;
  while (lines_.size() < max_rows) {
    const char* separator;
    if (*field == '"') [[unlikely]] {
      const Stop stop = quoted_field(field);
      if (stop != Stop::RowsDone) return stop;
      separator = behind_quoted_;
      block = separator + 1;
      masks = masks_of(block, delimiter_);
      is_ascii_ = false;  // nobody looked
    } else {
      while (masks.separators == 0) {
        block += 64;
        if (block >= end_) return Stop::NeedsMore;
        masks = masks_of(block, delimiter_);
        is_ascii_ &= !masks.has_high_bit;
      }
      separator = block + std::countr_zero(masks.separators);
      masks.separators &= masks.separators - 1;
      const bool crlf = *separator == '\n' && separator > field && separator[-1] == '\r';
      fields_.emplace_back(field, static_cast<size_t>(separator - field) - (crlf ? 1 : 0));
    }
    field = separator + 1;
    if (*separator == '\n') {
      if (!end_row()) return Stop::RowsDone;
      at_ = field;
    }
  }
  return Stop::RowsDone;
}

// Counts the fields behind the last complete row as a row, unless they are an empty line or too few
// or too many for the batch: then false. An empty line starts with its end, `""` with a quote.
bool CsvScanner::end_row() {
  const size_t begin = lines_.size() * width_;
  const size_t fields = fields_.size() - begin;
  const bool is_empty_line = fields == 1 && fields_.back().empty() && fields_.back().data() == at_;
  if (is_empty_line) {
    fields_.pop_back();
  } else if (lines_.empty() || fields == width_) {
    width_ = fields;
    lines_.push_back(line_);
  } else {
    fields_.resize(begin);
    return false;
  }
  line_ += 1 + std::exchange(lines_in_quotes_, 0);
  return true;
}

// From the opening quote to the delimiter or line end behind the closing one.
CsvScanner::Stop CsvScanner::quoted_field(const char* begin) {
  const char* const text = ++begin;
  const char* at = text;
  std::string* joined = nullptr;  // once a "" was met
  const char* quote;
  while (true) {
    quote = static_cast<const char*>(std::memchr(at, '"', static_cast<size_t>(end_ - at)));
    // A quote that is the last byte may be half of a "".
    if (quote == nullptr || quote + 1 == end_) return Stop::NeedsMore;
    at = quote + 1;
    const bool doubled = *at == '"';
    if (doubled && joined == nullptr) joined = &unquoted_.emplace_back();
    if (joined != nullptr) joined->append(begin, doubled ? at : quote);
    if (!doubled) break;
    begin = ++at;
  }
  if (joined == nullptr) {
    fields_.emplace_back(begin, static_cast<size_t>(quote - begin));
  } else {
    const size_t size = joined->size();
    joined->append(kPadding, '\0');
    fields_.emplace_back(joined->data(), size);
  }
  lines_in_quotes_ += static_cast<uint64_t>(std::count(text, quote, '\n'));
  if (*at == '\r' && (at + 1 == end_ || at[1] == '\n')) ++at;
  if (at == end_) return Stop::NeedsMore;
  behind_quoted_ = at;
  return *at == delimiter_ || *at == '\n' ? Stop::RowsDone : Stop::TextAfterQuote;
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
