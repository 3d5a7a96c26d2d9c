#include "render/llvm.h"

#include <utility>
#include <vector>

#include "base/check.h"
#include "render/llvm_writer.h"
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

constexpr LlvmForm kCpuForm{.gpu = false, .global = "ptr", .shared = "ptr", .in_load = ""};
constexpr LlvmForm kPtxForm{.gpu = true,
                            .global = "ptr addrspace(1)",
                            .shared = "ptr addrspace(3)",
                            .in_load = ", !invariant.load !0"};

class LlvmRenderer {
 public:
  LlvmRenderer(const Graph& graph, const Lowered& lowered, const LlvmForm& form)
      : graph_(graph),
        lowered_(lowered),
        form_(form),
        writer_(graph, form),
        written_(graph.size(), false) {
    for (Id param : graph.params(lowered.kernel)) {
      writer_.set_value(param, fmt::format("%p{}", graph.position(param)));
    }
  }

  std::string cpu();
  std::string ptx();

 private:
  void block(Id id);
  void write(Id id);
  void collective(Id id);
  void loop(Id id);
  void branch(Id id, std::span<const Id> choices);
  std::vector<Id> choices_of(Id branch, std::span<const Id> rest) const;
  bool can_write_now(Id value, int depth) const;
  void write_now(Id value);
  void array(Id id);
  void load(Id id);
  void store(Id id);
  void prefetch(Id id);
  void atomic(Id id);
  void compare_and_swap(Id id);
  std::string address(Id access);
  std::string_view access_note(Id buffer);
  bool is_race(Id buffer) const;
  std::string from_memory(Type type, std::string text);
  std::string to_memory(Id value);
  std::string buffer_attributes(Id param) const;
  std::string instance_count() const;
  std::string tile_text(const std::string& given) const;
  std::string module_text(const std::string& functions) const;

  const Graph& graph_;
  const Lowered& lowered_;
  const LlvmForm& form_;
  LlvmWriter writer_;
  std::vector<bool> written_;  // by Id: nodes that have their text
  std::string instance_ = "%instance";
  std::string lane_ = "%lane";
  std::string arrays_;                // allocas, for the entry block
  std::vector<std::string> yielded_;  // by the loop body that was written last
  Id last_scan_;                      // in this block, with no effect since
};

// ---- control ----

// A fold of all lanes behind a scan of the same values has been computed with it. A collective
// orders memory as a barrier does, so only pure ops may stand between the two: then the scan's
// barriers do for both.
void LlvmRenderer::collective(Id id) {
  const bool is_total = graph_.op(id) == Op::GReduce && last_scan_.valid() &&
                        graph_.operand(last_scan_, 0) == graph_.operand(id, 0) &&
                        graph_.fold(last_scan_) == graph_.fold(id);
  if (is_total && write_total_of_scan(writer_, id, lowered_.group)) return;
  write_collective(writer_, id, lowered_.group, lane_);
  last_scan_ = graph_.op(id) == Op::GScan ? id : Id{};
}

void LlvmRenderer::block(Id id) {
  last_scan_ = Id{};
  const std::span<const Id> nodes = lowered_.placement.in(id);
  for (size_t k = 0; k < nodes.size(); ++k) {
    if (written_[nodes[k].index]) continue;
    if (graph_.op(nodes[k]) == Op::If) {
      branch(nodes[k], choices_of(nodes[k], nodes.subspan(k + 1)));
    } else {
      write(nodes[k]);
    }
    written_[nodes[k].index] = true;
  }
  last_scan_ = Id{};
}

