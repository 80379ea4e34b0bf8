#include "native/windows/pointwise.h"

#include <algorithm>

#include "native/products/panels.h"
#include "reference/tensors/axes.h"

namespace aoe::native {

namespace {

constexpr double kPanelProductsPerNs = 30;
constexpr std::int64_t kSumRows = 64;  // whose sums the second-level cache keeps, as Panels takes

bool is_worth_packing(const Run& run) {
  constexpr std::int64_t kLeastRows = 12;
  return run.attrs.get_int("group", 1) == 1 && run.shape(1)[0] >= kLeastRows;
}

/// Sums of rows of weights by channels of an image: from channel to channel the weights move by `depth`.
template <typename T>
struct RowSums {
  Rows<const T> weights;
  const T* bias;
  std::int64_t depth, channels, places;
  const RowEnding& ending;
  T* y;

  /// panels(channel): those of a channel.
  template <typename PanelsOf>
  void add(std::int64_t rows, Threads& threads, const PanelsOf& panels) const {
    const std::int64_t at_once = rows_at_once();
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      const Panels<T> right = panels(channel);
      threads.share(rows, static_cast<double>(depth * places) / kPanelProductsPerNs,
                    [&](std::int64_t begin, std::int64_t end) {
                      for (std::int64_t row = begin; row < end; row += at_once)
                        add_rows(right, channel, row, std::min(at_once, end - row));
                    });
    }
  }

 private:
  /// So many that the second-level cache keeps their sums until they are complete; of large images not fewer than products take at once.
  std::int64_t rows_at_once() const {
    constexpr std::int64_t kCached = 131072, kLeast = 8;
    return std::clamp(kCached / std::max<std::int64_t>(places, 1) / kLeast * kLeast, kLeast,
                      kSumRows);
  }

  void add_rows(const Panels<T>& right, std::int64_t channel, std::int64_t first,
                std::int64_t count) const {
    T* const sums = y + first * places;
    for (std::int64_t r = 0; channel == 0 && r < count; ++r)
      std::fill_n(sums + r * places, places, bias == nullptr ? T{0} : bias[first + r]);
    right.add_product({weights.row(first) + channel * depth, weights.stride}, count,
                      {sums, places});
    if (channel + 1 == channels) ending.apply(sums, count * places);
  }
};

template <typename T>
const T* bias_of(const Run& run) {
  return run.has_input(2) ? run.inputs[2].as<T>() : nullptr;
}

}  // namespace

bool is_pointwise(const Run& run, const reference::Window& window) {
  return is_worth_packing(run) &&
         std::ranges::all_of(window.axes, [](const reference::WindowAxis& axis) {
           return axis.kernel == 1 && axis.stride == 1 && axis.pad_begin == 0 && axis.pad_end == 0;
         });
}

bool reads_rows(const Run& run, const reference::Window& window) {
  const auto& [d, h, w] = window.axes;
  constexpr std::int64_t kLeastRow = 16;  // elements
  const bool is_wide = w.kernel == w.input && w.output == 1 && w.dilation == 1 && w.pad_begin == 0;
  return is_worth_packing(run) && is_wide && w.input >= kLeastRow && d.kernel == 1 &&
         d.input == 1 && d.output == 1 && d.pad_begin == 0 && h.dilation == 1 && h.pad_begin == 0 &&
         (h.output - 1) * h.stride + h.kernel <= h.input;
}

template <typename T>
void run_pointwise(const Run& run, const RowEnding& ending) {
  const Shape& x = run.shape(0);
  const std::int64_t channels = x[1], places = reference::dim_product(x, 2, x.size());
  const std::int64_t rows = run.shape(1)[0];
  if (places == 0) return;
  for (std::int64_t image = 0; image < x[0]; ++image)
    RowSums<T>{.weights = {run.inputs[1].as<T>(), channels},
               .bias = bias_of<T>(run),
               .depth = channels,
               .channels = 1,
               .places = places,
               .ending = ending,
               .y = run.output(0).as<T>() + image * rows * places}
        .add(rows, run.threads, [&](std::int64_t) {
          return Panels<T>({run.inputs[0].as<T>() + image * channels * places, places, 1}, channels,
                           places, run.threads);
        });
}

/// What an output reads of a channel lies one behind the other, a row or several behind what the one before reads.
template <typename T>
void run_over_rows(const Run& run, const reference::Window& window, const RowEnding& ending) {
  const auto& [d, h, w] = window.axes;
  const std::int64_t channels = run.shape(0)[1], rows = run.shape(1)[0],
                     depth = h.kernel * w.kernel, row = w.input, plane = h.input * row,
                     step = h.stride * row;
  if (run.output(0).elements() == 0) return;
  for (std::int64_t image = 0; image < run.shape(0)[0]; ++image)
    RowSums<T>{.weights = {run.inputs[1].as<T>(), channels * depth},
               .bias = bias_of<T>(run),
               .depth = depth,
               .channels = channels,
               .places = h.output,
               .ending = ending,
               .y = run.output(0).as<T>() + image * rows * h.output}
        .add(rows, run.threads, [&](std::int64_t channel) {
          return Panels<T>({run.inputs[0].as<T>() + (image * channels + channel) * plane, 1, step},
                           depth, h.output, run.threads);
        });
}

template void run_pointwise<float>(const Run&, const RowEnding&);
template void run_pointwise<double>(const Run&, const RowEnding&);
template void run_over_rows<float>(const Run&, const reference::Window&, const RowEnding&);
template void run_over_rows<double>(const Run&, const reference::Window&, const RowEnding&);

}  // namespace aoe::native
