// Inputs by lane: selected from broadcasts, or permuted. See lane_inputs.h.
#include "compiler/conv/lane_inputs.h"

#include <numeric>
#include <optional>
#include <vector>

namespace aoe::compiler {
namespace {

/// One element of each group, broadcast; lanes of several groups are told apart by masks.
class SelectedInputs final : public LaneInputs {
 public:
  SelectedInputs(Builder& builder, const DirectCut& cut, const BlockLanes& block,
                 const InputPlace& at)
      : builder_(builder),
        lanes_(cut.lanes()),
        type_(cut.factor_type()),
        block_(block),
        buffer_(at.buffer),
        channel_stride_(at.layout.channel) {
    for (std::int64_t group = 0; group < block.groups(); ++group) {
      const Int channel = at.first_channel + group * cut.shape().group_in_channels();
      places_.push_back(at.tap + at.layout.channel_offset(in_memory(cut.shape(), channel)));
    }
  }

  std::int64_t steps_per_load() const override { return 1; }

  void load(std::int64_t offset, std::int64_t step) override {
    broadcasts_.clear();
    for (const Int& place : places_)
      broadcasts_.push_back(
          builder_.local(builder_.load_as(type_, buffer_, place + (step * channel_stride_ + offset),
                                          lanes_ * per_word(type_), {}, 0)));
  }

  Vec get(std::int64_t vector, std::int64_t) override {
    const std::vector<LaneRun>& runs = block_.vectors[static_cast<std::size_t>(vector)].runs;
    Vec inputs = of_group(runs[0].group);
    for (std::size_t i = 1; i < runs.size(); ++i)
      inputs =
          select(loopnest::active_lanes(runs[i].lane, lanes_), inputs, of_group(runs[i].group));
    return inputs;
  }

 private:
  /// The channel of the input that is channel `c` of the convolution.
  static Int in_memory(const ConvShape& s, Int c) {
    if (s.input_shuffle == 1) return c;
    return c % s.input_shuffle * (s.in_channels / s.input_shuffle) + c / s.input_shuffle;
  }

  Vec of_group(std::int64_t group) const {
    return builder_.get(broadcasts_[static_cast<std::size_t>(group)]);
  }

  Builder& builder_;
  int lanes_;
  loopnest::Type type_;
  const BlockLanes& block_;
  Buffer buffer_;
  std::int64_t channel_stride_;
  std::vector<Int> places_;        ///< by group: of the chunk's first channel
  std::vector<Local> broadcasts_;  ///< by group
};

/// All channels of a vector's groups, loaded as they lie; lanes are moved once for each unit of steps, and in the unit.
class PermutedInputs final : public LaneInputs {
 public:
  PermutedInputs(Builder& builder, const DirectCut& cut, const BlockLanes& block,
                 const InputPlace& at)
      : builder_(builder),
        lanes_(cut.lanes()),
        groups_(cut.group_lanes()),
        block_(block),
        buffer_(at.buffer),
        steps_(cut.shape().group_in_channels()),
        source_stride_(at.layout.c0 != 0 ? at.layout.channel_block : cut.lanes()) {
    for (const VectorLanes& vector : block.vectors) {
      const Int channel = at.first_channel + vector.runs[0].group * steps_;
      places_.push_back(at.tap + at.layout.channel_offset(channel) - vector.phase);
      channels_.push_back(cut.shape().in_channels + vector.phase - channel);
    }
  }

  std::int64_t steps_per_load() const override { return steps_; }

  void load(std::int64_t offset, std::int64_t) override { offset_ = offset; }

  Vec get(std::int64_t vector, std::int64_t step) override {
    const auto number = static_cast<std::size_t>(vector);
    if (step == 0) load_sources(number);
    const std::int64_t in_unit = step % groups_.unit();
    if (in_unit != 0) return permute(builder_.get(*unit_), groups_.lanes_in_unit(in_unit));
    unit_ = builder_.local(gathered(groups_.sources_of_lanes(block_.vectors[number], step)));
    return builder_.get(*unit_);
  }

 private:
  void load_sources(std::size_t vector) {
    sources_.clear();
    for (std::int64_t i = 0; i < groups_.sources(block_.vectors[vector]); ++i) {
      std::optional<Int> active;
      if (groups_.reads_beyond()) active = min(channels_[vector] - i * lanes_, lanes_);
      const Int at = places_[vector] + (i * source_stride_ + offset_);
      sources_.push_back(builder_.local(builder_.load(buffer_, at, lanes_, active)));
    }
  }

  /// Lane i is lane from[i] of all sources' lanes in a row.
  Vec gathered(const std::vector<int>& from) const {
    Vec inputs = builder_.get(sources_[0]);
    std::vector<int> in_place(from.size());
    std::iota(in_place.begin(), in_place.end(), 0);
    if (from == in_place) return inputs;
    if (sources_.size() == 1) return permute(inputs, from);
    for (std::size_t source = 1; source < sources_.size(); ++source) {
      std::vector<int> places = in_place;  // what the sources before have brought stays
      for (std::size_t i = 0; i < from.size(); ++i) {
        if (source == 1 && from[i] < lanes_) places[i] = from[i];
        if (from[i] / lanes_ == static_cast<int>(source)) places[i] = lanes_ + from[i] % lanes_;
      }
      inputs = permute(inputs, builder_.get(sources_[source]), std::move(places));
    }
    return inputs;
  }

  Builder& builder_;
  int lanes_;
  const GroupLanes& groups_;
  const BlockLanes& block_;
  Buffer buffer_;
  std::int64_t steps_, source_stride_, offset_ = 0;
  std::vector<Int> places_;     ///< by vector: of its first source
  std::vector<Int> channels_;   ///< by vector: from there on
  std::vector<Local> sources_;  ///< of the current vector
  std::optional<Local> unit_;   ///< inputs of the current unit's first step
};

}  // namespace

std::unique_ptr<LaneInputs> lane_inputs(Builder& builder, const DirectCut& cut,
                                        const BlockLanes& lanes, const InputPlace& place) {
  if (cut.group_lanes().is_permuted())
    return std::make_unique<PermutedInputs>(builder, cut, lanes, place);
  return std::make_unique<SelectedInputs>(builder, cut, lanes, place);
}

}  // namespace aoe::compiler
