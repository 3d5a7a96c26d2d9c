// Folds over the lanes of a group on NVIDIA GPUs: shuffles inside each warp, then the warps' totals
// through shared memory (the scheme of Harris, Sengupta, Owens, "Parallel Prefix Sum (Scan) with
// CUDA", GPU Gems 3, with shuffles for the inner part). Groups need not fill their last warp.
//
// Totals and prefixes are two arrays so that two barriers are enough: the totals are free again
// when the second one is passed, the prefixes when the next fold passes its first.
#include <algorithm>
#include <utility>

#include "render/llvm_writer.h"

namespace xlog::render {

using kernel::Fold;
using kernel::Id;
using kernel::Op;
using kernel::Type;

namespace {

constexpr uint32_t kWarp = 32;

class Collective {
 public:
  Collective(LlvmWriter& writer, Id node, uint32_t lanes, const std::string& lane)
      : writer_(writer),
        node_(node),
        fold_(writer.graph.fold(node)),
        type_(writer.graph.type(node)),
        word_(llvm_type(type_)),
        identity_(llvm_constant(fold_identity(fold_, type_))),
        lanes_(lanes),
        lane_(lane) {}

  void write();

 private:
  std::string shuffle_word(std::string_view kind, const std::string& word,
                           const std::string& which);
  std::string shuffle(std::string_view kind, const std::string& value, const std::string& which);
  std::string inclusive(std::string value);
  std::string cell(std::string_view array, const std::string& index);
  void use_scratch();
  std::string across_warps(const std::string& inside);