void LlvmRenderer::write(Id id) {
  const Op op = graph_.op(id);
  if (kernel::is_effect(op) && op != Op::GReduce) last_scan_ = Id{};
  switch (op) {
    case Op::Grid:
    case Op::Group:
      return writer_.set_value(id, instance_);
    case Op::Lane:
      XLOG_CHECK(lowered_.group != 0, "a lane outside a group kernel");
      return writer_.set_value(id, lane_);
    case Op::For:
    case Op::Loop:
      return loop(id);
    case Op::Yield:
      yielded_.clear();
      for (Id value : graph_.operands(id)) yielded_.push_back(writer_.value(value));
      return;
    case Op::Alloc:
      return array(id);
    case Op::Load:
      return load(id);
    case Op::Store:
      return store(id);
    case Op::Prefetch:
      return prefetch(id);
    case Op::Atomic:
      return atomic(id);
    case Op::Cas:
      return compare_and_swap(id);
    case Op::Barrier:
      XLOG_CHECK(form_.gpu, "a barrier on a target without groups");
      return writer_.call_void("llvm.nvvm.barrier0");
    case Op::GScan:
    case Op::GReduce:
      XLOG_CHECK(form_.gpu, "a collective on a target without groups");
      return collective(id);
    default:
      write_arithmetic(writer_, id);
  }
}

// The body is written before its head: the phi nodes name what the body yields and the block it
// ends in.
void LlvmRenderer::loop(Id id) {
  const bool counted = graph_.op(id) == Op::For;
  const std::span<const Id> inits = graph_.inits(id);
  const uint32_t label = writer_.new_label();
  const std::string counter = fmt::format("%count.{}", label);
  const std::string go = fmt::format("%go.{}", label);
  auto carried = [&](size_t k) { return fmt::format("%carry.{}.{}", label, k); };

  writer_.name_loop(id, label);
  const std::string from = writer_.block();
  writer_.line("br label %head.{}", label);
  std::string before = std::exchange(writer_.text, "");
  writer_.start_block(fmt::format("body.{}", label));
  yielded_.clear();
  block(graph_.body(id));
  const std::vector<std::string> next = std::exchange(yielded_, {});
  const std::string last = writer_.block();
  // The counter is below a u32 here, so one more does not wrap.
  writer_.line("{}.next = add nuw i32 {}, 1", counter, counter);
  writer_.line("br label %head.{}", label);
  std::string body = std::exchange(writer_.text, std::move(before));

  auto phi = [&](const std::string& name, std::string_view type, const std::string& first,
                 const std::string& then) {
    writer_.line("{} = phi {} [ {}, %{} ], [ {}, %{} ]", name, type, first, from, then, last);
  };
  writer_.start_block(fmt::format("head.{}", label));
  phi(counter, "i32", counted ? writer_.value(graph_.operand(id, 0)) : "0", counter + ".next");
  const size_t flags = counted ? 0 : 1;  // a Loop yields its flag first
  if (!counted) phi(go, "i1", writer_.value(graph_.operand(id, 1)), next[0]);
  for (size_t k = 0; k < inits.size(); ++k) {
    phi(carried(k), llvm_type(graph_.type(inits[k])), writer_.value(inits[k]), next[k + flags]);
  }
  // A Loop leaves by one of two edges, so that what follows knows at once which it was.
  if (!counted) {
    writer_.line("br i1 {}, label %more.{}, label %done.{}", go, label, label);
    writer_.start_block(fmt::format("more.{}", label));
  }
  const Id limit = graph_.operand(id, counted ? 1 : 0);
  const std::string below = writer_.emit("icmp ult i32 {}, {}", counter, writer_.value(limit));
  writer_.line("br i1 {}, label %body.{}, label %done.{}", below, label, label);
  writer_.text += body;
  writer_.start_block(fmt::format("done.{}", label));
  if (!counted) {
    writer_.line("%stopped.{} = phi i1 [ false, %head.{} ], [ true, %more.{} ]", label, label,
                 label);
  }
}

// The selects behind an If that ask the same condition: they become phi nodes where its branches
// meet, which saves the value's path from waiting for the condition. A filter's output position is
// such a value.
std::vector<Id> LlvmRenderer::choices_of(Id branch, std::span<const Id> rest) const {
  constexpr int kDepth = 4;
  std::vector<Id> choices;
  for (Id node : rest) {
    if (graph_.op(node) == Op::Select && graph_.operand(node, 0) == graph_.operand(branch, 0) &&
        can_write_now(graph_.operand(node, 1), kDepth) &&
        can_write_now(graph_.operand(node, 2), kDepth)) {
      choices.push_back(node);
    }
  }
  return choices;
}

