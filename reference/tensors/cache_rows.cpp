#include "reference/tensors/cache_rows.h"

#include <cstring>

#include "reference/fail.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/widen.h"

namespace aoe::reference {

std::size_t CacheRows::axis(const Attrs& attrs, std::size_t rank) {
  const std::size_t axis = normalize_axis(attrs.get_int("axis", -2), rank);
  if (axis == 0) fail_model("axis is that of the batch");
  return axis;
}

CacheRows::CacheRows(const Attrs& attrs, std::span<const Tensor> inputs)
    : cache_(inputs[0]),
      update_(inputs[1]),
      is_circular_(attrs.get_string("mode", "linear") == "circular") {
  const std::size_t along = axis(attrs, cache_.desc.shape.size());
  const AxisView to = view_axis(cache_.desc.shape, along);
  slabs_ = to.outer;
  room_ = to.dim;
  rows_ = update_.desc.shape[along];
  row_bytes_ = static_cast<std::size_t>(to.inner) * size_bytes(cache_.desc.dtype);
  begins_.assign(static_cast<std::size_t>(cache_.desc.shape[0]), 0);
  if (inputs.size() > 2 && inputs[2].is_present()) begins_ = to_int64s(inputs[2]);
  if (is_circular_) return;
  for (const std::int64_t begin : begins_)
    if (begin < 0 || begin > room_ - rows_)
      fail_model("write index " + std::to_string(begin) + " puts " + std::to_string(rows_) +
                 " rows outside a cache of " + std::to_string(room_));
}

std::int64_t CacheRows::place(std::int64_t slab, std::int64_t row) const {
  const std::int64_t images = std::ssize(begins_);
  const std::int64_t begin = begins_[static_cast<std::size_t>(slab / (slabs_ / images))];
  if (!is_circular_) return begin + row;
  const std::int64_t first = (begin % room_ + room_) % room_;  // a sum with `begin` may overflow
  return (first + row) % room_;
}

void CacheRows::write(const Tensor& present, std::int64_t begin, std::int64_t end) const {
  if (slab_bytes() == 0) return;
  for (std::int64_t slab = begin; slab < end; ++slab) {
    char* const to = present.as<char>() + static_cast<std::size_t>(slab) * slab_bytes();
    const char* const from =
        update_.as<char>() + static_cast<std::size_t>(slab * rows_) * row_bytes_;
    if (present.data != cache_.data)
      std::memcpy(to, cache_.as<char>() + static_cast<std::size_t>(slab) * slab_bytes(),
                  slab_bytes());
    for (std::int64_t row = 0; row < rows_; ++row)
      std::memcpy(to + static_cast<std::size_t>(place(slab, row)) * row_bytes_,
                  from + static_cast<std::size_t>(row) * row_bytes_, row_bytes_);
  }
}

}  // namespace aoe::reference
