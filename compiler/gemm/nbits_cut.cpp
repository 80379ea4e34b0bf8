// The arithmetic of the tiling of a product with packed weights.
#include <algorithm>

#include "compiler/gemm/nbits_nest.h"

namespace aoe::compiler {
namespace {

constexpr double kUnpackCost =
    3;  ///< vector operations for a vector of weights: mask, shift, convert
constexpr double kScaleCost = 1;  ///< and to scale each
/// Of an element in all lanes, and of the sum of such: once for all vectors.
constexpr double kElementCost = 2;
constexpr std::int64_t kMaxBlockSumRows = 3;  ///< more rows share a scaled weight
constexpr double kPanelCost = 1.5;            ///< to store it in a panel, too
constexpr double kPanelBytesPerCycle = 32;    ///< that come back from it: most panels lie in L2

}  // namespace

PackedCut::PackedCut(const Task& task, int lanes, const PackedTiling& tiling)
    : weights_(reference::packed_weights(task.op.attrs, task.in(reference::kPackedX).shape,
                                         task.in(reference::kPackedWeight).shape)),
      rows_(element_count(task.in(reference::kPackedX).shape) / weights_.k),
      lanes_(lanes),
      tiling_(tiling) {
}

bool PackedCut::scales_sums() const {
  return !has_panel() && tiling_.m_block <= kMaxBlockSumRows;
}

std::int64_t PackedCut::registers() const {
  const std::int64_t m = tiling_.m_block, n = tiling_.n_vectors;
  return scales_sums() ? (2 * m + 1) * n + m + 3 : (m + 2) * n + 3;
}

double PackedCut::core_cycles() const {
  constexpr double kFmaLatency = 4, kPorts = 2;
  const auto m = static_cast<double>(tiling_.m_block), v = static_cast<double>(tiling_.n_vectors);
  const double unpacked = has_panel() ? 0 : kUnpackCost + (scales_sums() ? 0 : kScaleCost);
  const double once = scales_sums() ? m * kElementCost : 0;
  // Where each block of rows reads a panel again, few rows a block wait for it.
  const double loads =
      has_panel() ? v * lanes_ * sizeof(float) / kPanelBytesPerCycle + m / kPorts : 0;
  const double per_element = std::max({kFmaLatency, (v * (m + unpacked) + once) / kPorts, loads});
  const double panels = has_panel() ? static_cast<double>(parallel_extent()) * v *
                                          (kUnpackCost + kScaleCost + kPanelCost) / kPorts
                                    : 0;
  return static_cast<double>(weights_.k) *
         (static_cast<double>(column_blocks() * row_blocks()) * per_element + panels);
}

Result<void> supports_packed(const Task& task) {
  for (std::size_t i = reference::kPackedWeight; i < task.inputs.size(); ++i)
    if (task.inputs[i].is_present() && !task.inputs[i].constant)
      return Unexpected("weights, scales or zero points are computed");
  if (element_count(task.in(0).shape) == 0 || element_count(task.out().shape) == 0)
    return Unexpected("there is nothing to multiply");
  const bool has_zeros = task.has_input(reference::kPackedZero);
  const DataType zeros = has_zeros ? task.in(reference::kPackedZero).dtype : DataType::kUint8;
  if (zeros != DataType::kUint8 && zeros != DataType::kFloat)
    return Unexpected("zero points are " + to_string(task.in(reference::kPackedZero)));
  return {};
}

}  // namespace aoe::compiler
