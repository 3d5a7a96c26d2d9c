#include "logic/explain.h"

#include <fmt/format.h>

namespace xlog::logic {

std::string dot_text(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\n') {
      escaped += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string dot_record_text(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\n') {
      escaped += "\\n";
      continue;
    }
    if (std::string_view("\"\\{}|<> ").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string_view dot_style(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::Positive:
      return "solid";
    case EdgeKind::Negative:
      return "dashed";
    case EdgeKind::Aggregate:
      return "bold";
    case EdgeKind::ModalPositive:
    case EdgeKind::ModalNegative:
      return "dotted";
  }
  return "solid";
}

std::string counted(size_t count, std::string_view noun) {
  if (count == 1) return fmt::format("1 {}", noun);
  return fmt::format("{} {}s", count, noun);
}

}  // namespace xlog::logic
