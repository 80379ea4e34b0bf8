// Which groups of a convolution the lanes of its output vectors belong to, and which input channel each lane takes at each
// step of the sum.
//
// Output vectors hold neighbouring channels whatever their groups, so that no lane is left empty: 4 groups of 20 channels
// are 5 vectors of 16 lanes, not 8. What a lane multiplies is a channel of its own group. Two ways bring it there:
//
//   selected   step j takes channel j of every group. Each group of the block has one broadcast, which its vectors share;
//              a vector with lanes of several groups selects lane by lane.
//   permuted   groups narrower than a vector whose inputs lie in three at most: these are loaded as they lie, and each
//              step moves another channel of its own group into each lane. Which one is free, as the weights are packed
//              to match: channels go round in steps of `unit()` = 4, 2 or 1 of them, and inside such a unit they change
//              places by exclusive or, which any processor does at once. With groups of 4 the first step moves nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "base/tensor.h"
#include "compiler/conv/conv_shape.h"

namespace aoe::compiler {

/// Lanes from `lane` on, to the next run, hold channels of `group`, counted from the first group of their block.
struct LaneRun {
  std::int64_t lane = 0, group = 0;
  bool operator==(const LaneRun&) const = default;
};

struct VectorLanes {
  std::vector<LaneRun> runs;
  std::int64_t place = 0;  ///< permuted: the first lane's channel, counted in its group
  std::int64_t phase = 0;  ///< permuted: the first input channel's place in the first vector read
  bool operator==(const VectorLanes&) const = default;
};

/// Blocks of output vectors that the same code computes.
struct BlockLanes {
  std::vector<VectorLanes> vectors;
  std::int64_t blocks = 0;  ///< so many are of this kind

  /// That it reads; lanes beyond the last channel count to the last group.
  std::int64_t groups() const { return vectors.back().runs.back().group + 1; }
};

class GroupLanes {
 public:
  /// `in`: how the input lies.
  GroupLanes(const ConvShape& shape, Format in, int lanes, std::int64_t vectors_per_block);

  bool is_permuted() const { return is_permuted_; }
  /// Some block has lanes of several groups.
  bool has_mixed_blocks() const;
  /// At least one; blocks of the first are the most usual.
  const std::vector<BlockLanes>& kinds() const { return kinds_; }
  /// By block: the place of its kind. Kinds repeat: these are the first blocks, and after the last comes the first again.
  const std::vector<std::size_t>& kind_of() const { return kind_of_; }

  /// The input channel, counted in its group, that step `step` of the sum takes for output channel `place` of the group.
  std::int64_t channel(std::int64_t place, std::int64_t step) const;

  // ---- permuted only ----
  /// Steps that differ by less lie in the same unit.
  std::int64_t unit() const { return unit_; }
  /// Vectors of inputs that an output vector reads: 1 to 3.
  std::int64_t sources(const VectorLanes& vector) const;
  /// By lane: where among these vectors' lanes the channel for `step` lies.
  std::vector<int> sources_of_lanes(const VectorLanes& vector, std::int64_t step) const;
  /// By lane: the lane of a permutation for step u that has the channel for step u + step, in the same unit.
  std::vector<int> lanes_in_unit(std::int64_t step) const;
  /// Vectors read where they lie may reach beyond the input's last channel.
  bool reads_beyond() const { return reads_beyond_; }

 private:
  VectorLanes lanes_of(std::int64_t vector, std::int64_t first_group);

  ConvShape shape_;
  Format in_;
  int lanes_;
  bool is_permuted_, reads_beyond_ = false;
  std::int64_t unit_;
  std::vector<BlockLanes> kinds_;
  std::vector<std::size_t> kind_of_;
};

/// Groups of `shape` are permuted; then all the channels of a group are summed in one body.
bool is_permuted(const ConvShape& shape, Format in, int lanes);

}  // namespace aoe::compiler
