// ChannelAffine: y = x * scale[c] + shift[c] over an op's output channels, and how it goes into the
// op's weights. Internal to graph/.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"

namespace aoe::graph {

struct ChannelAffine {
  std::vector<double> scale;
  std::vector<double> shift;
};

/// How many channels the op's output has and along which axis: dimension 1 of a convolution, the
/// last one of a matrix product with constant weights. Nothing for other ops, and when the weights
/// are not float32 constants.
struct Channels {
  std::size_t axis = 0;
  std::int64_t count = 0;
};
std::optional<Channels> foldable_channels(const Graph& graph, const Node& node);

/// The constant as one value per channel of a tensor of `shape`; nothing when it varies along other
/// dimensions.
std::optional<std::vector<double>> per_channel(const Constant& constant, const Shape& shape,
                                               const Channels& channels);

/// Changes the weights and the bias of `anchor` so that it computes affine(anchor), removes
/// `follower` (which did that until now) and lets the anchor produce its output. False, with
/// nothing changed, when the op has no place for it.
bool fold_affine(Graph& graph, NodeId anchor, NodeId follower, const ChannelAffine& affine);

}  // namespace aoe::graph
