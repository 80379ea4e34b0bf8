// The arithmetic of lanes that go over the borders of groups.
#include "compiler/conv/group_lanes.h"

#include <algorithm>

#include "compiler/emit/integer_math.h"

namespace aoe::compiler {
namespace {

struct GroupRange {
  std::int64_t first, last;
};

/// Groups of the output channels of a vector; one beyond the last channel counts to the last group.
GroupRange groups_of(const ConvShape& s, int lanes, std::int64_t vector) {
  const std::int64_t begin = std::min(vector * lanes, s.out_channels - 1);
  const std::int64_t last = std::min((vector + 1) * lanes, s.out_channels) - 1;
  return {begin / s.group_out_channels(), last / s.group_out_channels()};
}

std::int64_t unit_of(const ConvShape& s) {
  for (const std::int64_t unit : {4, 2})
    if (s.group_in_channels() % unit == 0 && s.group_out_channels() % unit == 0) return unit;
  return 1;
}

/// Vectors of a pixel's channels begin at multiples of the lanes where the Format says so or where this aligns them:
/// vectors that go over cache lines take twice as long.
std::int64_t phase_of(const ConvShape& s, Format in, int lanes, std::int64_t group) {
  const bool is_aligned = in == Format::kNC1HWC0 || s.in_channels % lanes == 0;
  return is_aligned ? group * s.group_in_channels() % lanes : 0;
}

/// After so many values the first ones come again; all of them when they do not.
std::size_t period_of(const std::vector<std::size_t>& values) {
  std::size_t period = 1;
  while (!std::equal(values.begin() + static_cast<std::ptrdiff_t>(period), values.end(),
                     values.begin()))
    ++period;
  return period;
}

}  // namespace

bool is_permuted(const ConvShape& s, Format in, int lanes) {
  constexpr std::int64_t kMostSources = 3;
  if (s.group_out_channels() >= lanes || s.group_in_channels() > lanes) return false;
  // A permutation of two vectors for every channel costs more than to select.
  if (unit_of(s) == 1 && s.group_out_channels() > lanes / 2) return false;
  if (s.groups == 1 || s.input_shuffle > 1 || (in != Format::kNHWC && in != Format::kNC1HWC0))
    return false;
  for (std::int64_t v = 0; v < ceil_div(s.out_channels, lanes); ++v) {
    const auto [first, last] = groups_of(s, lanes, v);
    const std::int64_t channels = (last - first + 1) * s.group_in_channels();
    if (phase_of(s, in, lanes, first) + channels > kMostSources * lanes) return false;
  }
  return true;
}

GroupLanes::GroupLanes(const ConvShape& shape, Format in, int lanes, std::int64_t vectors_per_block)
    : shape_(shape),
      in_(in),
      lanes_(lanes),
      is_permuted_(compiler::is_permuted(shape, in, lanes)),
      unit_(is_permuted_ ? unit_of(shape) : 1) {
  const std::int64_t block_lanes = vectors_per_block * lanes;
  const std::int64_t blocks = ceil_div(shape.out_channels, block_lanes);
  if (shape.groups == 1 || shape.group_out_channels() % block_lanes == 0) {
    const auto vectors = static_cast<std::size_t>(vectors_per_block);
    kinds_ = {{.vectors = std::vector<VectorLanes>(vectors, {.runs = {{}}}), .blocks = blocks}};
    kind_of_ = {0};
    return;
  }
  for (std::int64_t block = 0; block < blocks; ++block) {
    const std::int64_t first = groups_of(shape, lanes, block * vectors_per_block).first;
    BlockLanes made;
    for (std::int64_t v = 0; v < vectors_per_block; ++v)
      made.vectors.push_back(lanes_of(block * vectors_per_block + v, first));
    auto known = std::ranges::find(kinds_, made.vectors, &BlockLanes::vectors);
    if (known == kinds_.end()) known = kinds_.insert(known, std::move(made));
    ++known->blocks;
    kind_of_.push_back(static_cast<std::size_t>(known - kinds_.begin()));
  }
  const auto usual = static_cast<std::size_t>(
      std::ranges::max_element(kinds_, {}, &BlockLanes::blocks) - kinds_.begin());
  std::swap(kinds_[0], kinds_[usual]);
  for (std::size_t& kind : kind_of_) kind = kind == usual ? 0 : kind == 0 ? usual : kind;
  kind_of_.resize(period_of(kind_of_));
}

VectorLanes GroupLanes::lanes_of(std::int64_t vector, std::int64_t first_group) {
  const auto [first, last] = groups_of(shape_, lanes_, vector);
  VectorLanes made;
  for (std::int64_t group = first; group <= last; ++group) {
    const std::int64_t lane = group * shape_.group_out_channels() - vector * lanes_;
    made.runs.push_back({.lane = std::max<std::int64_t>(lane, 0), .group = group - first_group});
  }
  if (!is_permuted_) return made;
  made.place = vector * lanes_ % shape_.group_out_channels();
  made.phase = phase_of(shape_, in_, lanes_, first);
  const std::int64_t end = first * shape_.group_in_channels() - made.phase + sources(made) * lanes_;
  reads_beyond_ |= in_ == Format::kNHWC && end > shape_.in_channels;
  return made;
}

bool GroupLanes::has_mixed_blocks() const {
  return std::ranges::any_of(kinds_, [](const BlockLanes& block) { return block.groups() > 1; });
}

std::int64_t GroupLanes::channel(std::int64_t place, std::int64_t step) const {
  if (!is_permuted_) return step;
  const std::int64_t units = shape_.group_in_channels() / unit_;
  const std::int64_t unit = (place / unit_ + step / unit_) % units;
  return unit * unit_ + (place ^ step) % unit_;
}

std::int64_t GroupLanes::sources(const VectorLanes& vector) const {
  const std::int64_t groups = vector.runs.back().group - vector.runs.front().group + 1;
  return ceil_div(vector.phase + groups * shape_.group_in_channels(), lanes_);
}

std::vector<int> GroupLanes::sources_of_lanes(const VectorLanes& vector, std::int64_t step) const {
  std::vector<int> lanes;
  for (std::size_t i = 0; i < vector.runs.size(); ++i) {
    const std::int64_t group = vector.runs[i].group - vector.runs[0].group;
    const std::int64_t end = i + 1 < vector.runs.size() ? vector.runs[i + 1].lane : lanes_;
    for (std::int64_t lane = vector.runs[i].lane; lane < end; ++lane) {
      const std::int64_t place = vector.place + lane - group * shape_.group_out_channels();
      lanes.push_back(static_cast<int>(vector.phase + group * shape_.group_in_channels() +
                                       channel(place, step)));
    }
  }
  return lanes;
}

std::vector<int> GroupLanes::lanes_in_unit(std::int64_t step) const {
  std::vector<int> lanes;
  for (int lane = 0; lane < lanes_; ++lane) lanes.push_back(lane ^ static_cast<int>(step % unit_));
  return lanes;
}

}  // namespace aoe::compiler
