// Strides of the image formats.
#include "compiler/conv/image_layout.h"

#include "base/check.h"

namespace aoe::compiler {

Int ImageLayout::channel_offset(Int c) const {
  if (c0 == 0) return c * channel;
  return (c / c0) * channel_block + (c % c0) * channel;
}

Int ImageLayout::row_offset(Int h) const {
  return (ring == 0 ? h : h % ring) * row;
}

Int ImageLayout::index(Int n, Int c, Int h, Int w) const {
  return n * batch + channel_offset(c) + row_offset(h) + w * pixel;
}

ImageLayout image_layout(const Shape& shape, Format format, int c0) {
  AOE_CHECK(shape.size() == 4, "an image has 4 dimensions, not " + aoe::to_string(shape));
  const std::int64_t channels = shape[1], height = shape[2], width = shape[3];
  ImageLayout layout;
  if (format == Format::kNC1HWC0) {
    layout.c0 = c0;
    layout.channel = 1;
    layout.pixel = c0;
    layout.row = width * c0;
    layout.channel_block = height * width * c0;
    layout.batch = (channels + c0 - 1) / c0 * layout.channel_block;
  } else if (format == Format::kNHWC) {
    layout.channel = 1;
    layout.pixel = channels;
    layout.row = width * channels;
    layout.batch = height * width * channels;
  } else {
    AOE_CHECK(format == Format::kNCHW || format == Format::kND, "no image format");
    layout.channel = height * width;
    layout.pixel = 1;
    layout.row = width;
    layout.batch = channels * height * width;
  }
  if (shape[0] == 1) layout.batch = 0;
  if (channels == 1) layout.channel = layout.channel_block = 0;
  if (height == 1) layout.row = 0;
  if (width == 1) layout.pixel = 0;
  return layout;
}

ImageLayout ring_layout(std::int64_t channels, std::int64_t width, std::int64_t rows, int c0) {
  constexpr std::int64_t kPageElements = 4096 / sizeof(float);
  ImageLayout layout;
  layout.c0 = c0;
  layout.channel = 1;
  layout.pixel = c0;
  layout.channel_block = width * c0;
  // Blocks of channels that lie pages apart would share the few places of one cache set.
  if (layout.channel_block % kPageElements == 0) layout.channel_block += c0;
  layout.row = (channels + c0 - 1) / c0 * layout.channel_block;
  layout.ring = rows;
  return layout;
}

std::int64_t ring_elements(const ImageLayout& ring) {
  return ring.ring * ring.row;
}

}  // namespace aoe::compiler
