// LaneInputs: code that brings into each lane of a block's output vectors the input that it multiplies, see group_lanes.h.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/conv/direct_nest.h"

namespace aoe::compiler {

/// Of one tap and one chunk of input channels, pixel by pixel.
class LaneInputs {
 public:
  /// `tap_at`: where channel 0 of the first pixel lies; `chunk`: the chunk's number; `first_group`: of the block.
  LaneInputs(loopnest::Builder& builder, loopnest::Buffer input, const ImageLayout& in,
             const DirectPlan& plan, const BlockLanes& lanes, loopnest::Int tap_at,
             loopnest::Int first_group, loopnest::Int chunk);

  /// Steps of the sum whose inputs come from one load.
  std::int64_t steps_per_load() const;
  /// Loads a pixel `offset` elements from the first for step `step` of the chunk and those of the same load.
  void load(std::int64_t offset, std::int64_t step);
  /// For output vector `vector` and a step of this load. Vectors in order, and steps in order for each.
  loopnest::Vec get(std::int64_t vector, std::int64_t step);

 private:
  loopnest::Int memory_channel(loopnest::Int channel) const;
  loopnest::Vec selected(const VectorLanes& vector) const;
  loopnest::Vec permuted(const VectorLanes& vector, std::size_t number, std::int64_t step);
  void load_sources(const VectorLanes& vector, std::size_t number);
  loopnest::Vec gathered(const std::vector<int>& from) const;

  loopnest::Builder& builder_;
  loopnest::Buffer input_;
  const ImageLayout& in_;
  const DirectPlan& plan_;
  const BlockLanes& lanes_;
  std::vector<loopnest::Int>
      places_;  ///< selected: by group; permuted: by vector, its first source
  std::vector<std::optional<loopnest::Int>> active_;  ///< permuted: channels from there on
  std::vector<loopnest::Local>
      loaded_;  ///< selected: broadcasts by group; permuted: one vector's sources
  std::optional<loopnest::Local> unit_;  ///< permuted: inputs of the current unit's first step
  std::int64_t offset_ = 0;
};

}  // namespace aoe::compiler