// Whether a value of the block being written needs only arithmetic, and not much, from here.
bool LlvmRenderer::can_write_now(Id value, int depth) const {
  const Op op = graph_.op(value);
  if (op == Op::Const || op == Op::Param || op == Op::Arg) return true;
  if (op == Op::Proj) return written_[graph_.operand(value, 0).index];
  if (written_[value.index]) return true;
  if (!is_arithmetic(op) || depth == 0) return false;
  for (Id operand : graph_.operands(value)) {
    if (!can_write_now(operand, depth - 1)) return false;
  }
  return true;
}

void LlvmRenderer::write_now(Id value) {
  if (!is_arithmetic(graph_.op(value)) || written_[value.index]) return;
  for (Id operand : graph_.operands(value)) write_now(operand);
  write(value);
  written_[value.index] = true;
}

void LlvmRenderer::branch(Id id, std::span<const Id> choices) {
  const std::span<const Id> operands = graph_.operands(id);
  const uint32_t label = writer_.new_label();
  const bool has_else = operands.size() > 2;
  for (Id choice : choices) {
    write_now(graph_.operand(choice, 1));
    write_now(graph_.operand(choice, 2));
  }
  std::string otherwise = writer_.block();
  writer_.line("br i1 {}, label %then.{}, label %{}.{}", writer_.value(operands[0]), label,
               has_else ? "else" : "join", label);
  writer_.start_block(fmt::format("then.{}", label));
  block(operands[1]);
  const std::string then = writer_.block();
  writer_.line("br label %join.{}", label);
  if (has_else) {
    writer_.start_block(fmt::format("else.{}", label));
    block(operands[2]);
    otherwise = writer_.block();
    writer_.line("br label %join.{}", label);
  }
  writer_.start_block(fmt::format("join.{}", label));
  for (Id choice : choices) {
    if (written_[choice.index]) continue;  // another choice needed it before the branch: a select
    writer_.set_value(
        choice, writer_.emit("phi {} [ {}, %{} ], [ {}, %{} ]", llvm_type(graph_.type(choice)),
                             writer_.value(graph_.operand(choice, 1)), then,
                             writer_.value(graph_.operand(choice, 2)), otherwise));
    written_[choice.index] = true;
  }
}

// ---- memory ----

void LlvmRenderer::array(Id id) {
  const Type type = graph_.type(id);
  const std::string shape = fmt::format("[{} x {}]", graph_.elements(id), llvm_memory_type(type));
  const uint32_t number = writer_.new_label();
  if (form_.gpu && graph_.space(id) == Space::Local) {
    writer_.globals.push_back(fmt::format(
        "@xlog_kernel.local.{} = internal addrspace(3) global {} undef, align 16", number, shape));
    return writer_.set_value(id, fmt::format("@xlog_kernel.local.{}", number));
  }
  arrays_ += fmt::format("  %array.{} = alloca {}, align 16\n", number, shape);
  writer_.set_value(id, fmt::format("%array.{}", number));
}

bool LlvmRenderer::is_race(Id buffer) const {
  return graph_.op(buffer) == Op::Param && graph_.mode(buffer) == Mode::Race;
}

// "ptr %t7": the cell that an access names.
std::string LlvmRenderer::address(Id access) {
  const Id buffer = graph_.operand(access, 0);
  const bool is_param = graph_.op(buffer) == Op::Param;
  const bool shared = !is_param && graph_.space(buffer) == Space::Local;
  const std::string_view pointer = is_param ? form_.global : shared ? form_.shared : "ptr";
  const std::string index =
      writer_.emit("zext i32 {} to i64", writer_.value(graph_.operand(access, 1)));
  const std::string cell =
      writer_.emit("getelementptr inbounds {}, {} {}, i64 {}",
                   llvm_memory_type(graph_.type(buffer)), pointer, writer_.value(buffer), index);
  return fmt::format("{} {}", pointer, cell);
}

// The modes promise that no two instances meet in a cell of such a buffer, so the loop over
// instances carries no dependence through it.
std::string_view LlvmRenderer::access_note(Id buffer) {
  if (form_.gpu || graph_.op(buffer) != Op::Param) return "";
  const Mode mode = graph_.mode(buffer);
  if (mode != Mode::In && mode != Mode::Out && mode != Mode::Own) return "";
  writer_.uses_parallel_group = true;
  return ", !llvm.access.group !1";
}

