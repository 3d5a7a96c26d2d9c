#include "logic/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

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

bool is_over_views(Ask ask) {
  return ask == Ask::Cautious || ask == Ask::Credulous || ask == Ask::Everything;
}

bool is_asked_for(Ask ask, const mpz_class& known_in, const mpz_class& possible_in,
                  const mpz_class& views) {
  switch (ask) {
    case Ask::Views:
    case Ask::Counts:
      return false;
    case Ask::Cautious:
      return known_in == views;
    case Ask::Credulous:
      return known_in > 0;
    case Ask::Everything:
      return possible_in > 0;
  }
  return false;
}

namespace {

WorldCounts counts_of(const std::vector<WorldView>& views) {
  WorldCounts counts{0, views.front().world_count, views.front().world_count};
  for (const WorldView& view : views) {
    counts.all += view.world_count;
    counts.least = std::min(counts.least, view.world_count);
    counts.most = std::max(counts.most, view.world_count);
  }
  return counts;
}

std::vector<RowOverViews> rows_over(const Answer& answer, size_t query, Ask ask,
                                    const lang::Names& names) {
  struct Counts {
    mpz_class known, possible;
  };
  const auto before = [&](const std::vector<lang::Value>& a, const std::vector<lang::Value>& b) {
    return std::ranges::lexicographical_compare(
        a, b,
        [&](const lang::Value& x, const lang::Value& y) { return lang::compare(x, y, names) < 0; });
  };
  std::map<std::vector<lang::Value>, Counts, decltype(before)> counts(before);
  for (const WorldView& view : answer.views) {
    for (const Row& row : view.queries[query].rows) {
      Counts& of = counts[row.values];
      ++of.possible;
      if (row.status == RowStatus::Known) ++of.known;
    }
  }
  std::vector<RowOverViews> rows;
  for (const auto& [values, of] : counts) {
    if (!is_asked_for(ask, of.known, of.possible, answer.view_count)) continue;
    rows.push_back({values, std::make_shared<const mpz_class>(of.known),
                    std::make_shared<const mpz_class>(of.possible)});
  }
  return rows;
}

}  // namespace

void summarise(Answer& answer, Ask ask, const lang::Names& names) {
  answer.ask = ask;
  if (ask == Ask::Views || answer.views.empty()) return;
  if (ask == Ask::Counts) {
    answer.worlds = counts_of(answer.views);
  } else {
    for (size_t q = 0; q < answer.views.front().queries.size(); ++q) {
      answer.over_views.push_back(rows_over(answer, q, ask, names));
    }
  }
  answer.views.clear();
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
