#include "kernel/oracle_memory.h"

#include <fmt/format.h>

#include <algorithm>

namespace xlog::kernel {

namespace {

// (x + 1) max 3 is not (x max 3) + 1: two kinds of fold on one cell show who came first.
std::string mixed_folds(Fold other) {
  return fmt::format("the cell is also folded with {}; only one kind of fold is free of order",
                     spelling(other));
}

}  // namespace

Cells Cells::parameter(Mode mode, Type type, std::byte* data, uint32_t count,
                       const std::vector<bool>* written) {
  Cells cells;
  cells.mode_ = mode;
  cells.type_ = type;
  cells.count_ = count;
  cells.data_ = data;
  if (written != nullptr) cells.written_ = *written;
  if (mode == Mode::Out || mode == Mode::Own) cells.instances_.assign(count, kNobody);
  if (mode == Mode::Own) cells.touches_.resize(count);
  if (mode == Mode::Acc) cells.folds_.resize(count);
  return cells;
}

Cells Cells::array(Space space, Type type, uint32_t count) {
  Cells cells;
  cells.is_array_ = true;
  cells.space_ = space;
  cells.type_ = type;
  cells.count_ = count;
  cells.storage_.resize(size_t{count} * size_of(type));
  cells.data_ = cells.storage_.data();
  if (space == Space::Local) cells.touches_.resize(count);
  cells.forget();
  return cells;
}

void Cells::forget() { written_.assign(count_, false); }

std::string Cells::kind() const {
  return fmt::format("{} {}", is_array_ ? spelling(space_) : spelling(mode_), spelling(type_));
}

std::string Cells::bounds_problem(uint32_t index) const {
  if (index < count_) return "";
  return fmt::format("the index is outside: there are {} elements", count_);
}

std::string Cells::unwritten_problem(uint32_t index) const {
  if (written_.empty() || written_[index]) return "";
  return "the cell is read before anyone wrote it";
}

std::string Cells::touch(uint32_t index, const Toucher& who, Access access, Fold fold) {
  if (!is_array_ && mode_ == Mode::Own) {
    uint32_t& owner = instances_[index];
    if (owner != kNobody && owner != who.instance) {
      return fmt::format(
          "instance {} touched the cell before; each cell of `own` belongs to one instance", owner);
    }
    owner = who.instance;
  }
  if (touches_.empty()) return "";
  Touch& seen = touches_[index];
  if (seen.interval != who.interval || seen.accesses == 0) {
    seen = {who.interval, who.lane, false, access, fold, false};
    return "";
  }
  const uint32_t other = seen.lane;
  seen.several_lanes = seen.several_lanes || other != who.lane;
  if ((seen.accesses & access & kAtomic) != 0 && seen.fold != fold) seen.several_folds = true;
  seen.accesses |= access;
  if (!seen.several_lanes || seen.accesses == kRead) return "";
  if (seen.accesses == kAtomic) return seen.several_folds ? mixed_folds(seen.fold) : "";
  return fmt::format(
      "lane {} touches the cell in the same barrier interval; between two barriers a cell is one "
      "lane's, or only read, or only reached by atomics",
      other);
}

std::string Cells::load(uint32_t index, const Toucher& who, Scalar& value) {
  if (!is_array_ && mode_ == Mode::Out) return "`out` is never loaded";
  if (!is_array_ && mode_ == Mode::Acc) return "`acc` takes atomics only";
  if (auto problem = bounds_problem(index); !problem.empty()) return problem;
  if (auto problem = touch(index, who, kRead); !problem.empty()) return problem;
  if (auto problem = unwritten_problem(index); !problem.empty()) return problem;
  value = load_scalar(type_, at(index));
  return "";
}

std::string Cells::store(uint32_t index, const Toucher& who, Scalar value) {
  if (!is_array_ && mode_ == Mode::In) return "`in` is never stored to";
  if (!is_array_ && mode_ == Mode::Acc) return "`acc` takes atomics only";
  if (auto problem = bounds_problem(index); !problem.empty()) return problem;
  if (!is_array_ && mode_ == Mode::Out) {
    uint32_t& storer = instances_[index];
    if (storer != kNobody) {
      return fmt::format(
          "instance {} stored the cell before; each cell of `out` is stored at most once in a "
          "launch",
          storer);
    }
    storer = who.instance;
  }
  if (auto problem = touch(index, who, kWrite); !problem.empty()) return problem;
  if (!written_.empty()) written_[index] = true;
  store_scalar(canonical(value), at(index));
  return "";
}

std::string Cells::atomic(uint32_t index, const Toucher& who, Fold fold, Scalar value,
                          Scalar& old) {
  if (!is_array_) {
    if (mode_ != Mode::Acc && mode_ != Mode::Race) {
      return fmt::format("`{}` takes no atomics", spelling(mode_));
    }
    if (mode_ == Mode::Acc && (!is_int(type_) || fold == Fold::Exch)) {
      return "`acc` folds integers, and not by exch: the order of the instances must not matter";
    }
  }
  if (auto problem = bounds_problem(index); !problem.empty()) return problem;
  if (auto problem = touch(index, who, kAtomic, fold); !problem.empty()) return problem;
  if (auto problem = unwritten_problem(index); !problem.empty()) return problem;
  if (!folds_.empty()) {
    const auto mine = static_cast<uint8_t>(static_cast<int>(fold) + 1);
    if (folds_[index] == 0) folds_[index] = mine;
    if (folds_[index] != mine) return mixed_folds(static_cast<Fold>(folds_[index] - 1));
  }
  old = load_scalar(type_, at(index));
  store_scalar(canonical(fold_step(fold, old, value)), at(index));
  return "";
}

std::string Cells::cas(uint32_t index, const Toucher& who, Scalar expected, Scalar desired,
                       Scalar& old) {
  if (is_array_ || mode_ != Mode::Race) return "cas works on `race` only";
  if (auto problem = bounds_problem(index); !problem.empty()) return problem;
  if (auto problem = touch(index, who, kAtomic); !problem.empty()) return problem;
  if (auto problem = unwritten_problem(index); !problem.empty()) return problem;
  old = load_scalar(type_, at(index));
  if (old == expected) store_scalar(desired, at(index));
  return "";
}

}  // namespace xlog::kernel