std::string LlvmRenderer::from_memory(Type type, std::string text) {
  if (type == Type::Bool) return writer_.emit("icmp ne i8 {}, 0", text);
  return text;
}

std::string LlvmRenderer::to_memory(Id value) {
  if (graph_.type(value) != Type::Bool) return writer_.typed(value);
  return fmt::format("i8 {}", writer_.emit("zext i1 {} to i8", writer_.value(value)));
}

// Plain accesses to a race buffer are atomic too: another thread may be at the same cell, and what
// one load saw must not be loaded again.
void LlvmRenderer::load(Id id) {
  const Id buffer = graph_.operand(id, 0);
  const Type type = graph_.type(buffer);
  const std::string cell = address(id);
  std::string got;
  if (is_race(buffer)) {
    got = writer_.emit("load atomic {}, {} monotonic, align {}", llvm_memory_type(type), cell,
                       size_of(type));
  } else {
    const bool in = graph_.op(buffer) == Op::Param && graph_.mode(buffer) == Mode::In;
    got = writer_.emit("load {}, {}, align {}{}{}", llvm_memory_type(type), cell, size_of(type),
                       in ? form_.in_load : "", access_note(buffer));
  }
  writer_.set_value(id, from_memory(type, std::move(got)));
}

void LlvmRenderer::store(Id id) {
  const Id buffer = graph_.operand(id, 0);
  const std::string cell = address(id);
  const std::string value = to_memory(graph_.operand(id, 2));
  const uint32_t align = size_of(graph_.type(buffer));
  if (is_race(buffer)) {
    writer_.line("store atomic {}, {} monotonic, align {}", value, cell, align);
  } else {
    writer_.line("store {}, {}, align {}{}", value, cell, align, access_note(buffer));
  }
}

// Not by address(): the cell may lie outside.
void LlvmRenderer::prefetch(Id id) {
  const Id buffer = graph_.operand(id, 0);
  const std::string index =
      writer_.emit("zext i32 {} to i64", writer_.value(graph_.operand(id, 1)));
  const std::string cell =
      writer_.emit("getelementptr {}, ptr {}, i64 {}", llvm_memory_type(graph_.type(buffer)),
                   writer_.value(buffer), index);
  constexpr std::string_view kReadKeepData = "i32 0, i32 3, i32 1";
  writer_.call_void("llvm.prefetch.p0", "ptr, i32, i32, i32",
                    fmt::format("ptr {}, {}", cell, kReadKeepData));
}

std::string_view atomic_name(Fold fold, Type type) {
  switch (fold) {
    case Fold::Min:
      return is_signed(type) ? "min" : "umin";
    case Fold::Max:
      return is_signed(type) ? "max" : "umax";
    case Fold::Exch:
      return "xchg";
    default:
      return spelling(fold);
  }
}

void LlvmRenderer::atomic(Id id) {
  const Type type = graph_.type(graph_.operand(id, 0));
  const std::string cell = address(id);
  writer_.set_value(
      id, writer_.emit("atomicrmw {} {}, {} monotonic", atomic_name(graph_.fold(id), type), cell,
                       writer_.typed(graph_.operand(id, 2))));
}

void LlvmRenderer::compare_and_swap(Id id) {
  const Type type = graph_.type(graph_.operand(id, 0));
  const std::string cell = address(id);
  const std::string expected = writer_.typed(graph_.operand(id, 2));
  const std::string desired = writer_.typed(graph_.operand(id, 3));
  const std::string pair =
      writer_.emit("cmpxchg {}, {}, {} monotonic monotonic", cell, expected, desired);
  writer_.set_value(id, writer_.emit("extractvalue {{ {}, i1 }} {}, 0", llvm_type(type), pair));
}

// ---- functions ----

std::string LlvmRenderer::buffer_attributes(Id param) const {
  return fmt::format("{} noalias nocapture {}align {} %p{}", form_.global,
                     graph_.mode(param) == Mode::In ? "readonly " : "", size_of(graph_.type(param)),
                     graph_.position(param));
}

