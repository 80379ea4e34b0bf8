#include "native/pointwise.h"

#include <algorithm>

#include "native/panels.h"
#include "reference/axes.h"

namespace aoe::native {

bool is_pointwise(const Run& run, const reference::Window& window) {
  constexpr std::int64_t kLeastRows = 12;
  return run.attrs.get_int("group", 1) == 1 && run.shape(1)[0] >= kLeastRows &&
         std::ranges::all_of(window.axes, [](const reference::WindowAxis& axis) {
           return axis.kernel == 1 && axis.stride == 1 && axis.pad_begin == 0 && axis.pad_end == 0;
         });
}

template <typename T>
void run_pointwise(const Run& run, const RowEnding& ending) {
  constexpr double kProductsPerNs = 30;
  constexpr std::int64_t kRows = 64;  // whose sums the second-level cache keeps, as Panels takes
  const Shape& x = run.shape(0);
  const std::int64_t channels = x[1], places = reference::dim_product(x, 2, x.size());
  const std::int64_t rows = run.shape(1)[0];
  if (places == 0) return;
  const T* const weights = run.inputs[1].as<T>();
  const T* const bias = run.has_input(2) ? run.inputs[2].as<T>() : nullptr;
  for (std::int64_t image = 0; image < x[0]; ++image) {
    const Panels<T> planes({run.inputs[0].as<T>() + image * channels * places, places, 1}, channels,
                           places, run.threads);
    T* const y = run.output(0).as<T>() + image * rows * places;
    const auto add_rows = [&](std::int64_t first, std::int64_t count) {
      T* const sums = y + first * places;
      for (std::int64_t r = 0; r < count; ++r)
        std::fill_n(sums + r * places, places, bias == nullptr ? T{0} : bias[first + r]);
      planes.add_product({weights + first * channels, channels}, count, {sums, places});
      ending.apply(sums, count * places);
    };
    run.threads.share(rows, static_cast<double>(channels * places) / kProductsPerNs,
                      [&](std::int64_t begin, std::int64_t end) {
                        for (std::int64_t row = begin; row < end; row += kRows)
                          add_rows(row, std::min(kRows, end - row));
                      });
  }
}

template void run_pointwise<float>(const Run&, const RowEnding&);
template void run_pointwise<double>(const Run&, const RowEnding&);

}  // namespace aoe::native
