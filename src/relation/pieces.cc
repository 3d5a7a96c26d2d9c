#include "relation/pieces.h"

#include <algorithm>

namespace xlog::relation {

namespace {

uint32_t& number(std::span<uint32_t> piece, uint32_t loop, LoopNumber which) {
  return piece[kPieceWidth + loop * kLoopWidth + which];
}

// Where part `part` of `parts` of the items first .. last begins.
uint32_t border(uint32_t first, uint32_t last, uint32_t part, uint32_t parts) {
  return first + static_cast<uint32_t>(uint64_t{last - first} * part / parts);
}

}  // namespace

uint32_t longest_rows(std::span<const uint32_t> pieces, uint32_t width) {
  uint32_t most = 0;
  for (size_t at = kPieceWidth; at < pieces.size(); at += width) {
    most = std::max(most, pieces[at + kLoopEnd] - pieces[at + kLoopAt]);
  }
  return most;
}

void Pieces::add_rows(uint32_t first, uint32_t last, uint32_t pieces) {
  for (uint32_t p = 0; p < pieces; ++p) {
    std::vector<uint32_t> piece(width(), 0);
    number(piece, 0, kLoopAt) = border(first, last, p, pieces);
    number(piece, 0, kLoopEnd) = border(first, last, p + 1, pieces);
    numbers_.insert(numbers_.end(), piece.begin(), piece.end());
  }
}

// At each loop: the items after the one that the piece is inside of, and of the innermost loop all.
void Pieces::cut(std::span<const uint32_t> piece, uint32_t parts,
                 std::vector<uint32_t>& into) const {
  std::vector<uint32_t> made(piece.begin(), piece.end());
  made[kPieceStopped] = 0;
  const uint32_t depth = piece[kPieceDepth];
  for (uint32_t loop = 0; loop <= depth; ++loop) {
    const uint32_t at = number(made, loop, kLoopAt);
    const uint32_t first = loop < depth ? at + 1 : at;
    const uint32_t last = number(made, loop, kLoopEnd);
    made[kPieceDepth] = loop;
    const uint32_t here = std::min(parts, last - std::min(first, last));
    for (uint32_t p = 0; p < here; ++p) {
      number(made, loop, kLoopAt) = border(first, last, p, here);
      number(made, loop, kLoopEnd) = border(first, last, p + 1, here);
      into.insert(into.end(), made.begin(), made.end());
    }
    // Deeper loops are those of this item alone.
    number(made, loop, kLoopAt) = at;
    number(made, loop, kLoopEnd) = at + 1;
  }
}

std::vector<uint32_t> Pieces::take(uint32_t most) {
  if (count() > 0 && count() * 2 < most) {
    const uint32_t parts = (most + count() - 1) / count();
    std::vector<uint32_t> all;
    for (size_t at = 0; at < numbers_.size(); at += width()) {
      const std::span<const uint32_t> piece(&numbers_[at], width());
      if (piece[kPieceStopped] != 0) {
        cut(piece, parts, all);
      } else {
        all.insert(all.end(), piece.begin(), piece.end());
      }
    }
    numbers_ = std::move(all);
  }
  const auto first =
      numbers_.end() - static_cast<std::ptrdiff_t>(uint64_t{std::min(most, count())} * width());
  std::vector<uint32_t> taken(first, numbers_.end());
  numbers_.erase(first, numbers_.end());
  return taken;
}

void Pieces::put_back(std::span<const uint32_t> numbers) {
  for (size_t at = 0; at < numbers.size(); at += width()) {
    const std::span<const uint32_t> piece = numbers.subspan(at, width());
    if (piece[kPieceStopped] != 0) numbers_.insert(numbers_.end(), piece.begin(), piece.end());
  }
}

}  // namespace xlog::relation
