// The lanes of a group as loops inside one instance. Every piece between two barriers becomes a
// loop over the lanes; collectives become values that such a loop carries. Pure values are computed
// anew in each piece that uses them. Results of effects and carried values that are used in another
// piece are kept in private arrays with a cell for each lane, unless all lanes agree on them.
#include <unordered_map>
#include <vector>

#include "base/check.h"
#include "kernel/lane_pieces.h"
#include "kernel/pass.h"
#include "kernel/place.h"
#include "kernel/rebuild.h"

namespace xlog::kernel {

namespace {

class LaneLoops {
 public:
  LaneLoops(PassContext& context, Id kernel)
      : context_(context),
        graph_(context.graph),
        kernel_(kernel),
        lanes_(graph_.kernel_info(kernel).group),
        cut_(graph_, kernel) {}

  Id run() {
    for (Id id : reachable(graph_, kernel_)) {
      XLOG_CHECK(graph_.op(id) != Op::Check, "checks become status before lanes become loops");
      if (graph_.op(id) == Op::Alloc && graph_.space(id) == Space::Local) {
        shared_[id] = add_array(graph_.type(id), graph_.elements(id));
      }
    }
    for (const Step& step : cut_.steps()) find_kept(step);
    std::vector<Id> effects;
    emit(cut_.steps(), effects);
    effects.insert(effects.begin(), arrays_.begin(), arrays_.end());

    KernelInfo info = graph_.kernel_info(kernel_);
    info.group = 0;
    const auto params = graph_.params(kernel_);
    const Id made = graph_.kernel(info, graph_.block(effects), params);
    context_.note("lanes as loops", kernel_, made);
    return made;
  }

 private:
  // Where a value waits for the pieces that use it.
  using Arrays = std::unordered_map<Id, Id>;

  Id number(uint32_t v) { return graph_.constant(Scalar::u32(v)); }

  // Arrays stand at the top of the kernel: a loop need not make them again.
  Id add_array(Type type, uint32_t elements) {
    arrays_.push_back(graph_.alloc(type, elements, Space::Private));
    return arrays_.back();
  }

  // ---- which values need an array ----

  void find_kept(const Step& step) {
    if (!step.control.valid()) {
      keep_all(cut_.needs(step.piece));
      return;
    }
    keep_all(cut_.leaves(control_values(step.control), nullptr));
    for (const Step& inner : step.first) find_kept(inner);
    for (const Step& inner : step.second) find_kept(inner);
    keep_all(cut_.needs(step.late));
  }

  // What the control itself computes, outside of all pieces.
  std::vector<Id> control_values(Id control) const {
    std::vector<Id> values = {graph_.operand(control, 0)};
    if (graph_.op(control) == Op::If) return values;
    values.push_back(graph_.operand(control, 1));
    const auto inits = graph_.inits(control);
    const auto body = graph_.operands(graph_.body(control));
    const uint32_t flag = graph_.op(control) == Op::Loop ? 1 : 0;
    if (flag != 0) values.push_back(graph_.operand(body.back(), 0));
    for (uint32_t k = 0; k < inits.size(); ++k) {
      if (!cut_.carries_uniform(control, k)) continue;
      values.push_back(inits[k]);
      values.push_back(graph_.operand(body.back(), k + flag));
    }
    return values;
  }

  void keep_all(const std::vector<Id>& leaves) {
    for (Id leaf : leaves) keep(leaf);
  }

  void keep(Id leaf) {
    if (cut_.is_uniform(leaf) || kept_.contains(leaf) || shared_.contains(leaf)) return;
    const Op op = graph_.op(leaf);
    if (op == Op::Alloc) {  // a private array that outlives its piece: one for each lane
      const uint64_t elements = uint64_t{graph_.elements(leaf)} * lanes_;
      XLOG_CHECK(elements <= UINT32_MAX, "the private arrays of a group exceed 2^32 elements");
      spread_[leaf] = add_array(graph_.type(leaf), static_cast<uint32_t>(elements));
      kept_[leaf] = spread_[leaf];
      return;
    }
    if (op == Op::Arg) {
      kept_[leaf] = carried_array(graph_.tag(leaf), graph_.arg_index(leaf) - 1, graph_.type(leaf));
      return;
    }
    const Id effect = op == Op::Proj ? graph_.operand(leaf, 0) : leaf;
    if (op == Op::Proj && cut_.synchronises(effect)) {
      kept_[leaf] = carried_array(graph_.tag(effect), graph_.result_index(leaf), graph_.type(leaf));
      return;
    }
    kept_[leaf] = add_array(graph_.type(leaf), lanes_);
    kept_of_[effect].push_back(leaf);
  }

  // The cells of a carried value: inside the loop they hold the argument, after it the result.
  Id carried_array(uint32_t tag, uint32_t k, Type type) {
    auto [entry, is_new] = carried_.try_emplace(uint64_t{tag} << 8 | k);
    if (is_new) entry->second = add_array(type, lanes_);
    return entry->second;
  }

  // ---- the new kernel ----

