// TapBlock: which elements of a plane a block of points reads, and their weights. Made once, it is applied to the planes of all
// channels, a tap of all points at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "base/tensor.h"
#include "native/threads.h"

namespace aoe::native {

/// Of planes of T, float or double.
template <typename T>
class TapBlock {
 public:
  static constexpr std::int64_t kPoints = 64;
  using Sums = std::array<T, kPoints>;
  using Bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

  /// No taps; at most `most` for a point.
  explicit TapBlock(std::size_t most);
  void clear();
  /// The first `taps` count for each point, whether they are set or not.
  void use(std::size_t taps) { used_ = taps; }
  /// Tap number `tap` of a point. What is not set reads nothing, not even a NaN times zero.
  void set(std::size_t tap, std::int64_t point, std::int64_t place, double weight) {
    used_ = std::max(used_, tap + 1);
    const std::size_t at = tap * kPoints + static_cast<std::size_t>(point);
    places_[at] = static_cast<std::int32_t>(place);
    weights_[at] = static_cast<T>(weight);
    masks_[at] = -1;
  }

  /// Tap number `tap` of all points, to be written.
  struct Row {
    std::int32_t* __restrict places;  ///< 0 where the mask is
    T* __restrict weights;
    Bits* __restrict masks;  ///< 0 or all ones
  };
  Row row(std::size_t tap) {
    used_ = std::max(used_, tap + 1);
    return {&places_[tap * kPoints], &weights_[tap * kPoints], &masks_[tap * kPoints]};
  }

  /// sums += the taps' weighted elements.
  void add(const T* plane, Sums& sums) const;
  /// So many planes, whose elements lie side by side: what a tap reads of them is one vector, which is several times as fast.
  static constexpr std::int64_t kBeside = 8;
  using BesideSums = std::array<Sums, kBeside>;
  /// sums = the taps' weighted elements.
  void sum(const T* planes, BesideSums& sums) const;
  /// sums = the largest of sums and each weighted element; what is not set counts as 0.
  void raise(const T* plane, Sums& sums) const;

 private:
  std::size_t used_ = 0;  ///< taps that some point has
  std::vector<std::int32_t> places_;
  std::vector<T> weights_;
  std::vector<Bits> masks_;  ///< all ones where there is a tap
};

/// The planes of an image, TapBlock<T>::kBeside of them side by side; groups of channels begin anew.
template <typename T>
class PlanesBeside {
 public:
  /// `channels` in each of `groups` groups.
  PlanesBeside(const T* image, std::int64_t groups, std::int64_t channels, std::int64_t plane,
               Threads& threads);
  /// The planes from number kBeside * `block` of a group on; those that it does not have are zeros.
  const T* planes(std::int64_t group, std::int64_t block) const {
    return data_.get() + (group * blocks_ + block) * plane_ * TapBlock<T>::kBeside;
  }

  /// Whether to lay so many channels beside each other pays when so many elements of each are read.
  static bool pays(std::int64_t channels, std::int64_t plane, std::int64_t reads) {
    return channels >= TapBlock<T>::kBeside / 2 && reads >= plane / 2;
  }

 private:
  std::int64_t blocks_, plane_;
  std::unique_ptr<T[]> data_;
};

/// Throws Error(kModel) where places of a plane do not fit into 32 bits, which TapBlock holds them in.
void check_plane(std::int64_t elements);

}  // namespace aoe::native
