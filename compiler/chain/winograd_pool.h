// A Winograd convolution with a pooling behind it, band by band: one parallel iteration computes the convolution's rows
// that a few rows of the pooling need, in the scratch memory of its thread, and pools them there. The image between the
// two, often the largest of a model, is never written; rows that two bands need are computed twice.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/chain/chain_members.h"
#include "compiler/conv/pool_nest.h"
#include "compiler/conv/winograd_nest.h"
#include "compiler/impl.h"

namespace aoe::compiler {

/// A Schedule of the `winograd_pool_f<m><r>` by name.
struct WinogradPoolTiling : WinogradTiling {  // whose oc_splits stays 1
  std::int64_t band_rows = 1;                 ///< of the pooling, by parallel iteration
  std::int64_t ow_block = 1;  ///< neighbouring outputs of the pooling computed together
};

class WinogradPoolCut {
 public:
  /// `members`: of a chain that supports_winograd_pool() accepts.
  WinogradPoolCut(const std::vector<ChainMember>& members, WinogradSize size, const Soc& soc,
                  const WinogradPoolTiling& tiling);

  const WinogradCut& convolution() const { return convolution_; }
  const PoolCut& pool() const { return pool_; }
  const WinogradPoolTiling& tiling() const { return tiling_; }
  WindowAxis pool_rows() const;
  std::int64_t bands() const;      ///< of an image
  std::int64_t most_rows() const;  ///< of the convolution in one band
  std::int64_t most_tiles() const;
  ImageLayout band() const;  ///< where they lie
  std::int64_t parallel_extent() const;
  std::int64_t scratch_bytes() const;
  double core_cycles() const;  ///< rows computed twice included

 private:
  WinogradCut convolution_;
  PoolCut pool_;
  WinogradPoolTiling tiling_;
};

/// Two members; "no" says what is different.
Result<void> supports_winograd_pool(const std::vector<ChainMember>& members, WinogradSize size,
                                    const Soc& soc);

Kernel build_winograd_pool(const Task& chain, const std::vector<ChainMember>& members,
                           const WinogradPoolCut& cut);

}  // namespace aoe::compiler
