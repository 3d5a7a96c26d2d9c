#include "kernel/oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "kernel/oracle_lane.h"
#include "kernel/oracle_memory.h"

namespace xlog::kernel {

namespace {

// std::shuffle may differ between standard libraries; a schedule must not.
template <typename T>
void shuffle(std::vector<T>& list, std::mt19937_64& random) {
  for (size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random() % i]);
}

std::string name_of(const Graph& graph, Id kernel, Id param) {
  auto name = graph.param_name(kernel, param);
  return name.empty() ? fmt::format("parameter {}", graph.position(param)) : std::string(name);
}

class Launch {
 public:
  Launch(const Graph& graph, Id kernel, std::span<const Argument> arguments,
         const OracleOptions& options)
      : graph_(graph),
        arguments_(arguments),
        options_(options),
        info_(graph.kernel_info(kernel)),
        launch_(graph, kernel),
        random_(options.schedule_seed) {}

  Result<OracleReport> run() {
    if (auto problem = bind(); !problem.empty()) return refuse(problem);
    if (auto problem = overlap_problem(); !problem.empty()) return refuse(problem);
    if (auto problem = find_size(); !problem.empty()) return refuse(problem);
    std::vector<uint32_t> order(size_);
    std::iota(order.begin(), order.end(), 0u);
    if (options_.schedule_seed != 0) shuffle(order, random_);
    const uint32_t lanes = std::max(1u, info_.group);
    for (uint32_t i = 0; i < lanes; ++i) lanes_.emplace_back(launch_);
    for (uint32_t instance : order) {
      run_group(instance);
      if (launch_.error) return *launch_.error;
    }
    return OracleReport{launch_.failure};
  }

 private:
  Error refuse(const std::string& problem) const {
    return Error{fmt::format("kernel {}: {}", info_.name, problem), ""};
  }

  std::string bind() {
    const auto params = graph_.params(launch_.kernel);
    if (params.size() != arguments_.size()) {
      return fmt::format("it has {} parameters, {} arguments given", params.size(),
                         arguments_.size());
    }
    for (size_t k = 0; k < params.size(); ++k) {
      const Type type = graph_.type(params[k]);
      if (graph_.position(params[k]) != k) return "its parameters are not in order";
      const auto* scalar = std::get_if<Scalar>(&arguments_[k]);
      if (graph_.mode(params[k]) == Mode::Val) {
        if (scalar == nullptr || scalar->type != type) {
          return fmt::format("{} is a {}, the argument is {}",
                             name_of(graph_, launch_.kernel, params[k]), spelling(type),
                             scalar == nullptr ? "a buffer" : spelling(scalar->type));
        }
        launch_.scalars.push_back(*scalar);
        launch_.parameters.push_back(Cells::parameter(Mode::Val, type, nullptr, 0, nullptr));
        continue;
      }
      if (scalar != nullptr) {
        return fmt::format("{} is a buffer of {}, the argument is the number {}",
                           name_of(graph_, launch_.kernel, params[k]), spelling(type),
                           to_text(*scalar));
      }
      if (auto problem = bind_buffer(params[k], std::get<HostBuffer>(arguments_[k]));
          !problem.empty()) {
        return problem;
      }
    }
    return "";
  }

  std::string bind_buffer(Id param, const HostBuffer& buffer) {
    const Type type = graph_.type(param);
    const size_t k = graph_.position(param);
    const uint64_t count = buffer.bytes / size_of(type);
    if (buffer.bytes % size_of(type) != 0) {
      return fmt::format("{} has {} bytes, which is no whole number of {}",
                         name_of(graph_, launch_.kernel, param), buffer.bytes, spelling(type));
    }
    if (count > UINT32_MAX) {
      return fmt::format("{} has {} elements, a buffer has at most 2^32 - 1",
                         name_of(graph_, launch_.kernel, param), count);
    }
    const std::vector<bool>* written = nullptr;
    if (options_.written != nullptr && k < options_.written->size() &&
        !(*options_.written)[k].empty()) {
      written = &(*options_.written)[k];
      if (written->size() != count) {
        return fmt::format("{} has {} elements, but {} are said to be written or not",
                           name_of(graph_, launch_.kernel, param), count, written->size());
      }
    }
    launch_.scalars.emplace_back();
    launch_.parameters.push_back(Cells::parameter(graph_.mode(param), type, buffer.data,
                                                  static_cast<uint32_t>(count), written));
    return "";
  }

