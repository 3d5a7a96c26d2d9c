#include "engine/proof_print.h"

#include <fmt/format.h>

#include <deque>
#include <nlohmann/json.hpp>

#include "engine/literal_text.h"
#include "lang/parser.h"
#include "lang/printer.h"
#include "logic/explain.h"

namespace xlog::engine {

namespace {

// Deeper proofs go on in a tree of their own: a line is never longer for it.
constexpr uint32_t kMostIndents = 20;
constexpr uint32_t kIndent = 2;

std::string place(Span span, const SourceMap& sources) {
  if (span.empty()) return "";
  const Place at = sources.place(span);
  return fmt::format("{}:{}", at.file, at.line);
}

std::string in_brackets(const std::string& text) {
  return text.empty() ? "" : fmt::format("  [{}]", text);
}

std::string rule_place(const ProofNode& node, const ProofPrinting& printing) {
  return place(printing.program.rules[node.rule].span, printing.session.sources);
}

}  // namespace

std::string leaf_note(const ProofNode& node, const ProofPrinting& printing) {
  switch (node.kind) {
    case ProofKind::Derived:
    case ProofKind::Compare:
    case ProofKind::Builtin:
      return "";
    case ProofKind::Fact:
      return "fact" + in_brackets(place(node.span, printing.session.sources));
    case ProofKind::Input:
      return "input" + in_brackets(printing.input_files(node.pred));
    case ProofKind::Absent:
      return "no such row";
    case ProofKind::Aggregate: {
      std::string text = "over " + counted_rows(node.rows);
      for (size_t i = 0; i < node.some.size(); ++i) text += (i == 0 ? ": " : "; ") + node.some[i];
      if (node.rows > node.some.size() && !node.some.empty()) {
        text += fmt::format("; and {} more", node.rows - node.some.size());
      }
      return text;
    }
  }
  return "";
}

namespace {

// ---- text ----

class TextPrinter {
 public:
  TextPrinter(const Proof& proof, const ProofPrinting& printing)
      : proof_(proof), printing_(printing), uses_(proof.nodes.size(), 0) {
    for (const ProofNode& node : proof.nodes) {
      for (uint32_t child : node.children) ++uses_[child];
    }
    numbers_.assign(proof.nodes.size(), 0);
    printed_.assign(proof.nodes.size(), false);
  }

  std::string run() {
    later_.push_back(0);
    while (!later_.empty()) {
      const uint32_t id = later_.front();
      later_.pop_front();
      if (printed_[id]) continue;
      if (!out_.empty()) out_ += '\n';
      print(id, 0);
    }
    return std::move(out_);
  }

 private:
  bool is_derived(uint32_t id) const { return proof_.nodes[id].kind == ProofKind::Derived; }

  uint32_t number(uint32_t id) {
    if (numbers_[id] == 0) numbers_[id] = ++last_number_;
    return numbers_[id];
  }

  // Sub-proofs that are used again have a number.
  void print(uint32_t id, uint32_t depth) {
    const ProofNode& node = proof_.nodes[id];
    const std::string indent(size_t{depth} * kIndent, ' ');
    out_ += indent + node.text;
    if (!is_derived(id)) {
      const std::string said = leaf_note(node, printing_);
      out_ += (said.empty() ? "" : "  " + said) + "\n";
      return;
    }
    if (printed_[id]) {
      out_ += fmt::format("  #{}, shown above\n", number(id));
      return;
    }
    if (depth >= kMostIndents) {
      out_ += fmt::format("  #{}, shown below\n", number(id));
      later_.push_back(id);
      return;
    }
    printed_[id] = true;
    if (uses_[id] > 1 || numbers_[id] > 0) out_ += fmt::format("  #{}", number(id));
    out_ += fmt::format(
        "\n{}  by {}{}\n", indent,
        rule_text(printing_.program.rules[node.rule], printing_.program, printing_.session),
        in_brackets(rule_place(node, printing_)));
    for (uint32_t child : node.children) print(child, depth + 2);
  }

