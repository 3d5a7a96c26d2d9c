#include "epistemic/why_print.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "logic/answer.h"
#include "logic/explain.h"

namespace xlog::epistemic {

using Json = nlohmann::ordered_json;

namespace {

std::string in_brackets(Span span, const SourceMap& sources) {
  if (span.empty()) return "";
  const Place at = sources.place(span);
  return fmt::format("  [{}:{}]", at.file, at.line);
}

std::string world_text(const ShownWorld& world) {
  std::string text = fmt::format("{{{}", fmt::join(world.atoms, ", "));
  if (world.left_out > 0) text += fmt::format(", and {} more", world.left_out);
  return text + "}";
}

std::string_view status_word(AtomStatus status) {
  switch (status) {
    case AtomStatus::Always:
      return "known";
    case AtomStatus::Sometimes:
      return "possible";
    case AtomStatus::Never:
      return "impossible";
  }
  return "";
}

std::string in_worlds(const RowWhy& row) {
  if (row.worlds == 1) return row.status == AtomStatus::Never ? "in no world" : "in every world";
  const std::string worlds = logic::short_text(row.worlds);
  switch (row.status) {
    case AtomStatus::Always:
      return fmt::format("in all {} worlds", worlds);
    case AtomStatus::Sometimes:
      return fmt::format("in some of {} worlds", worlds);
    case AtomStatus::Never:
      return fmt::format("in none of {} worlds", worlds);
  }
  return "";
}

std::string heading(const RowWhy& row, const mpz_class& views) {
  if (views == 1) {
    return fmt::format("{} is {}: {}.\n", row.fact, status_word(row.status), in_worlds(row));
  }
  if (row.known_in == views) return fmt::format("{} is known in every world view.\n", row.fact);
  const mpz_class impossible = views - row.possible_in;
  if (impossible == views) return fmt::format("{} is impossible in every world view.\n", row.fact);
  return fmt::format(
      "{} is known in {}, possible in {} (known included) and impossible in {} of {} world "
      "views.\n"
      "Shown is a view in which it is {}: {}.\n",
      row.fact, logic::short_text(row.known_in), logic::short_text(row.possible_in),
      logic::short_text(impossible), logic::short_text(views), status_word(row.status),
      in_worlds(row));
}

// What stands behind the text of a node.
std::string remark(const WhyNode& node, const SourceMap& sources) {
  std::string text = node.note;
  if (node.kind == WhyKind::Fact && text.empty()) {
    text = node.span.empty() ? "input" : "fact" + in_brackets(node.span, sources);
  }
  if (node.kind == WhyKind::Determined && text.empty()) text = "the same in all worlds";
  if (node.world) text += (text.empty() ? "in " : ": ") + world_text(*node.world);
  return text;
}

void print_node(const RowWhy& row, uint32_t id, size_t indent, const SourceMap& sources,
                std::string& out) {
  const WhyNode& node = row.nodes[id];
  out.append(indent, ' ');
  out += node.text;
  const std::string said = remark(node, sources);
  if (!said.empty()) out += "  " + said;
  out += '\n';
  if (!node.rule.empty()) {
    out.append(indent + 2, ' ');
    out += "by " + node.rule + in_brackets(node.rule_span, sources) + "\n";
  }
  const size_t deeper = indent + (node.rule.empty() ? 2 : 4);
  for (const uint32_t child : node.children) print_node(row, child, deeper, sources, out);
}

std::string failed_text(const FailedInstance& failed, const SourceMap& sources) {
  std::string out =
      fmt::format("not by {}{}\n", failed.rule, in_brackets(failed.rule_span, sources));
  if (!failed.head_fits) return out + "  the head does not fit\n";
  for (const std::string& literal : failed.holds) out += "  holds  " + literal + "\n";
  out += "  fails  " + failed.fails + "\n";
  if (!failed.note.empty()) out += "         " + failed.note + "\n";
  if (failed.world) out += "         world " + world_text(*failed.world) + "\n";
  if (failed.others > 0) {
    out += fmt::format("  and {} more instance{} of the rule\n", failed.others,
                       failed.others == 1 ? "" : "s");
  }
  return out;
}

std::string row_text(const RowWhy& row, const mpz_class& views, const SourceMap& sources) {
  std::string out = heading(row, views);
  if (row.with) out += "\na world with it     " + world_text(*row.with) + "\n";
  if (row.without) {
    out +=
        fmt::format("{}a world without it  {}\n", row.with ? "" : "\n", world_text(*row.without));
  }
  if (!row.nodes.empty()) {
    out += '\n';
    print_node(row, 0, 0, sources, out);
  }
  for (const FailedInstance& failed : row.failed) out += "\n" + failed_text(failed, sources);
  if (row.nodes.empty() && row.failed.empty()) out += "\nNo rule gives it.\n";
  return out;
}

Json place_json(Span span, const SourceMap& sources) {
  Json json = Json::object();
  if (span.empty()) return json;
  const Place at = sources.place(span);
  json["file"] = at.file;
  json["line"] = at.line;
  return json;
}

Json rule_json(const std::string& rule, Span span, const SourceMap& sources) {
  Json json;
  json["text"] = rule;
  json.update(place_json(span, sources));
  return json;
}

void put_world(Json& json, const std::string& key, const std::optional<ShownWorld>& world) {
  if (!world) return;
  json[key] = world->atoms;
  if (world->left_out > 0) json[key + "_left_out"] = world->left_out;
}

Json row_json(const RowWhy& row, const SourceMap& sources) {
  Json json;
  json["fact"] = row.fact;
  json["known_in"] = row.known_in.get_str();
  json["possible_in"] = row.possible_in.get_str();
  json["status"] = status_word(row.status);
  json["world_count"] = row.worlds.get_str();
  put_world(json, "world_with", row.with);
  put_world(json, "world_without", row.without);
  json["nodes"] = Json::array();
  for (uint32_t id = 0; id < row.nodes.size(); ++id) {
    const WhyNode& node = row.nodes[id];
    Json entry;
    entry["id"] = id;
    entry["kind"] = spelling(node.kind);
    entry["text"] = node.text;
    if (!node.note.empty()) entry["note"] = node.note;
    if (!node.rule.empty()) entry["rule"] = rule_json(node.rule, node.rule_span, sources);
    entry.update(place_json(node.span, sources));
    put_world(entry, "world", node.world);
    entry["children"] = node.children;
    json["nodes"].push_back(std::move(entry));
  }
  json["failed"] = Json::array();
  for (const FailedInstance& failed : row.failed) {
    Json entry;
    entry["rule"] = rule_json(failed.rule, failed.rule_span, sources);
    entry["head_fits"] = failed.head_fits;
    entry["holds"] = failed.holds;
    entry["fails"] = failed.fails;
    if (!failed.note.empty()) entry["guess"] = failed.note;
    put_world(entry, "world", failed.world);
    entry["other_instances"] = failed.others;
    json["failed"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace

std::string why_text(const WorldsWhy& why, WhyQuestion question, const SourceMap& sources) {
  std::string out;
  for (const RowWhy& row : why.rows) {
    if (!out.empty()) out += '\n';
    out += row_text(row, why.views, sources);
  }
  if (why.answered && why.matches > why.rows.size()) {
    out += fmt::format("\n{} of {} rows that fit; `--limit N` explains more\n", why.rows.size(),
                       why.matches);
  }
  if (!why.answered && question == WhyQuestion::WhyNot) {
    out += "\nIt is known in all worlds; `xlog why` shows why.\n";
  }
  return out;
}

std::string why_json(const WorldsWhy& why, WhyQuestion question, const std::string& goal,
                     const SourceMap& sources) {
  Json json;
  json["goal"] = goal;
  json["question"] = question == WhyQuestion::Why ? "why" : "why-not";
  json["answered"] = why.answered;
  json["world_view_count"] = why.views.get_str();
  json["matches"] = why.matches;
  json["rows"] = Json::array();
  for (const RowWhy& row : why.rows) json["rows"].push_back(row_json(row, sources));
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string why_dot(const WorldsWhy& why, WhyQuestion, const SourceMap& sources) {
  std::string out = "digraph why {\n  node [shape=box];\n";
  for (size_t r = 0; r < why.rows.size(); ++r) {
    const RowWhy& row = why.rows[r];
    std::string about = heading(row, why.views);
    if (row.with) about += "a world with it: " + world_text(*row.with) + "\n";
    if (row.without) about += "a world without it: " + world_text(*row.without) + "\n";
    out += fmt::format("  row{} [shape=note, label=\"{}\"];\n", r, logic::dot_text(about));
    if (!row.nodes.empty()) out += fmt::format("  row{} -> n{}_0 [style=dotted];\n", r, r);
    for (uint32_t id = 0; id < row.nodes.size(); ++id) {
      const WhyNode& node = row.nodes[id];
      std::string label = node.text;
      const std::string said = remark(node, sources);
      if (!said.empty()) label += "\n" + said;
      if (!node.rule.empty()) label += "\n" + node.rule + in_brackets(node.rule_span, sources);
      const bool is_modal = node.kind == WhyKind::Modal;
      out += fmt::format("  n{}_{} [label=\"{}\"{}];\n", r, id, logic::dot_text(label),
                         is_modal            ? ", style=dashed"
                         : node.rule.empty() ? ", style=rounded"
                                             : "");
      for (const uint32_t child : node.children) {
        out += fmt::format("  n{}_{} -> n{}_{};\n", r, id, r, child);
      }
    }
    for (size_t f = 0; f < row.failed.size(); ++f) {
      out += fmt::format("  f{}_{} [style=rounded, label=\"{}\"];\n  row{} -> f{}_{};\n", r, f,
                         logic::dot_text(failed_text(row.failed[f], sources)), r, r, f);
    }
  }
  return out + "}\n";
}

}  // namespace xlog::epistemic
