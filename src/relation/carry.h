// Rules that carry columns along, run to their end: the launches of carry_kernel.h and what follows
// them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "relation/carry_kernel.h"

namespace xlog::relation {

class Carry {
 public:
  // Rules of relation `into` that are driven by its new rows, all that are.
  Carry(Machine& machine, const lang::Program& program, std::vector<CarriedRule> rules,
        lang::PredId into)
      : machine_(&machine), program_(&program), rules_(std::move(rules)), into_(into) {}

  lang::PredId into() const { return into_; }

  // Arranges the set for this while all rows are there: whether it is, or will be once it has bits.
  Result<bool> arrange(Relation& relation) const;
  // Adds everything that follows from what is stored: how many rows, by rule. Nothing where it
  // cannot be done so, or the relation would be no set of bits with so many rows more.
  Result<std::optional<std::vector<uint64_t>>> run(const RelationOf& relation_of, uint64_t more);

 private:
  Result<std::vector<uint64_t>> carry(const RelationOf& relation_of);
  Status compile(std::string shape, const RelationOf& relation_of, size_t carried);
  // The order in which nodes are best taken (OrderKernel).
  Result<device::Buffer> order_nodes(uint32_t nodes, const std::vector<device::Argument>& inputs);

  Machine* machine_;
  const lang::Program* program_;
  std::vector<CarriedRule> rules_;
  lang::PredId into_;

  // Kept from run to run.
  std::string compiled_;  // for which shape the kernels are
  device::KernelHandle order_kernel_, kernel_;
};

}  // namespace xlog::relation
