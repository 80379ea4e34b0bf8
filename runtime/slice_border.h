// SliceBorder: one input or output of a body that runs slice by slice, and what it is a part of (slice_map.h). How it lies there
// holds as long as shapes do.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/tensor.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/broadcast.h"

namespace aoe::runtime {

struct SliceBorder {
  static constexpr std::int64_t kNoSource = -1;

  int id;                    ///< of the whole; -1: nobody wants it
  TensorDesc part;           ///< the body's
  std::int64_t axis;         ///< the last of the sliced ones; reference::kWhole
  reference::AxisView view;  ///< of the whole
  std::size_t bytes = 0;     ///< of a slice
  std::int64_t slices = 0;   ///< of a part
  bool is_apart = false;     ///< in memory of its own, as it does not lie in one piece
  reference::Strides strides =
      {};  ///< of an input that is stretched, in slices of its own: by sliced axis, those that go on alike as one
  Shape places = {};  ///< to which, of these axes

  bool is_stretched() const { return !strides.empty(); }

  /// `whole`: its data. Behind the last slice that is there it stands again: what is computed of it harms nobody.
  void read(const void* whole, void* part_data, std::int64_t first, std::int64_t count) const;
  void write(const void* part_data, void* whole, std::int64_t first, std::int64_t count) const;

  /// The slice of the whole that all of these are, where one is stretched to them; else kNoSource.
  std::int64_t one_source(std::int64_t first, std::int64_t count) const;

 private:
  void read_stretched(const std::byte* from, std::byte* to, std::int64_t first,
                      std::int64_t count) const;
  std::int64_t source_of(std::int64_t slice) const;
};

}  // namespace aoe::runtime
