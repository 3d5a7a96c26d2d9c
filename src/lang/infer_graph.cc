// Type nodes, their classes, unification and defaults. Unification follows Hindley and Milner;
// lists are the only constructor, so a type is a chain and every walk here is a loop.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "lang/infer.h"

namespace xlog::lang::infer {

NodeId TypeGraph::add(Node node, const Origin& origin) {
  XLOG_CHECK(nodes_.size() < kNone, "more than 2^32 type nodes");
  const NodeId id{static_cast<uint32_t>(nodes_.size())};
  node.parent = id.index;
  if (origin.kind != Origin::Kind::None) {
    node.origin = static_cast<uint32_t>(origins_.size());
    origins_.push_back(origin);
  }
  nodes_.push_back(node);
  return id;
}

NodeId TypeGraph::fresh() { return add(Node{}, Origin{}); }

NodeId TypeGraph::scalar(TypeKind kind, const Origin& origin) {
  XLOG_CHECK(kind != TypeKind::List, "a list is not a scalar");
  Node node;
  node.kind = NodeKind::Scalar;
  node.scalar = kind;
  node.declared = origin.kind == Origin::Kind::Declared;
  return add(node, origin);
}

NodeId TypeGraph::list_of(NodeId element, const Origin& origin) {
  Node node;
  node.kind = NodeKind::List;
  node.element = element;
  node.declared = origin.kind == Origin::Kind::Declared;
  return add(node, origin);
}

NodeId TypeGraph::from_type(const Type& type, const Origin& origin) {
  size_t lists = 0;
  const Type* inner = &type;
  for (; inner->kind == TypeKind::List; inner = inner->element.get()) ++lists;
  NodeId node = scalar(inner->kind, origin);
  for (; lists > 0; --lists) node = list_of(node, origin);
  return node;
}

NodeId TypeGraph::find(NodeId id) {
  uint32_t at = id.index;
  while (nodes_[at].parent != at) {
    nodes_[at].parent = nodes_[nodes_[at].parent].parent;
    at = nodes_[at].parent;
  }
  return {at};
}

// ---- Unification ----

namespace {

bool literal_fits(const Node& literal, const Node& concrete) {
  if (concrete.kind != NodeKind::Scalar) return false;
  const TypeKind kind = concrete.scalar;
  if (kind == TypeKind::Term) return true;
  if (literal.compounds) return kind == TypeKind::Compound;
  if (literal.names) {
    if (kind == TypeKind::Bool) return !literal.names_beyond_bool;
    return kind == TypeKind::Symbol || kind == TypeKind::PredRef;
  }
  if (literal.floats) return is_float(kind);
  return is_numeric(kind) || kind == TypeKind::Bool;
}

bool both_literals_fit(const Node& a, const Node& b) {
  const bool a_number = a.integers || a.floats;
  const bool b_number = b.integers || b.floats;
  return a_number == b_number && a.names == b.names && a.compounds == b.compounds;
}

}  // namespace

bool TypeGraph::compatible(NodeId a, NodeId b) {
  for (int depth = 0; depth <= ast::kMaxDepth; ++depth) {
    if (same(a, b)) return true;
    const Node& x = root(a);
    const Node& y = root(b);
    for (const Node* node : {&x, &y}) {
      if (node->kind == NodeKind::Unknown || node->kind == NodeKind::Error) return true;
    }
    if (x.kind == NodeKind::List && y.kind == NodeKind::List) {
      a = x.element;
      b = y.element;
      continue;
    }
    if (x.kind == NodeKind::Literal && y.kind == NodeKind::Literal) return both_literals_fit(x, y);
    if (x.kind == NodeKind::Literal) return literal_fits(x, y);
    if (y.kind == NodeKind::Literal) return literal_fits(y, x);
    return x.kind == y.kind && x.scalar == y.scalar;
  }
  return true;  // too deep: reported when types are read
}

bool TypeGraph::unify(NodeId a, NodeId b) {
  if (!compatible(a, b)) return false;
  while (!same(a, b)) {
    const bool lists = root(a).kind == NodeKind::List && root(b).kind == NodeKind::List;
    const NodeId next_a = root(a).element;
    const NodeId next_b = root(b).element;
    merge(a, b);
    if (!lists) break;
    a = next_a;
    b = next_b;
  }
  return true;
}

// The class that knows more gives the type and the origin.
void TypeGraph::merge(NodeId a, NodeId b) {
  a = find(a);
  b = find(b);
  auto strength = [](const Node& node) {
    switch (node.kind) {
      case NodeKind::Unknown:
        return 0;
      case NodeKind::Literal:
        return node.floats ? 2 : 1;
      case NodeKind::Scalar:
      case NodeKind::List:
        return 3;
      case NodeKind::Error:
        return 4;
    }
    return 0;
  };
  // A declared class is never spoilt by an error.
  if (nodes_[a.index].kind == NodeKind::Error && nodes_[b.index].declared) return;
  if (nodes_[b.index].kind == NodeKind::Error && nodes_[a.index].declared) return;

  if (nodes_[a.index].size < nodes_[b.index].size) std::swap(a, b);
  Node& into = nodes_[a.index];
  Node& from = nodes_[b.index];
  if (into.kind != from.kind) {
    if (into.kind == NodeKind::Scalar || into.kind == NodeKind::List) wake(from);
    if (from.kind == NodeKind::Scalar || from.kind == NodeKind::List) wake(into);
  }
  if (strength(from) > strength(into)) {
    into.kind = from.kind;
    into.scalar = from.scalar;
    into.element = from.element;
    into.origin = from.origin;
  }
  into.integers |= from.integers;
  into.floats |= from.floats;
  into.names |= from.names;
  into.names_beyond_bool |= from.names_beyond_bool;
  into.compounds |= from.compounds;
  into.arithmetic |= from.arithmetic;
  into.term_position |= from.term_position;
  into.declared |= from.declared;
  into.least = std::min(into.least, from.least);
  into.most = std::max(into.most, from.most);
  into.size += from.size;
  if (from.first_waiter != kNone) {
    if (into.first_waiter == kNone) {
      into.first_waiter = from.first_waiter;
    } else {
      next_waiter_[into.last_waiter] = from.first_waiter;
    }
    into.last_waiter = from.last_waiter;
  }
  from.parent = a.index;
}

// In place, so that a million rows of mixed facts make no nodes.
bool TypeGraph::join_literal(NodeId id, const Node& literal, const Origin& origin) {
  Node& node = root(id);
  if (node.kind == NodeKind::Scalar || node.kind == NodeKind::Error) return true;
  if (node.kind == NodeKind::List) return false;
  if (node.kind == NodeKind::Literal && !both_literals_fit(node, literal)) return false;
  const bool decides = node.kind == NodeKind::Unknown || (literal.floats && !node.floats);
  if (decides) {
    node.origin = static_cast<uint32_t>(origins_.size());
    origins_.push_back(origin);
  }
  node.kind = NodeKind::Literal;
  node.integers |= literal.integers;
  node.floats |= literal.floats;
  node.names |= literal.names;
  node.names_beyond_bool |= literal.names_beyond_bool;
  node.compounds |= literal.compounds;
  node.least = std::min(node.least, literal.least);
  node.most = std::max(node.most, literal.most);
  return true;
}

bool TypeGraph::add_literal(NodeId id, const Value& literal, const Names& names,
                            const Origin& origin) {
  Node node;
  node.kind = NodeKind::Literal;
  switch (literal.kind) {
    case TypeKind::U32:
    case TypeKind::U64:
      node.integers = true;
      node.least = literal.as_signed() < 0 ? INT64_MAX : literal.as_signed();
      node.most = literal.bits;
      break;
    case TypeKind::I32:
    case TypeKind::I64:
      node.integers = true;
      node.least = literal.as_signed();
      node.most = literal.as_signed() < 0 ? 0 : literal.bits;
      break;
    case TypeKind::F32:
    case TypeKind::F64:
      node.floats = true;
      break;
    case TypeKind::Bool:
      node.names = true;
      break;
    case TypeKind::Symbol:
    case TypeKind::PredRef: {
      const std::string_view text = names.symbols.text(literal.as_symbol());
      node.names = true;
      node.names_beyond_bool = text != "true" && text != "false";
      break;
    }
    case TypeKind::Compound:
      node.compounds = true;
      break;
    case TypeKind::List:
    case TypeKind::Term:
      XLOG_UNREACHABLE("not a scalar literal");
  }
  return join_literal(id, node, origin);
}

bool TypeGraph::add_integers(NodeId id, int64_t lo, int64_t hi, const Origin& origin) {
  Node node;
  node.kind = NodeKind::Literal;
  node.integers = true;
  node.least = lo;
  node.most = hi < 0 ? 0 : static_cast<uint64_t>(hi);
  return join_literal(id, node, origin);
}

void TypeGraph::mark_error(NodeId id) {
  Node& node = root(id);
  if (!node.declared) node.kind = NodeKind::Error;
}

// ---- Waiting ----

void TypeGraph::wait_for(NodeId id, uint32_t waiter) {
  Node& node = root(id);
  if (node.kind == NodeKind::Scalar || node.kind == NodeKind::List) {
    ready.push_back(waiter);
    return;
  }
  if (next_waiter_.size() <= waiter) next_waiter_.resize(waiter + 1, kNone);
  next_waiter_[waiter] = kNone;
  if (node.first_waiter == kNone) {
    node.first_waiter = waiter;
  } else {
    next_waiter_[node.last_waiter] = waiter;
  }
  node.last_waiter = waiter;
}

void TypeGraph::wake(Node& node) {
  for (uint32_t waiter = node.first_waiter; waiter != kNone; waiter = next_waiter_[waiter]) {
    ready.push_back(waiter);
  }
  node.first_waiter = node.last_waiter = kNone;
}

// ---- Types ----

TypeKind TypeGraph::default_kind(const Node& node) const {
  if (node.kind == NodeKind::Scalar) return node.scalar;
  if (node.kind != NodeKind::Literal) {
    if (node.kind != NodeKind::Unknown || !node.term_position) return TypeKind::U64;
    return node.arithmetic ? TypeKind::I64 : TypeKind::Term;
  }
  if (node.compounds) return TypeKind::Compound;
  if (node.names) return TypeKind::Symbol;
  if (node.floats) return TypeKind::F64;
  if (!node.arithmetic && node.least >= 0 && node.most <= UINT32_MAX) return TypeKind::U32;
  return node.least >= 0 && node.most > static_cast<uint64_t>(INT64_MAX) ? TypeKind::U64
                                                                         : TypeKind::I64;
}

bool TypeGraph::too_deep(NodeId id) {
  int depth = 0;
  while (root(id).kind == NodeKind::List && depth <= ast::kMaxDepth) {
    id = root(id).element;
    ++depth;
  }
  return depth > ast::kMaxDepth;
}

Type TypeGraph::type_of(NodeId id) {
  const NodeId top = find(id);
  if (types_.size() < nodes_.size()) {
    types_.resize(nodes_.size());
    has_type_.resize(nodes_.size(), false);
  }
  if (has_type_[top.index]) return types_[top.index];
  size_t lists = 0;
  NodeId inner = top;
  if (too_deep(top)) return Type{};
  for (; root(inner).kind == NodeKind::List; inner = root(inner).element) ++lists;
  Type type{default_kind(root(inner)), nullptr};
  for (; lists > 0; --lists) type = Type::list_of(std::move(type));
  types_[top.index] = type;
  has_type_[top.index] = true;
  return type;
}

std::string TypeGraph::describe(NodeId id) {
  std::string text;
  size_t lists = 0;
  for (; root(id).kind == NodeKind::List && lists < 8; id = root(id).element) {
    text += "list<";
    ++lists;
  }
  const Node& node = root(id);
  if (node.kind == NodeKind::List) {
    text += "...";
  } else if (node.kind == NodeKind::Unknown && lists > 0) {
    text += "_";
  } else {
    text += spelling(default_kind(node));
  }
  text.append(lists, '>');
  return text;
}

}  // namespace xlog::lang::infer
