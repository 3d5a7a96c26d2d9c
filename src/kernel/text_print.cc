// The printer of the text form. Pure nodes stand where place() puts them, so the text depends only
// on the structure of the kernel and on its names.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "kernel/place.h"
#include "kernel/plan_builder.h"
#include "kernel/text.h"
#include "kernel/text_lexer.h"

namespace xlog::kernel {

namespace {

// A name as the text form takes it; "" if there is nothing to go by.
std::string legal(std::string_view name) {
  std::string text;
  for (char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool digit = c >= '0' && c <= '9';
    if (text.empty() && digit) text += '_';
    text += letter || digit ? c : '_';
  }
  if (text::is_reserved(text)) text += '_';
  // `nan_1` is a number however many underscores follow.
  return text::is_reserved(text) ? "x_" + text : text;
}

std::vector<Id> launched_kernels(const Graph& graph, Id plan) {
  std::vector<Id> kernels;
  for (Id effect : graph.operands(graph.body(plan))) {
    if (graph.op(effect) != Op::Launch) continue;
    const Id kernel = graph.operand(effect, 0);
    if (std::ranges::find(kernels, kernel) == kernels.end()) kernels.push_back(kernel);
  }
  return kernels;
}

bool has_fold(Op op) {
  return op == Op::Atomic || op == Op::GScan || op == Op::GReduce || op == Op::Scan ||
         op == Op::Reduce || op == Op::Segment;
}

class Printer {
 public:
  Printer(const Graph& graph, Id root, bool canonical,
          const std::unordered_map<Id, std::string>& kernel_names)
      : graph_(graph),
        root_(root),
        canonical_(canonical),
        kernel_names_(kernel_names),
        placement_(place(graph, root)) {}

  std::string run() {
    for (Id id : reachable(graph_, root_)) {
      if (graph_.op(id) == Op::Block) continue;
      if (graph_.op(id) == Op::Proj) results_[graph_.operand(id, 0)][graph_.result_index(id)] = id;
      for (Id operand : graph_.operands(id)) used_.insert(operand.index);
    }
    collect_params();
    collect(graph_.body(root_));
    choose_names();
    head();
    block(graph_.body(root_), 1);
    line(0, "}");
    return std::move(out_);
  }

 private:
  // What has a name: a node, or an argument of a loop.
  using Key = std::pair<uint32_t, uint32_t>;  // (node, kNode) or (tag, argument)
  static constexpr uint32_t kNode = UINT32_MAX;

  // ---- names ----

  void wish(Key key, std::string_view name) {
    wishes_.emplace_back(key, canonical_ ? std::string() : legal(name));
  }
  void wish(Id id) { wish({id.index, kNode}, graph_.name(id)); }

  void collect_params() {
    const auto params = graph_.params(root_);
    for (size_t k = 0; k < params.size(); ++k) {
      std::string name(graph_.param_name(root_, params[k]));
      if (canonical_ || name.empty()) name = fmt::format("p{}", k);
      wishes_.emplace_back(Key{params[k].index, kNode}, legal(name));
    }
  }

  void collect(Id in) {
    for (Id id : placement_.in(in)) {
      const Op op = graph_.op(id);
      if (has_results(op)) {
        if (auto found = results_.find(id); found != results_.end()) {
          for (const auto& [k, proj] : found->second) wish(proj);
        }
      } else if (is_named(id)) {
        wish(id);
      }
      if (is_loop(op) || op == Op::Map || op == Op::Expand) {
        const uint32_t tag = graph_.tag(id);
        const bool loop = is_loop(op);
        const uint32_t count = loop ? static_cast<uint32_t>(graph_.inits(id).size()) : 0;
        for (uint32_t k = 0; k <= count; ++k) wish({tag, k}, graph_.arg_name(tag, k));
      }
      for (Id operand : graph_.operands(id)) {
        if (graph_.op(operand) == Op::Block) collect(operand);
      }
    }
  }

  bool is_named(Id id) const {
    if (graph_.type(id) == Type::Void || has_results(graph_.op(id))) return false;
    const bool optional = graph_.op(id) == Op::Atomic || graph_.op(id) == Op::Cas;
    return !optional || used_.contains(id.index);
  }

  // Every name once in the whole kernel: the first that asks gets it, the others a number.
  void choose_names() {
    std::unordered_set<std::string> taken;
    for (const auto& [key, name] : wishes_) taken.insert(name);
    std::unordered_set<std::string> given;
    uint32_t next = 0;
    std::unordered_map<std::string, uint32_t> numbers;
    for (auto& [key, name] : wishes_) {
      std::string chosen = name;
      if (name.empty()) {
        do chosen = fmt::format("v{}", next++);
        while (taken.contains(chosen));
      } else if (given.contains(name)) {
        uint32_t& number = numbers[name];
        do chosen = fmt::format("{}_{}", name, ++number);
        while (taken.contains(chosen));
      }
      given.insert(chosen);
      taken.insert(chosen);
      names_.emplace(key, std::move(chosen));
    }
  }

  std::string name_of(Key key) const {
    auto found = names_.find(key);
    // Only a broken kernel, printed on the way down, has values without a place.
    return found == names_.end() ? fmt::format("misplaced_{}", key.first) : found->second;
  }

  std::string operand(Id id) const {
    switch (graph_.op(id)) {
      case Op::Const:
        return to_text(graph_.value(id));
      case Op::Arg:
        return name_of({graph_.tag(id), graph_.arg_index(id)});
      case Op::Kernel:
        return kernel_names_.at(id);
      default:
        return name_of({id.index, kNode});
    }
  }

  // ---- text ----

