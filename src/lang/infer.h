// The parts of type inference; infer_types() in lang/load.h is the whole.
//
// Every predicate column, every variable of a rule and every other term is a node of a union-find
// graph. What meets is unified. Literals do not fix a type by themselves: a class of nodes that
// holds only literals takes the type of whatever concrete type it meets, and a default when it
// meets none. Steps, each in its file:
//
//   infer_graph.cc      nodes, classes, unification, defaults
//   infer_facts.cc      facts and data files give literals to their columns
//   infer_rules.cc      rules, bodies, built-ins and aggregates
//   infer_terms.cc      terms and arithmetic
//   infer_compare.cc    comparisons and aggregates that wait for their operands
//   infer_apply.cc      the found types written into the program, literals converted
//   infer_finish.cc     ground structures folded, values converted into and out of terms
//   infer_verify.cc     what holds afterwards
//   infer_report.cc     what can go wrong, in words
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "lang/load.h"
#include "lang/program.h"

namespace xlog::lang::infer {

inline constexpr uint32_t kNone = UINT32_MAX;

struct NodeId {
  uint32_t index = kNone;
  friend bool operator==(NodeId, NodeId) = default;
};

// Why a class has its type.
struct Origin {
  enum class Kind : uint8_t {
    None,
    Declared,  // span: the type in a `pred` declaration
    Literal,   // span: a literal in a rule
    Fact,      // row `row` of the facts of `pred`
    Data,      // what --input brings for `pred`
    Result,    // span: a built-in, aggregate or cast; text names it
  };
  Kind kind = Kind::None;
  Span span;
  uint32_t pred = kNone;
  uint32_t row = 0;
  std::string_view text;  // static storage
};

enum class NodeKind : uint8_t {
  Unknown,
  Literal,  // only literals so far: numbers, names or compound terms
  Scalar,   // a concrete type that is not a list
  List,
  Error,  // reported already: fits everything
};

struct Node {
  uint32_t parent = 0;  // itself: the root of its class. The other fields count at roots only.
  uint32_t size = 1;
  NodeKind kind = NodeKind::Unknown;
  TypeKind scalar{};      // Scalar
  bool integers = false;  // Literal: which have been seen
  bool floats = false;
  bool names = false;
  bool names_beyond_bool = false;  // other names than true and false
  bool compounds = false;
  bool arithmetic = false;     // takes part in arithmetic: integers default to i64
  bool term_position = false;  // an argument of a compound term: unknown defaults to term
  bool declared = false;       // holds a declared column: errors never spoil the class
  int64_t least = INT64_MAX;   // of the integers
  uint64_t most = 0;           // of the integers that are not negative
  NodeId element;              // List
  uint32_t origin = 0;
  uint32_t first_waiter = kNone, last_waiter = kNone;
};

class TypeGraph {
 public:
  TypeGraph() : origins_(1) {}

  NodeId fresh();
  NodeId scalar(TypeKind kind, const Origin& origin);
  NodeId list_of(NodeId element, const Origin& origin);
  NodeId from_type(const Type& type, const Origin& origin);

  NodeId find(NodeId id);
  Node& root(NodeId id) { return nodes_[find(id).index]; }
  bool same(NodeId a, NodeId b) { return find(a) == find(b); }
  const Origin& origin(NodeId id) { return origins_[root(id).origin]; }
  bool known(NodeId id) { return root(id).kind != NodeKind::Unknown; }

  // Whether the two can have one type. Unifying changes nothing when they cannot.
  bool compatible(NodeId a, NodeId b);
  bool unify(NodeId a, NodeId b);
  // A literal joins the class; a concrete class is left as it is (its conversion is checked at the
  // end).
  bool add_literal(NodeId id, const Value& literal, const Names& names, const Origin& origin);
  // Numbers lo..hi and names of a whole fact column.
  bool add_integers(NodeId id, int64_t lo, int64_t hi, const Origin& origin);
  void mark_error(NodeId id);

  // The type of a class as far as it is known, with defaults for the rest. Error and unknown: u64.
  TypeKind default_kind(const Node& root) const;
  Type type_of(NodeId id);
  std::string describe(NodeId id);
  bool too_deep(NodeId id);  // a list that contains itself, or nests past ast::kMaxDepth

  // Number `waiter` is put on `ready` when the class gets a concrete type.
  void wait_for(NodeId id, uint32_t waiter);
  std::vector<uint32_t> ready;

