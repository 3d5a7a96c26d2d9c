// A group kernel cut at its barriers and collectives. A piece is a run of effects that lanes may
// execute one lane after another; control that holds barriers is the same for all lanes and stands
// around its pieces.
//
//   LanePieces cut(graph, kernel);
//   for (const Step& step : cut.steps()) ...        // pieces, and loops and ifs of steps
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "kernel/graph.h"

namespace xlog::kernel {

// A carried value of a synchronising loop that differs between lanes: it is stored, lane by lane.
struct Carry {
  Id loop;
  uint32_t index = 0;
  Id value;
};

struct Piece {
  std::vector<Id> effects;
  std::vector<Id> collectives;  // all lanes bring a value after the effects
  std::vector<Carry> carries;   // kept last
  uint32_t number = 0;

  bool empty() const { return effects.empty() && collectives.empty() && carries.empty(); }
};

struct Step {
  explicit Step(Piece p) : piece(std::move(p)) {}
  explicit Step(Id c) : control(c) {}

  Piece piece;                      // where `control` is not valid
  Id control;                       // a For, Loop or If with barriers inside
  std::vector<Step> first, second;  // a loop's body; an If's branches
  Piece late;                       // a loop's carries that wait until its flag is computed
};

class LanePieces {
 public:
  LanePieces(const Graph& graph, Id kernel);

  const std::vector<Step>& steps() const { return steps_; }

  // Whether a node has one value for all lanes that can be computed outside of the pieces.
  bool is_uniform(Id id) const { return !varies_[id.index]; }
  // Whether carried value k of a synchronising loop has.
  bool carries_uniform(Id loop, uint32_t k) const;
  bool synchronises(Id effect) const { return synchronises_[effect.index]; }
  // Effects of pieces that are done once for the group: loads that read the same in every lane.
  bool is_hoisted(Id effect) const { return hoistable_[effect.index] && is_uniform(effect); }

  // What a value stands on beside constants and parameters: results of effects and arguments of
  // loops. Arguments and effects inside the piece `within` are left out.
  std::vector<Id> leaves(std::span<const Id> values, const Piece* within) const;
  // Of a whole piece: what it takes from elsewhere.
  std::vector<Id> needs(const Piece& piece) const;

 private:
  static constexpr uint32_t kNoPiece = UINT32_MAX;

  bool find_synchronising(Id block);
  void find_uniform(const std::vector<Id>& nodes);
  bool varies(Id id) const;
  std::vector<Step> cut(Id block, Id loop);
  void cut_loop(Id loop, std::vector<Step>& steps, Piece& open);
  void add_collective(Id collective, std::vector<Step>& steps, Piece& open);
  void flush(std::vector<Step>& steps, Piece& open);
  void own(Id effect, uint32_t piece);
  void used_by(Id effect, std::vector<Id>& values) const;
  bool depends_on_reduces(std::span<const Id> values, const Piece& piece) const;

  const Graph& graph_;
  std::vector<bool> synchronises_, varies_, hoistable_;  // by Id
  std::vector<uint32_t> piece_of_;                       // by Id of an effect
  std::vector<Id> loop_of_tag_;                          // synchronising loops only
  std::vector<Id> sync_loops_;
  std::vector<std::vector<bool>> carried_varies_;  // by tag
  std::vector<Step> steps_;
  uint32_t next_piece_ = 0;
};

}  // namespace xlog::kernel
