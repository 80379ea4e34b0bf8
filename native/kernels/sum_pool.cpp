// AveragePool and LpPool of floating point.
#include <cmath>
#include <vector>

#include "native/by_type.h"
#include "native/kernel.h"
#include "native/windows/window_taps.h"

namespace aoe::native {
namespace {

using reference::Window;

Window window_of(const Run& run) {
  const std::vector<std::int64_t> kernel = run.attrs.get_ints("kernel_shape");
  return reference::window_of(run.attrs, run.shape(0), kernel);
}

/// y = finish(sum of term(x), elements inside, output) of each window of each plane.
template <typename T, typename Term, typename Finish>
void pool(const Run& run, const Window& window, const Term& term, const Finish& finish) {
  const Tensor& out = run.output(0);
  if (out.data == nullptr) return;
  const WindowTaps taps(window);
  const double cost =
      static_cast<double>(window.output_elements() * (2 + window.kernel_elements()));
  run.threads.share(run.shape(0)[0] * run.shape(0)[1], cost,
                    [&](std::int64_t begin, std::int64_t end) {
                      for (std::int64_t plane = begin; plane < end; ++plane) {
                        T* y = out.as<T>() + plane * window.output_elements();
                        double sum = 0;
                        taps.visit(
                            run.inputs[0].as<T>() + plane * window.input_elements(),
                            [&](const T* x, std::int64_t count, std::int64_t step) {
                              for (std::int64_t i = 0; i < count; ++i)
                                sum += term(static_cast<double>(x[i * step]));
                            },
                            [&](std::int64_t output, std::int64_t count) {
                              y[output] = static_cast<T>(finish(sum, count, output));
                              sum = 0;
                            });
                      }
                    });
}

/// What each window of a plane is divided by where padding counts.
std::vector<double> padded_sizes(const Window& window) {
  std::vector<double> sizes;
  const auto& [d, h, w] = window.axes;
  for (std::int64_t od = 0; od < d.output; ++od)
    for (std::int64_t oh = 0; oh < h.output; ++oh)
      for (std::int64_t ow = 0; ow < w.output; ++ow)
        sizes.push_back(
            static_cast<double>(d.padded_taps(od) * h.padded_taps(oh) * w.padded_taps(ow)));
  return sizes;
}

template <typename T>
void average_pool(const Run& run) {
  const Window window = window_of(run);
  const auto same = [](double x) { return x; };
  if (run.attrs.get_int("count_include_pad", 0) == 0)
    return pool<T>(run, window, same, [](double sum, std::int64_t count, std::int64_t) {
      return count == 0 ? 0 : sum / static_cast<double>(count);
    });
  const std::vector<double> sizes = padded_sizes(window);
  pool<T>(run, window, same, [&](double sum, std::int64_t, std::int64_t output) {
    const double size = sizes[static_cast<std::size_t>(output)];
    return size == 0 ? 0 : sum / size;
  });
}

double power(double x, std::int64_t p) {
  double result = 1;
  for (; p > 0; p /= 2, x *= x)
    if (p % 2 == 1) result *= x;
  return result;
}

template <typename T>
void lp_pool(const Run& run) {
  const Window window = window_of(run);
  const std::int64_t p = run.attrs.get_int("p", 2);
  if (p == 1)
    return pool<T>(
        run, window, [](double x) { return std::abs(x); },
        [](double sum, std::int64_t, std::int64_t) { return sum; });
  if (p == 2)
    return pool<T>(
        run, window, [](double x) { return x * x; },
        [](double sum, std::int64_t, std::int64_t) { return std::sqrt(sum); });
  pool<T>(
      run, window, [p](double x) { return power(std::abs(x), p); },
      [p](double sum, std::int64_t, std::int64_t) {
        return std::pow(sum, 1 / static_cast<double>(p));
      });
}

Result<void> supports(const Question& question) {
  return takes_types(question, 0, {DataType::kFloat, DataType::kDouble});
}

}  // namespace

void register_sum_pool(KernelRegistry& registry) {
  using Types = reference::TypeList<float, double>;
  registry.add({.type = "AvgPoolV2",
                .supports = supports,
                .run = by_type<Types>([]<typename T>(const Run& run) { average_pool<T>(run); }),
                .is_for_open_sizes = is_float32});
  registry.add({.type = "LpPool",
                .supports = supports,
                .run = by_type<Types>([]<typename T>(const Run& run) { lp_pool<T>(run); })});
}

}  // namespace aoe::native
