// See lane_inputs.h.
#include "compiler/conv/lane_inputs.h"

#include <numeric>

namespace aoe::compiler {

using loopnest::Builder;
using loopnest::Int;
using loopnest::Vec;

LaneInputs::LaneInputs(Builder& builder, loopnest::Buffer input, const ImageLayout& in,
                       const DirectPlan& plan, const BlockLanes& lanes, Int tap_at, Int first_group,
                       Int chunk)
    : builder_(builder), input_(input), in_(in), plan_(plan), lanes_(lanes) {
  const std::int64_t channels = plan.shape().group_in_channels();
  const Int first = first_group * channels + chunk * plan.tiling().ic_unroll;
  if (!plan.group_lanes().is_permuted()) {
    for (std::int64_t group = 0; group < lanes.groups(); ++group)
      places_.push_back(tap_at + in.channel_offset(memory_channel(first + group * channels)));
    return;
  }
  for (const VectorLanes& vector : lanes.vectors) {
    const Int channel = first + vector.runs[0].group * channels;
    places_.push_back(tap_at + in.channel_offset(channel) - vector.phase);
    active_.push_back(plan.group_lanes().reads_beyond()
                          ? std::optional(plan.shape().in_channels + vector.phase - channel)
                          : std::nullopt);
  }
}

/// The channel of the input that is channel `c` of the convolution.
Int LaneInputs::memory_channel(Int c) const {
  const ConvShape& s = plan_.shape();
  if (s.input_shuffle == 1) return c;
  return c % s.input_shuffle * (s.in_channels / s.input_shuffle) + c / s.input_shuffle;
}

std::int64_t LaneInputs::steps_per_load() const {
  return plan_.group_lanes().is_permuted() ? plan_.tiling().ic_unroll : 1;
}

void LaneInputs::load(std::int64_t offset, std::int64_t step) {
  offset_ = offset;
  if (plan_.group_lanes().is_permuted()) return;  // vector by vector
  loaded_.clear();
  for (const Int& place : places_)
    loaded_.push_back(builder_.local(
        builder_.load_broadcast(input_, place + (step * in_.channel + offset), plan_.lanes())));
}

Vec LaneInputs::get(std::int64_t vector, std::int64_t step) {
  const auto number = static_cast<std::size_t>(vector);
  const VectorLanes& lanes = lanes_.vectors[number];
  return plan_.group_lanes().is_permuted() ? permuted(lanes, number, step) : selected(lanes);
}

Vec LaneInputs::selected(const VectorLanes& vector) const {
  const auto of_group = [&](const LaneRun& run) {
    return builder_.get(loaded_[static_cast<std::size_t>(run.group)]);
  };
  Vec inputs = of_group(vector.runs[0]);
  for (std::size_t i = 1; i < vector.runs.size(); ++i) {
    const LaneRun& run = vector.runs[i];
    inputs = select(loopnest::active_lanes(run.lane, plan_.lanes()), inputs, of_group(run));
  }
  return inputs;
}

Vec LaneInputs::permuted(const VectorLanes& vector, std::size_t number, std::int64_t step) {
  const GroupLanes& groups = plan_.group_lanes();
  if (step == 0) load_sources(vector, number);
  if (step % groups.unit() != 0)
    return permute(builder_.get(*unit_), groups.lanes_in_unit(step % groups.unit()));
  unit_ = builder_.local(gathered(groups.sources_of_lanes(vector, step)));
  return builder_.get(*unit_);
}

void LaneInputs::load_sources(const VectorLanes& vector, std::size_t number) {
  const int lanes = plan_.lanes();
  const std::int64_t stride = in_.c0 != 0 ? in_.channel_block : lanes;
  loaded_.clear();
  for (std::int64_t source = 0; source < plan_.group_lanes().sources(vector); ++source) {
    auto active = active_[number];
    if (active) active = min(*active - source * lanes, lanes);
    const Int at = places_[number] + (source * stride + offset_);
    loaded_.push_back(builder_.local(builder_.load(input_, at, lanes, active)));
  }
}

/// Lane i is lane from[i] of all sources' lanes in a row.
Vec LaneInputs::gathered(const std::vector<int>& from) const {
  const int lanes = plan_.lanes();
  Vec inputs = builder_.get(loaded_[0]);
  std::vector<int> in_place(from.size());
  std::iota(in_place.begin(), in_place.end(), 0);
  if (from == in_place) return inputs;
  if (loaded_.size() == 1) return permute(inputs, from);
  for (std::size_t source = 1; source < loaded_.size(); ++source) {
    std::vector<int> places = in_place;  // what the sources before have brought stays
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (source == 1 && from[i] < lanes) places[i] = from[i];
      if (from[i] / lanes == static_cast<int>(source)) places[i] = lanes + from[i] % lanes;
    }
    inputs = permute(inputs, builder_.get(loaded_[source]), std::move(places));
  }
  return inputs;
}

}  // namespace aoe::compiler