  void emit(const std::vector<Step>& steps, std::vector<Id>& out) {
    for (const Step& step : steps) {
      if (!step.control.valid()) {
        emit_piece(step.piece, out);
      } else if (graph_.op(step.control) == Op::If) {
        emit_if(step, out);
      } else {
        emit_loop(step, out);
      }
    }
  }

  Id emit_block(const std::vector<Step>& steps) {
    std::vector<Id> out;
    emit(steps, out);
    return graph_.block(out);
  }

  void emit_if(const Step& step, std::vector<Id>& out) {
    std::vector<Id> operands = {for_group(graph_.operand(step.control, 0), out),
                                emit_block(step.first)};
    if (!step.second.empty()) operands.push_back(emit_block(step.second));
    out.push_back(graph_.make(Op::If, operands));
  }

  void emit_loop(const Step& step, std::vector<Id>& out) {
    const Id loop = step.control;
    const Op op = graph_.op(loop);
    const uint32_t flag = op == Op::Loop ? 1 : 0;
    const uint32_t old_tag = graph_.tag(loop), tag = graph_.new_tag();
    std::vector<Id> operands = {for_group(graph_.operand(loop, 0), out),
                                for_group(graph_.operand(loop, 1), out)};
    auto see_argument = [&](uint32_t old_k, uint32_t k, Type type) {
      agreed_[graph_.arg(old_tag, old_k, type)] = graph_.arg(tag, k, type);
      if (auto name = graph_.arg_name(old_tag, old_k); !name.empty()) {
        graph_.set_arg_name(tag, k, std::string(name));
      }
    };
    see_argument(0, 0, Type::U32);
    const auto inits = graph_.inits(loop);
    std::vector<uint32_t> carried;  // the values that all lanes agree on stay with the loop
    for (uint32_t k = 0; k < inits.size(); ++k) {
      if (!cut_.carries_uniform(loop, k)) continue;
      carried.push_back(k);
      operands.push_back(for_group(inits[k], out));
      see_argument(k + 1, static_cast<uint32_t>(carried.size()), graph_.type(inits[k]));
    }

    std::vector<Id> body;
    emit(step.first, body);
    std::vector<Id> next;
    if (flag != 0 || !carried.empty()) {
      const Id yield = graph_.operands(graph_.body(loop)).back();
      if (flag != 0) next.push_back(for_group(graph_.operand(yield, 0), body));
      for (uint32_t k : carried) next.push_back(for_group(graph_.operand(yield, k + flag), body));
    }
    emit_piece(step.late, body);
    if (!next.empty()) body.push_back(graph_.make(Op::Yield, next));
    operands.push_back(graph_.block(body));
    const Id made = graph_.loop(op, tag, operands);
    out.push_back(made);
    uint32_t result = 0;
    for (uint32_t k : carried) {
      const Type type = graph_.type(inits[k]);
      agreed_[graph_.proj(loop, k, type)] = graph_.proj(made, result++, type);
    }
    if (flag != 0) {
      const auto old_flag = static_cast<uint32_t>(inits.size());
      agreed_[graph_.proj(loop, old_flag, Type::Bool)] = graph_.proj(made, result, Type::Bool);
    }
  }

  // Maps a value of the group kernel for one lane: `lane` is its number there.
  Rebuild translation(Id lane) {
    Rebuild again(graph_);
    again.pure = [this, lane](Id node, Id) {
      if (graph_.op(node) == Op::Lane) return lane;
      if (graph_.op(node) == Op::Group) return graph_.make(Op::Grid, {graph_.operand(node, 0)});
      return node;
    };
    for (auto [local, array] : shared_) again.set(local, array);
    for (auto [array, spread] : spread_) again.set(array, spread);
    return again;
  }

  // Lets `again` see what was kept, or agreed on, by loads at this place.
  void supply(Rebuild& again, const std::vector<Id>& leaves, Id lane, std::vector<Id>& out) {
    for (Id leaf : leaves) {
      if (graph_.op(leaf) == Op::Alloc) continue;
      if (auto agreed = agreed_.find(leaf); agreed != agreed_.end()) {
        again.set(leaf, agreed->second);
        continue;
      }
      const Id loaded = graph_.make(Op::Load, {kept_.at(leaf), lane});
      out.push_back(loaded);
      again.set(leaf, loaded);
    }
  }

  // A value of control: where the rules for groups hold all lanes have the same, so lane 0 speaks.
  Id for_group(Id value, std::vector<Id>& out) {
    const Id lane = number(0);
    Rebuild again = translation(lane);
    supply(again, cut_.leaves(std::span(&value, 1), nullptr), lane, out);
    return again(value);
  }

