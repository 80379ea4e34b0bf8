// LayerNorm of float64, and of float32 whose sizes are known when the model runs.
#include <vector>

#include "native/by_type.h"
#include "native/lines/moments.h"
#include "reference/tensors/axes.h"

namespace aoe::native {
namespace {

std::size_t axis_of(const reference::Attrs& attrs, const Shape& shape) {
  return reference::normalize_axis(attrs.get_int("axis", -1), shape.size());
}

/// A scale or shift for each element of a row; `stretched` is its memory where it is one for all.
template <typename T>
const T* of_row(const Tensor& parameter, std::int64_t size, std::vector<T>& stretched) {
  if (parameter.elements() == size) return parameter.as<T>();
  stretched.assign(static_cast<std::size_t>(size), *parameter.as<T>());
  return stretched.data();
}

template <typename T>
AOE_WIDE void write_row(const T* __restrict x, const Moments<T>& moments, const T* __restrict scale,
                        const T* __restrict shift, std::int64_t size, T* __restrict y) {
  const T mean = moments.mean, inverse = moments.inverse_deviation;
  if (shift == nullptr)
    for (std::int64_t i = 0; i < size; ++i) y[i] = (x[i] - mean) * inverse * scale[i];
  else
    for (std::int64_t i = 0; i < size; ++i) y[i] = (x[i] - mean) * inverse * scale[i] + shift[i];
}

template <typename T>
void run_layer_norm(const Run& run) {
  const Shape& shape = run.shape(0);
  const std::size_t axis = axis_of(run.attrs, shape);
  const std::int64_t rows = reference::dim_product(shape, 0, axis),
                     size = reference::dim_product(shape, axis, shape.size());
  const T* x = run.inputs[0].as<T>();
  std::vector<T> scales, shifts;
  const T* scale = of_row<T>(run.inputs[1], size, scales);
  const T* shift = run.has_input(2) ? of_row<T>(run.inputs[2], size, shifts) : nullptr;
  T* y = run.output(0).as<T>();
  float *means = run.output(1).as<float>(), *inverses = run.output(2).as<float>();
  const float epsilon = run.attrs.get_float("epsilon", 1e-5F);
  run.threads.share(rows, 2 * static_cast<double>(size), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const T* from = x + row * size;
      const Moments<T> moments = moments_of(from, size, epsilon);
      if (means != nullptr) means[row] = static_cast<float>(moments.mean);
      if (inverses != nullptr) inverses[row] = static_cast<float>(moments.inverse_deviation);
      if (y == nullptr) continue;
      write_row(from, moments, scale, shift, size, y + row * size);
    }
  });
}

/// Scale and shift are as large as a row, or where only a run tells that, a row has one axis and so have they.
Result<void> supports(const Question& question) {
  if (auto taken = takes_one_float_type(question); !taken) return taken;
  const Shape& shape = question.inputs[0].shape;
  const std::size_t axis = axis_of(question.call.attrs, shape);
  const std::int64_t size = reference::dim_product(shape, axis, shape.size());
  for (std::size_t i = 1; i < 3; ++i) {
    if (!question.has_input(i)) continue;
    const Shape& own = question.inputs[i].shape;
    const bool is_of_row = size == kUnknownDim ? axis + 1 == shape.size() && own.size() <= 1
                                               : is_static(own) && element_count(own) == size;
    if (!is_of_row) return Unexpected("input " + std::to_string(i) + " is stretched");
  }
  if (question.outputs > 1 && question.call.attrs.get_int("stash_type", 1) != 1)
    return Unexpected("statistics of another type");
  return {};
}

}  // namespace

void register_layer_norm(KernelRegistry& registry) {
  registry.add({.type = "LayerNorm",
                .supports = supports,
                .run = by_type<reference::TypeList<float, double>>(
                    []<typename T>(const Run& run) { run_layer_norm<T>(run); }),
                .is_for_open_sizes = is_float32});
}

}  // namespace aoe::native