std::string LlvmRenderer::instance_count() const {
  if (lowered_.size_param == Lowered::kNoParam) return std::to_string(lowered_.size_constant);
  return fmt::format("%p{}", lowered_.size_param);
}

std::string LlvmRenderer::module_text(const std::string& functions) const {
  std::string text;
  for (const std::string& global : writer_.globals) text += global + "\n";
  if (!writer_.globals.empty()) text += "\n";
  text += functions;
  if (!writer_.declarations.empty()) text += "\n";
  for (const std::string& declaration : writer_.declarations) text += declaration + "\n";
  return text;
}

std::string LlvmRenderer::cpu() {
  std::string unpack, given, taken;
  for (Id param : graph_.params(lowered_.kernel)) {
    const uint32_t k = graph_.position(param);
    const Type type = graph_.type(param);
    unpack += fmt::format("  %slot{0} = getelementptr inbounds ptr, ptr %args, i64 {0}\n", k);
    unpack += fmt::format("  %a{0} = load ptr, ptr %slot{0}, align 8\n", k);
    if (graph_.mode(param) != Mode::Val) {
      given += fmt::format(", ptr %a{}", k);
      taken += ", " + buffer_attributes(param);
      continue;
    }
    unpack += fmt::format("  %v{0} = load {1}, ptr %a{0}, align {2}\n", k, llvm_memory_type(type),
                          size_of(type));
    given += fmt::format(", {} %v{}", llvm_memory_type(type), k);
    taken += fmt::format(", {} %p{}", llvm_memory_type(type), k);
  }

  // Bool parameters arrive as bytes.
  for (Id param : graph_.params(lowered_.kernel)) {
    if (graph_.mode(param) == Mode::Val && graph_.type(param) == Type::Bool) {
      writer_.set_value(param, from_memory(Type::Bool, writer_.value(param)));
    }
  }
  std::string entry = std::exchange(writer_.text, "");
  writer_.start_block("run");
  block(graph_.body(lowered_.kernel));
  const std::string last = writer_.block();

  std::string text = fmt::format(
      "define void @{}(i32 %lo, i32 %hi, ptr %args) nounwind {{\n{}"
      "  call void @instances(i32 %lo, i32 %hi{})\n  ret void\n}}\n\n",
      kEntryPoint, unpack, given);
  // Inlined, the parameters would lose some of what is said of them here.
  text += fmt::format(
      "define internal void @instances(i32 %lo, i32 %hi{}) noinline nounwind {{\n"
      "entry:\n{}{}  br label %head\nhead:\n"
      "  %instance = phi i32 [ %lo, %entry ], [ %instance.next, %{} ]\n"
      "  %more = icmp ult i32 %instance, %hi\n"
      "  br i1 %more, label %run, label %done\n",
      taken, arrays_, entry, last);
  text += writer_.text;
  text += "  %instance.next = add nuw i32 %instance, 1\n";
  text += writer_.uses_parallel_group ? "  br label %head, !llvm.loop !0\n" : "  br label %head\n";
  text += "done:\n  ret void\n}\n";
  if (writer_.uses_parallel_group) {
    text += "\n!0 = distinct !{!0, !2}\n!1 = distinct !{}\n";
    text += "!2 = !{!\"llvm.loop.parallel_accesses\", !1}\n";
  }
  return module_text(std::move(text));
}

