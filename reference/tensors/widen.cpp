// Widening, written once per direction over all element types.
#include "reference/tensors/widen.h"

#include "base/check.h"
#include "reference/elements/doubles.h"
#include "reference/elements/typed.h"
#include "reference/tensors/broadcast.h"

namespace aoe::reference {
namespace {

template <typename From>
void write_from(std::span<const From> values, const Tensor& tensor) {
  AOE_CHECK(static_cast<std::int64_t>(values.size()) == tensor.elements(),
            std::to_string(values.size()) + " values for " + to_string(tensor.desc));
  visit_type<AllTypes>(tensor.desc.dtype, [&]<typename T>() {
    T* data = tensor.as<T>();
    for (std::size_t i = 0; i < values.size(); ++i) data[i] = convert<T>(values[i]);
  });
}

}  // namespace

std::vector<double> to_doubles(const Tensor& tensor) {
  check_doubles(static_cast<std::size_t>(tensor.elements()));
  return read_as<double>(tensor);
}
std::vector<std::int64_t> to_int64s(const Tensor& tensor) {
  check_doubles(static_cast<std::size_t>(tensor.elements()));  // of the same size
  return read_as<std::int64_t>(tensor);
}

std::vector<double> to_doubles(const Tensor& tensor, const Shape& shape) {
  if (!broadcasts_to(tensor.desc.shape, shape)) {
    fail_model("shape " + to_string(tensor.desc.shape) + " does not stretch to " +
               to_string(shape));
  }
  const auto values = to_doubles(tensor);
  check_doubles(static_cast<std::size_t>(element_count(shape)));
  std::vector<double> stretched;
  stretched.reserve(static_cast<std::size_t>(element_count(shape)));
  const std::array strides = {broadcast_strides(tensor.desc.shape, shape)};
  for_each_row(shape, strides, [&](const auto& offsets, const auto& steps, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      stretched.push_back(values[static_cast<std::size_t>(offsets[0] + i * steps[0])]);
    }
  });
  return stretched;
}

double to_double(const Tensor& tensor) {
  return read_scalar<double>(tensor, "a scalar input");
}
std::int64_t to_int64(const Tensor& tensor) {
  return read_scalar<std::int64_t>(tensor, "a scalar input");
}

void from_doubles(std::span<const double> values, const Tensor& tensor) {
  write_from(values, tensor);
}
void from_int64s(std::span<const std::int64_t> values, const Tensor& tensor) {
  write_from(values, tensor);
}

}  // namespace aoe::reference
