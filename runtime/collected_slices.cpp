// Blocks that double up to a megabyte: a slice may be a single number, and an allocation of its own would be many times that.
#include "runtime/collected_slices.h"

#include <algorithm>
#include <cstring>

#include "reference/tensors/axes.h"

namespace aoe::runtime {
namespace {

constexpr std::int64_t kFirstSlices = 8;
constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

}  // namespace

bool CollectedSlices::add(const Tensor& slice) {
  if (count_ > 0 && slice_.shape != slice.desc.shape) return false;
  slice_ = slice.desc;
  ++count_;
  const std::size_t bytes = slice_bytes();
  if (bytes == 0) return true;
  if (room_ == 0) {
    const auto most = static_cast<std::int64_t>(std::max<std::size_t>(1, kBlockBytes / bytes));
    room_ = std::min(std::max(kFirstSlices, count_), most);
    blocks_.push_back({.memory = AlignedMemory(static_cast<std::size_t>(room_) * bytes)});
    memory_bytes_ += blocks_.back().memory.size_bytes();
  }
  Block& block = blocks_.back();
  std::memcpy(block.memory.at(static_cast<std::size_t>(block.slices) * bytes), slice.data, bytes);
  ++block.slices;
  --room_;
  return true;
}

TensorDesc CollectedSlices::stacked(std::size_t axis) const {
  TensorDesc desc = slice_;
  for (std::int64_t& dim : desc.shape) dim = std::max<std::int64_t>(dim, 0);  // of no trip
  desc.shape.insert(desc.shape.begin() + static_cast<std::ptrdiff_t>(axis), count_);
  return desc;
}

void CollectedSlices::stack(void* to, std::size_t axis, bool is_reversed) const {
  if (blocks_.empty()) return;
  const std::size_t inner =
      static_cast<std::size_t>(reference::dim_product(slice_.shape, axis, slice_.shape.size())) *
      size_bytes(slice_.dtype);
  const std::int64_t outer = reference::dim_product(slice_.shape, 0, axis);
  std::int64_t trip = 0;
  for (const Block& block : blocks_)
    for (std::int64_t i = 0; i < block.slices; ++i, ++trip) {
      const std::int64_t place = is_reversed ? count_ - 1 - trip : trip;
      const std::byte* from = block.memory.at(static_cast<std::size_t>(i) * slice_bytes());
      for (std::int64_t o = 0; o < outer; ++o)
        std::memcpy(
            static_cast<std::byte*>(to) + static_cast<std::size_t>(o * count_ + place) * inner,
            from + static_cast<std::size_t>(o) * inner, inner);
    }
}

}  // namespace aoe::runtime
