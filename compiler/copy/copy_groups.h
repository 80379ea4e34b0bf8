// CopyGroup: nests of copied regions whose parallel iterations are carried out together.
//
// The parts of a concatenation along its last dimension take turns in the rows of the output, and
// cache lines hold pieces of two or more. Threads that copy different parts at the same time take
// these lines from each other: UltraFace's 4420 rows of 2 + 2 columns take two cores of a Zen 5
// 20 us so, 3 us when one thread copies all pieces of a row.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/copy/copy_nest.h"

namespace aoe::compiler {

struct CopyGroup {
  std::vector<CopyNest> nests;  ///< of one parallel_extent(); at least one

  std::int64_t parallel_extent() const { return nests[0].parallel_extent(); }
};

/// All regions in their order: neighbours that take turns in the same rows, of which a block holds
/// several, as one group, every other region as a group of its own.
std::vector<CopyGroup> copy_groups(const std::vector<CopyRegion>& regions,
                                   const CopyTiling& tiling);

}  // namespace aoe::compiler
