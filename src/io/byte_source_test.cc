#include "io/byte_source.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <random>

namespace xlog::io {
namespace {

std::string gzip(const std::string& text) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  out.resize(ZSTD_compress2(context, out.data(), out.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return out;
}

std::string sample(size_t size) {
  std::mt19937 random(3);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>('a' + random() % 26);
  return text;
}

std::string read_all(ByteSource& source, size_t step) {
  std::string text;
  std::string piece(step, '\0');
  while (const size_t n = source.read(piece.data(), piece.size())) text.append(piece, 0, n);
  return text;
}

// What reading gives, or "failed: " and the reason.
std::string unpacked(const std::string& bytes, size_t step = 1000) {
  ByteSource source(bytes);
  std::string text = read_all(source, step);
  return source.failed() ? "failed: " + source.reason() : text;
}

TEST(ByteSource, PlainBytes) {
  const std::string text = sample(100'000);
  EXPECT_EQ(unpacked(text), text);
  EXPECT_EQ(unpacked(""), "");
  EXPECT_EQ(unpacked("\x1f"), "\x1f");
}

TEST(ByteSource, PackedBytesInOneOrSeveralParts) {
  const std::string a = sample(700'000);
  const std::string b = "more\n";
  for (const auto pack : {gzip, zstd}) {
    for (const size_t step : {size_t{7}, size_t{1000}, size_t{1} << 20}) {
      EXPECT_EQ(unpacked(pack(a), step), a);
      EXPECT_EQ(unpacked(pack(a) + pack("") + pack(b), step), a + b);
    }
    EXPECT_EQ(unpacked(pack("")), "");
  }
  EXPECT_EQ(unpacked(gzip(b) + std::string(1000, '\0')), b);  // padding
}

TEST(ByteSource, SkippableFrames) {
  const std::string skipped("\x50\x2a\x4d\x18\x03\x00\x00\x00xyz", 11);
  EXPECT_EQ(unpacked(skipped + zstd("text")), "text");
}

TEST(ByteSource, EveryTruncationIsAnError) {
  const std::string text = sample(300);
  for (const auto pack : {gzip, zstd}) {
    const std::string packed = pack(text);
    for (size_t size = 4; size < packed.size(); ++size) {
      EXPECT_TRUE(unpacked(packed.substr(0, size)).starts_with("failed: the ")) << size;
      EXPECT_TRUE(unpacked(packed + packed.substr(0, size)).starts_with("failed: the ")) << size;
    }
  }
  EXPECT_EQ(unpacked(gzip(text).substr(0, 100)),
            "failed: the gzip data ends too early: the file is not complete");
  EXPECT_EQ(unpacked(zstd(text).substr(0, 100)),
            "failed: the zstd data ends too early: the file is not complete");
}

TEST(ByteSource, DamageIsAnErrorOrChangesNothing) {
  const std::string text = sample(2000);
  std::mt19937 random(5);
  for (const auto pack : {gzip, zstd}) {
    const std::string packed = pack(text);
    for (int i = 0; i < 500; ++i) {
      std::string damaged = packed;
      const size_t at = 10 + random() % (damaged.size() - 10);
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << (random() % 8)));
      const std::string read = unpacked(damaged);
      EXPECT_TRUE(read == text || read.starts_with("failed: ")) << at;
    }
    EXPECT_TRUE(unpacked(packed + "rubbish").starts_with("failed: "));
  }
}

TEST(ByteSource, NamesWhatItCannotUnpack) {
  EXPECT_NE(unpacked(std::string("\xfd"
                                 "7zXZ\0...",
                                 9))
                .find("xz"),
            std::string::npos);
  EXPECT_NE(unpacked("PK\x03\x04...").find("zip"), std::string::npos);
  EXPECT_NE(unpacked("\xff\xfe"
                     "a")
                .find("UTF-16"),
            std::string::npos);
}

TEST(ByteSource, Files) {
  const auto path =
      std::filesystem::temp_directory_path() / fmt::format("xlog_byte_source_{}", ::getpid());
  const std::string text = sample(3'000'000);
  for (const std::string& bytes : {text, gzip(text), zstd(text)}) {
    std::ofstream(path, std::ios::binary) << bytes;
    ByteSource source;
    ASSERT_TRUE(source.open(path.string())) << source.reason();
    EXPECT_EQ(source.head(), std::string_view(bytes).substr(0, 64));
    EXPECT_EQ(read_all(source, 65'536), text);
    EXPECT_FALSE(source.failed()) << source.reason();
  }
  std::filesystem::remove(path);
  ByteSource missing;
  EXPECT_FALSE(missing.open(path.string()));
  EXPECT_EQ(missing.reason(), "No such file or directory");
  ByteSource folder;
  EXPECT_FALSE(folder.open(std::filesystem::temp_directory_path().string()));
  EXPECT_EQ(folder.reason(), "Is a directory");
}

}  // namespace
}  // namespace xlog::io
