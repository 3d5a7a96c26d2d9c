// Facts as bytes that mean the same in every process: predicates, symbols and functors by name,
// numbers by value, little-endian. What is decoded is checked as if a stranger had written it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "incremental/maintained.h"
#include "lang/program.h"
#include "lang/value.h"

namespace xlog::session {

// The rules and the types of a program, in 64 bits: facts of one session fit programs of one
// digest. Queries, pragmas and the facts themselves do not count.
uint64_t program_digest(const lang::Program& program, const lang::Names& names);

std::string encode(std::span<const incremental::FactChanges> changes, const lang::Program& program,
                   const lang::Names& names);

// An error when the bytes are no facts, or not those of predicates and types of this program.
Result<std::vector<incremental::FactChanges>> decode(std::string_view bytes,
                                                     const lang::Program& program,
                                                     lang::Names& names);

// ---- Numbers ----

void append_u32(std::string& out, uint32_t value);
void append_u64(std::string& out, uint64_t value);

// Takes numbers and texts from the front. After the first that is not there everything is 0 and
// ok() false.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  uint8_t u8();
  uint32_t u32();
  uint64_t u64();
  std::string_view text();  // its length first
  bool ok() const { return ok_; }
  size_t left() const { return bytes_.size(); }
  std::string_view rest() const { return bytes_; }

 private:
  std::string_view take(size_t size);
  std::string_view bytes_;
  bool ok_ = true;
};

}  // namespace xlog::session
