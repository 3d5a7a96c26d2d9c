#include "lang/modal.h"

namespace xlog::lang {

CollapsedPrefix collapse(std::span<const ast::PrefixOp> prefix) {
  size_t nots = 0;
  size_t nots_before_atom = 0;
  ast::PrefixOp innermost = ast::PrefixOp::Not;
  for (const ast::PrefixOp op : prefix) {
    if (op == ast::PrefixOp::Not) {
      ++nots;
      ++nots_before_atom;
    } else {
      innermost = op;
      nots_before_atom = 0;
    }
  }
  const bool odd = nots % 2 == 1;
  if (innermost == ast::PrefixOp::Not) {
    return {Modal::None, static_cast<uint8_t>(odd ? 1 : nots == 0 ? 0 : 2)};
  }
  const bool swapped = nots_before_atom % 2 == 1;
  const bool asks_know = (innermost == ast::PrefixOp::Know) != swapped;
  if (nots == 0) return {asks_know ? Modal::Know : Modal::Possible, 0};
  if (odd) return {asks_know ? Modal::NotKnow : Modal::NotPossible, 0};
  return {asks_know ? Modal::NotPossibleNot : Modal::NotKnowNot, 0};
}

}  // namespace xlog::lang