  void emit_piece(const Piece& piece, std::vector<Id>& out) {
    if (piece.empty()) return;
    std::vector<Id> effects;
    for (Id effect : piece.effects) {
      if (!cut_.is_hoisted(effect)) {
        effects.push_back(effect);
        continue;
      }
      const Id index = for_group(graph_.operand(effect, 1), out);
      agreed_[effect] = graph_.make(Op::Load, {graph_.operand(effect, 0), index});
      out.push_back(agreed_[effect]);
    }
    if (effects.empty() && piece.collectives.empty() && piece.carries.empty()) return;

    const uint32_t tag = graph_.new_tag();
    const Id lane = graph_.arg(tag, 0, Type::U32);
    graph_.set_arg_name(tag, 0, "lane");
    Rebuild again = translation(lane);
    again.effect = [&](Id node, Id original, std::vector<Id>& body) {
      return emit_effect(again, node, original, lane, body);
    };
    std::vector<Id> body;
    supply(again, cut_.needs(piece), lane, body);
    again.effects(effects, body);

    std::vector<Id> operands = {number(0), number(lanes_)}, next;
    for (Id collective : piece.collectives) {
      const Type type = graph_.type(collective);
      const Fold fold = graph_.fold(collective);
      operands.push_back(graph_.constant(fold_identity(fold, type)));
      const Id before = graph_.arg(tag, static_cast<uint32_t>(next.size()) + 1, type);
      const Id value = again(graph_.operand(collective, 0));
      next.push_back(graph_.make(*step_of(fold), {before, value}));
      if (graph_.op(collective) != Op::GScan) continue;
      again.set(collective, before);
      keep_results(again, collective, lane, body);
    }
    for (const Carry& carry : piece.carries) {
      const auto array = carried_.find(uint64_t{graph_.tag(carry.loop)} << 8 | carry.index);
      if (array == carried_.end()) continue;  // nobody reads it
      body.push_back(graph_.make(Op::Store, {array->second, lane, again(carry.value)}));
    }
    if (!next.empty()) body.push_back(graph_.make(Op::Yield, next));
    if (body.empty()) return;
    operands.push_back(graph_.block(body));
    const Id loop = graph_.loop(Op::For, tag, operands);
    out.push_back(loop);
    for (uint32_t k = 0; k < piece.collectives.size(); ++k) {
      const Id collective = piece.collectives[k];
      if (graph_.op(collective) != Op::GReduce) continue;
      agreed_[collective] = graph_.proj(loop, k, graph_.type(collective));
    }
  }

  // One effect inside a loop over lanes.
  Id emit_effect(Rebuild& again, Id node, Id original, Id lane, std::vector<Id>& body) {
    const Op op = graph_.op(node);
    if (op == Op::Alloc) {
      if (auto array = shared_.find(original); array != shared_.end()) return array->second;
      if (auto array = spread_.find(original); array != spread_.end()) return array->second;
    }
    if (op == Op::Load || op == Op::Store || op == Op::Atomic || op == Op::Cas ||
        op == Op::Prefetch) {
      node = memory_effect(node, original, lane, body);
    } else {
      body.push_back(node);
    }
    again.set(original, node);
    keep_results(again, original, lane, body);
    return node;
  }

  Id memory_effect(Id node, Id original, Id lane, std::vector<Id>& body) {
    const auto old = graph_.operands(node);
    std::vector<Id> operands(old.begin(), old.end());
    const Id buffer = graph_.operand(original, 0);
    if (spread_.contains(buffer)) {
      const Id first = graph_.make(Op::Mul, {lane, number(graph_.elements(buffer))});
      operands[1] = graph_.make(Op::Add, {first, operands[1]});
    }
    if (graph_.op(node) == Op::Atomic && graph_.op(buffer) == Op::Alloc) {
      // Nobody else reaches the array now.
      const Id before = graph_.make(Op::Load, {operands[0], operands[1]});
      const auto step = step_of(graph_.fold(node));
      const Id after = step ? graph_.make(*step, {before, operands[2]}) : operands[2];
      body.push_back(before);
      body.push_back(graph_.make(Op::Store, {operands[0], operands[1], after}));
      return before;
    }
    const Id made = graph_.with_operands(node, operands);
    body.push_back(made);
    return made;
  }

  // Stores the results of an effect that other pieces use.
  void keep_results(Rebuild& again, Id effect, Id lane, std::vector<Id>& body) {
    const auto kept = kept_of_.find(effect);
    if (kept == kept_of_.end()) return;
    for (Id leaf : kept->second) {
      body.push_back(graph_.make(Op::Store, {kept_.at(leaf), lane, again(leaf)}));
    }
  }

  PassContext& context_;
  Graph& graph_;
  Id kernel_;
  uint32_t lanes_;
  LanePieces cut_;
  std::vector<Id> arrays_;
  Arrays shared_;                                    // by local Alloc
  Arrays spread_;                                    // by private Alloc
  Arrays kept_;                                      // by value that differs between lanes
  std::unordered_map<uint64_t, Id> carried_;         // by tag and index
  std::unordered_map<Id, std::vector<Id>> kept_of_;  // values of an effect
  std::unordered_map<Id, Id> agreed_;                // values that all lanes agree on, as they are
                                                     // in the new kernel
};

}  // namespace

Id lanes_to_loops(PassContext& context, Id kernel) {
  if (context.graph.kernel_info(kernel).group == 0) return kernel;
  return LaneLoops(context, kernel).run();
}

}  // namespace xlog::kernel
