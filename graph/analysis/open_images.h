// Images whose height or width only a run can tell, and what operators over them are once their channels come last
// (graph/passes/put_channels_last.cpp).
#pragma once

#include <cstdint>
#include <functional>

#include "graph/graph.h"

namespace aoe::graph {

constexpr std::size_t kImageRank = 4, kOutDim = 0, kInDim = 1, kHeightDim = 2, kWidthDim = 3;
/// Images of so few channels, as networks begin with, cost nothing to be turned.
constexpr std::int64_t kFewChannels = 4;

/// Of float32 or bytes.
bool is_open_image(const Graph& graph, ValueId value);

/// One number for each channel, or one for all.
bool is_channel_vector(const Shape& shape);
bool is_one_element(const Shape& shape);

enum class ImageOp {
  kOther,
  kPointwise,  ///< a convolution that is a product of pixels
  kWindow,     ///< one of few products for each number it reads
  kDense,
  kElementwise,
  kMean,
  kPool,
  kConcat,
  kSplit,
  kResize
};

inline bool is_convolution(ImageOp op) {
  return op == ImageOp::kPointwise || op == ImageOp::kWindow || op == ImageOp::kDense;
}

/// What a node is, of which `is_turned` says whether what it reads has channels last.
ImageOp image_op_of(const Graph& graph, const Node& node,
                    const std::function<bool(ValueId)>& is_turned);

}  // namespace aoe::graph
