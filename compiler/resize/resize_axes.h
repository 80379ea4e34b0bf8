// Resize and Upsample as tables of positions and weights, which are known at compile time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/task.h"
#include "reference/windows/resize.h"

namespace aoe::compiler {

/// How one dimension is read: entry `tap * out + o` of both vectors belongs to output position o.
struct AxisTable {
  std::int64_t taps = 1;
  bool is_weighted = false;  ///< else every weight is 1
  std::vector<std::int32_t> positions;
  std::vector<float> weights;
};

/// How vectors of outputs read the row: each from its own place on, in two vectors at most.
struct RowPicks {
  std::vector<std::int32_t> begins;  ///< of each vector of outputs
  bool reads_two = false;  ///< else one vector of the row has all that a vector of outputs reads
};

struct ResizedDimension {
  std::int64_t in = 1, out = 1;
  std::optional<AxisTable> table;  ///< none: kept as it is
  std::int64_t in_stride = 1, out_stride = 1;
};

/// A call in a Format, for vectors of `lanes`.
struct ResizeAxes {
  ResizeAxes(const Task& task, Format main, int lanes);

  /// In the order of memory, two at least; neighbours that are kept are one.
  std::vector<ResizedDimension> dimensions;
  std::int64_t row_elements = 0;  ///< that may be read where the innermost dimension is resized
  std::optional<RowPicks> picks;

  const ResizedDimension& last() const { return dimensions.back(); }
  std::int64_t taps() const;  ///< behind each output
  /// Is a row to pick from a weighted sum, rather than a row of the input?
  bool blends_rows() const;
  std::int64_t parallel_extent() const;
};

/// By logical dimension.
std::vector<std::vector<reference::ResampledPosition>> resampled_positions(const Task& task);

/// Whether the elements along a logical dimension stay what they are.
bool keeps_dimension(const Task& task, std::size_t dimension);

}  // namespace aoe::compiler
