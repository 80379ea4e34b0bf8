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
#include "compiler/tiling_axes.h"

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
  std::int64_t accumulators = 1;  ///< where a row is one result: vectors in flight per pass over it
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

/// A Plan whose Schedules are tilings of one nest: how many rows and which part of a row an iteration takes, and what it has
/// in flight.
class NestPlan : public Plan {
 public:
  Features features(const Schedule& schedule) const override;

 protected:
  /// The last axis, and its value by default.
  struct InFlight {
    TilingAxes<NestTiling>::Axis axis;
    std::int64_t by_default;
  };
  static InFlight unrolled() { return {{"unroll", &NestTiling::unroll, {1, 2, 4}}, 2}; }
  static InFlight accumulated() {
    return {{"accumulators", &NestTiling::accumulators, {1, 2, 4, 8}}, 4};
  }

  /// `lanes` is 1 where vectors run along what the nest takes for one element. `cost` counts the operations of an element:
  /// by default every thread gets several iterations of a few thousand operations.
  NestPlan(const Task& task, const FormatChoice& format, const Soc& soc, const StridedNest& nest,
           int lanes, std::int64_t cost = 1, const InFlight& in_flight = unrolled());

  const StridedNest& nest() const { return nest_; }
  virtual NestTiling tiling(const Schedule& schedule) const;
  /// Emits the whole nest.
  void emit(loopnest::Builder& builder, const NestTiling& tiling,
            const std::function<void(const NestPosition&)>& body) const;

 private:
  Schedule search() const final;

  StridedNest nest_;
  int lanes_;
  std::int64_t cost_;
  NestTiling start_;
  TilingAxes<NestTiling> axes_;
};

}  // namespace aoe::compiler
