// See broadcast_layout.h.
#include "compiler/emit/broadcast_layout.h"

#include <cstring>

#include "base/check.h"
#include "compiler/emit/integer_math.h"
#include "reference/op.h"

namespace aoe::compiler {
namespace {

/// Strides of N, C, H, W and, where channels are blocked, of C1 (then C is the stride inside a
/// block).
struct ImageStrides {
  std::int64_t n, c, h, w, c1;
};

ImageStrides image_strides(const Shape& s, Format stored, int c0) {
  const std::int64_t c = s[1], h = s[2], w = s[3];
  ImageStrides strides{};
  switch (stored) {
    case Format::kNHWC:
      strides = {h * w * c, 1, w * c, c, c0};
      break;
    case Format::kNC1HWC0:
      strides = {round_up(c, c0) * h * w, 1, w * c0, c0, h * w * c0};
      break;
    default:
      strides = {c * h * w, h * w, w, 1, h * w * c0};
  }
  if (s[0] == 1) strides.n = 0;
  if (c == 1 && stored != Format::kNC1HWC0) strides.c = strides.c1 = 0;
  if (h == 1) strides.h = 0;
  if (w == 1) strides.w = 0;
  return strides;
}

}  // namespace

Shape broadcast_strides(const Shape& shape) {
  Shape strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = shape[d] == 1 ? 0 : stride;
    stride *= shape[d];
  }
  return strides;
}

Shape aligned_shape(const Shape& shape, std::size_t rank) {
  Shape aligned(rank - shape.size(), 1);
  aligned.insert(aligned.end(), shape.begin(), shape.end());
  return aligned;
}

Shape iteration_extents(const Shape& shape, Format format, int c0) {
  if (format == Format::kNHWC) return {shape[0], shape[2], shape[3], shape[1]};
  if (format == Format::kNC1HWC0) {
    return {shape[0], ceil_div(shape[1], c0), shape[2], shape[3], c0};
  }
  return shape;
}

Shape operand_strides(const Shape& operand, Format stored, const Shape& output, Format format,
                      int c0) {
  const Shape shape = aligned_shape(operand, output.size());
  if (format == Format::kNHWC || format == Format::kNC1HWC0) {
    const ImageStrides s = image_strides(shape, stored, c0);
    if (format == Format::kNHWC) return {s.n, s.h, s.w, s.c};
    AOE_CHECK(stored == Format::kNC1HWC0 || shape[1] == 1 || shape[1] % c0 == 0,
              aoe::to_string(shape) + " read in blocks of " + std::to_string(c0));
    return {s.n, s.c1, s.h, s.w, s.c};
  }
  return broadcast_strides(shape);
}

PackedConstant packed_in_format(ConstantPtr constant, const Shape& shape, Format format, int c0) {
  TensorDesc from{.dtype = constant->desc().dtype, .shape = shape};
  TensorDesc to = from;
  to.format = format;
  if (format == Format::kNC1HWC0) to.c0 = c0;
  return {.size_bytes = storage_bytes(to), .pack = [=](void* destination) {
            reference::convert_format({from, constant->view().data}, {to, destination});
          }};
}

}  // namespace aoe::compiler
