// The bytes of a data file as a stream. Compressed files (gzip, zstd; several members or frames)
// are recognised by their first bytes, whatever their name, and unpacked on the way; memory stays
// bounded whatever the size of the file.
//
//   ByteSource source;
//   if (!source.open("edges.csv.gz")) return source.reason();
//   while ((n = source.read(buffer, size)) > 0) use(buffer, n);
//   if (source.failed()) return source.reason();
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct z_stream_s;
struct ZSTD_DCtx_s;

namespace xlog::io {

enum class Packing : uint8_t { None, Gzip, Zstd };

class ByteSource {
 public:
  ByteSource();
  explicit ByteSource(std::string_view text);  // of bytes in memory, which must outlive it
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  bool open(const std::string& path);  // "-" is standard input
  // The next bytes, unpacked: at least one unless the end is reached or something is wrong.
  size_t read(char* to, size_t size);
  bool failed() const { return failed_; }
  const std::string& reason() const { return reason_; }

  // The first bytes as they are in the file, at most kHead; for recognising other formats. Only
  // before the first read().
  std::string_view head() const { return std::string_view(input_).substr(0, kHead); }
  Packing packing() const { return packing_; }

 private:
  static constexpr size_t kHead = 64;

  bool begin();
  bool fill();
  size_t fail(std::string reason);
  size_t read_plain(char* to, size_t size);
  size_t read_gzip(char* to, size_t size);
  size_t read_zstd(char* to, size_t size);
  bool only_padding_left();

  struct EndGzip {
    void operator()(z_stream_s* stream) const;
  };
  struct EndZstd {
    void operator()(ZSTD_DCtx_s* context) const;
  };

  int fd_ = -1;
  std::string storage_;     // bytes of the file that were read and not yet handed on
  std::string_view input_;  // the rest of them; or of the text in memory
  bool at_end_ = false;     // of the file
  bool failed_ = false;
  bool in_member_ = false;  // inside a gzip member or zstd frame
  Packing packing_ = Packing::None;
  std::unique_ptr<z_stream_s, EndGzip> gzip_;
  std::unique_ptr<ZSTD_DCtx_s, EndZstd> zstd_;
  std::string reason_;
};

}  // namespace xlog::io
