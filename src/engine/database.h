// The relations of a program on a device.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "lang/facts.h"
#include "lang/program.h"
#include "logic/answer.h"
#include "plan/build.h"
#include "relation/relation.h"

namespace xlog::engine {

// Rows on the host, in columns of the language's types.
struct Rows {
  std::vector<lang::FactColumn> columns;
  uint32_t count = 0;
};

// What a relation holds and takes.
struct RelationFigures {
  std::string name;  // as people know it
  uint32_t component = 0;
  lang::PredId pred;
  uint64_t rows = 0;
  uint64_t bytes = 0;
  relation::SetKind set = relation::SetKind::Packed;
  uint32_t indexes = 0;
  std::map<uint32_t, plan::Degrees> degrees;  // by column, where the planner asked
};

class Database {
 public:
  Database(relation::Machine& machine, const lang::Program& program, lang::Names& names)
      : machine_(machine),
        program_(program),
        names_(names),
        relations_(program.predicates.size()) {}

  relation::Relation& operator[](lang::PredId pred);
  lang::Names& names() const { return names_; }

  // The relation of a predicate becomes an empty one.
  void clear(lang::PredId pred);
  // From here on both predicates have one relation, which is finished: that of the first.
  void share(lang::PredId pred, lang::PredId other);
  // Puts the facts of a predicate into its relation.
  Status load_facts(lang::PredId pred);
  // What the planner wants to know. The distinct values of a column are not counted but bounded: by
  // the rows, and by the greatest value; those of a relation that is not finished by an index.
  Result<plan::Statistics> statistics(lang::PredId pred);
  // Of the relations that are on the device, by predicate. `component` is left to the caller.
  std::vector<RelationFigures> figures() const;
  // All rows, on the host, in no particular order.
  Result<std::vector<std::vector<lang::Value>>> rows(lang::PredId pred);
  // The same as columns of the language's types, which are those of `like`.
  Result<Rows> columns(lang::PredId pred, lang::PredId like);
  Result<Rows> columns(lang::PredId pred) { return columns(pred, pred); }

 private:
  relation::Machine& machine_;
  const lang::Program& program_;
  lang::Names& names_;
  std::vector<std::shared_ptr<relation::Relation>> relations_;
  std::optional<plan::Degrees> degrees(lang::PredId pred, uint32_t column);

  std::map<lang::PredId, plan::Statistics> statistics_;                // of those that are finished
  std::map<lang::PredId, std::map<uint32_t, plan::Degrees>> degrees_;  // the same
};

// Rows of device columns as values of the language.
Result<std::vector<std::vector<lang::Value>>> download_rows(
    device::Device& device, const std::vector<device::Buffer>& columns,
    const std::vector<lang::TypeKind>& kinds, uint32_t rows, const lang::Names& names);

}  // namespace xlog::engine
