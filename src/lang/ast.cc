#include "lang/ast.h"

#include "base/check.h"

namespace xlog::lang::ast {

std::string_view spelling(BinaryOp op) {
  switch (op) {
    case BinaryOp::Add:
      return "+";
    case BinaryOp::Sub:
      return "-";
    case BinaryOp::Mul:
      return "*";
    case BinaryOp::Div:
      return "/";
    case BinaryOp::Mod:
      return "%";
  }
  XLOG_UNREACHABLE("not a BinaryOp");
}

std::string_view spelling(CompareOp op) {
  switch (op) {
    case CompareOp::Eq:
      return "=";
    case CompareOp::Ne:
      return "!=";
    case CompareOp::Lt:
      return "<";
    case CompareOp::Le:
      return "<=";
    case CompareOp::Gt:
      return ">";
    case CompareOp::Ge:
      return ">=";
  }
  XLOG_UNREACHABLE("not a CompareOp");
}

CompareOp negate(CompareOp op) {
  switch (op) {
    case CompareOp::Eq:
      return CompareOp::Ne;
    case CompareOp::Ne:
      return CompareOp::Eq;
    case CompareOp::Lt:
      return CompareOp::Ge;
    case CompareOp::Le:
      return CompareOp::Gt;
    case CompareOp::Gt:
      return CompareOp::Le;
    case CompareOp::Ge:
      return CompareOp::Lt;
  }
  XLOG_UNREACHABLE("not a CompareOp");
}

CompareOp swap_sides(CompareOp op) {
  switch (op) {
    case CompareOp::Eq:
      return CompareOp::Eq;
    case CompareOp::Ne:
      return CompareOp::Ne;
    case CompareOp::Lt:
      return CompareOp::Gt;
    case CompareOp::Le:
      return CompareOp::Ge;
    case CompareOp::Gt:
      return CompareOp::Lt;
    case CompareOp::Ge:
      return CompareOp::Le;
  }
  XLOG_UNREACHABLE("not a CompareOp");
}

}  // namespace xlog::lang::ast
