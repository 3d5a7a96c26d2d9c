#include "render/c_family.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "base/check.h"
#include "render/renderer.h"

namespace xlog::render {

using kernel::Fold;
using kernel::Graph;
using kernel::Id;
using kernel::Lowered;
using kernel::Mode;
using kernel::Op;
using kernel::Space;
using kernel::Type;

namespace {

// Loops of a constant number of rounds up to this are unrolled where the language can ask for it.
constexpr uint32_t kUnrollMost = 32;

// The type of a cell: bools are bytes in memory.
Type cell_type(Type type) { return kernel::is_bool(type) ? Type::U8 : type; }

class Emitter {
 public:
  Emitter(const Language& language, const Graph& graph, const Lowered& lowered)
      : language_(language), graph_(graph), lowered_(lowered), names_(graph.size()) {
    find_features();
  }

  std::string run() {
    for (Id param : graph_.params(lowered_.kernel)) name_parameter(param);
    std::string text(language_.prologue);
    text += language_.types;
    if (uses_f64_) text += language_.f64_prologue;
    if (uses_atomic64_) text += language_.atomic64_prologue;
    text += '\n' + collectives_;
    if (language_.runs_ranges) {
      range_kernel();
    } else {
      parallel_kernel();
    }
    return text + text_;
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_.append(2 * depth_, ' ');
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }

  // What decides about the text before the kernel.
  void find_features() {
    std::set<std::string> seen;
    for (Id id : kernel::reachable(graph_, lowered_.kernel)) {
      const Op op = graph_.op(id);
      const Type type = graph_.type(id);
      if (type == Type::F64) uses_f64_ = true;
      if ((op == Op::Atomic || op == Op::Cas) && kernel::bits_of(type) == 64) uses_atomic64_ = true;
      if (op == Op::Barrier && !language_.lane_zero.empty()) uses_lane_zero_ = true;
      if (op != Op::GScan && op != Op::GReduce) continue;
      XLOG_CHECK(language_.collective != nullptr, "the target has no collectives of its own");
      if (!seen.insert(collective_name(id)).second) continue;
      collectives_ += language_.collective(op, graph_.fold(id), type, lowered_.group) + '\n';
    }
  }

  std::string collective_name(Id id) const {
    return fmt::format("group_{}_{}_{}", graph_.op(id) == Op::GScan ? "scan" : "reduce",
                       spelling(graph_.fold(id)), spelling(graph_.type(id)));
  }

  // ---- parameters and the kernel's frame ----

  bool is_val(Id param) const { return graph_.mode(param) == Mode::Val; }

  void name_parameter(Id param) {
    names_[param.index] = fmt::format("p{}", graph_.position(param));
  }

  // Nobody writes an `in`, and only this instance touches a cell of `out` and `own`; other
  // instances change `acc` and `race`, so a compiler may not keep cells of those.
  std::string parameter_type(Id param) const {
    const std::string_view cell = spelling(cell_type(graph_.type(param)));
    const Mode mode = graph_.mode(param);
    if (mode == Mode::Val) return std::string(cell);
    std::string_view promise = mode == Mode::In ? "const " : mode == Mode::Race ? "volatile " : "";
    const bool alone = mode == Mode::In || mode == Mode::Out || mode == Mode::Own;
    return fmt::format("{}{}{}*{}{}", language_.global, promise, cell, alone ? " " : "",
                       alone ? language_.restrict_word : "");
  }

  std::string parameter_list(std::string_view first) const {
    std::string list(first);
    for (Id param : graph_.params(lowered_.kernel)) {
      if (!list.empty()) list += ", ";
      list += parameter_type(param) + ' ' + names_[param.index];
    }
    return list;
  }

  // A val of type bool comes as a byte: OpenCL has no bool parameters, and any non-zero byte is
  // true.
  void read_bools() {
    for (Id param : graph_.params(lowered_.kernel)) {
      if (!is_val(param) || !kernel::is_bool(graph_.type(param))) continue;
      std::string& name = names_[param.index];
      line("const bool b{} = {} != 0;", graph_.position(param), name);
      name[0] = 'b';
    }
  }

