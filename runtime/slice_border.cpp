// Copies of slices that do not lie in one piece.
#include "runtime/slice_border.h"

#include <algorithm>
#include <cstring>

namespace aoe::runtime {
namespace {

std::size_t as_size(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

/// The first `bytes` are `count` times there.
void repeat(std::byte* to, std::size_t bytes, std::int64_t count) {
  const std::size_t all = bytes * as_size(count);
  for (std::size_t done = bytes; done < all && bytes > 0; done *= 2)
    std::memcpy(to + done, to, std::min(done, all - done));
}

}  // namespace

void SliceBorder::read(const void* whole, void* part_data, std::int64_t first,
                       std::int64_t count) const {
  for (std::int64_t o = 0; o < view.outer; ++o) {
    const std::byte* from = static_cast<const std::byte*>(whole) + as_size(o * view.dim) * bytes;
    std::byte* to = static_cast<std::byte*>(part_data) + as_size(o * slices) * bytes;
    if (is_stretched())
      read_stretched(from, to, first, count);
    else
      std::memcpy(to, from + as_size(first) * bytes, as_size(count) * bytes);
    repeat(to + as_size(count - 1) * bytes, bytes, slices - count + 1);
  }
}

void SliceBorder::write(const void* part_data, void* whole, std::int64_t first,
                        std::int64_t count) const {
  for (std::int64_t o = 0; o < view.outer; ++o)
    std::memcpy(static_cast<std::byte*>(whole) + as_size(o * view.dim + first) * bytes,
                static_cast<const std::byte*>(part_data) + as_size(o * slices) * bytes,
                as_size(count) * bytes);
}

std::int64_t SliceBorder::source_of(std::int64_t slice) const {
  std::int64_t source = 0;
  for (std::size_t d = places.size(); d-- > 0; slice /= places[d])
    source += slice % places[d] * strides[d];
  return source;
}

std::int64_t SliceBorder::one_source(std::int64_t first, std::int64_t count) const {
  if (!is_stretched() || strides.back() != 0) return kNoSource;
  const std::int64_t row = places.back();
  return first / row == (first + count - 1) / row ? source_of(first) : kNoSource;
}

/// Runs along the innermost of the sliced axes.
void SliceBorder::read_stretched(const std::byte* from, std::byte* to, std::int64_t first,
                                 std::int64_t count) const {
  const std::int64_t row = places.back();
  for (std::int64_t i = first; i < first + count;) {
    const std::int64_t run = std::min(row - i % row, first + count - i);
    const std::int64_t source = source_of(i);
    std::memcpy(to, from + as_size(source) * bytes,
                strides.back() == 0 ? bytes : as_size(run) * bytes);
    if (strides.back() == 0) repeat(to, bytes, run);
    to += as_size(run) * bytes;
    i += run;
  }
}

}  // namespace aoe::runtime
