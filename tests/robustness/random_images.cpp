// Networks of a few convolutions of bytes, in QDQ form. All scales are powers of 2: sums are exact, and bytes rounded alike in whatever order.
#include <bit>
#include <cmath>

#include "tests/robustness/random_nodes.h"

namespace aoe::tests {
namespace {

const Types kByteTypes = {DataType::kUint8, DataType::kInt8};

float power_of_2(ModelDraw& d, std::int64_t low, std::int64_t high) {
  return std::ldexp(1.0f, static_cast<int>(d.between(low, high)));
}

Id floats(ModelDraw& d, const std::vector<float>& values) {
  const TensorDesc desc{.dtype = DataType::kFloat, .shape = {std::ssize(values)}};
  return d.constant(std::make_shared<Constant>(desc, values.data()));
}

/// Bytes, and the scale and zero point by which they are numbers.
struct ByteImage {
  Id bytes, scale, zero;
};

std::optional<Id> dequantized(ModelDraw& d, const ByteImage& image) {
  return d.added("DequantizeLinear", {image.bytes, image.scale, image.zero}, Exactness::kExact);
}

std::optional<ByteImage> quantized(ModelDraw& d, Id real, float scale) {
  const DataType dtype = d.pick(kByteTypes);
  const Id step = d.scalar(DataType::kFloat, scale),
           zero = d.scalar(dtype, static_cast<double>(d.between(0, 127)));
  const auto bytes = d.added("QuantizeLinear", {real, step, zero}, Exactness::kExact);
  if (!bytes) return {};
  return ByteImage{*bytes, step, zero};
}

/// With one scale for all output channels, or one for each.
std::optional<Id> weights(ModelDraw& d, const Shape& shape) {
  const DataType dtype = d.pick(kByteTypes);
  const double low = dtype == DataType::kInt8 ? -128 : 0;
  const Id bytes = d.numbers(dtype, shape, low, low + 255);
  Attrs attrs;
  attrs.set("axis", std::int64_t{0});
  if (d.one_in(2)) {
    std::vector<float> scales;
    for (std::int64_t i = 0; i < shape[0]; ++i) scales.push_back(power_of_2(d, -9, -6));
    const Id zeros = d.numbers(dtype, {shape[0]}, 0, d.one_in(2) ? 0 : 127);
    return d.added("DequantizeLinear", {bytes, floats(d, scales), zeros}, Exactness::kExact, attrs);
  }
  return d.added("DequantizeLinear",
                 {bytes, d.scalar(DataType::kFloat, power_of_2(d, -9, -6)),
                  d.scalar(dtype, static_cast<double>(d.one_in(2) ? 0 : d.between(0, 127)))},
                 Exactness::kExact);
}

/// Pointwise, depthwise or dense.
std::optional<Id> convolved(ModelDraw& d, Id real) {
  const std::int64_t channels = d.shape_of(real)[1], kind = d.below(3);
  const bool is_depthwise = kind == 1;
  const std::int64_t side = kind == 0 ? 1 : d.between(1, 4),
                     filters = is_depthwise ? channels : std::max<std::int64_t>(1, d.dim(80));
  Attrs attrs;
  if (is_depthwise) attrs.set("group", channels);
  if (kind != 0 && d.one_in(3)) attrs.set("strides", Ints{d.between(1, 2), d.between(1, 3)});
  if (kind != 0 && d.one_in(4)) attrs.set("dilations", Ints{d.between(1, 2), d.between(1, 2)});
  if (kind != 0 && !d.one_in(4))
    attrs.set("pads", Ints{d.between(0, 2), d.between(0, 2), d.between(0, 2), d.between(0, 2)});
  const auto w = weights(d, {filters, is_depthwise ? 1 : channels, side, side});
  if (!w) return {};
  std::vector<Id> inputs = {real, *w};
  return d.added("Conv", inputs, Exactness::kExact, attrs);
}

void add_byte_network(ModelDraw& d) {
  if (d.opset() < 13) return;
  const std::int64_t channels = d.one_in(3) ? 3 : d.between(1, 40);
  const DataType dtype = d.pick(kByteTypes);
  std::optional<ByteImage> image = ByteImage{
      d.fresh(dtype, {d.between(1, 2), channels, d.between(3, 12), d.between(3, 12)}, false),
      d.scalar(DataType::kFloat, power_of_2(d, -6, -2)),
      d.scalar(dtype, static_cast<double>(d.between(0, 127)))};
  for (std::int64_t left = d.between(3, 6); left > 0 && image; --left) {
    const ByteImage before = *image;
    auto real = dequantized(d, before);
    if (real) real = convolved(d, *real);
    if (real && d.one_in(3)) real = d.added("Relu", {*real}, Exactness::kExact);
    if (!real) return;
    image = quantized(d, *real, power_of_2(d, -5, 0));
    if (image && d.one_in(4) && d.shape_of(image->bytes) == d.shape_of(before.bytes)) {
      const auto a = dequantized(d, *image), b = dequantized(d, before);
      const auto sum = a && b ? d.added("Add", {*a, *b}, Exactness::kExact) : std::nullopt;
      if (sum) image = quantized(d, *sum, power_of_2(d, -4, 0));
    }
  }
  if (image && d.one_in(2)) static_cast<void>(dequantized(d, *image));
}

}  // namespace

std::vector<NodeDrawer> image_drawers() {
  return {add_byte_network};
}

}  // namespace aoe::tests
