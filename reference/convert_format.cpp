// convert_format(): one tensor from any dense or channel-blocked layout to any other.
#include <cstring>

#include "base/check.h"
#include "reference/elements/typed.h"
#include "reference/fail.h"
#include "reference/op.h"
#include "reference/tensors/strided.h"

namespace aoe::reference {
namespace {

/// A layout seen as N x C x S, S being all spatial dimensions at once.
struct Layout {
  std::int64_t batch_stride = 0;
  std::int64_t pixel_stride = 0;
  std::int64_t channel_stride = 0;  ///< between neighbours of one block
  std::int64_t block_stride = 0;    ///< between blocks of block_size channels
  std::int64_t block_size = 1;

  std::int64_t channel_offset(std::int64_t c) const {
    return c / block_size * block_stride + c % block_size * channel_stride;
  }
};

struct Extent {
  std::int64_t batch = 1;
  std::int64_t channels = 1;
  std::int64_t pixels = 1;
};

Extent extent_of(const Shape& shape) {
  if (shape.size() < 2)
    fail_model("a layout change needs batch and channels, but the shape is " + to_string(shape));
  Extent extent{.batch = shape[0], .channels = shape[1]};
  for (std::size_t d = 2; d < shape.size(); ++d) extent.pixels *= shape[d];
  return extent;
}

Layout layout_of(const TensorDesc& desc, const Extent& e) {
  switch (desc.format) {
    case Format::kND:
    case Format::kNCHW:
      return {e.channels * e.pixels, 1, 0, e.pixels, 1};
    case Format::kNHWC:
      return {e.channels * e.pixels, e.channels, 0, 1, 1};
    case Format::kNC1HWC0: {
      AOE_CHECK(desc.c0 > 0, to_string(desc) + " without c0");
      const std::int64_t blocks = (e.channels + desc.c0 - 1) / desc.c0;
      return {blocks * e.pixels * desc.c0, desc.c0, 1, e.pixels * desc.c0, desc.c0};
    }
    default:
      fail_model("format " + std::string(name(desc.format)) + " is not supported");
  }
}

}  // namespace

void convert_format(const Tensor& from, const Tensor& to) {
  AOE_CHECK(from.desc.shape == to.desc.shape && from.desc.dtype == to.desc.dtype,
            to_string(from.desc) + " into " + to_string(to.desc));
  if (from.desc == to.desc) return copy_dense(from, to);
  const Extent extent = extent_of(from.desc.shape);
  const Layout source = layout_of(from.desc, extent);
  const Layout target = layout_of(to.desc, extent);
  if (to.desc.format == Format::kNC1HWC0) std::memset(to.data, 0, storage_bytes(to.desc));
  for (std::int64_t c = 0; c < extent.channels; ++c) {
    copy_strided(from.desc.dtype, {extent.batch, extent.pixels},
                 {from.data, source.channel_offset(c), {source.batch_stride, source.pixel_stride}},
                 {to.data, target.channel_offset(c), {target.batch_stride, target.pixel_stride}});
  }
}

}  // namespace aoe::reference
