// Modes: what a kernel does to each buffer fits what its mode promises (docs/kernel.md); and the
// ops fit the kind of kernel and the spec.
#include <fmt/format.h>

#include <map>

#include "kernel/verify_rules.h"

namespace xlog::kernel {

namespace {

class Modes {
 public:
  Modes(const Graph& graph, Id root, Spec spec, const Walked& walked,
        std::vector<Problem>& problems)
      : graph_(graph), root_(root), spec_(spec), walked_(walked), problems_(problems) {}

  void run() {
    for (Id id : walked_.nodes) {
      access(id);
      kind(id);
      if (spec_ == Spec::Ready) ready(id);
    }
  }

 private:
  void report(Id node, std::string message) { problems_.push_back({node, std::move(message)}); }

  void access(Id id) {
    switch (graph_.op(id)) {
      case Op::Load:
        return load(id, graph_.operand(id, 0));
      case Op::Store:
        return store(id, graph_.operand(id, 0));
      case Op::Atomic:
        return atomic(id, graph_.operand(id, 0));
      case Op::Cas:
        return cas(id, graph_.operand(id, 0));
      default:
        return;
    }
  }

  bool is_mode(Id buffer, Mode mode) const {
    return graph_.op(buffer) == Op::Param && graph_.mode(buffer) == mode;
  }

  // Inside a map or expand, the plan's buffers are for loading.
  bool refuse_plan_buffer(Id id, Id buffer) {
    if (graph_.op(root_) != Op::Plan || graph_.op(buffer) == Op::Alloc) return false;
    report(id,
           fmt::format("{} changes {}, but a map or expand only loads the plan's buffers; yield "
                       "the values, or launch a kernel",
                       spelling(graph_.op(id)), called(graph_, root_, buffer)));
    return true;
  }

  void load(Id id, Id buffer) {
    if (is_mode(buffer, Mode::Out)) {
      report(id, fmt::format("{} is `out` and is never loaded; make it `own` if each index belongs "
                             "to one instance, or load in a later kernel",
                             called(graph_, root_, buffer)));
    } else if (is_mode(buffer, Mode::Acc)) {
      report(id, fmt::format("{} is `acc`: what it holds is known after the launch; load it in a "
                             "later kernel, or make it `race`",
                             called(graph_, root_, buffer)));
    }
  }

  void store(Id id, Id buffer) {
    if (refuse_plan_buffer(id, buffer)) return;
    if (is_mode(buffer, Mode::In)) {
      report(id, fmt::format("{} is `in` and nobody writes it; make it `out` or `own`",
                             called(graph_, root_, buffer)));
    } else if (is_mode(buffer, Mode::Acc)) {
      report(id, fmt::format("{} is `acc` and takes only atomics; a store would race with them",
                             called(graph_, root_, buffer)));
    }
  }

  bool atomic_type(Id id, Id buffer) {
    const Type type = graph_.type(buffer);
    if (is_float(type)) {
      report(id, fmt::format("{} holds {}: float atomics would depend on the order of instances; "
                             "use reduce or segment, or fold integers",
                             called(graph_, root_, buffer), spelling(type)));
      return false;
    }
    if (size_of(type) < 4) {
      report(id, fmt::format("{} holds {}: atomics need 32 or 64 bits",
                             called(graph_, root_, buffer), spelling(type)));
      return false;
    }
    return true;
  }

  void atomic(Id id, Id buffer) {
    if (refuse_plan_buffer(id, buffer) || !atomic_type(id, buffer)) return;
    const bool param = graph_.op(buffer) == Op::Param;
    if (param && graph_.mode(buffer) != Mode::Acc && graph_.mode(buffer) != Mode::Race) {
      return report(id, fmt::format("{} is `{}` and takes no atomics; make it `acc`",
                                    called(graph_, root_, buffer), spelling(graph_.mode(buffer))));
    }
    if (is_mode(buffer, Mode::Race)) return;
    if (!param && graph_.space(buffer) == Space::Private) return;  // nobody else sees it
    const std::string_view what = param ? "`acc`" : "local";
    if (graph_.fold(id) == Fold::Exch) {
      return report(id, fmt::format("{} is {}: exch leaves the value that came last; use a `race` "
                                    "parameter, or add, min, max, and, or, xor",
                                    called(graph_, root_, buffer), what));
    }
    if (param) one_fold(id, buffer);
    if (walked_.used[id.index]) {
      report(id, fmt::format("{} is {}: what an atomic gives back depends on the order of "
                             "instances; leave it unused, or use a `race` parameter",
                             called(graph_, root_, buffer), what));
    }
  }

