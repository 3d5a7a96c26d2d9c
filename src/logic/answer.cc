#include "logic/answer.h"

#include <fmt/format.h>

#include <cmath>

namespace xlog::logic {

std::string_view spelling(Mode mode) {
  switch (mode) {
    case Mode::G91:
      return "g91";
    case Mode::Faeel:
      return "faeel";
    case Mode::Faeel19:
      return "faeel19";
  }
  return "";
}

std::string_view spelling(RowStatus status) {
  switch (status) {
    case RowStatus::Known:
      return "known";
    case RowStatus::Possible:
      return "possible";
    case RowStatus::True:
      return "true";
    case RowStatus::Undefined:
      return "undefined";
  }
  return "";
}

std::string short_text(const mpz_class& count) {
  constexpr size_t kMostDigits = 30;
  if (mpz_sizeinbase(count.get_mpz_t(), 10) <= kMostDigits) return count.get_str();
  long exponent = 0;
  const double mantissa = mpz_get_d_2exp(&exponent, count.get_mpz_t());
  const double digits = std::log10(mantissa) + static_cast<double>(exponent) * std::log10(2.0);
  const double whole = std::floor(digits);
  return fmt::format("about {:.2f}e{:.0f}", std::pow(10.0, digits - whole), whole);
}

}  // namespace xlog::logic