// A block of threads runs a tile: per_thread rows of instances, each row side by side. All but the
// last tile are full; in those nothing stands between the loads of one row and the next, so they
// are all on their way at once. In 64 bits: the last tile of a launch of nearly 2^32 instances must
// not wrap to the first.
std::string LlvmRenderer::tile_text(const std::string& given) const {
  return fmt::format(R"(  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block.wide = zext i32 %block to i64
  %lane.wide = zext i32 %lane to i64
  %tile = mul nuw i64 %block.wide, {tile}
  %end = add nuw i64 %tile, {tile}
  %count = zext i32 {count} to i64
  %first = add nuw i64 %tile, %lane.wide
  %full = icmp ule i64 %end, %count
  br i1 %full, label %rows, label %part
rows:
  %tile.full = mul nuw i32 %block, {tile}
  %first.full = add nuw i32 %tile.full, %lane
  br label %row
row:
  %step = phi i32 [ 0, %rows ], [ %step.next, %row ]
  %offset = mul nuw i32 %step, {width}
  %instance.full = add nuw i32 %first.full, %offset
  call void @instance(i32 %instance.full{given})
  %step.next = add nuw i32 %step, 1
  %again = icmp ult i32 %step.next, {rows}
  br i1 %again, label %row, label %done, !llvm.loop !3
part:
  %at = phi i64 [ %first, %entry ], [ %at.next, %some ]
  %inside = icmp ult i64 %at, %count
  br i1 %inside, label %some, label %done
some:
  %instance.some = trunc i64 %at to i32
  call void @instance(i32 %instance.some{given})
  %at.next = add nuw i64 %at, {width}
  %below = icmp ult i64 %at.next, %end
  br i1 %below, label %part, label %done
)",
                     fmt::arg("tile", kGridGroup * lowered_.per_thread),
                     fmt::arg("count", instance_count()), fmt::arg("width", kGridGroup),
                     fmt::arg("rows", lowered_.per_thread), fmt::arg("given", given));
}

std::string LlvmRenderer::ptx() {
  std::string taken, given;
  for (Id param : graph_.params(lowered_.kernel)) {
    const uint32_t k = graph_.position(param);
    const bool is_val = graph_.mode(param) == Mode::Val;
    const std::string_view type =
        is_val ? llvm_memory_type(graph_.type(param)) : std::string_view(form_.global);
    if (!taken.empty()) taken += ", ";
    taken += is_val ? fmt::format("{} %p{}", type, k) : buffer_attributes(param);
    given += fmt::format(", {} %p{}", type, k);
  }
  const bool grouped = lowered_.group != 0;
  if (grouped) {
    instance_ = writer_.call("i32", "llvm.nvvm.read.ptx.sreg.ctaid.x", "", {});
    lane_ = writer_.call("i32", "llvm.nvvm.read.ptx.sreg.tid.x", "", {});
  }
  for (Id param : graph_.params(lowered_.kernel)) {
    if (graph_.mode(param) == Mode::Val && graph_.type(param) == Type::Bool) {
      writer_.set_value(param, from_memory(Type::Bool, writer_.value(param)));
    }
  }
  block(graph_.body(lowered_.kernel));
  const std::string body = arrays_ + writer_.text;

  std::string text;
  std::string kernel_body = body + "  br label %done\n";
  if (!grouped) {
    for (std::string_view name : {"ctaid", "tid"}) {
      writer_.declarations.insert(fmt::format("declare i32 @llvm.nvvm.read.ptx.sreg.{}.x()", name));
    }
    text = fmt::format(
        "define internal void @instance(i32 %instance{}{}) alwaysinline nounwind {{\nentry:\n{}"
        "  ret void\n}}\n\n",
        taken.empty() ? "" : ", ", taken, body);
    kernel_body = tile_text(given);
  }
  text += fmt::format("define ptx_kernel void @{}({}) convergent nounwind {{\nentry:\n",
                      kEntryPoint, taken);
  text += kernel_body;
  text += "done:\n  ret void\n}\n";
  text += fmt::format(
      "\n!0 = !{{}}\n!nvvm.annotations = !{{!1, !2}}\n"
      "!1 = !{{ptr @{0}, !\"kernel\", i32 1}}\n!2 = !{{ptr @{0}, !\"maxntidx\", i32 {1}}}\n"
      "!3 = distinct !{{!3, !4}}\n!4 = !{{!\"llvm.loop.unroll.full\"}}\n",
      kEntryPoint, grouped ? lowered_.group : kGridGroup);
  return module_text(std::move(text));
}

}  // namespace

std::string render_llvm_cpu(const Graph& graph, const Lowered& lowered) {
  return LlvmRenderer(graph, lowered, kCpuForm).cpu();
}

std::string render_llvm_ptx(const Graph& graph, const Lowered& lowered) {
  return LlvmRenderer(graph, lowered, kPtxForm).ptx();
}

}  // namespace xlog::render
