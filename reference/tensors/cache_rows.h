// Rows that TensorScatter writes into a cache: which place each one goes to.
#pragma once

#include <cstdint>
#include <vector>

#include "base/tensor.h"
#include "reference/op.h"

namespace aoe::reference {

class CacheRows {
 public:
  /// Of TensorScatter's inputs. Throws Error(kModel) without a place when a row lies outside the cache.
  CacheRows(const Attrs& attrs, std::span<const Tensor> inputs);

  /// The axis among the cache's; throws Error(kModel) when it is that of the batch.
  static std::size_t axis(const Attrs& attrs, std::size_t rank);

  /// Slabs of the cache: all dimensions before the axis.
  std::int64_t slabs() const { return slabs_; }
  std::size_t slab_bytes() const { return static_cast<std::size_t>(room_) * row_bytes_; }

  /// Copies the slabs [begin, end) of the cache, where `present` is not the cache itself, and writes their rows.
  void write(const Tensor& present, std::int64_t begin, std::int64_t end) const;

 private:
  std::int64_t place(std::int64_t slab, std::int64_t row) const;

  Tensor cache_, update_;
  bool is_circular_;
  std::vector<std::int64_t> begins_;  ///< by image
  std::int64_t slabs_, room_, rows_;
  std::size_t row_bytes_;
};

}  // namespace aoe::reference
