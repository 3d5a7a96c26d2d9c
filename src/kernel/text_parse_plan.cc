// Statements of plans: ops with several results, launches, and the bodies of map and expand.
#include <fmt/format.h>

#include <algorithm>

#include "base/diagnostic.h"
#include "kernel/text_parser.h"

namespace xlog::kernel::text {

bool Parser::buffers(const std::vector<Operand>& list, std::string_view what) {
  for (const Operand& operand : list) {
    if (!operand.is_bare() && is_buffer(graph_, operand.id)) continue;
    return fail(operand.offset, fmt::format("{} works on buffers", what));
  }
  return true;
}

bool Parser::plan_statement(const OpName& name, Op op, const std::vector<Token>& results) {
  if (!allowed_here(name, op)) return false;
  const bool folds = op == Op::Scan || op == Op::Segment;
  if (!folds && !name.suffix.empty()) {
    return fail(name.offset, fmt::format("{} has no form `.{}`", name.base, name.suffix));
  }
  switch (op) {
    case Op::Map:
    case Op::Expand:
      return map_or_expand(name, op, results);
    case Op::Scan:
    case Op::Segment:
      return scan_or_segment(name, op, results);
    case Op::Sort:
      return sort(name, results);
    case Op::Partition:
      return partition(name, results);
    default:
      return merge(name, results);
  }
}

bool Parser::launch(const OpName& name) {
  if (!allowed_here(name, Op::Launch)) return false;
  const Token word = next();
  std::vector<std::string_view> known;
  Id kernel;
  for (const auto& [text, id] : globals_) {
    if (graph_.op(id) != Op::Kernel) continue;
    known.push_back(text);
    if (text == word.text) kernel = id;
  }
  if (!kernel.valid()) {
    auto near = did_you_mean(word.text, known);
    return fail(word.offset, fmt::format("`{}` is no kernel defined above", word.text),
                near ? fmt::format("did you mean `{}`?", *near) : "");
  }
  std::vector<Operand> list;
  if (!operands(list)) return false;
  const auto params = graph_.params(kernel);
  if (list.size() != params.size()) {
    return fail(name.offset,
                fmt::format("{} takes {} argument{}, {} given", word.text, params.size(),
                            params.size() == 1 ? "" : "s", list.size()));
  }
  std::vector<Id> all = {kernel};
  for (size_t k = 0; k < list.size(); ++k) {
    if (!settle(list[k], graph_.type(params[k]))) return false;
    all.push_back(list[k].id);
  }
  append(graph_.make(Op::Launch, all));
  return true;
}

bool Parser::map_or_expand(const OpName& name, Op op, const std::vector<Token>& results) {
  auto own = tag(name.offset);
  if (!own) return false;
  const Token counter = next();
  Operand count;
  if (!check_new_name(counter) || !operand(count)) return false;
  if (!scalar(count, Type::U32, "the number of rows")) return false;
  Frame closed;
  graph_.set_arg_name(*own, 0, counter.text);
  Id body = block(op, {}, {{counter, graph_.arg(*own, 0, Type::U32)}}, closed);
  if (!body.valid()) return false;
  std::vector<Type> types = op == Op::Map ? closed.yields : closed.emits;
  if (op == Op::Map && !closed.ended) {
    return fail(name.offset, "the body of this map has no `yield`",
                "end it with `yield` and the columns of a row");
  }
  const Id list[] = {count.id, body};
  Id made = append(graph_.loop(op, *own, list));
  if (op == Op::Expand) types.push_back(Type::U32);  // the number of rows
  return bind_results(results, made, types);
}

bool Parser::emit(uint32_t offset) {
  auto frame = std::find_if(frames_.rbegin(), frames_.rend(),
                            [](const Frame& f) { return f.owner == Op::Expand; });
  if (frame == frames_.rend()) return fail(offset, "`emit` belongs inside the body of an expand");
  std::vector<Operand> list;
  if (!operands(list)) return false;
  std::vector<Type>& types = frame->emits;
  if (frame->has_emitted && list.size() != types.size()) {
    return fail(offset, fmt::format("an emit above has {} column{}, this one {}", types.size(),
                                    types.size() == 1 ? "" : "s", list.size()));
  }
  for (size_t k = 0; k < list.size(); ++k) {
    const std::string what = fmt::format("column {}", k + 1);
    if (frame->has_emitted) {
      if (!scalar(list[k], types[k], what)) return false;
      continue;
    }
    if (!settle(list[k], Type::U32)) return false;
    if (!scalar(list[k], graph_.type(list[k].id), what)) return false;
    types.push_back(graph_.type(list[k].id));
  }
  if (list.size() > kMaxCarried) return fail(offset, "too many columns");
  frame->has_emitted = true;
  append(graph_.make(Op::Emit, ids(list)));
  return true;
}

bool Parser::scan_or_segment(const OpName& name, Op op, const std::vector<Token>& results) {
  std::vector<Operand> list;
  if (!operands(list) || !buffers(list, name.base)) return false;
  const size_t wanted = op == Op::Scan ? 1 : 2;
  if (list.size() != wanted) {
    return fail(name.offset,
                op == Op::Scan ? "scan takes one buffer" : "segment takes the heads and a column");
  }
  const Type type = graph_.type(list.back().id);
  const Type heads = graph_.type(list.front().id);
  if (op == Op::Segment && heads != Type::U32 && heads != Type::U8 && heads != Type::Bool) {
    return fail(list[0].offset, "heads are u32, u8 or bool: not 0 where a run starts");
  }
  if (!in_domain(Domain::Num, type)) {
    return fail(list.back().offset, fmt::format("{} does not fold {}", name.base, spelling(type)));
  }
  auto fold = fold_of(name, op, type);
  if (!fold) return false;
  Id made = append(graph_.fold_node(op, *fold, ids(list)));
  return bind_results(results, made, {type, op == Op::Scan ? type : Type::U32});
}

bool Parser::sort(const OpName& name, const std::vector<Token>& results) {
  std::vector<Operand> list;
  if (!operands(list) || !buffers(list, name.base)) return false;
  if (list.empty()) return fail(name.offset, "sort takes the columns to sort by");
  std::vector<Type> types = {Type::U32};
  for (const Operand& column : list) types.push_back(graph_.type(column.id));
  return bind_results(results, append(graph_.make(Op::Sort, ids(list))), types);
}

bool Parser::partition(const OpName& name, const std::vector<Token>& results) {
  std::vector<Operand> list;
  if (!operands(list)) return false;
  if (list.size() != 2) {
    return fail(name.offset, "partition takes the bucket ids and the number of buckets");
  }
  const bool is_ids =
      !list[0].is_bare() && is_buffer(graph_, list[0].id) && graph_.type(list[0].id) == Type::U32;
  if (!is_ids) return fail(list[0].offset, "the bucket ids are a buffer of u32");
  if (!scalar(list[1], Type::U32, "the number of buckets")) return false;
  Id made = append(graph_.make(Op::Partition, ids(list)));
  return bind_results(results, made, {Type::U32, Type::U32});
}

bool Parser::merge(const OpName& name, const std::vector<Token>& results) {
  std::vector<Operand> first;
  std::vector<Operand> second;
  if (!operands(first) || !expect("/", "between the columns of the two runs")) return false;
  if (!operands(second) || !buffers(first, name.base) || !buffers(second, name.base)) return false;
  if (first.empty() || first.size() != second.size()) {
    return fail(name.offset,
                fmt::format("the runs have {} and {} columns", first.size(), second.size()),
                "both have the same columns, at least one");
  }
  for (size_t k = 0; k < first.size(); ++k) {
    if (graph_.type(first[k].id) == graph_.type(second[k].id)) continue;
    return fail(second[k].offset, fmt::format("column {} is {} in one run and {} in the other",
                                              k + 1, spelling(graph_.type(first[k].id)),
                                              spelling(graph_.type(second[k].id))));
  }
  const auto columns = static_cast<uint32_t>(first.size());
  std::vector<Id> all = ids(first);
  for (const Operand& operand : second) all.push_back(operand.id);
  Id made = append(graph_.add(Op::Merge, Type::Void, 0, columns, all));
  return bind_results(results, made, {Type::U32});
}

}  // namespace xlog::kernel::text