  // (x + 1) max 3 is not (x max 3) + 1. Two folds that never meet at a cell would do no harm, but
  // the text does not show that.
  void one_fold(Id id, Id acc) {
    const Fold fold = graph_.fold(id);
    const auto [entry, is_first] = folds_.try_emplace(acc, fold);
    if (is_first || entry->second == fold) return;
    report(id, fmt::format("{} is `acc` and takes one kind of fold, but has {} and {}: their order "
                           "would show; use one buffer for each",
                           called(graph_, root_, acc), spelling(entry->second), spelling(fold)));
  }

  void cas(Id id, Id buffer) {
    if (refuse_plan_buffer(id, buffer) || !atomic_type(id, buffer)) return;
    if (is_mode(buffer, Mode::Race)) return;
    report(id, fmt::format("{} is not `race`: who wins a cas depends on the order of instances; "
                           "make it a `race` parameter",
                           called(graph_, root_, buffer)));
  }

  // ---- kind of kernel ----

  void kind(Id id) {
    const Op op = graph_.op(id);
    const uint32_t lanes = graph_.kernel_info(root_).group;
    switch (op) {
      case Op::Grid:
      case Op::Group:
        if (graph_.op(root_) == Op::Plan) return not_in_plan(id);
        if ((op == Op::Group) != (lanes != 0)) {
          return report(id, lanes != 0
                                ? "a group kernel uses `group n` and `lane`, not `grid`"
                                : "`group` needs a group kernel: kernel NAME group 256 (...)");
        }
        return size(id);
      case Op::Lane:
      case Op::Barrier:
      case Op::GScan:
      case Op::GReduce:
        if (graph_.op(root_) == Op::Plan) return not_in_plan(id);
        if (lanes == 0) {
          return report(id, fmt::format("{} needs a group kernel: kernel NAME group 256 (...)",
                                        spelling(op)));
        }
        if (op == Op::GScan || op == Op::GReduce) collective(id);
        return;
      case Op::Alloc:
        if (graph_.space(id) == Space::Local && lanes == 0) {
          report(id,
                 "a local array is shared by the lanes of a group: it needs a group kernel; "
                 "make it private");
        }
        return;
      case Op::Len:
        if (graph_.op(graph_.operand(id, 0)) == Op::Alloc) {
          report(id, "len is of parameters; an array has the size it was made with");
        }
        return;
      default:
        return;
    }
  }

  void not_in_plan(Id id) {
    report(id, fmt::format("{} belongs in a kernel; in a map or expand the index is the row",
                           spelling(graph_.op(id))));
  }

  void collective(Id id) {
    if (is_int(graph_.type(id)) && graph_.fold(id) != Fold::Exch) return;
    report(id, fmt::format("{} folds integers with add, min, max, and, or, xor; a float fold would "
                           "depend on the order of lanes",
                           spelling(graph_.op(id))));
  }

  void size(Id id) {
    const Id n = graph_.operand(id, 0);
    const bool plain =
        graph_.is_const(n) || (graph_.op(n) == Op::Param && graph_.mode(n) == Mode::Val);
    if (!plain) {
      return report(id, fmt::format("the size of {} is a val parameter or a constant: the launch "
                                    "reads it before the kernel runs",
                                    spelling(graph_.op(id))));
    }
    if (size_.valid() && size_ != n) {
      return report(id, "a kernel has one size; this index has another than the one before");
    }
    size_ = n;
  }

  // ---- what renderers do not take ----

  void ready(Id id) {
    const Op op = graph_.op(id);
    const char* pass = op == Op::Len     ? "lengths_to_params"
                       : op == Op::Check ? "checks_to_status"
                       : op == Op::Exp2 || op == Op::Log2 ||
                               ((op == Op::Min || op == Op::Max) && is_float(graph_.type(id))) ||
                               (op == Op::Bitcast && !graph_.is_raw(id))
                           ? "floats_to_basic"
                           : nullptr;
    if (pass == nullptr) return;
    report(id, fmt::format("{} of {} is left, which renderers do not take; the pass {} removes it",
                           spelling(op), spelling(graph_.type(id)), pass));
  }

  const Graph& graph_;
  Id root_;
  Spec spec_;
  const Walked& walked_;
  std::vector<Problem>& problems_;
  Id size_;
  std::map<Id, Fold> folds_;  // of each acc parameter
};

}  // namespace

void verify_modes(const Graph& graph, Id root, Spec spec, const Walked& walked,
                  std::vector<Problem>& problems) {
  Modes(graph, root, spec, walked, problems).run();
}

}  // namespace xlog::kernel