  // The loop stands in a function of its own, where pointers are parameters that can promise not
  // to overlap: that is what lets a compiler vectorise it.
  void range_kernel() {
    line("static void {}_range({}) {{", kEntryPoint, parameter_list("u32 lo, u32 hi"));
    ++depth_;
    read_bools();
    line("for (u32 i = lo; i < hi; ++i) {{");
    block(graph_.body(lowered_.kernel));
    line("}}");
    --depth_;
    line("}}\n");
    line("void {}(u32 lo, u32 hi, void* const* args) {{", kEntryPoint);
    ++depth_;
    std::string arguments = "lo, hi";
    for (Id param : graph_.params(lowered_.kernel)) {
      const uint32_t k = graph_.position(param);
      arguments += is_val(param) ? fmt::format(", *(const {}*)args[{}]",
                                               spelling(cell_type(graph_.type(param))), k)
                                 : fmt::format(", args[{}]", k);
    }
    line("{}_range({});", kEntryPoint, arguments);
    --depth_;
    line("}}");
  }

  void parallel_kernel() {
    const bool is_grid = lowered_.group == 0;
    const std::string head =
        fmt::format(fmt::runtime(language_.kernel_head), is_grid ? kGridGroup : lowered_.group);
    line("{} {}({}) {{", head, kEntryPoint, parameter_list(""));
    ++depth_;
    declare_local_arrays();
    read_bools();
    if (uses_lane_zero_) line("{}", language_.lane_zero);
    if (is_grid) {
      // A tile of threads runs per_thread rows of instances, each row side by side. In 64 bits: the
      // last tile of a launch of nearly 2^32 instances must not wrap to the first.
      const uint32_t tile = kGridGroup * lowered_.per_thread;
      line("const u64 thread = {};", language_.instance);
      line("const u64 first = thread / {}u * {}u + thread % {}u;", kGridGroup, tile, kGridGroup);
      line("for (u64 at = first; at < first + {}u && at < {}; at += {}u) {{", tile, instances(),
           kGridGroup);
      ++depth_;
      line("const u32 i = (u32)at;");
      --depth_;
    }
    --depth_;
    block(graph_.body(lowered_.kernel));
    if (is_grid) line("  }}");
    line("}}");
  }

  std::string instances() const {
    if (lowered_.size_param == Lowered::kNoParam) return fmt::format("{}u", lowered_.size_constant);
    return fmt::format("p{}", lowered_.size_param);
  }

  // At the top, where OpenCL wants them.
  void declare_local_arrays() {
    for (Id block : lowered_.placement.blocks) {
      for (Id id : lowered_.placement.in(block)) {
        if (graph_.op(id) == Op::Alloc && graph_.space(id) == Space::Local) {
          declare_array(id, language_.local);
        }
      }
    }
  }

  void declare_array(Id id, std::string_view where) {
    std::string& name = names_[id.index];
    name = fresh('a');
    line("{}{} {}[{}];", where, spelling(cell_type(graph_.type(id))), name, graph_.elements(id));
  }

  // ---- statements ----

  std::string fresh(char kind) { return fmt::format("{}{}", kind, next_++); }

  std::string operand(Id id) const {
    switch (graph_.op(id)) {
      case Op::Const:
        return literal(language_, graph_.value(id));
      case Op::Arg:
        return variables(graph_.tag(id))[graph_.arg_index(id)];
      case Op::Proj: {
        // After its loop a carried variable holds the result. The flag of a Loop comes last.
        const Id loop = graph_.operand(id, 0);
        return variables(graph_.tag(loop))[graph_.result_index(id) + 1];
      }
      default:
        XLOG_CHECK(!names_[id.index].empty(), "a node is used before it is placed");
        return names_[id.index];
    }
  }

  // Of a loop: its counter, the carried values, and the flag of a Loop.
  const std::vector<std::string>& variables(uint32_t tag) const { return variables_[tag]; }

  void block(Id block) {
    ++depth_;
    for (Id id : lowered_.placement.in(block)) statement(id);
    --depth_;
  }

  void define(Id id, std::string_view value) {
    names_[id.index] = fresh('v');
    line("const {} {} = {};", spelling(graph_.type(id)), names_[id.index], value);
  }

