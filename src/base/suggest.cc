// "did you mean ...?": the nearest name by edits (insert, delete, replace, swap of neighbours).
#include <algorithm>
#include <cctype>
#include <vector>

#include "base/diagnostic.h"

namespace xlog {
namespace {

constexpr size_t kLongestName = 100;  // nobody misspells longer ones by a letter or two

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// Optimal string alignment distance; upper and lower case are the same letter.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                           lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

// A third of the letters may be wrong. Names of one or two letters are all near each other, so
// there only the case may differ.
size_t tolerance(size_t letters) { return letters < 3 ? 0 : std::max<size_t>(1, letters / 3); }

}  // namespace

std::optional<std::string> did_you_mean(std::string_view name,
                                        const std::vector<std::string_view>& candidates) {
  if (name.size() > kLongestName) return std::nullopt;
  std::optional<std::string_view> nearest;
  size_t nearest_distance = 0;
  for (const std::string_view candidate : candidates) {
    if (candidate == name || candidate.size() > kLongestName) continue;
    const size_t allowed = tolerance(std::max(name.size(), candidate.size()));
    const size_t shorter = std::min(name.size(), candidate.size());
    if (std::max(name.size(), candidate.size()) - shorter > allowed) continue;
    const size_t distance = edit_distance(name, candidate);
    if (distance > allowed || (nearest && distance >= nearest_distance)) continue;
    nearest = candidate;
    nearest_distance = distance;
  }
  if (!nearest) return std::nullopt;
  return std::string(*nearest);
}

}  // namespace xlog
