// See draw.h. Sizes are small for the most part, now and then large enough to be shared by threads, now and then 0.
#include "tests/native/draw.h"

#include "reference/elements/typed.h"
#include "reference/tensors/axes.h"

namespace aoe::native {
namespace {

constexpr DataType kAllTypes[] = {DataType::kFloat,    DataType::kDouble, DataType::kFloat16,
                                  DataType::kBFloat16, DataType::kInt8,   DataType::kInt16,
                                  DataType::kInt32,    DataType::kInt64,  DataType::kUint8,
                                  DataType::kUint16,   DataType::kUint32, DataType::kUint64,
                                  DataType::kBool};

}  // namespace

DataType Draw::type() {
  return kAllTypes[in(0, std::ssize(kAllTypes) - 1)];
}

DataType Draw::numeric() {
  return kAllTypes[in(0, std::ssize(kAllTypes) - 2)];
}

Shape Draw::shape(std::int64_t least_rank, std::int64_t most_rank) {
  Shape shape(static_cast<std::size_t>(in(least_rank, most_rank)));
  for (std::int64_t& each : shape) each = dim();
  if (element_count(shape) > 100'000)
    for (std::int64_t& each : shape) each = std::min<std::int64_t>(each, 9);
  return shape;
}

std::shared_ptr<Constant> made(DataType type, Shape shape, const std::function<double()>& value) {
  auto tensor = std::make_shared<Constant>(TensorDesc{.dtype = type, .shape = std::move(shape)});
  reference::visit_type<reference::AllTypes>(type, [&]<typename T>() {
    T* data = static_cast<T*>(tensor->mutable_data());
    for (std::int64_t i = 0; i < tensor->view().elements(); ++i)
      data[i] = reference::convert<T>(value());
  });
  return tensor;
}

ConstantPtr numbers(Draw& draw, DataType type, Shape shape, double low, double high) {
  return made(type, std::move(shape), [&] { return draw.real(low, high); });
}

ConstantPtr with_ties(Draw& draw, DataType type, Shape shape, bool with_nan) {
  return made(type, std::move(shape), [&]() -> double {
    if (draw.chance(2)) return kInfinity;
    if (draw.chance(2)) return -kInfinity;
    if (with_nan && draw.chance(2)) return kNan;
    if (draw.chance(10)) return draw.chance(50) ? 0.0 : -0.0;
    return draw.chance(50) ? static_cast<double>(draw.in(-3, 3)) : draw.real(-100, 100);
  });
}

ConstantPtr ints(const std::vector<std::int64_t>& values, DataType type) {
  std::size_t i = 0;
  return made(type, {std::ssize(values)}, [&] { return static_cast<double>(values[i++]); });
}

ConstantPtr indices(Draw& draw, DataType type, Shape shape, std::int64_t dim) {
  return made(type, std::move(shape), [&] { return static_cast<double>(draw.in(-dim, dim - 1)); });
}

DataType index_type(Draw& draw) {
  return draw.one_of({DataType::kInt32, DataType::kInt64});
}

ConstantPtr scalar(double value, DataType type) {
  return made(type, {1}, [&] { return value; });
}

std::int64_t axis_of(Draw& draw, const Shape& shape) {
  return draw.in(-std::ssize(shape), std::ssize(shape) - 1);
}

std::int64_t& at_axis(Shape& shape, std::int64_t axis) {
  return shape[reference::normalize_axis(axis, shape.size())];
}

ConstantPtr zero_point(Draw& draw, DataType type) {
  const bool is_signed = type == DataType::kInt8;
  const double low = is_signed ? -128 : 0, high = is_signed ? 127 : 255;
  return scalar(draw.chance(20) ? low : draw.chance(20) ? high : draw.real(low, high), type);
}

}  // namespace aoe::native
