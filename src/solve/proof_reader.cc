#include "solve/proof_reader.h"

#include <fmt/format.h>

#include <charconv>

namespace xlog::solve {
namespace {

constexpr std::string_view kSpaces = " \t\r\n\v\f";

// Text never holds the byte that begins an addition in the binary form, nor, in a deletion,
// anything but a space after its `d`.
bool is_binary(std::string_view proof) {
  if (proof.empty()) return false;
  if (proof[0] == 'a') return true;
  return proof[0] == 'd' && proof.size() > 1 && kSpaces.find(proof[1]) == std::string_view::npos;
}

}  // namespace

ProofReader::ProofReader(std::string_view proof, std::string_view file)
    : proof_(proof), file_(file), binary_(is_binary(proof)) {}

std::string ProofReader::place() const {
  if (binary_) return fmt::format("byte {}", step_at_);
  const std::string_view before = proof_.substr(0, step_at_);
  return fmt::format("{}", 1 + std::ranges::count(before, '\n'));
}

Error ProofReader::error(std::string_view message) const {
  return {fmt::format("{}:{}: {}", file_, place(), message),
          "a step is a clause `1 -2 0`, after `d` one that is deleted; is the file complete?"};
}

Result<bool> ProofReader::next(ProofStep& step) {
  step.clause.clear();
  return binary_ ? next_binary(step) : next_text(step);
}

Result<bool> ProofReader::next_text(ProofStep& step) {
  for (;;) {
    at_ = std::min(proof_.find_first_not_of(kSpaces, at_), proof_.size());
    step_at_ = at_;
    if (at_ == proof_.size()) return false;
    if (proof_[at_] != 'c') break;
    at_ = std::min(proof_.find('\n', at_), proof_.size());
  }
  step.deletes = proof_[at_] == 'd';
  if (step.deletes) ++at_;
  for (;;) {
    at_ = std::min(proof_.find_first_not_of(kSpaces, at_), proof_.size());
    if (at_ == proof_.size()) return error("the clause does not end with 0");
    Literal literal = 0;
    const char* const end = proof_.data() + proof_.size();
    const auto [stop, problem] = std::from_chars(proof_.data() + at_, end, literal);
    const bool ends = stop == end || kSpaces.find(*stop) != std::string_view::npos;
    if (problem != std::errc() || !ends ||
        variable_of(std::max(literal, -INT32_MAX)) > kMostVariables) {
      return error("this is no step of a proof");
    }
    at_ = static_cast<size_t>(stop - proof_.data());
    if (literal == 0) return true;
    step.clause.push_back(literal);
  }
}

// `a` or `d`, the literals as 2 * variable + sign in groups of 7 bits, then a zero byte.
Result<bool> ProofReader::next_binary(ProofStep& step) {
  step_at_ = at_;
  if (at_ == proof_.size()) return false;
  const char kind = proof_[at_++];
  if (kind != 'a' && kind != 'd') return error("this is no step of a binary proof");
  step.deletes = kind == 'd';
  for (;;) {
    uint64_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (at_ == proof_.size()) return error("the binary clause does not end with a zero byte");
      const auto byte = static_cast<uint8_t>(proof_[at_++]);
      if (shift > 28) return error("this literal is past 32 bits");
      number |= static_cast<uint64_t>(byte & 127) << shift;
      if (byte < 128) break;
    }
    if (number == 0) return true;
    if (number < 2 || number / 2 > kMostVariables) return error("this literal is past 32 bits");
    const auto variable = static_cast<Literal>(number / 2);
    step.clause.push_back(number % 2 == 0 ? variable : -variable);
  }
}

}  // namespace xlog::solve
