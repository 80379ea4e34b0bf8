// What the families of random nodes have in common: each function draws fitting inputs and attributes and adds a node, or none.
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "tests/robustness/model_draw.h"

namespace aoe::tests {

using Strings = std::vector<std::string>;
using Types = std::vector<DataType>;
using reference::Attrs;
using Id = ModelDraw::Id;
inline constexpr Id kAbsent = ModelDraw::kAbsent;

inline const Types kFloats = {DataType::kFloat, DataType::kFloat,  DataType::kFloat,
                              DataType::kFloat, DataType::kDouble, DataType::kFloat16};
inline const Types kNumbers = {DataType::kFloat, DataType::kFloat, DataType::kFloat,
                               DataType::kInt64, DataType::kInt32, DataType::kDouble};
inline const Types kIntegers = {DataType::kInt64,  DataType::kInt32,  DataType::kInt16,
                                DataType::kInt8,   DataType::kUint8,  DataType::kUint16,
                                DataType::kUint32, DataType::kUint64, DataType::kInt64};
inline const Types kAny = {
    DataType::kFloat,  DataType::kFloat, DataType::kFloat,  DataType::kFloat, DataType::kInt64,
    DataType::kInt32,  DataType::kBool,  DataType::kUint8,  DataType::kInt8,  DataType::kDouble,
    DataType::kUint64, DataType::kInt16, DataType::kFloat16};

/// Types that an operator of this kind takes: one of them each time, so that what is there fits often.
inline Types one_of(ModelDraw& d, const Types& types) {
  return {d.pick(types)};
}

inline Ints distinct_axes(ModelDraw& d, std::size_t rank) {
  Ints axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  for (std::size_t i = rank; i > 1; --i)
    std::swap(axes[i - 1], axes[static_cast<std::size_t>(d.below(static_cast<std::int64_t>(i)))]);
  if (rank > 0)
    axes.resize(static_cast<std::size_t>(d.between(1, static_cast<std::int64_t>(rank))));
  for (std::int64_t& axis : axes)
    if (d.one_in(2)) axis -= static_cast<std::int64_t>(rank);
  return axes;
}

/// Draws a node; one that stands in its list twice is drawn twice as often.
using NodeDrawer = void (*)(ModelDraw&);

std::vector<NodeDrawer> elementwise_drawers();
std::vector<NodeDrawer> axis_drawers();
std::vector<NodeDrawer> move_drawers();
std::vector<NodeDrawer> product_drawers();
std::vector<NodeDrawer> contributed_drawers();
std::vector<NodeDrawer> image_drawers();
std::vector<NodeDrawer> other_drawers();

}  // namespace aoe::tests
