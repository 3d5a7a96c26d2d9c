// `xlog fmt`: prints every statement in its one layout and puts each comment back at its place.
#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "lang/printer.h"

namespace xlog::lang {

namespace {

constexpr size_t kColumns = 100;

// A statement or a comment between statements, in source order.
struct Item {
  Span span;
  const ast::Statement* statement = nullptr;  // null: a comment
  bool verbatim = false;                      // a statement with a comment inside
};

std::vector<Item> items_in_order(const Module& module) {
  std::vector<Item> items;
  auto comment = module.comments.begin();
  const auto comments_before = [&](uint32_t offset) {
    for (; comment != module.comments.end() && comment->span.begin < offset; ++comment) {
      items.push_back({comment->span});
    }
  };
  for (const ast::Statement& statement : module.statements) {
    comments_before(statement.span.begin);
    bool has_comment = false;
    for (; comment != module.comments.end() && comment->span.begin < statement.span.end; ++comment)
      has_comment = true;
    items.push_back({statement.span, &statement, has_comment});
  }
  comments_before(UINT32_MAX);
  return items;
}

size_t longest_line(std::string_view text) {
  size_t longest = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    longest = std::max(longest, display_width(line));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return longest;
}

std::string layout(const Item& item, const Module& module, const SourceMap& sources,
                   const Interner& names) {
  if (item.statement == nullptr || item.verbatim) return std::string(sources.text(item.span));
  std::string wide = print(*item.statement, module, names);
  if (longest_line(wide) <= kColumns) return wide;
  return print_tall(*item.statement, module, names);
}

// What stands between two items: nothing but white space (and periods of #pragma lines).
std::string_view gap(const Item& before, const Item& after, const SourceMap& sources) {
  return sources.text({before.span.end, after.span.begin});
}

std::string_view separator(const Item& before, const Item& after, const SourceMap& sources) {
  const std::string_view between = gap(before, after, sources);
  const auto lines = std::count(between.begin(), between.end(), '\n');
  if (lines > 1) return "\n\n";
  if (lines == 1 || after.statement != nullptr) return "\n";
  return before.statement != nullptr ? "  " : " ";  // a comment behind something on its line
}

}  // namespace

std::string format(const Module& module, const SourceMap& sources, const Interner& names) {
  XLOG_CHECK(module.facts.empty(), "format() needs a module parsed without bulk facts");
  const std::vector<Item> items = items_in_order(module);
  std::string out;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += separator(items[i - 1], items[i], sources);
    out += layout(items[i], module, sources, names);
  }
  if (!out.empty()) out += '\n';
  return out;
}

}  // namespace xlog::lang
