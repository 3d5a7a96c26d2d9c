#include "solve/batch.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <type_traits>

#include "base/check.h"

namespace xlog::solve {

using device::Argument;
using device::Buffer;
using device::KernelHandle;
using device::View;
using kernel::Scalar;
using kernel::Type;

namespace {

// Vector code takes so many clauses at a time and the others one by one, so there are no others:
// the last clause of a formula is repeated.
constexpr size_t kFewTogether = 8;
constexpr size_t kManyTogether = 16;
constexpr size_t kFewClauses = 32;
// Up to so many variables the table is faster for models, and for counts.
constexpr uint32_t kTableForModels = 11;
constexpr uint32_t kTableForCounts = 16;
// Where there are limits to look at, launches take so many questions, and more while they are
// shorter than that.
constexpr uint32_t kFirstQuestions = 4096;
constexpr std::chrono::milliseconds kShortLaunch(20);

template <typename Mask>
constexpr Type kTypeOf = std::is_same_v<Mask, uint32_t> ? Type::U32 : Type::U64;

template <typename T>
Status download_numbers(device::Device& device, const Buffer& buffer, std::vector<T>& numbers) {
  if (numbers.empty()) return Done{};
  return device.read({buffer}, std::as_writable_bytes(std::span(numbers)));
}

bool is_over(const Limits& limits) {
  if (limits.interrupt != nullptr && limits.interrupt->load(std::memory_order_relaxed)) return true;
  return limits.deadline && std::chrono::steady_clock::now() >= *limits.deadline;
}

}  // namespace

template <typename Mask>
void SmallFormulas<Mask>::add_clause(Mask positive, Mask negative) {
  used_ |= positive | negative;
  if ((positive & negative) != 0) return;
  positive_.push_back(positive);
  negative_.push_back(negative);
}

template <typename Mask>
void SmallFormulas<Mask>::end_formula(uint32_t variables) {
  variables = std::max(variables, static_cast<uint32_t>(std::bit_width(used_)));
  XLOG_CHECK(variables <= kMostVariables, "a small formula has no more variables than its masks");
  const size_t begin = starts_.back();
  const size_t clauses = positive_.size() - begin;
  lengths_.push_back(static_cast<uint32_t>(clauses));
  if (clauses > kFewTogether / 2) {
    const size_t together = clauses <= kFewClauses ? kFewTogether : kManyTogether;
    const size_t padded = (clauses + together - 1) / together * together;
    positive_.resize(begin + padded, positive_.back());
    negative_.resize(begin + padded, negative_.back());
  }
  XLOG_CHECK(positive_.size() <= UINT32_MAX, "a batch has fewer than 2^32 clauses");
  starts_.push_back(static_cast<uint32_t>(positive_.size()));
  variables_.push_back(variables);
  most_variables_ = std::max(most_variables_, variables);
  used_ = 0;
}

template <typename Mask>
void SmallFormulas<Mask>::add(const Cnf& cnf) {
  XLOG_CHECK(cnf.variables() <= static_cast<int32_t>(kMostVariables),
             "a small formula has no more variables than its masks");
  for (size_t c = 0; c < cnf.size(); ++c) {
    Mask positive = 0;
    Mask negative = 0;
    for (const Literal literal : cnf[c]) {
      (literal > 0 ? positive : negative) |= Mask{1} << (variable_of(literal) - 1);
    }
    add_clause(positive, negative);
  }
  end_formula(static_cast<uint32_t>(cnf.variables()));
}

template <typename Mask>
Outcome BatchAnswers<Mask>::outcome(size_t question) const {
  switch (outcomes[question]) {
    case kBatchSat:
      return Outcome::Sat;
    case kBatchUnsat:
      return Outcome::Unsat;
    default:
      return Outcome::Unknown;
  }
}

template <typename Mask>
Result<KernelHandle> BatchSolver<Mask>::kernel(const std::string& name,
                                               const std::function<kernel::Id()>& build) {
  if (auto known = kernels_.find(name); known != kernels_.end()) return known->second;
  Result<KernelHandle> handle = device_.compile(graph_, build());
  if (handle.ok()) kernels_.emplace(name, *handle);
  return handle;
}

template <typename Mask>
template <typename T>
Status BatchSolver<Mask>::upload_numbers(Buffer& to, const std::vector<T>& numbers) {
  // Kernels take no empty buffers.
  Result<Buffer> made = device_.allocate(std::max<size_t>(numbers.size(), 1) * sizeof(T));
  if (!made.ok()) return made.error();
  to = *made;
  return numbers.empty() ? Status(Done{}) : device_.write({to}, std::as_bytes(std::span(numbers)));
}

template <typename Mask>
Status BatchSolver<Mask>::make_words(DeviceFormulas& formulas) {
  if (formulas.words != nullptr) return Done{};
  Result<Buffer> words = device_.allocate(std::max<uint64_t>(formulas.cells, 1) * 8);
  if (!words.ok()) return words.error();
  Result<KernelHandle> make =
      kernel("words", [&] { return table_words_kernel(graph_, kTypeOf<Mask>); });
  if (!make.ok()) return make.error();
  const Argument arguments[] = {Scalar::u32(formulas.cells), View{formulas.positive},
                                View{formulas.negative}, View{*words}};
  if (Status done = device_.launch(*make, arguments); !done.ok()) return done;
  formulas.words = *words;
  return Done{};
}

// Each tile is as long as its longest formula; cells behind shorter ones are empty.
template <typename Mask>
Status BatchSolver<Mask>::interleave(DeviceFormulas& there, const SmallFormulas<Mask>& formulas) {
  std::vector<uint32_t> tiles;
  uint64_t cells = 0;
  for (uint32_t first = 0; first < formulas.size(); first += kTile) {
    tiles.push_back(static_cast<uint32_t>(cells));
    const uint32_t end = std::min(first + kTile, formulas.size());
    cells += uint64_t{kTile} * *std::max_element(formulas.lengths().begin() + first,
                                                 formulas.lengths().begin() + end);
  }
  if (cells > UINT32_MAX) {
    return Error{"a batch of small formulas has 2^32 clauses or more", "divide the batch"};
  }
  if (Status done = upload_numbers(there.lengths, formulas.lengths()); !done.ok()) return done;
  if (Status done = upload_numbers(there.tiles, tiles); !done.ok()) return done;
  Buffer sides[2];
  for (Buffer& side : sides) {
    Result<Buffer> made = device_.allocate(std::max<uint64_t>(cells, 1) * sizeof(Mask));
    if (!made.ok()) return made.error();
    side = *made;
    if (Status done = device_.fill({side}, std::byte{0}); !done.ok()) return done;
  }
  Result<KernelHandle> place =
      kernel("interleave", [&] { return interleave_kernel(graph_, kTypeOf<Mask>); });
  if (!place.ok()) return place.error();
  const Argument arguments[] = {
      Scalar::u32(there.count), View{there.starts},   View{there.lengths}, View{there.tiles},
      View{there.positive},     View{there.negative}, View{sides[0]},      View{sides[1]}};
  if (Status done = device_.launch(*place, arguments); !done.ok()) return done;
  there.positive = sides[0];
  there.negative = sides[1];
  there.cells = static_cast<uint32_t>(cells);
  return Done{};
}

template <typename Mask>
Result<DeviceFormulas> BatchSolver<Mask>::upload(const SmallFormulas<Mask>& formulas) {
  DeviceFormulas there;
  there.layout = layout_;
  there.count = formulas.size();
  there.most_variables = formulas.most_variables();
  there.cells = formulas.starts().back();
  XLOG_CHECK(there.cells == formulas.positive().size(), "the last formula is ended");
  for (const Status& done : {upload_numbers(there.starts, formulas.starts()),
                             upload_numbers(there.variables, formulas.variables()),
                             upload_numbers(there.positive, formulas.positive()),
                             upload_numbers(there.negative, formulas.negative())}) {
    if (!done.ok()) return done.error();
  }
  if (layout_ == Layout::Interleaved) {
    if (Status done = interleave(there, formulas); !done.ok()) return done.error();
  }
  return there;
}

template <typename Mask>
Result<DeviceQuestions> BatchSolver<Mask>::upload(const Questions<Mask>& questions) {
  DeviceQuestions there;
  there.count = questions.size();
  for (const Status& done : {upload_numbers(there.formula, questions.formula),
                             upload_numbers(there.assumed_true, questions.assumed_true),
                             upload_numbers(there.assumed_false, questions.assumed_false)}) {
    if (!done.ok()) return done.error();
  }
  return there;
}

template <typename Mask>
Result<DeviceAnswers> BatchSolver<Mask>::solve(DeviceFormulas& formulas,
                                               const DeviceQuestions* questions,
                                               const BatchOptions& options) {
  DeviceAnswers answers;
  answers.count = questions == nullptr ? formulas.count : questions->count;
  const uint64_t room = std::max<uint64_t>(answers.count, 1);
  Result<Buffer> outcomes = device_.allocate(room);
  if (!outcomes.ok()) return outcomes.error();
  Result<Buffer> models = device_.allocate(room * sizeof(Mask));
  if (!models.ok()) return models.error();
  answers.outcomes = *outcomes;
  answers.models = *models;
  std::vector<Buffer> cleared = {*outcomes, *models};
  if (options.counts) {
    Result<Buffer> counts = device_.allocate(room * sizeof(uint64_t));
    if (!counts.ok()) return counts.error();
    answers.counts = *counts;
    cleared.push_back(*counts);
  }
  for (const Buffer& buffer : cleared) {
    if (Status done = device_.fill({buffer}, std::byte{0}); !done.ok()) return done.error();
  }

  BatchShape shape;
  shape.mask = kTypeOf<Mask>;
  shape.counts = options.counts;
  shape.cubes = questions != nullptr;
  shape.table = formulas.most_variables <= (options.counts ? kTableForCounts : kTableForModels);
  if (shape.table) {
    if (Status made = make_words(formulas); !made.ok()) return made.error();
  }
  shape.interleaved = formulas.layout == Layout::Interleaved;
  Result<KernelHandle> search = kernel(shape.name(), [&] { return batch_kernel(graph_, shape); });
  if (!search.ok()) return search.error();

  const bool is_limited = options.limits.deadline || options.limits.interrupt != nullptr;
  uint32_t together = is_limited ? kFirstQuestions : UINT32_MAX;
  for (uint32_t first = 0; first < answers.count && !is_over(options.limits);) {
    const auto begin = std::chrono::steady_clock::now();
    const uint32_t n = std::min(together, answers.count - first);
    std::vector<Argument> arguments = {Scalar::u32(n), Scalar::u32(first),
                                       Scalar::u32(options.passes)};
    if (shape.interleaved) {
      arguments.insert(arguments.end(), {View{formulas.lengths}, View{formulas.tiles}});
    } else {
      arguments.emplace_back(View{formulas.starts});
    }
    arguments.insert(arguments.end(),
                     {View{formulas.variables}, View{formulas.positive}, View{formulas.negative}});
    if (shape.table) arguments.emplace_back(View{formulas.words});
    if (shape.cubes) {
      arguments.emplace_back(View{questions->formula});
      arguments.emplace_back(View{questions->assumed_true});
      arguments.emplace_back(View{questions->assumed_false});
    }
    arguments.emplace_back(View{answers.outcomes});
    arguments.emplace_back(View{answers.models});
    if (shape.counts) arguments.emplace_back(View{answers.counts});
    if (Status done = device_.launch(*search, arguments); !done.ok()) return done.error();
    first += n;
    if (!is_limited) continue;
    if (Status done = device_.wait(); !done.ok()) return done.error();
    const bool was_short = std::chrono::steady_clock::now() - begin < kShortLaunch;
    if (was_short && together <= UINT32_MAX / 2) together *= 2;
  }
  Result<std::optional<device::CheckFailure>> failed = device_.checks();
  if (!failed.ok()) return failed.error();
  XLOG_CHECK(!*failed, "a model satisfies its formula and what is assumed");
  return answers;
}

template <typename Mask>
Result<BatchAnswers<Mask>> BatchSolver<Mask>::download(const DeviceAnswers& answers) {
  BatchAnswers<Mask> here;
  here.outcomes.resize(answers.count);
  here.models.resize(answers.count);
  if (answers.counts != nullptr) here.counts.resize(answers.count);
  for (const Status& read : {download_numbers(device_, answers.outcomes, here.outcomes),
                             download_numbers(device_, answers.models, here.models),
                             download_numbers(device_, answers.counts, here.counts)}) {
    if (!read.ok()) return read.error();
  }
  return here;
}

template <typename Mask>
Result<BatchAnswers<Mask>> BatchSolver<Mask>::solve(const SmallFormulas<Mask>& formulas,
                                                    const BatchOptions& options) {
  Result<DeviceFormulas> there = upload(formulas);
  if (!there.ok()) return there.error();
  Result<DeviceAnswers> answers = solve(*there, nullptr, options);
  if (!answers.ok()) return answers.error();
  return download(*answers);
}

template <typename Mask>
Result<BatchAnswers<Mask>> BatchSolver<Mask>::solve(const SmallFormulas<Mask>& formulas,
                                                    const Questions<Mask>& questions,
                                                    const BatchOptions& options) {
  for (uint32_t q = 0; q < questions.size(); ++q) {
    const uint32_t formula = questions.formula[q];
    XLOG_CHECK(formula < formulas.size(), "a question is about one of the formulas");
    const Mask assumed = questions.assumed_true[q] | questions.assumed_false[q];
    XLOG_CHECK(static_cast<uint32_t>(std::bit_width(assumed)) <= formulas.variables()[formula],
               "what is assumed are literals of the formula");
  }
  Result<DeviceFormulas> there = upload(formulas);
  if (!there.ok()) return there.error();
  Result<DeviceQuestions> asked = upload(questions);
  if (!asked.ok()) return asked.error();
  Result<DeviceAnswers> answers = solve(*there, &*asked, options);
  if (!answers.ok()) return answers.error();
  return download(*answers);
}

template class SmallFormulas<uint32_t>;
template class SmallFormulas<uint64_t>;
template struct BatchAnswers<uint32_t>;
template struct BatchAnswers<uint64_t>;
template class BatchSolver<uint32_t>;
template class BatchSolver<uint64_t>;

}  // namespace xlog::solve
