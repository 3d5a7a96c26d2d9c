#include "kernel/place.h"

#include <algorithm>

#include "base/check.h"

namespace xlog::kernel {

namespace {

constexpr uint32_t kNowhere = UINT32_MAX;

// Nodes that need no instruction of their own.
bool stands_free(Op op) {
  return op == Op::Param || op == Op::Const || op == Op::Arg || op == Op::Proj;
}

struct Scope {
  Id block;
  uint32_t parent = kNowhere;
  uint32_t depth = 0;
  Id owner;              // the node whose block this is
  bool is_loop = false;  // the body of a For or Loop
};

class Placer {
 public:
  Placer(const Graph& graph, Id kernel) : graph_(graph), scope_of_(graph.size(), kNowhere) {
    collect(graph.body(kernel), kNowhere, kernel);
  }

  Placement run() {
    place_pure_nodes();
    Placement placement;
    placement.position.assign(graph_.size(), kNowhere);
    for (const Scope& scope : scopes_) {
      placement.position[scope.block.index] = static_cast<uint32_t>(placement.blocks.size());
      placement.blocks.push_back(scope.block);
    }
    placement.lists.resize(scopes_.size());
    seen_in_.assign(graph_.size(), 0);
    for (uint32_t s = 0; s < scopes_.size(); ++s) order(s, placement.lists[s]);
    return placement;
  }

 private:
  // Scopes in the order of the text, outer before inner; effects know the scope they stand in.
  void collect(Id block, uint32_t parent, Id owner) {
    const auto self = static_cast<uint32_t>(scopes_.size());
    const Op op = graph_.op(owner);
    scopes_.push_back(
        {block, parent, parent == kNowhere ? 0 : scopes_[parent].depth + 1, owner, is_loop(op)});
    if (is_loop(op) || op == Op::Map || op == Op::Expand) {
      const uint32_t tag = graph_.tag(owner);
      if (tag >= scope_of_tag_.size()) scope_of_tag_.resize(tag + 1, kNowhere);
      scope_of_tag_[tag] = self;
    }
    for (Id effect : graph_.operands(block)) {
      scope_of_[effect.index] = self;
      for (Id operand : graph_.operands(effect)) {
        if (graph_.op(operand) == Op::Block) collect(operand, self, effect);
      }
    }
  }

  uint32_t common(uint32_t a, uint32_t b) const {
    if (a == kNowhere) return b;
    if (b == kNowhere) return a;
    while (scopes_[a].depth > scopes_[b].depth) a = scopes_[a].parent;
    while (scopes_[b].depth > scopes_[a].depth) b = scopes_[b].parent;
    while (a != b) {
      a = scopes_[a].parent;
      b = scopes_[b].parent;
    }
    return a;
  }

  // Users have larger ids than operands: one sweep downwards knows all uses of a node before it
  // places it, one sweep upwards knows the scopes of its operands before it hoists it.
  void place_pure_nodes() {
    std::vector<uint32_t> late(graph_.size(), kNowhere);
    for (uint32_t i = graph_.size(); i-- > 0;) {
      const Id id{i};
      uint32_t at = is_effect(graph_.op(id)) ? scope_of_[i] : late[i];
      if (at == kNowhere || graph_.op(id) == Op::Block) continue;
      for (Id operand : graph_.operands(id)) late[operand.index] = common(late[operand.index], at);
    }
    std::vector<uint32_t> early(graph_.size(), 0);  // the outermost scope that has all operands
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      const Id id{i};
      if (is_effect(graph_.op(id))) {
        early[i] = scope_of_[i] == kNowhere ? 0 : scope_of_[i];
        continue;
      }
      if (late[i] == kNowhere) continue;
      uint32_t deepest = 0;
      if (graph_.op(id) == Op::Arg) {
        deepest = scope_of_tag_[graph_.tag(id)];
      } else {
        for (Id operand : graph_.operands(id)) {
          if (scopes_[early[operand.index]].depth > scopes_[deepest].depth) {
            deepest = early[operand.index];
          }
        }
      }
      early[i] = deepest;
      if (stands_free(graph_.op(id))) continue;
      scope_of_[i] = hoist(late[i], deepest);
    }
  }

  // The scope just outside the outermost loop between `late` and `early`.
  uint32_t hoist(uint32_t late, uint32_t early) const {
    uint32_t best = late;
    for (uint32_t s = late; s != early && s != kNowhere; s = scopes_[s].parent) {
      if (scopes_[s].is_loop) best = scopes_[s].parent;
    }
    return best;
  }

  void order(uint32_t scope, std::vector<Id>& list) {
    for (Id effect : graph_.operands(scopes_[scope].block)) {
      need_operands_of(effect, scope, list);
      list.push_back(effect);
    }
  }

  // A node on the way down, and which of its operands comes next.
  struct Visit {
    Id id;
    bool is_listed = false;  // when all operands are done
    uint32_t next = 0;
  };

  // Lists what `user` needs and is placed in this scope, operands first. Also looks into the blocks
  // of an effect: what they use may be placed out here. Chains may be deeper than a stack of calls.
  void need_operands_of(Id user, uint32_t scope, std::vector<Id>& list) {
    std::vector<Visit> path = {{user}};
    while (!path.empty()) {
      Visit& visit = path.back();
      const auto operands = graph_.operands(visit.id);
      if (visit.next == operands.size()) {
        if (visit.is_listed) list.push_back(visit.id);
        path.pop_back();
        continue;
      }
      const Id operand = operands[visit.next++];
      if (is_walked(visit.id, operand, scope)) {
        const bool here = !is_effect(graph_.op(operand)) && scope_of_[operand.index] == scope;
        path.push_back({operand, here});
      }
    }
  }

  bool is_walked(Id user, Id operand, uint32_t scope) {
    const Op op = graph_.op(operand);
    if (op == Op::Block || graph_.op(user) == Op::Block) return true;
    if (is_effect(op) || stands_free(op)) return false;
    if (seen_in_[operand.index] == scope + 1) return false;
    seen_in_[operand.index] = scope + 1;
    // A node placed further out was listed there; its operands too. One placed further in comes
    // later, but may need something that is placed here.
    const uint32_t at = scope_of_[operand.index];
    return at == scope || scopes_[at].depth > scopes_[scope].depth;
  }

  const Graph& graph_;
  std::vector<Scope> scopes_;
  std::vector<uint32_t> scope_of_;  // of effects and placed nodes
  std::vector<uint32_t> scope_of_tag_;
  std::vector<uint32_t> seen_in_;  // the last scope that asked for it, plus one
};

}  // namespace

std::span<const Id> Placement::in(Id block) const {
  XLOG_CHECK(block.index < position.size() && position[block.index] != kNowhere,
             "this block is not part of the placed kernel");
  return lists[position[block.index]];
}

Placement place(const Graph& graph, Id kernel) { return Placer(graph, kernel).run(); }

std::vector<Id> reachable(const Graph& graph, Id root) {
  std::vector<bool> seen(graph.size(), false);
  std::vector<Id> stack = {root};
  seen[root.index] = true;
  std::vector<Id> found;
  while (!stack.empty()) {
    Id id = stack.back();
    stack.pop_back();
    found.push_back(id);
    for (Id operand : graph.operands(id)) {
      if (!seen[operand.index]) {
        seen[operand.index] = true;
        stack.push_back(operand);
      }
    }
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace xlog::kernel
