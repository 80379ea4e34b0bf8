// A chain of convolutions and poolings carried out row by row: while the last one computes a few rows, those before have
// computed just the rows that these need. What passes between two members lies in a ring of rows that stays in the cache
// of its core; only the chain's own input and output are whole images in memory.
//
// Each thread takes strips of the last output's rows and walks down each of them. Rows are computed once, but for those
// that two strips need. The idea is line buffering, as in Halide's sliding windows (Ragan-Kelley et al., PLDI 2013).
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "compiler/chain/chain_members.h"
#include "compiler/conv/depthwise_nest.h"
#include "compiler/conv/direct_nest.h"
#include "compiler/conv/pool_nest.h"
#include "compiler/impl.h"

namespace aoe::compiler {

/// The register block of one member; depthwise convolutions and poolings only have `ow_block`.
struct RowTiling {
  std::int64_t oc_vectors = 1, ow_block = 1, ic_unroll = 1;
};

/// A Schedule of `row_chain` by name: "strips", "step_rows", "oc_vectors_0", "ow_block_0", "ic_unroll_0", ...
struct RowChainTiling {
  std::int64_t strips = 1;     ///< of each image, cut from the last member's rows
  std::int64_t step_rows = 1;  ///< rows that the last member computes at a time
  std::vector<RowTiling> members;
};

using RowCut = std::variant<DirectCut, DepthwiseCut, PoolCut>;

/// One member, its Formats and how its rows are computed.
struct RowMember {
  ChainMember member;
  FormatChoice format;
  RowCut cut;

  WindowAxis rows() const;
  std::int64_t registers() const;
  std::int64_t body_fmas() const;  ///< vector operations that the code spells out
  double cycles() const;           ///< of all rows once, on one core
  std::int64_t weight_bytes() const;
};

class RowChain {
 public:
  /// `members`: what members_of() says of a chain that supports_row_chain() accepts.
  RowChain(const std::vector<ChainMember>& members, const FormatChoice& format, const Soc& soc,
           const RowChainTiling& tiling);

  const std::vector<RowMember>& members() const { return members_; }
  const RowChainTiling& tiling() const { return tiling_; }
  int lanes() const { return lanes_; }
  std::int64_t batch() const;
  std::int64_t out_rows() const;
  /// Where member `i`, not the last, keeps its rows.
  ImageLayout ring(std::size_t i) const;
  std::int64_t scratch_bytes() const;
  std::int64_t parallel_extent() const { return batch() * tiling_.strips; }
  /// Of all rows on one core, those computed twice included.
  double cycles() const;

 private:
  std::vector<RowMember> members_;
  RowChainTiling tiling_;
  int lanes_;
};

/// Two to kMostChainMembers float32 convolutions and poolings; "no" names the member and why.
inline constexpr std::size_t kMostChainMembers = 4;
Result<void> supports_row_chain(const std::vector<ChainMember>& members, const Soc& soc);

/// The chain's tensors when its first member reads `in` and its last writes `out`; nullopt where two members want an
/// operand in two Formats.
std::optional<FormatChoice> row_chain_format(const Task& chain,
                                             const std::vector<ChainMember>& members,
                                             const std::string& name, Format in, Format out);

Kernel build_row_chain(const Task& chain, const RowChain& cut);

}  // namespace aoe::compiler
