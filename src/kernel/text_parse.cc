// Kernels, plans, blocks, loops and names of the text form.
#include <fmt/format.h>

#include <algorithm>

#include "base/diagnostic.h"
#include "kernel/place.h"
#include "kernel/text.h"
#include "kernel/text_parser.h"

namespace xlog::kernel {

Result<std::vector<Id>> parse(Graph& graph, std::string_view text, std::string_view file) {
  auto tokens = text::tokens_of(text, file);
  if (!tokens.ok()) return tokens.error();
  return text::Parser(graph, text, file, std::move(*tokens)).run();
}

namespace text {

Result<std::vector<Id>> Parser::run() {
  std::vector<Id> found;
  for (skip_line_ends(); peek().kind != TokenKind::End; skip_line_ends()) {
    if (!definition(found)) return *error_;
  }
  return found;
}

// ---- tokens and errors ----

const Token& Parser::peek(size_t ahead) const {
  return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
}

const Token& Parser::next() {
  const Token& token = peek();
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

void Parser::skip_line_ends() {
  while (peek().kind == TokenKind::LineEnd) next();
}

bool Parser::accept(std::string_view symbol) {
  if (!peek().is(symbol)) return false;
  next();
  return true;
}

bool Parser::expect(std::string_view symbol, std::string_view where) {
  if (accept(symbol)) return true;
  return fail(peek().offset, fmt::format("expected `{}` {}", symbol, where));
}

bool Parser::fail(uint32_t offset, std::string_view message, std::string help) {
  if (!error_) error_ = error_at(text_, file_, offset, message, std::move(help));
  return false;
}

bool Parser::enter(uint32_t offset) {
  if (++depth_ <= kMaxDepth) return true;
  return fail(offset,
              fmt::format("more than {} blocks or parentheses inside one another", kMaxDepth),
              "name inner values, or split the kernel");
}

// ---- names ----

const Binding* Parser::find(std::string_view name) const {
  for (size_t k = frames_.size(); k-- > 0;) {
    auto found = frames_[k].names.find(name);
    if (found != frames_[k].names.end()) return &found->second;
  }
  return nullptr;
}

bool Parser::check_new_name(const Token& name) {
  if (name.kind != TokenKind::Name) return fail(name.offset, "expected a name");
  if (name.text.find('.') != std::string_view::npos) {
    return fail(name.offset, fmt::format("`{}`: a name has no dot", name.text));
  }
  if (is_reserved(name.text)) {
    return fail(name.offset, fmt::format("`{}` is a word of the language, not a name", name.text));
  }
  if (const Binding* other = find(name.text)) {
    return fail(name.offset,
                fmt::format("`{}` is defined already, in line {}", name.text,
                            line_at(text_, other->offset)),
                "each name is defined once; choose another");
  }
  return true;
}

bool Parser::bind(const Token& name, Id id) {
  if (name.text == "_") return true;  // a result that nobody uses
  if (!check_new_name(name)) return false;
  frames_.back().names.emplace(name.text, Binding{id, name.offset});
  const Op op = graph_.op(id);
  const bool keeps_name = op != Op::Param && op != Op::Const && op != Op::Arg;
  if (keeps_name && named_.insert(id.index).second) graph_.set_name(id, name.text);
  return true;
}

bool Parser::unknown_name(const Token& name) {
  std::vector<std::string_view> known;
  for (const Frame& frame : frames_) {
    for (const auto& [text, binding] : frame.names) known.push_back(text);
  }
  std::ranges::sort(known);
  std::string help;
  if (auto closed = closed_names_.find(name.text); closed != closed_names_.end()) {
    help = fmt::format(
        "the one of line {} lives only inside its block; a loop hands values out by "
        "carrying and yielding them",
        line_at(text_, closed->second));
  } else if (find_op(op_name(name).base)) {
    help = "an op stands at the start of a statement, one statement a line, or after `(`";
  } else if (auto near = did_you_mean(name.text, known)) {
    help = fmt::format("did you mean `{}`?", *near);
  } else {
    help = "a name is defined before it is used";
  }
  return fail(name.offset, fmt::format("`{}` is not defined here", name.text), std::move(help));
}

// ---- kernels and plans ----

bool Parser::definition(std::vector<Id>& found) {
  const Token word = next();
  const bool plan = word.is("plan");
  if (!plan && !word.is("kernel")) {
    return fail(word.offset, "expected `kernel` or `plan`",
                "a file holds definitions: kernel NAME(parameters) { ... }");
  }
  const Token name = next();
  frames_.assign(1, Frame{});
  closed_names_.clear();
  named_.clear();
  grid_offset_.reset();
  depth_ = 0;
  if (!check_new_name(name)) return false;
  for (const auto& [other, id] : globals_) {
    if (other == name.text) return fail(name.offset, fmt::format("there is a `{}` already", other));
  }
  KernelInfo info{std::string(name.text), 0, {}};
  if (!plan && accept("group")) {
    const Token lanes = next();
    Literal literal;
    Scalar value;
    if (lanes.kind != TokenKind::Literal || !split_literal(lanes.text, literal) ||
        !read_literal(literal.number, Type::U32, value).empty() || value.bits == 0) {
      return fail(lanes.offset, "expected the number of lanes of a group, such as 256");
    }
    info.group = value.as_u32();
  }
  std::vector<Id> params;
  if (!parameters(params, info.param_names)) return false;
  Frame closed;
  Id body = block(plan ? Op::Plan : Op::Kernel, {}, {}, closed);
  if (!body.valid()) return false;
  if (plan && !closed.ended) {
    return fail(name.offset, fmt::format("plan `{}` has no `yield`", name.text),
                "end it with `yield` and its results, or `yield` alone");
  }
  Id made = plan ? graph_.plan(std::move(info), body, params)
                 : graph_.kernel(std::move(info), body, params);
  if (!plan && !grid_is_used(made)) return false;
  globals_.emplace_back(name.text, made);
  found.push_back(made);
  if (peek().kind == TokenKind::LineEnd || peek().kind == TokenKind::End) return true;
  return fail(peek().offset, "expected the end of the line after `}`");
}

// A pure node that nobody uses is no part of the kernel, and with the grid its size would be lost.
bool Parser::grid_is_used(Id kernel) {
  if (!grid_offset_) return true;
  const std::vector<Id> nodes = reachable(graph_, kernel);
  if (std::ranges::binary_search(nodes, grid_)) return true;
  return fail(*grid_offset_, "this index is not used, so the kernel would run only once",
              "use it, or drop the line if once is meant");
}

bool Parser::parameters(std::vector<Id>& params, std::vector<std::string>& names) {
  if (!expect("(", "before the parameters")) return false;
  for (skip_line_ends(); !accept(")"); skip_line_ends()) {
    if (!params.empty()) {
      if (!expect(",", "or `)` after a parameter")) return false;
      skip_line_ends();
    }
    const Token name = next();
    if (!check_new_name(name) || !expect(":", "and the type after the parameter's name"))
      return false;
    Mode mode = Mode::Val;
    if (auto found = find_mode(peek().text); found && peek().kind == TokenKind::Name) {
      mode = *found;
      next();
    }
    Type type{};
    if (!type_word(type, "of the parameter, after a mode if it is a buffer")) return false;
    Id param = graph_.parameter(static_cast<uint32_t>(params.size()), type, mode);
    frames_.back().names.emplace(name.text, Binding{param, name.offset});
    graph_.set_name(param, name.text);
    params.push_back(param);
    names.emplace_back(name.text);
  }
  return true;
}

// ---- blocks and statements ----

Id Parser::block(Op owner, std::vector<Type> yields, const std::vector<std::pair<Token, Id>>& names,
                 Frame& closed) {
  const uint32_t offset = peek().offset;
  if (!expect("{", "and a block") || !enter(offset)) return {};
  frames_.push_back({.owner = owner,
                     .effects = {},
                     .names = {},
                     .ended = false,
                     .yields = std::move(yields),
                     .emits = {},
                     .has_emitted = false});
  for (const auto& [token, id] : names) {
    if (!check_new_name(token)) return {};
    frames_.back().names.emplace(token.text, Binding{id, token.offset});
  }
  for (skip_line_ends(); !accept("}"); skip_line_ends()) {
    if (peek().kind == TokenKind::End) {
      fail(offset, "this block is never closed", "add the missing `}`");
      return {};
    }
    if (frames_.back().ended) {
      fail(peek().offset, "nothing may follow a `yield` in its block");
      return {};
    }
    if (!statement()) return {};
    const Token& after = peek();
    if (after.kind != TokenKind::LineEnd && !after.is("}") && after.kind != TokenKind::End) {
      fail(after.offset,
           fmt::format("`{}` is one operand too many, or belongs on its own line", after.text));
      return {};
    }
  }
  --depth_;
  closed = std::move(frames_.back());
  frames_.pop_back();
  for (const auto& [text, binding] : closed.names) {
    // The first definition is the one to name in an error.
    auto [entry, is_new] = closed_names_.try_emplace(text, binding.offset);
    if (!is_new) entry->second = std::min(entry->second, binding.offset);
  }
  return graph_.block(closed.effects);
}

bool Parser::statement() {
  std::vector<Token> results;
  if (peek().kind == TokenKind::Name && (peek(1).is("=") || peek(1).is(","))) {
    do {
      results.push_back(next());
      if (results.back().kind != TokenKind::Name) {
        return fail(results.back().offset, "expected the name of a result");
      }
    } while (accept(","));
    if (!expect("=", "after the names of the results")) return false;
  }
  if (peek().kind != TokenKind::Name) {
    return fail(peek().offset, "expected an op",
                "a statement is `names = op operands`; numbers stand as operands");
  }
  const Token word = next();
  const OpName name = op_name(word);
  const std::optional<Op> op = find_op(name.base);
  const auto no_results = [&] {
    return results.empty() ||
           fail(results[0].offset, fmt::format("{} gives no value", name.base), "drop the name");
  };
  if (op && is_loop(*op)) return for_or_loop(name, results);
  if (op == Op::If) return no_results() && if_else();
  if (op == Op::Yield) return no_results() && yield(name.offset);
  if (op == Op::Check) return no_results() && check_statement();
  if (op == Op::Emit) return no_results() && emit(name.offset);
  if (op == Op::Launch) return no_results() && launch(name);
  if (op == Op::Map || op == Op::Expand || op == Op::Scan || op == Op::Sort || op == Op::Segment ||
      op == Op::Partition || op == Op::Merge) {
    return plan_statement(name, *op, results);
  }
  Id value = value_op(name);
  if (!value.valid()) return false;
  if (graph_.type(value) == Type::Void) return no_results();
  if (results.empty()) {
    if (op == Op::Atomic || op == Op::Cas) return true;
    return fail(name.offset, fmt::format("the value of {} has no name", name.base),
                fmt::format("write `x = {} ...`", word.text));
  }
  if (results.size() > 1)
    return fail(results[1].offset, fmt::format("{} gives one value", name.base));
  return bind(results[0], value);
}

bool Parser::bind_results(const std::vector<Token>& results, Id node,
                          const std::vector<Type>& types) {
  if (results.size() > types.size()) {
    return fail(results[types.size()].offset,
                fmt::format("{} gives {} result{} here", spelling(graph_.op(node)), types.size(),
                            types.size() == 1 ? "" : "s"));
  }
  for (uint32_t k = 0; k < results.size(); ++k) {
    if (results[k].text == "_") continue;
    if (!bind(results[k], graph_.proj(node, k, types[k]))) return false;
  }
  return true;
}

std::optional<uint32_t> Parser::tag(uint32_t offset) {
  const uint32_t made = graph_.new_tag();
  if (made < kMaxTags) return made;
  fail(offset, "too many loops in one graph");
  return std::nullopt;
}

bool Parser::for_or_loop(const OpName& name, const std::vector<Token>& results) {
  if (in_plan()) {
    return fail(name.offset, "a plan has no loops of its own",
                "loop inside a kernel, a map or an expand");
  }
  const Op op = name.base == "for" ? Op::For : Op::Loop;
  auto own = tag(name.offset);
  if (!own) return false;
  const Token counter = next();
  Operand first;
  Operand second;
  if (!check_new_name(counter) || !operand(first)) return false;
  if (!scalar(first, Type::U32, op == Op::For ? "the start of a loop" : "the bound of a loop")) {
    return false;
  }
  if (op == Op::Loop && !expect("while", "and the flag after the bound")) return false;
  if (!operand(second)) return false;
  if (!(op == Op::For ? scalar(second, Type::U32, "the end of a loop")
                      : scalar(second, Type::Bool, "the flag of a loop"))) {
    return false;
  }
  std::vector<Id> list = {first.id, second.id};
  std::vector<Type> types;
  std::vector<std::pair<Token, Id>> names = {{counter, graph_.arg(*own, 0, Type::U32)}};
  graph_.set_arg_name(*own, 0, counter.text);
  if (!carried(*own, list, types, names)) return false;
  std::vector<Type> yields = types;
  if (op == Op::Loop) yields.insert(yields.begin(), Type::Bool);
  Frame closed;
  Id body = block(op, yields, names, closed);
  if (!body.valid()) return false;
  if (!closed.ended && !yields.empty()) {
    return fail(name.offset, "the body of this loop has no `yield`",
                op == Op::Loop ? "end it with `yield` and the next flag, then the next values"
                               : "end it with `yield` and the next carried values");
  }
  list.push_back(body);
  Id loop = append(graph_.loop(op, *own, list));
  if (op == Op::Loop) types.push_back(Type::Bool);  // the flag at the end
  return bind_results(results, loop, types);
}

bool Parser::carried(uint32_t own, std::vector<Id>& inits, std::vector<Type>& types,
                     std::vector<std::pair<Token, Id>>& names) {
  if (!accept("carry")) return true;
  do {
    const Token name = next();
    Operand init;
    if (!check_new_name(name) || !operand(init)) return false;
    if (types.size() == kMaxCarried) {
      return fail(name.offset, fmt::format("a loop carries at most {} values", kMaxCarried));
    }
    if (!settle(init, Type::U32)) return false;
    if (is_buffer(graph_, init.id)) return fail(init.offset, "a loop carries values, not buffers");
    inits.push_back(init.id);
    types.push_back(graph_.type(init.id));
    const auto k = static_cast<uint32_t>(types.size());
    names.emplace_back(name, graph_.arg(own, k, types.back()));
    graph_.set_arg_name(own, k, name.text);
  } while (accept(","));
  return true;
}

bool Parser::if_else() {
  Operand condition;
  if (in_plan()) return fail(peek().offset, "a plan has no `if`", "use select, or a kernel");
  if (!operand(condition) || !scalar(condition, Type::Bool, "the condition of an if")) return false;
  std::vector<Id> list = {condition.id};
  Frame closed;
  list.push_back(block(Op::If, {}, {}, closed));
  if (!list.back().valid()) return false;
  size_t ahead = 0;
  while (peek(ahead).kind == TokenKind::LineEnd) ++ahead;
  if (peek(ahead).is("else")) {
    at_ += ahead + 1;
    list.push_back(block(Op::If, {}, {}, closed));
    if (!list.back().valid()) return false;
  }
  append(graph_.make(Op::If, list));
  return true;
}

bool Parser::yield(uint32_t offset) {
  const Op owner = frames_.back().owner;
  const bool loop = is_loop(owner);
  if (!loop && owner != Op::Map && owner != Op::Plan) {
    return fail(offset, "`yield` ends the body of a loop, a map or a plan, and nothing else");
  }
  if (owner == Op::For && frames_.back().yields.empty()) {
    return fail(offset, "this loop carries nothing to yield", "name what it carries: carry p 0");
  }
  std::vector<Operand> list;
  if (!operands(list)) return false;
  std::vector<Type>& types = frames_.back().yields;
  if (loop && list.size() != types.size()) {
    return fail(offset,
                fmt::format("this loop yields {} value{}, {} given", types.size(),
                            types.size() == 1 ? "" : "s", list.size()),
                owner == Op::Loop ? "the flag comes first, then one value for each carried one"
                                  : "one value for each carried one");
  }
  for (size_t k = 0; k < list.size(); ++k) {
    if (loop && !scalar(list[k], types[k], fmt::format("value {} of this yield", k + 1)))
      return false;
    if (!loop && !settle(list[k], Type::U32)) return false;
    if (owner == Op::Map && is_buffer(graph_, list[k].id)) {
      return fail(list[k].offset, "a map yields values; a buffer needs load");
    }
    if (!loop) types.push_back(graph_.type(list[k].id));
  }
  if (owner == Op::Map && list.empty()) return fail(offset, "a map yields at least one column");
  append(graph_.make(Op::Yield, ids(list)));
  frames_.back().ended = true;
  return true;
}

}  // namespace text
}  // namespace xlog::kernel
