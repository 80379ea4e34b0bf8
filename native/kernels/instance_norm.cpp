// InstanceNorm and GroupNorm of float64, and of float32 whose sizes are known when the model runs.
#include "native/by_type.h"
#include "native/lines/moments.h"
#include "reference/tensors/axes.h"

namespace aoe::native {
namespace {

template <typename T>
AOE_WIDE void write_normal(const T* __restrict from, std::int64_t count, T mean, T factor, T shift,
                           T* __restrict to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = (from[i] - mean) * factor + shift;
}

/// Runs of `channels_each` channels, each of one mean.
template <typename T>
void normalize(const Run& run, std::int64_t groups) {
  const Shape& shape = run.shape(0);
  const std::int64_t channels = shape[1], plane = reference::dim_product(shape, 2, shape.size());
  const std::int64_t channels_each = groups == 0 ? 0 : channels / groups;
  const T *x = run.inputs[0].as<T>(), *scale = run.inputs[1].as<T>(), *bias = run.inputs[2].as<T>();
  T* y = run.output(0).as<T>();
  if (y == nullptr || run.inputs[0].elements() == 0) return;
  // Before opset 21 a GroupNorm has a scale and a bias for each group.
  const bool is_per_channel = run.inputs[1].elements() == channels;
  const float epsilon = run.attrs.get_float("epsilon", 1e-5F);
  const std::int64_t size = channels_each * plane;
  run.threads.share(
      shape[0] * groups, 2 * static_cast<double>(size), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const Moments<T> moments = moments_of(x + i * size, size, epsilon);
          for (std::int64_t c = 0; c < channels_each; ++c) {
            const std::int64_t group = i % groups, at = i * size + c * plane;
            const std::int64_t place = is_per_channel ? group * channels_each + c : group;
            write_normal(x + at, plane, moments.mean, moments.inverse_deviation * scale[place],
                         bias[place], y + at);
          }
        }
      });
}

}  // namespace

void register_instance_norm(KernelRegistry& registry) {
  using Types = reference::TypeList<float, double>;
  registry.add({.type = "InstanceNorm",
                .supports = takes_one_float_type,
                .run = by_type<Types>(
                    []<typename T>(const Run& run) { normalize<T>(run, run.shape(0)[1]); }),
                .is_for_open_sizes = is_float32});
  registry.add({.type = "GroupNorm",
                .supports = takes_one_float_type,
                .run = by_type<Types>([]<typename T>(const Run& run) {
                  normalize<T>(run, run.attrs.get_int("num_groups", 1));
                }),
                .is_for_open_sizes = is_float32});
}

}  // namespace aoe::native