  std::string overlap_problem() const {
    const auto params = graph_.params(launch_.kernel);
    for (size_t a = 0; a < params.size(); ++a) {
      for (size_t b = a + 1; b < params.size(); ++b) {
        const auto* x = std::get_if<HostBuffer>(&arguments_[a]);
        const auto* y = std::get_if<HostBuffer>(&arguments_[b]);
        if (x == nullptr || y == nullptr || x->bytes == 0 || y->bytes == 0) continue;
        if (graph_.mode(params[a]) == Mode::In && graph_.mode(params[b]) == Mode::In) continue;
        const std::less<> before;
        if (before(x->data, y->data + y->bytes) && before(y->data, x->data + x->bytes)) {
          return fmt::format("the buffers of {} and {} overlap; only `in` buffers may",
                             name_of(graph_, launch_.kernel, params[a]),
                             name_of(graph_, launch_.kernel, params[b]));
        }
      }
    }
    return "";
  }

  // The operand of Grid or Group; a kernel that asks for neither runs once.
  std::string find_size() {
    Id count;
    for (Id id : launch_.nodes) {
      if (graph_.op(id) != Op::Grid && graph_.op(id) != Op::Group) continue;
      const Id operand = graph_.operand(id, 0);
      if ((graph_.op(id) == Op::Group) != (info_.group != 0)) {
        return info_.group != 0 ? "a group kernel has `group` and `lane`, not `grid`"
                                : "a grid kernel has `grid`, not `group`";
      }
      if (count.valid() && count != operand) return "it names two different numbers of instances";
      count = operand;
    }
    if (!count.valid()) {
      size_ = 1;
    } else if (graph_.is_const(count)) {
      size_ = graph_.value(count).as_u32();
    } else if (graph_.op(count) == Op::Param && graph_.mode(count) == Mode::Val) {
      size_ = launch_.scalars[graph_.position(count)].as_u32();
    } else {
      return "the number of instances must be a val parameter or a constant";
    }
    return "";
  }

  void run_group(uint32_t instance) {
    launch_.locals.clear();
    for (uint32_t i = 0; i < lanes_.size(); ++i) lanes_[i].start(instance, i);
    std::vector<uint32_t> order(lanes_.size());
    std::iota(order.begin(), order.end(), 0u);
    while (true) {
      ++launch_.interval;
      if (options_.schedule_seed != 0) shuffle(order, random_);
      for (uint32_t lane : order) {
        lanes_[lane].run();
        if (launch_.error) return;
      }
      if (!meet()) return;
    }
  }

  // All lanes stopped: at one barrier or collective, which they pass together, or at the end.
  bool meet() {
    const Lane& first = lanes_.front();
    for (const Lane& lane : lanes_) {
      const bool together = lane.state() == first.state() &&
                            (lane.state() == LaneState::Done || lane.place() == first.place());
      if (together) continue;
      auto where = [&](const Lane& l) {
        if (l.state() == LaneState::Done) return std::string("has ended");
        return fmt::format("waits at a {}", spelling(graph_.op(l.waits_at())));
      };
      const bool same_op = where(lane) == where(first);
      launch_.error =
          Error{fmt::format("{} {}, but lane 0 {}{}", lane.who(), where(lane), where(first),
                            same_op ? " in another place or iteration" : ""),
                "barriers and collectives stand where control is the same for all lanes"};
      return false;
    }
    if (first.state() == LaneState::Done) return false;
    const Id at = first.waits_at();
    if (graph_.op(at) == Op::Barrier) {
      for (Lane& lane : lanes_) lane.resume();
      return true;
    }
    fold_lanes(at);
    return true;
  }

  void fold_lanes(Id at) {
    const Fold fold = graph_.fold(at);
    Scalar sum = fold_identity(fold, graph_.type(at));
    std::vector<Scalar> before;
    for (const Lane& lane : lanes_) {
      before.push_back(sum);
      sum = fold_step(fold, sum, lane.brings());
    }
    for (size_t i = 0; i < lanes_.size(); ++i) {
      lanes_[i].resume(graph_.op(at) == Op::GScan ? before[i] : sum);
    }
  }

  const Graph& graph_;
  std::span<const Argument> arguments_;
  const OracleOptions& options_;
  const KernelInfo& info_;
  OracleLaunch launch_;
  std::mt19937_64 random_;
  uint32_t size_ = 0;
  std::vector<Lane> lanes_;
};

}  // namespace

Result<OracleReport> run_oracle(const Graph& graph, Id kernel, std::span<const Argument> arguments,
                                const OracleOptions& options) {
  return Launch(graph, kernel, arguments, options).run();
}

}  // namespace xlog::kernel
