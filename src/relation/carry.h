// Rules that carry columns along, run to their end: the launches of carry_kernel.h, or
// sweep_kernel.h on devices with groups, and what follows them.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "relation/sweep_kernel.h"

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
  // How many different values rows can carry; 0 where the relation has no bounds.
  uint64_t carried_values(const Relation& relation) const;
  // Adds everything that follows from what is stored: how many rows, by rule. Nothing where it
  // cannot be done so, or the relation would be no set of bits with so many rows more.
  Result<std::optional<std::vector<uint64_t>>> run(const RelationOf& relation_of, uint64_t more);

 private:
  // What the rows are to the rules.
  struct Lines {
    size_t carried;  // columns
    uint32_t nodes;
    uint32_t instances;  // that run the pipelines
    uint32_t line;       // words of a node
    std::vector<device::Argument> set;
    std::vector<device::Argument> inputs;  // the set, and what the pipelines read
    std::string shape;                     // what kernels depend on
  };
  // For kernels that run the pipelines in at most so many instances.
  Result<Lines> prepare(const RelationOf& relation_of, uint32_t instances);

  Result<std::vector<uint64_t>> carry(const RelationOf& relation_of);
  Status compile(const Lines& lines, const RelationOf& relation_of);
  // The order in which nodes are best taken (OrderKernel).
  Result<device::Buffer> order_nodes(const Lines& lines);

  // On groups (carry_groups.cc).
  struct Steps {
    uint64_t count;
    device::Buffer sizes, waits;
  };
  struct Levels {
    device::Buffer order, places, starts;
    uint32_t count;
    bool has_cycles;
  };
  struct Sources {
    device::Buffer ends, nodes;
  };
  Result<std::optional<std::vector<uint64_t>>> sweep(const RelationOf& relation_of);
  Status compile_sweep(const Lines& lines, const RelationOf& relation_of);
  Status launch_steps(const device::KernelHandle& kernel, const Lines& lines,
                      std::initializer_list<device::Buffer> buffers);
  Result<Steps> count_steps(const Lines& lines);
  Result<Levels> find_levels(const Lines& lines, const Steps& steps);
  Result<Sources> find_sources(const Lines& lines, const Steps& steps, const Levels& levels);
  Result<std::vector<uint64_t>> sweep_levels(const Lines& lines, const Levels& levels,
                                             const Sources& sources);

  Machine* machine_;
  const lang::Program* program_;
  std::vector<CarriedRule> rules_;
  lang::PredId into_;

  // Kept from run to run.
  std::string compiled_;  // for which shape the kernels are
  device::KernelHandle order_kernel_, kernel_;
  device::KernelHandle count_kernel_, steps_kernel_, levels_kernel_, sweep_kernel_;
};

}  // namespace xlog::relation