  const Proof& proof_;
  const ProofPrinting& printing_;
  std::vector<uint32_t> uses_, numbers_;
  std::vector<bool> printed_;
  uint32_t last_number_ = 0;
  std::deque<uint32_t> later_;
  std::string out_;
};

std::string why_not_text(const Explanation& explanation, const ProofPrinting& printing) {
  const lang::Goal& goal = *printing.program.goal;
  const std::string name =
      lang::predicate_signature(printing.program[goal.pred], printing.session.names);
  std::string out = fmt::format("{} does not hold.\n", goal.text);
  if (explanation.has_facts) out += fmt::format("No fact of {} fits.\n", name);
  if (explanation.failed.empty()) out += fmt::format("No rule derives {}.\n", name);
  for (const FailedRule& failed : explanation.failed) {
    const lang::Rule& rule = printing.program.rules[failed.rule];
    out += fmt::format("\nnot by {}{}\n", rule_text(rule, printing.program, printing.session),
                       in_brackets(place(rule.span, printing.session.sources)));
    if (!failed.head_fits) {
      out += "  the head does not fit\n";
      continue;
    }
    for (const std::string& literal : failed.holds) out += "  holds  " + literal + "\n";
    out += "  fails  " + failed.fails + "\n";
  }
  return out;
}

// ---- json ----

nlohmann::ordered_json place_json(Span span, const SourceMap& sources) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (span.empty()) return json;
  const Place at = sources.place(span);
  json["file"] = std::string(at.file);
  json["line"] = at.line;
  return json;
}

nlohmann::ordered_json rule_json(uint32_t rule, const ProofPrinting& printing) {
  nlohmann::ordered_json json;
  const lang::Rule& source = printing.program.rules[rule];
  json["text"] = rule_text(source, printing.program, printing.session);
  json.update(place_json(source.span, printing.session.sources));
  return json;
}

nlohmann::ordered_json node_json(uint32_t id, const ProofNode& node,
                                 const ProofPrinting& printing) {
  nlohmann::ordered_json json;
  json["id"] = id;
  json["kind"] = std::string(spelling(node.kind));
  json["text"] = node.text;
  switch (node.kind) {
    case ProofKind::Derived: {
      json["height"] = node.height;
      json["rule"] = rule_json(node.rule, printing);
      json["bindings"] = nlohmann::ordered_json::object();
      const lang::Rule& rule = printing.program.rules[node.rule];
      for (size_t v = 0; v < node.bindings.size(); ++v) {
        const lang::Variable& variable = rule.variables[v];
        if (!node.bindings[v] || variable.name.empty()) continue;
        json["bindings"][std::string(printing.session.names.symbols.text(variable.name))] =
            lang::to_source(*node.bindings[v], printing.session.names);
      }
      json["children"] = node.children;
      break;
    }
    case ProofKind::Fact:
      json.update(place_json(node.span, printing.session.sources));
      break;
    case ProofKind::Input:
      json["file"] = printing.input_files(node.pred);
      break;
    case ProofKind::Aggregate:
      json["value"] = node.result;
      json["rows"] = node.rows;
      json["first"] = node.some;
      break;
    case ProofKind::Absent:
    case ProofKind::Compare:
    case ProofKind::Builtin:
      break;
  }
  return json;
}

}  // namespace

std::string rule_text(const lang::Rule& rule, const lang::Program& program,
                      lang::Session& session) {
  SourceFile statement;
  statement.text = session.sources.text(rule.span);
  statement.base = 1;
  Diagnostics ignored;
  const lang::Module module =
      lang::parse(statement, session.names.symbols, ignored, {.bulk_facts = false});
  const bool is_rule = !ignored.has_errors() && module.statements.size() == 1 &&
                       std::holds_alternative<lang::ast::Rule>(module.statements[0].node);
  if (!is_rule) return lang::to_source(rule, program, session.names);
  return lang::print(module.statements[0], module, session.names.symbols);
}

std::string proof_text(const Explanation& explanation, const ProofPrinting& printing) {
  if (explanation.proofs.empty()) return why_not_text(explanation, printing);
  std::string out;
  for (const Proof& proof : explanation.proofs) {
    if (!out.empty()) out += '\n';
    out += TextPrinter(proof, printing).run();
  }
  if (explanation.matches > explanation.proofs.size()) {
    out += fmt::format("\n{} of {} that fit; `--limit N` explains more\n",
                       explanation.proofs.size(), counted_rows(explanation.matches));
  }
  return out;
}

std::string proof_json(const Explanation& explanation, const ProofPrinting& printing) {
  nlohmann::ordered_json json;
  json["goal"] = printing.program.goal->text;
  json["holds"] = explanation.matches > 0;
  json["matches"] = explanation.matches;
  json["proofs"] = nlohmann::ordered_json::array();
  for (const Proof& proof : explanation.proofs) {
    nlohmann::ordered_json tree;
    tree["fact"] = proof.nodes[0].text;
    tree["height"] = proof.nodes[0].height;
    tree["root"] = 0;
    tree["nodes"] = nlohmann::ordered_json::array();
    for (uint32_t id = 0; id < proof.nodes.size(); ++id) {
      tree["nodes"].push_back(node_json(id, proof.nodes[id], printing));
    }
    json["proofs"].push_back(std::move(tree));
  }
  if (explanation.matches == 0) {
    json["why_not"] = nlohmann::ordered_json::array();
    for (const FailedRule& failed : explanation.failed) {
      nlohmann::ordered_json entry;
      entry["rule"] = rule_json(failed.rule, printing);
      entry["head_fits"] = failed.head_fits;
      entry["holds"] = failed.holds;
      entry["fails"] = failed.fails;
      json["why_not"].push_back(std::move(entry));
    }
  }
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string proof_dot(const Explanation& explanation, const ProofPrinting& printing) {
  std::string out = "digraph proof {\n  node [shape=box];\n";
  for (size_t p = 0; p < explanation.proofs.size(); ++p) {
    const Proof& proof = explanation.proofs[p];
    for (uint32_t id = 0; id < proof.nodes.size(); ++id) {
      const ProofNode& node = proof.nodes[id];
      std::string label = node.text;
      const std::string said =
          node.kind == ProofKind::Derived
              ? rule_text(printing.program.rules[node.rule], printing.program, printing.session) +
                    in_brackets(rule_place(node, printing))
              : leaf_note(node, printing);
      if (!said.empty()) label += "\n" + said;
      out += fmt::format("  n{}_{} [label=\"{}\"{}];\n", p, id, logic::dot_text(label),
                         node.kind == ProofKind::Derived ? "" : ", style=rounded");
      for (uint32_t child : node.children)
        out += fmt::format("  n{}_{} -> n{}_{};\n", p, id, p, child);
    }
  }
  if (explanation.matches == 0) {
    out += fmt::format("  goal [label=\"{}\"];\n",
                       logic::dot_text(why_not_text(explanation, printing)));
  }
  return out + "}\n";
}

}  // namespace xlog::engine
