// Decides many small formulas in one go, on any device: satisfiable or not, a model, and the number
// of models where it is asked for. See docs/batch_solving.md.
//
//   SmallFormulas<uint32_t> formulas;           // up to 32 variables each; uint64_t: up to 64
//   for (const Cnf& cnf : many) formulas.add(cnf);
//   BatchSolver<uint32_t> solver(device);
//   Result<BatchAnswers<uint32_t>> answers = solver.solve(formulas);
//   if (answers->outcome(3) == Outcome::Sat) use(answers->models[3]);
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "kernel/graph.h"
#include "solve/batch_kernel.h"
#include "solve/cnf.h"
#include "solve/solver.h"

namespace xlog::solve {

// Formulas one after another in flat arrays. Bit v of a mask is variable v + 1.
template <typename Mask>
class SmallFormulas {
 public:
  static constexpr uint32_t kMostVariables = sizeof(Mask) * 8;

  // A clause of the formula that is open. One with a literal and its negation is left out.
  void add_clause(Mask positive, Mask negative);
  // Ends the formula that is open. It has at least the variables of its clauses.
  void end_formula(uint32_t variables);
  // A whole formula; its variables must fit.
  void add(const Cnf& cnf);

  uint32_t size() const { return static_cast<uint32_t>(variables_.size()); }
  uint32_t most_variables() const { return most_variables_; }

  // Clauses of formula f: lengths()[f] of them from starts()[f] on. Up to starts()[f + 1] the last
  // one is repeated, so that vector code finds no remainder.
  const std::vector<uint32_t>& starts() const { return starts_; }
  const std::vector<uint32_t>& lengths() const { return lengths_; }
  const std::vector<uint32_t>& variables() const { return variables_; }
  const std::vector<Mask>& positive() const { return positive_; }
  const std::vector<Mask>& negative() const { return negative_; }

 private:
  std::vector<uint32_t> starts_ = {0};
  std::vector<uint32_t> lengths_;
  std::vector<uint32_t> variables_;
  std::vector<Mask> positive_, negative_;
  Mask used_ = 0;
  uint32_t most_variables_ = 0;
};

// What is asked: question q is about formula[q], under literals that hold. Without questions each
// formula is one.
template <typename Mask>
struct Questions {
  std::vector<uint32_t> formula;
  std::vector<Mask> assumed_true, assumed_false;

  void add(uint32_t about, Mask holds, Mask fails) {
    formula.push_back(about);
    assumed_true.push_back(holds);
    assumed_false.push_back(fails);
  }
  uint32_t size() const { return static_cast<uint32_t>(formula.size()); }
};

struct BatchOptions {
  bool counts = false;
  // How often a question may look at all its clauses before it is Unknown: a second or so.
  uint32_t passes = uint32_t{1} << 24;
  // Time and interruption, looked at between parts of the batch: questions that are not reached
  // are Unknown.
  Limits limits = {};
};

// How formulas lie in device memory.
enum class Layout : uint8_t {
  Consecutive,  // one after another: vector code takes several clauses of one at a time
  Interleaved,  // those of neighbours side by side: for GPUs, where each lane has its own
};

// In device memory, for those who go on there.
struct DeviceFormulas {
  Layout layout = Layout::Consecutive;
  uint32_t count = 0;
  uint32_t most_variables = 0;
  uint32_t cells = 0;  // of clauses
  device::Buffer starts, lengths, tiles, variables, positive, negative;
  device::Buffer words;  // made when a batch first needs them
};
struct DeviceQuestions {
  uint32_t count = 0;
  device::Buffer formula, assumed_true, assumed_false;
};
struct DeviceAnswers {
  uint32_t count = 0;
  device::Buffer outcomes;  // u8: kBatchUnknown, kBatchSat, kBatchUnsat
  device::Buffer models;    // masks; nothing where the outcome is not Sat
  device::Buffer counts;    // u64; empty if not asked for
};

template <typename Mask>
struct BatchAnswers {
  std::vector<uint8_t> outcomes;
  std::vector<Mask> models;  // 0 where there is none
  // 2^64 - 1 stands for 2^64 too. Of an Unknown question: what was found.
  std::vector<uint64_t> counts;

  Outcome outcome(size_t question) const;
};

template <typename Mask>
class BatchSolver {
 public:
  explicit BatchSolver(device::Device& device)
      : BatchSolver(device, device.info().has_groups ? Layout::Interleaved : Layout::Consecutive) {}
  BatchSolver(device::Device& device, Layout layout) : device_(device), layout_(layout) {}

  Result<BatchAnswers<Mask>> solve(const SmallFormulas<Mask>& formulas,
                                   const BatchOptions& options = {});
  Result<BatchAnswers<Mask>> solve(const SmallFormulas<Mask>& formulas,
                                   const Questions<Mask>& questions,
                                   const BatchOptions& options = {});

  // The same in steps, with everything in device memory.
  Result<DeviceFormulas> upload(const SmallFormulas<Mask>& formulas);
  Result<DeviceQuestions> upload(const Questions<Mask>& questions);
  // questions: nullptr for one about each formula.
  Result<DeviceAnswers> solve(DeviceFormulas& formulas, const DeviceQuestions* questions,
                              const BatchOptions& options = {});
  Result<BatchAnswers<Mask>> download(const DeviceAnswers& answers);

 private:
  Result<device::KernelHandle> kernel(const std::string& name,
                                      const std::function<kernel::Id()>& build);
  Status make_words(DeviceFormulas& formulas);
  Status interleave(DeviceFormulas& there, const SmallFormulas<Mask>& formulas);
  template <typename T>
  Status upload_numbers(device::Buffer& to, const std::vector<T>& numbers);

  device::Device& device_;
  const Layout layout_;
  kernel::Graph graph_;
  std::map<std::string, device::KernelHandle> kernels_;
};

}  // namespace xlog::solve