  LlvmWriter& writer_;
  Id node_;
  Fold fold_;
  Type type_;
  std::string_view word_;
  std::string identity_;
  uint32_t lanes_;
  std::string lane_;
  std::string in_warp_;  // lane's index in its warp
  std::string members_;  // mask of the lanes that its warp has
};

std::string Collective::shuffle_word(std::string_view kind, const std::string& word,
                                     const std::string& which) {
  // The last operand bounds the source lane: with `up`, lanes below 0 keep their own value.
  return writer_.call(
      "i32", fmt::format("llvm.nvvm.shfl.sync.{}.i32", kind), "i32, i32, i32, i32",
      {"i32 " + members_, "i32 " + word, "i32 " + which, kind == "up" ? "i32 0" : "i32 31"});
}

// "up": the value of the lane `which` places below; "idx": of lane `which`.
std::string Collective::shuffle(std::string_view kind, const std::string& value,
                                const std::string& which) {
  const uint32_t bits = bits_of(type_);
  if (bits == 32) return shuffle_word(kind, value, which);
  if (bits < 32) {
    const std::string wide = writer_.emit("zext {} {} to i32", word_, value);
    const std::string got = shuffle_word(kind, wide, which);
    return writer_.emit("trunc i32 {} to {}", got, word_);
  }
  const std::string low = writer_.emit("trunc i64 {} to i32", value);
  const std::string shifted = writer_.emit("lshr i64 {}, 32", value);
  const std::string high = writer_.emit("trunc i64 {} to i32", shifted);
  const std::string got_low = shuffle_word(kind, low, which);
  const std::string got_high = shuffle_word(kind, high, which);
  const std::string wide_low = writer_.emit("zext i32 {} to i64", got_low);
  const std::string wide_high = writer_.emit("zext i32 {} to i64", got_high);
  const std::string placed = writer_.emit("shl i64 {}, 32", wide_high);
  return writer_.emit("or i64 {}, {}", wide_low, placed);
}

// The fold of the warp's lanes up to and with this one.
std::string Collective::inclusive(std::string value) {
  for (uint32_t distance = 1; distance < kWarp && distance < lanes_; distance *= 2) {
    const std::string other = shuffle("up", value, std::to_string(distance));
    const std::string folded = write_fold_step(writer_, fold_, type_, other, value);
    const std::string reached = writer_.emit("icmp uge i32 {}, {}", in_warp_, distance);
    value = writer_.emit("select i1 {}, {} {}, {} {}", reached, word_, folded, word_, value);
  }
  return value;
}

void Collective::use_scratch() {
  for (std::string_view name : {"totals", "prefixes"}) {
    const std::string global = fmt::format(
        "@xlog_kernel.{} = internal addrspace(3) global [33 x i64] undef, align 16", name);
    if (std::ranges::find(writer_.globals, global) == writer_.globals.end()) {
      writer_.globals.push_back(global);
    }
  }
}

std::string Collective::cell(std::string_view array, const std::string& index) {
  const std::string wide = writer_.emit("zext i32 {} to i64", index);
  return writer_.emit("getelementptr inbounds i64, ptr addrspace(3) @xlog_kernel.{}, i64 {}", array,
                      wide);
}

// Given the inclusive fold inside each warp, the address of the fold of all warps before this one;
// the fold of all lanes stands behind the last warp's.
std::string Collective::across_warps(const std::string& inside) {
  use_scratch();
  const uint32_t warps = (lanes_ + kWarp - 1) / kWarp;
  const uint32_t label = writer_.new_label();
  const std::string warp = writer_.emit("lshr i32 {}, 5", lane_);

  const std::string is_full_end = writer_.emit("icmp eq i32 {}, {}", in_warp_, kWarp - 1);
  const std::string is_last = writer_.emit("icmp eq i32 {}, {}", lane_, lanes_ - 1);
  const std::string is_end = writer_.emit("or i1 {}, {}", is_full_end, is_last);
  writer_.line("br i1 {}, label %total.{}, label %totalled.{}", is_end, label, label);
  writer_.start_block(fmt::format("total.{}", label));
  writer_.line("store {} {}, ptr addrspace(3) {}, align 8", word_, inside, cell("totals", warp));
  writer_.line("br label %totalled.{}", label);
  writer_.start_block(fmt::format("totalled.{}", label));
  writer_.call_void("llvm.nvvm.barrier0");

  // The first warp is full: there is more than one.
  const std::string is_first = writer_.emit("icmp ult i32 {}, {}", lane_, kWarp);
  writer_.line("br i1 {}, label %fold.{}, label %folded.{}", is_first, label, label);
  writer_.start_block(fmt::format("fold.{}", label));
  const std::string loaded =
      writer_.emit("load {}, ptr addrspace(3) {}, align 8", word_, cell("totals", lane_));
  const std::string exists = writer_.emit("icmp ult i32 {}, {}", lane_, warps);
  const std::string total =
      writer_.emit("select i1 {}, {} {}, {} {}", exists, word_, loaded, word_, identity_);
  std::string all_members = "-1";
  std::swap(all_members, members_);
  const std::string upto = inclusive(total);
  std::swap(all_members, members_);
  const std::string next = writer_.emit("add i32 {}, 1", lane_);
  writer_.line("store {} {}, ptr addrspace(3) {}, align 8", word_, upto, cell("prefixes", next));
  const std::string is_zero = writer_.emit("icmp eq i32 {}, 0", lane_);
  writer_.line("br i1 {}, label %start.{}, label %folded.{}", is_zero, label, label);
  writer_.start_block(fmt::format("start.{}", label));
  writer_.line("store {} {}, ptr addrspace(3) @xlog_kernel.prefixes, align 8", word_, identity_);
  writer_.line("br label %folded.{}", label);
  writer_.start_block(fmt::format("folded.{}", label));
  writer_.call_void("llvm.nvvm.barrier0");
  return cell("prefixes", writer_.graph.op(node_) == Op::GReduce ? std::to_string(warps) : warp);
}

void Collective::write() {
  const std::string value = writer_.value(writer_.graph.operand(node_, 0));
  const bool is_scan = writer_.graph.op(node_) == Op::GScan;
  in_warp_ = writer_.emit("and i32 {}, {}", lane_, kWarp - 1);
  members_ = "-1";
  if (const uint32_t rest = lanes_ % kWarp; rest != 0) {
    const std::string full = writer_.emit("icmp ult i32 {}, {}", lane_, lanes_ - rest);
    members_ = writer_.emit("select i1 {}, i32 -1, i32 {}", full, (1u << rest) - 1);
  }

  const std::string inside = inclusive(value);
  std::string before;
  if (is_scan) {
    const std::string left = shuffle("up", inside, "1");
    const std::string is_first = writer_.emit("icmp eq i32 {}, 0", in_warp_);
    before = writer_.emit("select i1 {}, {} {}, {} {}", is_first, word_, identity_, word_, left);
  }
  if (lanes_ > kWarp) {
    const std::string from = across_warps(inside);
    std::string outside = writer_.emit("load {}, ptr addrspace(3) {}, align 8", word_, from);
    if (is_scan) outside = write_fold_step(writer_, fold_, type_, outside, before);
    return writer_.set_value(node_, outside);
  }
  // One warp. Lanes meet here as at a barrier.
  writer_.declarations.insert("declare void @llvm.nvvm.bar.warp.sync(i32)");
  writer_.line("call void @llvm.nvvm.bar.warp.sync(i32 {})", members_);
  writer_.set_value(node_, is_scan ? before : shuffle("idx", inside, std::to_string(lanes_ - 1)));
}

}  // namespace

void write_collective(LlvmWriter& writer, Id node, uint32_t lanes, const std::string& lane) {
  Collective(writer, node, lanes, lane).write();
}

bool write_total_of_scan(LlvmWriter& writer, Id node, uint32_t lanes) {
  if (lanes <= kWarp) return false;  // nothing was left in memory
  const uint32_t warps = (lanes + kWarp - 1) / kWarp;
  const std::string_view word = llvm_type(writer.graph.type(node));
  writer.set_value(
      node, writer.emit("load {}, ptr addrspace(3) getelementptr inbounds (i64, ptr addrspace(3) "
                        "@xlog_kernel.prefixes, i64 {}), align 8",
                        word, warps));
  return true;
}

}  // namespace xlog::render
