// The parser of the text form, inside. The first error ends the parse: every step gives false (or
// an Id that is not valid) once something failed, and the callers unwind.
//   text_parse.cc       kernels, plans, blocks, loops, names
//   text_parse_ops.cc   operands and ops with one result
//   text_parse_plan.cc  statements of plans
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "kernel/graph.h"
#include "kernel/text_lexer.h"

namespace xlog::kernel::text {

// A value, or a bare number that still waits for its type.
struct Operand {
  Id id;
  std::string_view number;
  uint32_t offset = 0;

  bool is_bare() const { return !id.valid(); }
};

// What an op of a statement is called: `atomic.add` is base `atomic`, suffix `add`.
struct OpName {
  std::string_view base;
  std::string_view suffix;
  uint32_t offset = 0;
};

struct Binding {
  Id id;
  uint32_t offset;  // of its definition
};

// An open block: its effects so far and the names defined in it.
struct Frame {
  Op owner = Op::Kernel;
  std::vector<Id> effects;
  std::unordered_map<std::string_view, Binding> names;
  bool ended = false;        // by a Yield
  std::vector<Type> yields;  // what a loop's Yield must give; of a Map or Plan: what it gave
  std::vector<Type> emits;   // of an Expand: the columns, once known
  bool has_emitted = false;
};

class Parser {
 public:
  Parser(Graph& graph, std::string_view text, std::string_view file, std::vector<Token> tokens)
      : graph_(graph), text_(text), file_(file), tokens_(std::move(tokens)) {}

  Result<std::vector<Id>> run();

 private:
  static constexpr uint32_t kMaxDepth = 200;  // blocks and parentheses inside one another
  static constexpr size_t kMaxCarried = 250;  // an Arg numbers them in a byte
  static constexpr uint32_t kMaxTags = 1u << 24;

  // ---- tokens and errors ----
  const Token& peek(size_t ahead = 0) const;
  const Token& next();
  void skip_line_ends();
  bool accept(std::string_view symbol);
  bool expect(std::string_view symbol, std::string_view where);
  bool at_operand() const;
  bool fail(uint32_t offset, std::string_view message, std::string help = "");
  bool enter(uint32_t offset);  // one level deeper; leave with --depth_

  // ---- names ----
  bool bind(const Token& name, Id id);
  bool check_new_name(const Token& name);
  const Binding* find(std::string_view name) const;
  bool unknown_name(const Token& name);

  // ---- kernels, plans, blocks (text_parse.cc) ----
  bool definition(std::vector<Id>& found);
  bool parameters(std::vector<Id>& params, std::vector<std::string>& names);
  bool grid_is_used(Id kernel);
  Id block(Op owner, std::vector<Type> yields, const std::vector<std::pair<Token, Id>>& names,
           Frame& closed);
  bool statement();
  bool bind_results(const std::vector<Token>& results, Id node, const std::vector<Type>& types);
  bool for_or_loop(const OpName& name, const std::vector<Token>& results);
  bool carried(uint32_t tag, std::vector<Id>& inits, std::vector<Type>& types,
               std::vector<std::pair<Token, Id>>& names);
  bool if_else();
  bool yield(uint32_t offset);
  std::optional<uint32_t> tag(uint32_t offset);
  bool in_plan() const { return frames_.back().owner == Op::Plan; }

  // ---- operands and ops with one result (text_parse_ops.cc) ----
  bool operand(Operand& out);
  bool operands(std::vector<Operand>& out);
  bool settle(Operand& operand, Type type);
  bool settle_alike(std::vector<Operand>& list, size_t first);
  bool scalar(Operand& operand, Type type, std::string_view what);
  OpName op_name(const Token& token) const;
  Id value_op(const OpName& name);
  Id sugar(const OpName& name, std::vector<Operand>& list);
  Id cast_op(const OpName& name);
  Id alloc_op();
  Id buf_op(const OpName& name);
  Id plain_op(const OpName& name, Op op, std::vector<Operand>& list);
  bool allowed_here(const OpName& name, Op op);
  bool check_statement();
  std::optional<Fold> fold_of(const OpName& name, Op op, Type type);
  bool type_word(Type& type, std::string_view where);
  bool unknown_op(const OpName& name);
  std::vector<Id> ids(const std::vector<Operand>& list) const;
  Id append(Id effect);

  // ---- plans (text_parse_plan.cc) ----
  bool plan_statement(const OpName& name, Op op, const std::vector<Token>& results);
  bool buffers(const std::vector<Operand>& list, std::string_view what);
  bool launch(const OpName& name);
  bool map_or_expand(const OpName& name, Op op, const std::vector<Token>& results);
  bool emit(uint32_t offset);
  bool merge(const OpName& name, const std::vector<Token>& results);
  bool scan_or_segment(const OpName& name, Op op, const std::vector<Token>& results);
  bool sort(const OpName& name, const std::vector<Token>& results);
  bool partition(const OpName& name, const std::vector<Token>& results);

  Graph& graph_;
  std::string_view text_;
  std::string_view file_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  uint32_t depth_ = 0;
  std::optional<Error> error_;

  std::vector<Frame> frames_;
  std::unordered_map<std::string_view, uint32_t> closed_names_;  // of closed blocks: where defined
  std::unordered_set<uint32_t> named_;                           // nodes named in this kernel
  std::optional<uint32_t> grid_offset_;                          // of a `grid` or `group`
  Id grid_;
  std::vector<std::pair<std::string_view, Id>> globals_;  // kernels and plans so far
};

}  // namespace xlog::kernel::text
