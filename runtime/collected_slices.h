// CollectedSlices: what the trips of a Loop or Scan give for one output, until it is known how many there are.
#pragma once

#include <cstdint>
#include <vector>

#include "base/tensor.h"
#include "runtime/aligned_memory.h"

namespace aoe::runtime {

class CollectedSlices {
 public:
  /// `slice`: as far as it is known before the first trip.
  explicit CollectedSlices(TensorDesc slice) : slice_(std::move(slice)) {}

  /// What all slices are like; of none, what is open has size 0 in stacked().
  const TensorDesc& slice() const { return slice_; }
  std::int64_t count() const { return count_; }
  std::size_t memory_bytes() const { return memory_bytes_; }

  /// "No": this one has another shape than those before.
  bool add(const Tensor& slice);

  /// All of them, side by side along a new axis.
  TensorDesc stacked(std::size_t axis) const;
  /// Writes them to where stacked(axis) lies, the last first when `is_reversed`.
  void stack(void* to, std::size_t axis, bool is_reversed) const;

 private:
  struct Block {
    AlignedMemory memory;
    std::int64_t slices = 0;
  };
  std::size_t slice_bytes() const { return storage_bytes(slice_); }

  TensorDesc slice_;
  std::vector<Block> blocks_;
  std::int64_t count_ = 0;
  std::int64_t room_ = 0;  ///< slices that the last block has still room for
  std::size_t memory_bytes_ = 0;
};

}  // namespace aoe::runtime
