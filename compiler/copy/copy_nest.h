// CopyRegion: a block of elements that moves from one tensor into another, each with its own
// strides; and the nests that move it.
//
// Where both sides run through memory in the same direction, vectors are loaded and stored. Where
// they cross, square tiles are loaded along the source's direction, transposed in registers and
// stored along the target's.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/impl.h"
#include "compiler/loopnest/loopnest.h"

namespace aoe::compiler {

struct CopyRegion {
  Shape extents;   ///< in the target's order: its last stride is 1
  Shape from, to;  ///< strides in elements; 0 in `from` repeats
  std::int64_t from_offset = 0, to_offset = 0;
  /// Where no stride leads from one element of the last dimension to the next: the distance of each from the first, in
  /// the source; at most one vector of them.
  Shape last_from;
  /// > 0: this many elements of the last dimension are written, zeros behind its extent; at most
  /// one vector.
  std::int64_t padded_last = 0;
  std::size_t input = 0, output = 0;  ///< of the task
  std::optional<float> fill;          ///< written instead of what an input holds
};

struct CopyTiling {
  int lanes = 8;
  std::int64_t unroll = 1;                       ///< vectors per loop iteration
  std::int64_t block_elements = 4096;            ///< about so many per parallel iteration
  loopnest::Type type = loopnest::Type::kFloat;  ///< of lanes that hold every element
};

/// How one region is cut up; made once per kernel.
class CopyNest {
 public:
  CopyNest(CopyRegion region, const CopyTiling& tiling);
  const CopyRegion& region() const { return region_; }
  std::int64_t parallel_extent() const;
  bool is_transposing() const { return crossing_.has_value(); }
  void emit(loopnest::Builder& builder, std::optional<loopnest::Buffer> from, loopnest::Buffer to,
            loopnest::Int p) const;

 private:
  void merge_dimensions();
  void emit_vectors(loopnest::Builder& builder, std::optional<loopnest::Buffer> from,
                    loopnest::Buffer to, loopnest::Int p) const;
  void emit_tiles(loopnest::Builder& builder, loopnest::Buffer from, loopnest::Buffer to,
                  loopnest::Int p) const;
  std::int64_t strip_columns() const;

  CopyRegion region_;
  CopyTiling tiling_;
  /// The dimension along which the source is read in vectors, when it is not the last.
  std::optional<std::size_t> crossing_;
};

}  // namespace aoe::compiler
