// Fills the tables of the host (plan/host_tables.h) with what there is when they are first read.
#pragma once

#include <vector>

#include "base/result.h"
#include "plan/host_tables.h"

namespace xlog::engine {

class HostTables {
 public:
  HostTables(std::vector<plan::HostTable> tables, lang::Program& program, lang::Names& names)
      : tables_(std::move(tables)),
        filled_(tables_.size(), false),
        program_(program),
        names_(names) {}

  bool is_table(lang::PredId pred) const;

  // Gives the tables that rules of a component read their facts, once; which ones. Those that
  // components share are filled first of all, the others before the component.
  enum class When : uint8_t { First, Before };
  Result<std::vector<lang::PredId>> fill(const logic::Component& component, When when);

 private:
  bool reads(const logic::Component& component, lang::PredId table) const;
  void fill_ranks(lang::FactTable& facts) const;
  Status add_rests();
  void fill_lists(const plan::HostTable& table, lang::FactTable& facts);

  std::vector<plan::HostTable> tables_;
  std::vector<bool> filled_;  // by table
  lang::Program& program_;
  lang::Names& names_;
};

}  // namespace xlog::engine
