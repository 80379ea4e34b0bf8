// StridedNest: one loop nest that walks several tensors at once, each with a stride of its own
// along every dimension. The skeleton of all memory-bound kernels: elementwise chains, copies,
// broadcasts.
//
// The innermost dimension runs through vector lanes; the two innermost may be cut into blocks, and
// everything outside them is spread over the threads.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "compiler/impl.h"
#include "compiler/loopnest/loopnest.h"

namespace aoe::compiler {

struct StridedNest {
  Shape extents;               ///< outermost first; at least one
  std::vector<Shape> strides;  ///< [operand][dimension], in elements; 0 repeats

  /// Merges dimensions that all operands step through as one, but none of the last `keep`; drops
  /// those of extent 1.
  void collapse(std::size_t keep = 0);
  std::int64_t outer() const;  ///< product of all but the two innermost extents
  std::int64_t rows() const;   ///< second innermost; 1 when there is none
  std::int64_t inner() const { return extents.back(); }
};

struct NestTiling {
  int lanes = 8;
  std::int64_t unroll =
      1;  ///< vectors per loop iteration: along a row when it is long, else along rows
  std::int64_t row_block = 1;  ///< rows per parallel iteration
  std::int64_t inner_block =
      0;  ///< elements of a row per parallel iteration, whole loop iterations; 0: whole rows
};

/// Where a vector stands.
struct NestPosition {
  std::vector<loopnest::Int> offsets;      ///< per operand, of the first lane
  std::vector<loopnest::Int> coordinates;  ///< per dimension
  std::optional<loopnest::Int> active;     ///< empty in full vectors
};

std::int64_t parallel_extent(const StridedNest& nest, const NestTiling& tiling);

/// Emits parallel iteration `p`: `body` for every vector.
void emit_nest(loopnest::Builder& builder, const StridedNest& nest, const NestTiling& tiling,
               loopnest::Int p, const std::function<void(const NestPosition&)>& body);

/// Axes "row_block", "inner_block" and "unroll", with a heuristic that gives every thread several
/// iterations of a few thousand operations. `cost` counts the operations of one element.
ScheduleSpace nest_space(const StridedNest& nest, const Soc& soc, std::int64_t cost = 1);
NestTiling nest_tiling(const Schedule& schedule, const Soc& soc);
/// For the cost model.
Features nest_features(const StridedNest& nest, const NestTiling& tiling, const Soc& soc);

}  // namespace aoe::compiler