  void statement(Id id) {
    switch (graph_.op(id)) {
      case Op::Grid:
        return define(id, "i");
      case Op::Group:
        return define(id, language_.runs_ranges ? "i" : language_.group);
      case Op::Lane:
        return define(id, language_.lane);
      case Op::Alloc:
        if (language_.runs_ranges || graph_.space(id) == Space::Private) declare_array(id, "");
        return;
      case Op::Load:
        return define(id, as_value(id, cell(id)));
      case Op::Store:
        return line("{} = {};", cell(id), operand(graph_.operand(id, 2)));
      case Op::Prefetch:  // languages without a word for it have no such statements by now
        return line("__builtin_prefetch(&{});", cell(id));
      case Op::Atomic:
      case Op::Cas:
        return atomic(id);
      case Op::Barrier:
        return line("{}", language_.barrier);
      case Op::GScan:
      case Op::GReduce:
        return define(id,
                      fmt::format("{}({})", collective_name(id), operand(graph_.operand(id, 0))));
      case Op::If:
        return if_statement(id);
      case Op::For:
      case Op::Loop:
        return loop(id);
      case Op::Yield:
        XLOG_UNREACHABLE("a yield stands at the end of a loop body");
      default:
        return define(id, arithmetic(id));
    }
  }

  std::string arithmetic(Id id) const {
    std::vector<std::string> texts;
    for (Id source : graph_.operands(id)) texts.push_back(operand(source));
    const Id typed = graph_.operand(id, graph_.op(id) == Op::Select ? 1 : 0);
    return expression(language_, graph_.op(id), graph_.type(typed), graph_.type(id), texts);
  }

  std::string cell(Id access) const {
    return fmt::format("{}[{}]", operand(graph_.operand(access, 0)),
                       operand(graph_.operand(access, 1)));
  }

  std::string as_value(Id id, const std::string& cell_text) const {
    return kernel::is_bool(graph_.type(id)) ? cell_text + " != 0" : cell_text;
  }

  void if_statement(Id id) {
    const auto parts = graph_.operands(id);
    line("if ({}) {{", operand(parts[0]));
    block(parts[1]);
    if (parts.size() > 2) {
      line("}} else {{");
      block(parts[2]);
    }
    line("}}");
  }

  // ---- loops ----

  void loop(Id id) {
    const auto parts = graph_.operands(id);
    const auto inits = graph_.inits(id);
    const bool is_for = graph_.op(id) == Op::For;
    const uint32_t tag = graph_.tag(id);
    if (tag >= variables_.size()) variables_.resize(tag + 1);
    const bool may_diverge = uses_lane_zero_ && !has_barrier(graph_.body(id));
    const auto first_value = [&](Id init) { return may_diverge ? per_lane(init) : operand(init); };
    std::vector<std::string> names = {fresh('j')};
    for (Id init : inits) {
      names.push_back(fresh('c'));
      line("{} {} = {};", spelling(graph_.type(init)), names.back(), first_value(init));
    }
    const std::string first = operand(parts[0]);
    const std::string counter = names[0];
    if (is_for) {
      if (is_short(parts[0], parts[1]) && !language_.unroll.empty()) line("{}", language_.unroll);
      line("for (u32 {0} = {1}; {0} < {2}; ++{0}) {{", counter, first, operand(parts[1]));
    } else {
      names.push_back(fresh('g'));
      line("bool {} = {};", names.back(), first_value(parts[1]));
      line("for (u32 {0} = 0; {1} && {0} < {2}; ++{0}) {{", counter, names.back(), first);
    }
    variables_[tag] = names;
    loop_body(id, names);
    line("}}");
  }

  bool has_barrier(Id block) const {
    for (Id id : lowered_.placement.in(block)) {
      if (graph_.op(id) == Op::Barrier) return true;
      for (Id operand : graph_.operands(id)) {
        if (graph_.op(operand) == Op::Block && has_barrier(operand)) return true;
      }
    }
    return false;
  }

  // A compiler that runs the lanes of a group as loops between barriers keeps one copy of what is
  // the same in all lanes. PoCL up to 3.1 takes a variable for such a value when all that is
  // assigned to it is, even where lanes leave the loop that assigns it at different rounds. So what
  // such a variable begins with is made to depend on the lane. Loops with a barrier inside need no
  // such help: all lanes run them alike.
  std::string per_lane(Id value) const {
    const Type type = graph_.type(value);
    const std::string text = operand(value);
    if (!kernel::is_float(type)) return fmt::format("{} ^ {}", text, kLaneZero);
    const Type bits = kernel::bits_type(type);
    const std::string mixed = fmt::format(
        "{} ^ {}", expression(language_, Op::Bitcast, type, bits, std::span(&text, 1)), kLaneZero);
    return expression(language_, Op::Bitcast, bits, type, std::span(&mixed, 1));
  }

  bool is_short(Id lo, Id hi) const {
    if (!graph_.is_const(lo) || !graph_.is_const(hi)) return false;
    const uint32_t from = graph_.value(lo).as_u32(), to = graph_.value(hi).as_u32();
    return from < to && to - from <= kUnrollMost;
  }

