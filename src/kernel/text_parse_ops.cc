// Operands and ops with one result of the text form.
#include <fmt/format.h>

#include <algorithm>

#include "base/diagnostic.h"
#include "kernel/plan_builder.h"
#include "kernel/text_parser.h"

namespace xlog::kernel::text {

namespace {

// Read, never printed: each is a short name for one or two ops.
constexpr std::string_view kSugar[] = {"ne", "le", "gt", "ge", "not", "neg"};

bool is_sugar(std::string_view word) { return std::ranges::find(kSugar, word) != std::end(kSugar); }

bool has_fold(Op op) {
  return op == Op::Atomic || op == Op::GScan || op == Op::GReduce || op == Op::Reduce ||
         op == Op::Scan || op == Op::Segment;
}

// Ops that a statement of its own reads; they have no place among values.
bool is_value_op(Op op) {
  if (is_arithmetic(op)) return true;
  switch (op) {
    case Op::Grid:
    case Op::Group:
    case Op::Lane:
    case Op::Len:
    case Op::Load:
    case Op::Store:
    case Op::Prefetch:
    case Op::Atomic:
    case Op::Cas:
    case Op::Barrier:
    case Op::GScan:
    case Op::GReduce:
    case Op::Copy:
    case Op::Read:
    case Op::Reduce:
      return true;
    default:
      return false;
  }
}

}  // namespace

OpName Parser::op_name(const Token& token) const {
  const size_t dot = token.text.find('.');
  OpName name{token.text.substr(0, dot), {}, token.offset};
  if (dot != std::string_view::npos) name.suffix = token.text.substr(dot + 1);
  return name;
}

std::vector<Id> Parser::ids(const std::vector<Operand>& list) const {
  std::vector<Id> found;
  for (const Operand& operand : list) found.push_back(operand.id);
  return found;
}

Id Parser::append(Id effect) {
  frames_.back().effects.push_back(effect);
  return effect;
}

// ---- operands ----

bool Parser::at_operand() const {
  const Token& token = peek();
  if (token.kind == TokenKind::Literal || token.is("(")) return true;
  return token.kind == TokenKind::Name && !is_reserved(token.text);
}

bool Parser::operand(Operand& out) {
  const Token token = peek();
  out.offset = token.offset;
  if (!at_operand()) return fail(token.offset, "expected an operand: a name, a number or `(`");
  next();
  if (token.kind == TokenKind::Literal) {
    Literal literal;
    if (!split_literal(token.text, literal)) {
      return fail(token.offset, fmt::format("`{}` has no known type", token.text),
                  "the types are bool u8 u32 u64 i32 i64 f32 f64");
    }
    out.number = literal.number;
    return literal.type == Type::Void || settle(out, literal.type);
  }
  if (token.kind == TokenKind::Name) {
    const Binding* found = find(token.text);
    if (found == nullptr) return unknown_name(token);
    out.id = found->id;
    return true;
  }
  if (!enter(token.offset)) return false;
  const Token word = next();
  if (word.kind != TokenKind::Name) return fail(word.offset, "expected an op after `(`");
  out.id = value_op(op_name(word));
  if (!out.id.valid() || !expect(")", "after a nested op")) return false;
  --depth_;
  if (graph_.type(out.id) != Type::Void) return true;
  return fail(word.offset, fmt::format("{} gives no value", word.text));
}

bool Parser::operands(std::vector<Operand>& out) {
  while (at_operand()) {
    if (!operand(out.emplace_back())) return false;
  }
  return true;
}

// Gives a bare number its type; anything else stays as it is.
bool Parser::settle(Operand& operand, Type type) {
  if (!operand.is_bare()) return true;
  Scalar value;
  const std::string problem = read_literal(operand.number, type, value);
  if (!problem.empty()) return fail(operand.offset, problem);
  operand.id = graph_.constant(value);
  return true;
}

// Bare numbers from `first` on take the type of the others; u32 if all are bare.
bool Parser::settle_alike(std::vector<Operand>& list, size_t first) {
  Type type = Type::U32;
  for (size_t k = first; k < list.size(); ++k) {
    if (list[k].is_bare()) continue;
    type = graph_.type(list[k].id);
    break;
  }
  for (size_t k = 0; k < list.size(); ++k) {
    if (!settle(list[k], k < first ? Type::Bool : type)) return false;
  }
  return true;
}

// Settles the operand, which must then be a value of the type.
bool Parser::scalar(Operand& operand, Type type, std::string_view what) {
  if (!settle(operand, type)) return false;
  if (is_buffer(graph_, operand.id)) {
    return fail(operand.offset, fmt::format("{} is {}, this is a buffer", what, spelling(type)));
  }
  if (graph_.type(operand.id) == type) return true;
  return fail(operand.offset, fmt::format("{} is {}, this is {}", what, spelling(type),
                                          spelling(graph_.type(operand.id))));
}

bool Parser::type_word(Type& type, std::string_view where) {
  const Token word = next();
  auto found = word.kind == TokenKind::Name ? find_type(word.text) : std::nullopt;
  if (!found) {
    return fail(word.offset, fmt::format("expected the type {}", where),
                "the types are bool u8 u32 u64 i32 i64 f32 f64");
  }
  type = *found;
  return true;
}

// ---- ops ----

bool Parser::unknown_op(const OpName& name) {
  std::vector<std::string_view> known(std::begin(kSugar), std::end(kSugar));
  for (const OpInfo& op : kOps) {
    if (op.tier != Tier::Relation) known.push_back(op.text);
  }
  auto near = did_you_mean(name.base, known);
  return fail(name.offset, fmt::format("there is no op `{}`", name.base),
              near ? fmt::format("did you mean `{}`?", *near) : "");
}

bool Parser::allowed_here(const OpName& name, Op op) {
  const OpInfo& facts = info(op);
  if (facts.tier == Tier::Relation) {
    return fail(name.offset, fmt::format("{} works on relations, it has no text form", name.base));
  }
  if (in_plan()) {
    if (facts.tier == Tier::Plan || is_arithmetic(op) || op == Op::Len) return true;
    return fail(name.offset, fmt::format("{} belongs in a kernel, not in a plan", name.base),
                op == Op::Load ? "a plan takes one element to the host with `read`" : "");
  }
  if (facts.tier == Tier::Kernel) return true;
  return fail(name.offset, fmt::format("{} belongs in a plan, not in a kernel", name.base));
}

std::optional<Fold> Parser::fold_of(const OpName& name, Op op, Type type) {
  const auto fold = find_fold(name.suffix);
  if (!fold) {
    fail(name.offset, fmt::format("{} names what it folds with", name.base),
         fmt::format("write {0}.add, {0}.min, {0}.max, {0}.and, {0}.or or {0}.xor", name.base));
    return std::nullopt;
  }
  const auto step = step_of(*fold);
  if (!step && op != Op::Atomic) {
    fail(name.offset, fmt::format("{}.exch: only atomic can exchange", name.base));
    return std::nullopt;
  }
  const Domain domain = step ? info(*step).domain : Domain::Any;
  if (!in_domain(domain, type)) {
    fail(name.offset, fmt::format("{} does not fold with {}", spelling(type), name.suffix));
    return std::nullopt;
  }
  return fold;
}

Id Parser::value_op(const OpName& name) {
  const bool short_name = is_sugar(name.base);
  const std::optional<Op> op = find_op(name.base);
  if (!op && !short_name) {
    unknown_op(name);
    return {};
  }
  if (!short_name && !allowed_here(name, *op)) return {};
  const bool suffix_fits = name.suffix.empty() || (op && has_fold(*op)) ||
                           (op == Op::Bitcast && name.suffix == "raw") ||
                           (op == Op::Buf && name.suffix == "unset");
  if (!suffix_fits) {
    fail(name.offset, fmt::format("{} has no form `.{}`", name.base, name.suffix));
    return {};
  }
  if (op == Op::Cast || op == Op::Bitcast) return cast_op(name);
  if (op == Op::Alloc) return alloc_op();
  if (op == Op::Buf) return buf_op(name);
  if (!short_name && !is_value_op(*op)) {
    fail(name.offset, fmt::format("{} cannot stand here", name.base));
    return {};
  }
  std::vector<Operand> list;
  if (!operands(list)) return {};
  return short_name ? sugar(name, list) : plain_op(name, *op, list);
}

Id Parser::plain_op(const OpName& name, Op op, std::vector<Operand>& list) {
  if (op == Op::Copy) {
    if (list.empty()) {
      fail(name.offset, "copy takes at least one buffer");
      return {};
    }
    if (!buffers(list, "copy")) return {};
    for (const Operand& operand : list) {
      if (graph_.type(operand.id) == graph_.type(list[0].id)) continue;
      fail(operand.offset, "copy joins buffers of one type");
      return {};
    }
    return append(graph_.make(op, ids(list)));
  }
  if (info(op).operands != static_cast<int>(list.size())) {
    fail(name.offset, fmt::format("{} takes {} operand{}, {} given", name.base, info(op).operands,
                                  info(op).operands == 1 ? "" : "s", list.size()));
    return {};
  }
  const bool memory = op == Op::Load || op == Op::Store || op == Op::Atomic || op == Op::Cas ||
                      op == Op::Read || op == Op::Len || op == Op::Reduce || op == Op::Prefetch;
  if (memory) {
    if (list[0].is_bare() || !is_buffer(graph_, list[0].id)) {
      fail(list[0].offset, fmt::format("{} needs a buffer first", name.base));
      return {};
    }
    const Type element = graph_.type(list[0].id);
    for (size_t k = 1; k < list.size(); ++k) {
      if (!scalar(list[k], k == 1 ? Type::U32 : element, k == 1 ? "an index" : "the element")) {
        return {};
      }
    }
  } else if (!settle_alike(list, op == Op::Select ? 1 : 0)) {
    return {};
  }
  const std::vector<Id> operand_ids = ids(list);
  const std::string problem = type_problem(graph_, op, operand_ids);
  if (!problem.empty()) {
    fail(name.offset, problem);
    return {};
  }
  if (has_fold(op)) {
    const auto fold = fold_of(name, op, graph_.type(operand_ids.back()));
    if (!fold) return {};
    return append(graph_.fold_node(op, *fold, operand_ids));
  }
  Id made = graph_.make(op, operand_ids);
  if (op == Op::Grid || op == Op::Group) {
    grid_offset_ = name.offset;
    grid_ = made;
  }
  return is_effect(op) ? append(made) : made;
}

Id Parser::sugar(const OpName& name, std::vector<Operand>& list) {
  const bool unary = name.base == "not" || name.base == "neg";
  if (list.size() != (unary ? 1 : 2)) {
    fail(name.offset, fmt::format("{} takes {}, {} given", name.base,
                                  unary ? "1 operand" : "2 operands", list.size()));
    return {};
  }
  if (!settle_alike(list, 0)) return {};
  const Id a = list[0].id;
  const Id b = list.back().id;
  const Op real = name.base == "not"   ? Op::Xor
                  : name.base == "neg" ? Op::Sub
                  : name.base == "ne"  ? Op::Eq
                                       : Op::Lt;
  const Id both[] = {a, b};
  const std::string problem = type_problem(graph_, real, both);
  if (!problem.empty()) {
    fail(name.offset, fmt::format("{}: {}", name.base, problem));
    return {};
  }
  const Type type = graph_.type(a);
  const auto negation = [&](Id id) {
    const Type own = graph_.type(id);
    return graph_.make(Op::Xor, {id, graph_.constant({own, mask_of(own)})});
  };
  if (name.base == "not") return negation(a);
  if (name.base == "neg") {
    // -0.0 - x changes the sign of every x; 0.0 - x would not, for 0.0.
    const Id zero = graph_.constant(fold_identity(Fold::Add, type));
    return graph_.make(Op::Sub, {zero, a});
  }
  if (name.base == "ne") return negation(graph_.make(Op::Eq, {a, b}));
  if (name.base == "gt") return graph_.make(Op::Lt, {b, a});
  const Id low = name.base == "le" ? a : b;
  const Id high = name.base == "le" ? b : a;
  // With NaN, `not (high < low)` would hold.
  if (is_float(type)) {
    return graph_.make(Op::Or,
                       {graph_.make(Op::Lt, {low, high}), graph_.make(Op::Eq, {low, high})});
  }
  return negation(graph_.make(Op::Lt, {high, low}));
}

Id Parser::cast_op(const OpName& name) {
  const Op op = name.base == "cast" ? Op::Cast : Op::Bitcast;
  Type to{};
  std::vector<Operand> list;
  if (!type_word(to, fmt::format("to {} to", name.base)) || !operands(list)) return {};
  if (list.size() != 1) {
    fail(name.offset,
         fmt::format("{} takes a type and 1 operand, {} given", name.base, list.size()));
    return {};
  }
  if (!settle(list[0], Type::U32)) return {};
  const Id value = list[0].id;
  if (is_buffer(graph_, value)) {
    fail(list[0].offset, fmt::format("{} works on values, a buffer needs load", name.base));
    return {};
  }
  const std::string problem = cast_problem(op, graph_.type(value), to);
  if (!problem.empty()) {
    fail(name.offset, problem);
    return {};
  }
  if (op == Op::Cast) return graph_.cast(to, value);
  return graph_.bitcast(to, value, name.suffix == "raw");
}

Id Parser::alloc_op() {
  const Token where = next();
  if (!where.is(spelling(Space::Local)) && !where.is(spelling(Space::Private))) {
    fail(where.offset, "expected `local` or `private`", "a = alloc local u32 256");
    return {};
  }
  Type type{};
  if (!type_word(type, "of the array's elements")) return {};
  const Token count = next();
  Literal literal;
  Scalar value;
  if (count.kind != TokenKind::Literal || !split_literal(count.text, literal)) {
    fail(count.offset, "expected the number of elements", "an array has a constant size");
    return {};
  }
  const std::string problem = read_literal(literal.number, Type::U32, value);
  if (!problem.empty() || value.bits == 0) {
    fail(count.offset, problem.empty() ? "an array has at least one element" : problem);
    return {};
  }
  const Space space = where.is(spelling(Space::Local)) ? Space::Local : Space::Private;
  return append(graph_.alloc(type, value.as_u32(), space));
}

Id Parser::buf_op(const OpName& name) {
  Type type{};
  std::vector<Operand> list;
  if (!type_word(type, "of the buffer's elements") || !operands(list)) return {};
  if (list.size() != 1) {
    fail(name.offset, "buf takes a type and the number of elements");
    return {};
  }
  if (!scalar(list[0], Type::U32, "the number of elements")) return {};
  const uint8_t flags = name.suffix == "unset" ? kBufUnset : 0;
  return append(graph_.add(Op::Buf, type, flags, 0, ids(list)));
}

bool Parser::check_statement() {
  static constexpr std::string_view kCodes[] = {"bound", "overflow", "full", "index", "length"};
  const Token word = next();
  uint32_t code = kCheckCodes;
  if (word.kind == TokenKind::Name) {
    code = static_cast<uint32_t>(std::ranges::find(kCodes, word.text) - std::begin(kCodes));
    if (code == std::size(kCodes)) code = kCheckCodes;
  } else if (word.kind == TokenKind::Literal) {
    Literal literal;
    Scalar value;
    if (split_literal(word.text, literal) &&
        read_literal(literal.number, Type::U32, value).empty()) {
      code = value.as_u32();
    }
  }
  if (code >= kCheckCodes) {
    return fail(
        word.offset, "expected the code of the check",
        fmt::format("bound, overflow, full, index, length, or a number below {}", kCheckCodes));
  }
  Operand condition;
  if (!operand(condition) || !scalar(condition, Type::Bool, "the condition of a check")) {
    return false;
  }
  append(graph_.check(code, condition.id));
  return true;
}

}  // namespace xlog::kernel::text
