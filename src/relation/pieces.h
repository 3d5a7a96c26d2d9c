// The nested loops of a pipeline in pieces, which instances of a kernel take (loop_cut.h).
//
// Loop 0 goes over the driver's rows; each other loop over what a step finds for an item of the
// loop around it. A piece goes on from one place inside them: from item at[0] of loop 0 and there
// from item at[1] of loop 1, and so on down to `depth`, in each loop up to item end[l]; deeper
// loops it goes through in full. So what an instance leaves undone, wherever it stopped, is one
// piece, and can be cut at every one of its loops: a row that meets millions is shared by all
// processors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace xlog::relation {

// What the host and the kernel tell each other of a piece, in numbers: how deep its place lies, how
// many rows the instance has put into its region, how many of them were new, and whether it stopped
// before its end; then kLoopWidth numbers a loop.
enum PieceNumber : uint32_t { kPieceDepth, kPieceFilled, kPieceNew, kPieceStopped, kPieceWidth };
// Of a loop of a piece: the first item, the end, and which list a meet walks.
enum LoopNumber : uint32_t { kLoopAt, kLoopEnd, kLoopWay, kLoopWidth };

// The most items that loop 0 has in any of these pieces.
uint32_t longest_rows(std::span<const uint32_t> pieces, uint32_t width);

class Pieces {
 public:
  // `loops`: how many are nested.
  explicit Pieces(uint32_t loops) : loops_(loops) {}

  uint32_t width() const { return kPieceWidth + loops_ * kLoopWidth; }  // numbers of a piece
  bool empty() const { return numbers_.empty(); }
  uint32_t count() const { return static_cast<uint32_t>(numbers_.size() / width()); }

  // Rows first .. last of the driver, in so many pieces of about the same size.
  void add_rows(uint32_t first, uint32_t last, uint32_t pieces);
  // Takes up to so many pieces out, the last ones first. Where there are fewer than half as many,
  // what had to stop is cut first, as it is more work than it seemed.
  std::vector<uint32_t> take(uint32_t most);
  // What is left of pieces that were taken, as the kernel gives them back.
  void put_back(std::span<const uint32_t> numbers);

 private:
  void cut(std::span<const uint32_t> piece, uint32_t parts, std::vector<uint32_t>& into) const;

  uint32_t loops_;
  std::vector<uint32_t> numbers_;
};

}  // namespace xlog::relation
