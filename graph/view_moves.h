// A strided view of a tensor as the nodes that copy what a kernel with strides reads in place
// (Reshape, Slice, Transpose, Expand): the way back from strided_view.h. Internal to graph/.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "graph/pieces.h"
#include "graph/strided_view.h"

namespace aoe::graph {

/// One node on the way.
struct ViewMove {
  reference::OpCall op;
  std::vector<std::vector<std::int64_t>> parameters;  ///< its inputs behind the tensor
  Shape shape;                                        ///< of its result
};

/// From a dense tensor of shape `from` to a dense one of shape `to`, whose elements are the steps
/// `dims`, outermost first, that begin at element `offset`; no moves when it is the same tensor.
/// "No" when the steps do not nest: rows that overlap, or whose gaps end with the tensor.
Result<std::vector<ViewMove>> moves_to_view(const Shape& from, std::int64_t offset,
                                            const std::vector<Factor>& dims, const Shape& to);

/// Makes the moves nodes; returns the last one's result.
ValueId add_moves(Pieces& pieces, const std::string& what, ValueId from,
                  const std::vector<ViewMove>& moves);

}  // namespace aoe::graph