  void line(uint32_t depth, std::string_view text) {
    out_.append(size_t{2} * depth, ' ');
    out_ += text;
    out_ += '\n';
  }

  void head() {
    const KernelInfo& info = graph_.kernel_info(root_);
    std::string text = fmt::format("{} {}", spelling(graph_.op(root_)), kernel_names_.at(root_));
    if (info.group != 0) text += fmt::format(" group {} ", info.group);
    text += '(';
    const auto params = graph_.params(root_);
    for (size_t k = 0; k < params.size(); ++k) {
      if (k != 0) text += ", ";
      text += operand(params[k]) + ": ";
      if (graph_.mode(params[k]) != Mode::Val) {
        text += fmt::format("{} ", spelling(graph_.mode(params[k])));
      }
      text += spelling(graph_.type(params[k]));
    }
    line(0, text + ") {");
  }

  void block(Id in, uint32_t depth) {
    for (Id id : placement_.in(in)) statement(id, depth);
  }

  // `a, _, c = `: the results somebody uses.
  std::string results(Id id) const {
    if (is_named(id)) return operand(id) + " = ";
    auto found = results_.find(id);
    if (found == results_.end()) return "";
    std::string text;
    uint32_t next = 0;
    for (const auto& [k, proj] : found->second) {
      for (; next < k; ++next) text += next == 0 ? "_" : ", _";
      text += (next == 0 ? "" : ", ") + operand(proj);
      ++next;
    }
    return text + " = ";
  }

  void statement(Id id, uint32_t depth) {
    const Op op = graph_.op(id);
    const auto list = graph_.operands(id);
    std::string text = results(id) + std::string(spelling(op));
    const auto add = [&](std::span<const Id> some) {
      for (Id operand_id : some) text += " " + operand(operand_id);
    };
    switch (op) {
      case Op::For:
      case Op::Loop:
        loop(id, text, depth);
        return;
      case Op::Map:
      case Op::Expand:
        text += " " + name_of({graph_.tag(id), 0});
        add(list.first(1));
        line(depth, text + " {");
        block(list[1], depth + 1);
        line(depth, "}");
        return;
      case Op::If:
        line(depth, text + " " + operand(list[0]) + " {");
        block(list[1], depth + 1);
        if (list.size() > 2) {
          line(depth, "} else {");
          block(list[2], depth + 1);
        }
        line(depth, "}");
        return;
      case Op::Alloc:
        text += fmt::format(" {} {} {}", spelling(graph_.space(id)), spelling(graph_.type(id)),
                            graph_.elements(id));
        break;
      case Op::Check:
        text += fmt::format(" {}", graph_.code(id));
        add(list);
        break;
      case Op::Bitcast:
      case Op::Buf:
        if (op == Op::Bitcast && graph_.is_raw(id)) text += ".raw";
        if (op == Op::Buf && (graph_[id].flags & kBufUnset) != 0) text += ".unset";
        [[fallthrough]];
      case Op::Cast:
        text += fmt::format(" {}", spelling(graph_.type(id)));
        add(list);
        break;
      case Op::Merge:
        add(list.first(list.size() / 2));
        text += " /";
        add(list.last(list.size() / 2));
        break;
      default:
        if (has_fold(op)) text += fmt::format(".{}", spelling(graph_.fold(id)));
        add(list);
        break;
    }
    line(depth, text);
  }

  void loop(Id id, std::string text, uint32_t depth) {
    const auto list = graph_.operands(id);
    const uint32_t tag = graph_.tag(id);
    text += fmt::format(" {} {}{} {}", name_of({tag, 0}), operand(list[0]),
                        graph_.op(id) == Op::Loop ? " while" : "", operand(list[1]));
    uint32_t k = 0;
    for (Id init : graph_.inits(id)) {
      text += k == 0 ? " carry " : ", ";
      text += fmt::format("{} {}", name_of({tag, k + 1}), operand(init));
      ++k;
    }
    line(depth, text + " {");
    block(graph_.body(id), depth + 1);
    line(depth, "}");
  }

  const Graph& graph_;
  Id root_;
  bool canonical_;
  const std::unordered_map<Id, std::string>& kernel_names_;
  Placement placement_;
  std::unordered_map<Id, std::map<uint32_t, Id>> results_;  // Projs by the node they belong to
  std::unordered_set<uint32_t> used_;
  std::vector<std::pair<Key, std::string>> wishes_;  // in order of the text
  std::map<Key, std::string> names_;
  std::string out_;
};

std::string print_all(const Graph& graph, Id root, bool canonical) {
  std::vector<Id> roots;
  if (graph.op(root) == Op::Plan) roots = launched_kernels(graph, root);
  roots.push_back(root);
  std::unordered_map<Id, std::string> names;
  std::unordered_set<std::string> taken;
  for (Id id : roots) {
    std::string name =
        canonical ? fmt::format("k{}", names.size()) : legal(graph.kernel_info(id).name);
    if (name.empty()) name = "unnamed";
    std::string chosen = name;
    for (uint32_t k = 1; !taken.insert(chosen).second; ++k) chosen = fmt::format("{}_{}", name, k);
    names.emplace(id, chosen);
  }
  std::string text;
  for (Id id : roots) {
    if (!text.empty()) text += '\n';
    text += Printer(graph, id, canonical, names).run();
  }
  return text;
}

}  // namespace

std::string print(const Graph& graph, Id kernel_or_plan) {
  return print_all(graph, kernel_or_plan, false);
}

std::string print_canonical(const Graph& graph, Id kernel_or_plan) {
  return print_all(graph, kernel_or_plan, true);
}

}  // namespace xlog::kernel