  void loop_body(Id id, const std::vector<std::string>& names) {
    ++depth_;
    for (Id inside : lowered_.placement.in(graph_.body(id))) {
      if (graph_.op(inside) == Op::Yield) {
        yield(inside, names, graph_.op(id) == Op::Loop);
      } else {
        statement(inside);
      }
    }
    --depth_;
  }

  // All next values are taken before the first is assigned. Only a value that is itself carried by
  // this loop and was assigned before needs a copy.
  void yield(Id id, const std::vector<std::string>& names, bool flag_first) {
    std::vector<std::pair<std::string, Id>> assignments;
    const auto values = graph_.operands(id);
    const size_t skip = flag_first ? 1 : 0;
    for (size_t k = skip; k < values.size(); ++k) {
      assignments.emplace_back(names[1 + k - skip], values[k]);
    }
    if (flag_first) assignments.emplace_back(names.back(), values[0]);
    std::vector<std::string> next;
    for (size_t k = 0; k < assignments.size(); ++k) {
      std::string value = operand(assignments[k].second);
      const bool assigned_before =
          std::any_of(assignments.begin(), assignments.begin() + static_cast<ptrdiff_t>(k),
                      [&](const auto& earlier) { return earlier.first == value; });
      if (assigned_before) {
        const std::string copy = fresh('n');
        line("const {} {} = {};", spelling(graph_.type(assignments[k].second)), copy, value);
        value = copy;
      }
      next.push_back(value);
    }
    for (size_t k = 0; k < next.size(); ++k) {
      if (assignments[k].first != next[k]) line("{} = {};", assignments[k].first, next[k]);
    }
  }

  // ---- atomics ----

  // Whether other instances see the cells of an array; a CPU runs all lanes of a group in turn.
  bool is_shared(Id buffer) const {
    return graph_.op(buffer) != Op::Alloc ||
           (graph_.space(buffer) == Space::Local && !language_.runs_ranges);
  }

  void atomic(Id id) {
    const auto parts = graph_.operands(id);
    if (!is_shared(parts[0])) return update_alone(id);
    const bool is_cas = graph_.op(id) == Op::Cas;
    const bool is_order = !is_cas && (graph_.fold(id) == Fold::Min || graph_.fold(id) == Fold::Max);
    const Type type = graph_.type(id);
    const Type word = is_order ? type : kernel::bits_type(type);
    const AtomicTexts& texts =
        kernel::bits_of(type) == 64 ? language_.atomic64 : language_.atomic32;
    const std::string_view space =
        graph_.op(parts[0]) == Op::Alloc ? language_.local_pointer : language_.global;
    // The cast also takes `volatile` away, which CUDA's atomics do not want.
    const std::string pointer = fmt::format("({}{}*)&{}", space, spelling(word), cell(id));
    const auto value = [&](size_t k) {
      return fmt::format("({}){}", spelling(word), operand(parts[k]));
    };
    const size_t row = is_cas ? texts.size() - 1 : static_cast<size_t>(graph_.fold(id));
    const std::string call =
        fmt::format(fmt::runtime(texts[row]), pointer, value(2), is_cas ? value(3) : std::string());
    define(id, word == type ? call : fmt::format("({})({})", spelling(type), call));
  }

  // On an array that this instance has for itself an atomic is a load and a store.
  void update_alone(Id id) {
    const auto parts = graph_.operands(id);
    const std::string target = cell(id);
    define(id, target);
    const std::string values[] = {names_[id.index], operand(parts[2])};
    const Type type = graph_.type(id);
    const auto step = step_of(graph_.fold(id));
    line("{} = {};", target, step ? expression(language_, *step, type, type, values) : values[1]);
  }

  const Language& language_;
  const Graph& graph_;
  const Lowered& lowered_;
  std::vector<std::string> names_;                   // by Id
  std::vector<std::vector<std::string>> variables_;  // by tag of a loop
  uint32_t next_ = 0;
  uint32_t depth_ = 0;
  std::string text_;
  std::string collectives_;
  bool uses_f64_ = false;
  bool uses_atomic64_ = false;
  bool uses_lane_zero_ = false;
};

}  // namespace

std::string render_c_family(const Language& language, const Graph& graph, const Lowered& lowered) {
  return Emitter(language, graph, lowered).run();
}

}  // namespace xlog::render
