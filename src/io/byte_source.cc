#include "io/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace xlog::io {
namespace {

constexpr size_t kBlock = size_t{1} << 18;
constexpr int kGzipOnly = 15 + 16;  // windowBits of zlib: the largest window, gzip headers

constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";

// A zstd file may also start with frames of other data, which are skipped.
bool is_skippable_frame(std::string_view head) {
  return head.size() >= 4 && (static_cast<unsigned char>(head[0]) & 0xf0) == 0x50 &&
         head.substr(1, 3) == "\x2a\x4d\x18";
}

// What people pass by mistake; without a word on it they would read of row 1 not being UTF-8.
struct Foreign {
  std::string_view magic, what;
};
constexpr Foreign kForeign[] = {
    {{"\xfd"
      "7zXZ\0",
      6},
     "it is packed with xz; unpack it first, or pack it with gzip or zstd"},
    {"BZh91AY&SY", "it is packed with bzip2; unpack it first, or pack it with gzip or zstd"},
    {"PK\x03\x04", "it is a zip archive or a spreadsheet; unpack or export it first"},
    {"\xff\xfe", "it is UTF-16 text; convert it to UTF-8 first"},
    {"\xfe\xff", "it is UTF-16 text; convert it to UTF-8 first"},
    {"PAR1\x15", "it is a Parquet file, which cannot be read; export it as CSV first"},
};

}  // namespace

void ByteSource::EndGzip::operator()(z_stream_s* stream) const {
  inflateEnd(stream);
  delete stream;
}
void ByteSource::EndZstd::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

ByteSource::ByteSource() = default;

ByteSource::ByteSource(std::string_view text) : input_(text), at_end_(true) { begin(); }

ByteSource::~ByteSource() {
  if (fd_ > STDIN_FILENO) ::close(fd_);
}

size_t ByteSource::fail(std::string reason) {
  failed_ = true;
  reason_ = std::move(reason);
  return 0;
}

bool ByteSource::open(const std::string& path) {
  fd_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0) return fail(std::strerror(errno)) != 0;
  storage_.resize(kBlock);
  return begin();
}

// Decides by the first bytes how the file is packed.
bool ByteSource::begin() {
  while (!at_end_ && input_.size() < kHead && fill()) {
  }
  if (failed_) return false;
  for (const Foreign& foreign : kForeign) {
    if (input_.starts_with(foreign.magic)) return fail(std::string(foreign.what)) != 0;
  }
  if (input_.starts_with(kGzipMagic)) {
    gzip_.reset(new z_stream_s{});
    packing_ = Packing::Gzip;
    if (inflateInit2(gzip_.get(), kGzipOnly) != Z_OK) return fail("out of memory") != 0;
    in_member_ = true;
  } else if (input_.starts_with(kZstdMagic) || is_skippable_frame(input_)) {
    zstd_.reset(ZSTD_createDCtx());
    packing_ = Packing::Zstd;
    if (!zstd_) return fail("out of memory") != 0;
    in_member_ = true;
  }
  return true;
}

// Reads behind what is left, which is moved to the front. False at the end of the file or on an
// error.
bool ByteSource::fill() {
  if (at_end_) return false;
  if (!input_.empty()) std::memmove(storage_.data(), input_.data(), input_.size());
  ssize_t n;
  do {
    n = ::read(fd_, storage_.data() + input_.size(), storage_.size() - input_.size());
  } while (n < 0 && errno == EINTR);
  if (n < 0) fail(std::strerror(errno));
  at_end_ = n <= 0;
  input_ = std::string_view(storage_.data(), input_.size() + static_cast<size_t>(at_end_ ? 0 : n));
  return !at_end_;
}

size_t ByteSource::read(char* to, size_t size) {
  if (failed_) return 0;
  switch (packing_) {
    case Packing::None:
      return read_plain(to, size);
    case Packing::Gzip:
      return read_gzip(to, size);
    case Packing::Zstd:
      return read_zstd(to, size);
  }
  return 0;
}

// Straight into the caller's memory once what begin() looked at is handed on.
size_t ByteSource::read_plain(char* to, size_t size) {
  const size_t ready = std::min(size, input_.size());
  if (ready > 0) {
    std::memcpy(to, input_.data(), ready);
    input_.remove_prefix(ready);
    return ready;
  }
  if (at_end_) return 0;
  ssize_t n;
  do {
    n = ::read(fd_, to, size);
  } while (n < 0 && errno == EINTR);
  if (n < 0) return fail(std::strerror(errno));
  at_end_ = n == 0;
  return static_cast<size_t>(n);
}

// Tapes and some tools fill up the last block with zeros.
bool ByteSource::only_padding_left() {
  do {
    if (std::any_of(input_.begin(), input_.end(), [](char c) { return c != '\0'; })) return false;
    input_.remove_prefix(input_.size());
  } while (fill());
  return !failed_;
}

size_t ByteSource::read_gzip(char* to, size_t size) {
  while (true) {
    if (input_.empty() && !fill()) {
      if (failed_ || !in_member_) return 0;
      return fail("the gzip data ends too early: the file is not complete");
    }
    if (!in_member_) {
      while (input_.size() < kGzipMagic.size() && fill()) {
      }
      if (!input_.starts_with(kGzipMagic)) {
        if (only_padding_left() || failed_) return 0;
        return fail("there is something else behind the gzip data");
      }
      inflateReset(gzip_.get());
      in_member_ = true;
    }
    gzip_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input_.data()));
    gzip_->avail_in = static_cast<uInt>(std::min(input_.size(), size_t{1} << 30));
    gzip_->next_out = reinterpret_cast<Bytef*>(to);
    const auto room = static_cast<uInt>(std::min(size, size_t{1} << 30));
    gzip_->avail_out = room;
    const int status = inflate(gzip_.get(), Z_NO_FLUSH);
    input_.remove_prefix(
        static_cast<size_t>(reinterpret_cast<const char*>(gzip_->next_in) - input_.data()));
    in_member_ = status != Z_STREAM_END;
    if (status == Z_MEM_ERROR) return fail("out of memory");
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
      const char* const why = gzip_->msg == nullptr ? "unknown error" : gzip_->msg;
      return fail(fmt::format("the gzip data is damaged ({})", why));
    }
    if (gzip_->avail_out < room) return room - gzip_->avail_out;
  }
}

size_t ByteSource::read_zstd(char* to, size_t size) {
  while (true) {
    const bool file_is_done = input_.empty() && !fill();
    if (failed_) return 0;
    // Also without further input: what the decoder still holds may not have fitted before.
    ZSTD_inBuffer in = {input_.data(), input_.size(), 0};
    ZSTD_outBuffer out = {to, size, 0};
    if (file_is_done && !in_member_) return 0;
    const size_t left = ZSTD_decompressStream(zstd_.get(), &out, &in);
    if (ZSTD_isError(left) != 0) {
      return fail(fmt::format("the zstd data is damaged ({})", ZSTD_getErrorName(left)));
    }
    input_.remove_prefix(in.pos);
    in_member_ = left != 0;
    if (out.pos > 0) return out.pos;
    if (file_is_done && in_member_) {
      return fail("the zstd data ends too early: the file is not complete");
    }
  }
}

}  // namespace xlog::io
