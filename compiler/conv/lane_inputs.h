// LaneInputs: code that brings into each lane of a block's output vectors the input that it multiplies, see group_lanes.h.
#pragma once

#include <cstdint>
#include <memory>

#include "compiler/conv/direct_nest.h"

namespace aoe::compiler {

/// Of one tap and one chunk of input channels, pixel by pixel.
class LaneInputs {
 public:
  virtual ~LaneInputs() = default;
  /// Steps of the sum whose inputs come from one load.
  virtual std::int64_t steps_per_load() const = 0;
  /// Loads a pixel `offset` elements from the first for step `step` of the chunk and those of the same load.
  virtual void load(std::int64_t offset, std::int64_t step) = 0;
  /// For output vector `vector` and a step of this load. Vectors in order, and steps in order for each.
  virtual loopnest::Vec get(std::int64_t vector, std::int64_t step) = 0;
};

/// Where the inputs of a tap and chunk lie.
struct InputPlace {
  const ImageLayout& layout;
  loopnest::Buffer buffer;
  loopnest::Int tap;            ///< channel 0 of the first pixel
  loopnest::Int first_channel;  ///< of the chunk in the block's first group
};

/// As the cut's GroupLanes say. All but `place` must outlive what is returned.
std::unique_ptr<LaneInputs> lane_inputs(loopnest::Builder& builder, const DirectCut& cut,
                                        const BlockLanes& lanes, const InputPlace& place);

}  // namespace aoe::compiler
