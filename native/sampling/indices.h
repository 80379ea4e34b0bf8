// Indices of a Gather or Scatter, checked where they lie.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "base/tensor.h"
#include "native/wide.h"
#include "reference/tensors/indices.h"

namespace aoe::native {

/// Whether all of some indices are in [0, dim), or else in [-dim, dim), where negative ones are counted from the end.
enum class Pointing { kFromStart, kFromEither, kOutside };

template <typename Index>
AOE_WIDE Pointing pointing_of(const Index* indices, std::int64_t count, Index dim) {
  using Bits = std::make_unsigned_t<
      Index>;  // whose sums wrap around: their signs say what comparisons would
  Bits beyond = 0, negative = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const Bits index = static_cast<Bits>(indices[i]), size = static_cast<Bits>(dim);
    beyond |= (size - 1 - index) | ((index + size) & index);
    negative |= index;
  }
  if (static_cast<Index>(beyond) < 0) return Pointing::kOutside;
  return static_cast<Index>(negative) < 0 ? Pointing::kFromEither : Pointing::kFromStart;
}

/// All in [0, dim); Error(kModel) when one is outside [-dim, dim). They are copied only where that is needed.
class CheckedIndices {
 public:
  CheckedIndices(const Tensor& tensor, std::int64_t dim) : data_(tensor.as<std::int64_t>()) {
    if (tensor.desc.dtype == DataType::kInt64 &&
        pointing_of(data_, tensor.elements(), dim) == Pointing::kFromStart)
      return;
    copy_ = reference::read_indices(tensor, dim);
    data_ = copy_.data();
  }
  CheckedIndices(const CheckedIndices&) = delete;

  const std::int64_t* data() const { return data_; }

 private:
  std::vector<std::int64_t> copy_;
  const std::int64_t* data_;
};

}  // namespace aoe::native