 private:
  NodeId add(Node node, const Origin& origin);
  bool join_literal(NodeId id, const Node& literal, const Origin& origin);
  void merge(NodeId a, NodeId b);
  void wake(Node& root);

  std::vector<Node> nodes_;
  std::vector<Origin> origins_;
  std::vector<uint32_t> next_waiter_;
  std::vector<Type> types_;  // by root, once asked for with type_of
  std::vector<bool> has_type_;
};

// Where in the program two nodes meet, for messages: a column of an atom, or a thing named by
// `what`.
struct Place {
  Span span;
  uint32_t pred = kNone;
  uint32_t column = 0;
  std::string_view what;  // "`length`", static storage
  bool in_head = false;   // the atom defines the column
};

struct TypedTerm {
  Term* term;
  NodeId node;
  Place place;
};

struct Comparison {
  Term* lhs;
  Term* rhs;
  NodeId a, b;
  uint32_t rule;
  Span span;
};

struct WaitingSum {
  NodeId value, result;
  Place place;
  uint32_t rule;
  bool done = false;
};

// A condition on a type that is tested when all types are known.
enum class Need : uint8_t { Number, Integer, CastOperand, AggregateNumber };
struct Requirement {
  Need need;
  NodeId node;
  Span span;
  std::string_view what;  // "`+`"
};

struct Inference {
  Program& program;
  Session& session;
  TypeGraph graph;

  std::vector<uint32_t> first_column;    // by predicate: node of its column 0
  std::vector<uint32_t> first_variable;  // by rule: node of its variable 0
  std::vector<Place> sources;            // by node of a column or variable: what gave it its type
  std::vector<bool> reported;            // the same: a conflict was reported
  std::vector<bool> bound_by_atom;       // variables of the current rule

  std::deque<TypedTerm> typed;  // every term that is not a variable
  std::vector<Comparison> comparisons;
  std::vector<Comparison> mixed;  // those that compare a float with another number
  std::vector<WaitingSum> sums;
  std::vector<NodeId> float_folds;  // values of logsumexp
  std::vector<Requirement> requirements;

  NodeId column(uint32_t pred, uint32_t index) const { return {first_column[pred] + index}; }
  NodeId variable(uint32_t rule, VarId var) const { return {first_variable[rule] + var.index}; }
};

// infer_facts.cc
void type_facts(Inference& inference);
void type_data(Inference& inference);
bool add_value(Inference& inference, NodeId node, const Value& value, const Origin& origin);

// infer_rules.cc
void type_rules(Inference& inference);
void type_ground_atoms(Inference& inference);  // probabilistic queries, evidence, labels

// infer_terms.cc: `rule` may be kNone for ground terms.
NodeId type_term(Inference& inference, uint32_t rule, Term& term);
void expect(Inference& inference, uint32_t rule, Term& term, NodeId expected, const Place& place);
void unify_variable(Inference& inference, uint32_t rule, VarId var, NodeId node,
                    const Place& place);
void require(Inference& inference, Need need, NodeId node, Span span, std::string_view what);

// infer_compare.cc
void add_comparison(Inference& inference, const Comparison& comparison);
void settle_waiting(Inference& inference);
bool is_number(const Node& node);  // of a kind that only numbers have

// infer_apply.cc
void check_requirements(Inference& inference);
void apply_types(Inference& inference);
void convert_facts(Inference& inference);
Term cast_of(Term operand, Type type);

// infer_finish.cc
void finish_rules(Inference& inference);

// infer_verify.cc: aborts when a typed program is not what it should be.
void verify_types(const Program& program);

// infer_report.cc
std::string place_name(const Inference& inference, const Place& place);  // "edge/2 column 1"
void label_origin(Inference& inference, Diagnostic& diagnostic, NodeId node);
void report_variable(Inference& inference, uint32_t rule, VarId var, NodeId other,
                     const Place& place);
void report_column(Inference& inference, uint32_t pred, uint32_t column, NodeId other,
                   const Place& place);
void report_literal(Inference& inference, const Value& literal, Span span, NodeId expected,
                    const Place& place);
void report_arithmetic(Inference& inference, const Term& term, NodeId a, NodeId b);
void report_comparison(Inference& inference, const Comparison& comparison);
void report_list_element(Inference& inference, const Term& element, NodeId found,
                         NodeId list_element);
void report_types(Inference& inference, Span span, std::string_view what, NodeId found,
                  NodeId expected, const Place& place);
Span origin_span(Inference& inference, const Origin& origin);
std::string clipped_source(const Inference& inference, Span span);

}  // namespace xlog::lang::infer
