#include "epistemic/over_views.h"

#include <algorithm>
#include <map>
#include <memory>

#include "oracle/report.h"

namespace xlog::epistemic {

using logic::RowOverViews;
using oracle::AtomId;

ClusterCounts cluster_counts(const Findings& findings, AtomId atom) {
  if (const std::optional<AtomStatus> decided = findings.decided(atom)) {
    const uint32_t holds = *decided == AtomStatus::Always ? 1 : 0;
    return {1, holds, holds};
  }
  ClusterCounts counts{findings.views().views_of(findings.cluster_of(atom)), 0, 0};
  for (uint32_t v = 0; v < counts.views; ++v) {
    const AtomStatus status = findings.status(atom, v);
    counts.known += status == AtomStatus::Always ? 1 : 0;
    counts.possible += status != AtomStatus::Never ? 1 : 0;
  }
  return counts;
}

mpz_class share_of(const mpz_class& all, uint32_t part, uint32_t views) {
  mpz_class others;
  mpz_divexact_ui(others.get_mpz_t(), all.get_mpz_t(), views);
  return others * part;
}

namespace {

class Counter {
 public:
  explicit Counter(const mpz_class& views) : views_(views) {}

  // Few differ, and they may be long.
  std::shared_ptr<const mpz_class> share(uint32_t part, uint32_t views) {
    std::shared_ptr<const mpz_class>& count = counts_[{part, views}];
    if (count == nullptr) {
      count = std::make_shared<const mpz_class>(share_of(views_, part, views));
    }
    return count;
  }

 private:
  const mpz_class& views_;
  std::map<std::pair<uint32_t, uint32_t>, std::shared_ptr<const mpz_class>> counts_;
};

}  // namespace

std::vector<std::vector<RowOverViews>> rows_over_views(const Findings& findings, logic::Ask ask) {
  const mpz_class views = findings.view_count();
  Counter counter(views);
  const lang::Names& names = findings.context().session.names;
  std::vector<std::vector<RowOverViews>> answers;
  for (const lang::Query& query : findings.context().program.queries) {
    std::vector<RowOverViews>& rows = answers.emplace_back();
    oracle::for_each_row(
        findings.instance().database, query.pred,
        [&](std::span<const lang::Value> tuple, std::optional<AtomId> atom) {
          findings.context().tick();
          const ClusterCounts in = atom ? cluster_counts(findings, *atom) : ClusterCounts{1, 1, 1};
          // The same question asked of the cluster alone has the same answer.
          if (!logic::is_asked_for(ask, in.known, in.possible, in.views)) return;
          rows.push_back({{tuple.begin(), tuple.end()},
                          counter.share(in.known, in.views),
                          counter.share(in.possible, in.views)});
        });
    std::ranges::sort(rows, [&](const RowOverViews& a, const RowOverViews& b) {
      return std::ranges::lexicographical_compare(a.values, b.values,
                                                  [&](const lang::Value& x, const lang::Value& y) {
                                                    return lang::compare(x, y, names) < 0;
                                                  });
    });
  }
  return answers;
}

}  // namespace xlog::epistemic
