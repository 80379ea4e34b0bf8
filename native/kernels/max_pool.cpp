// MaxPool of floating point and bytes, which can also say where its maxima stand.
#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>

#include "native/by_type.h"
#include "native/kernel.h"
#include "native/lines/maxima.h"
#include "native/sampling/taps.h"
#include "native/wide.h"
#include "reference/windows/window.h"

namespace aoe::native {
namespace {

using reference::Window;

/// The best of a window: of bytes one below them all is that of none.
template <typename T>
using BestOf = std::conditional_t<std::is_integral_v<T>, std::int32_t, T>;

/// A place in a plane, as wide as these are: vectors of both have as many lanes.
template <typename T>
using PlaceOf = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;

/// The windows of one row of the output, tap by tap.
template <typename T>
struct BestRow {
  std::vector<BestOf<T>> values;
  std::vector<PlaceOf<T>> places;  ///< in the plane; empty when nobody asks for them
  std::vector<T> picked = {};      ///< what a tap reads of a row, side by side
};

/// What a row of the output is made of where nobody asks for places.
template <typename T>
struct Columns {
  std::vector<T>
      rows;  ///< the best of each column of the rows that the windows read, with the padding at both ends
  std::vector<T> taps;                 ///< the best of windows that begin at each of these
  std::vector<const T*> sources = {};  ///< whose maxima are taken next
};

template <typename T>
bool is_better(T value, T best) {
  return (value > best) | (value != value);
}

template <typename T>
AOE_WIDE inline BestOf<T> number_of(T x) {
  return x;
}

/// x[i] becomes the best of window i where it is larger or NaN; its place is place + i * place_step.
template <typename T>
AOE_WIDE void take_tap(const T* __restrict x, std::int64_t count, PlaceOf<T> place,
                       PlaceOf<T> place_step, BestOf<T>* __restrict values,
                       PlaceOf<T>* __restrict places) {
  for (std::int64_t i = 0; i < count; ++i) {
    const BestOf<T> value = number_of(x[i]);
    const bool is_taken = is_better(value, values[i]);
    values[i] = is_taken ? value : values[i];
    places[i] = is_taken ? place + static_cast<PlaceOf<T>>(i) * place_step : places[i];
  }
}

/// to[i] = x[i * step]; a step of 2 is a loop of its own, which becomes loads of whole vectors.
template <typename T>
AOE_WIDE void pick(const T* __restrict x, std::int64_t step, std::int64_t count, T* __restrict to) {
  if (step == 2) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = x[i * 2];
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) to[i] = x[i * step];
}

template <typename T>
class MaxPool {
 public:
  explicit MaxPool(const Run& run)
      : x_(run.inputs[0].as<T>()),
        planes_(run.shape(0)[0] * run.shape(0)[1]),
        window_(*reference::window_of("MaxPoolV3", run.attrs, run.shape(0))),
        is_column_major_(run.attrs.get_int("storage_order", 0) != 0),
        values_(run.output(0)),
        places_(run.output(1)) {
    check_plane(window_.input_elements());
  }

  void run(Threads& threads) const {
    const double cost =
        static_cast<double>(window_.output_elements() * (2 + window_.kernel_elements()));
    if (!has_places() && values_.data == nullptr) return;
    if (!has_places() && has_lone_columns()) return run_lone_columns(threads, cost);
    if (!has_places() && has_short_rows()) return run_whole_planes(threads, cost);
    threads.share(planes_, cost, [&](std::int64_t begin, std::int64_t end) {
      BestRow<T> best;
      Columns<T> columns = make_columns();
      for (std::int64_t plane = begin; plane < end; ++plane) {
        if (has_places())
          find_plane(plane, best);
        else if (has_nan(x_ + plane * window_.input_elements(), window_.input_elements()))
          run_plane<false>(plane, columns);
        else
          run_plane<true>(plane, columns);
      }
    });
  }

 private:
  static constexpr T kLowest = std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity()
                                                           : std::numeric_limits<T>::lowest();

  /// Where a vector along a row is hardly ever full: 3200 planes of 14x14 with windows of 2x2 and strides of 2 take a third of the
  /// time as whole planes.
  bool has_short_rows() const {
    constexpr std::int64_t kShort = 16;
    return window_.width().output <= kShort;
  }

  /// The padded plane, and two that passes along axes write in turn.
  struct Buffers {
    std::array<std::vector<T>, 3> planes;
    std::vector<const T*> sources = {};  ///< whose maxima are taken next
  };

  /// Planes with their padding: the best of windows that begin at each element, along one axis after the other. What is computed
  /// beyond the end of a row is read by no window.
  void run_whole_planes(Threads& threads, double cost) const {
    const PaddedPlane plane(window_);
    threads.share(planes_, cost, [&](std::int64_t begin, std::int64_t end) {
      Buffers buffers;
      for (std::vector<T>& buffer : buffers.planes)
        buffer.assign(static_cast<std::size_t>(plane.elements), kLowest);
      for (std::int64_t i = begin; i < end; ++i) {
        const T* x = x_ + i * window_.input_elements();
        T* y = values_.as<T>() + i * window_.output_elements();
        if (has_nan(x, window_.input_elements()))
          run_whole_plane<false>(plane, x, buffers, y);
        else
          run_whole_plane<true>(plane, x, buffers, y);
      }
    });
  }

  /// Where the elements of a plane lie with the padding around them.
  struct PaddedPlane {
    explicit PaddedPlane(const Window& window) {
      for (std::size_t a = window.axes.size(); a-- > 0;) {
        const reference::WindowAxis& axis = window.axes[a];
        steps[a] = elements;
        elements *=
            std::max(axis.pad_begin + axis.input, (axis.output - 1) * axis.stride + axis.reach());
        first += axis.pad_begin * steps[a];
      }
    }
    std::array<std::int64_t, 3> steps = {};  ///< from one element to the next along each axis
    std::int64_t elements = 1, first = 0;    ///< the first is where the input's begin
  };

  /// Where it lies, or with its padding in the first buffer.
  const T* padded(const PaddedPlane& plane, const T* x, Buffers& buffers) const {
    const auto& [d, h, w] = window_.axes;
    if (plane.elements == window_.input_elements()) return x;
    for (std::int64_t z = 0; z < d.input; ++z)
      for (std::int64_t row = 0; row < h.input; ++row, x += w.input)
        std::copy_n(
            x, w.input,
            buffers.planes[0].data() + plane.first + z * plane.steps[0] + row * plane.steps[1]);
    return buffers.planes[0].data();
  }

  template <bool kOrdered>
  void run_whole_plane(const PaddedPlane& plane, const T* x, Buffers& buffers, T* y) const {
    const auto& [d, h, w] = window_.axes;
    const T* from = padded(plane, x, buffers);
    for (std::size_t a = window_.axes.size(); a-- > 0;) {
      const reference::WindowAxis& axis = window_.axes[a];
      if (axis.kernel == 1) continue;
      const std::int64_t step = axis.dilation * plane.steps[a];
      const std::int64_t count = plane.elements - (axis.kernel - 1) * step;
      T* to = buffers.planes[from == buffers.planes[1].data() ? 2 : 1].data();
      buffers.sources.clear();
      for (std::int64_t k = 0; k < axis.kernel; ++k) buffers.sources.push_back(from + k * step);
      write_largest<kOrdered, T>(buffers.sources, count, to);
      from = to;
    }
    for (std::int64_t od = 0; od < d.output; ++od)
      for (std::int64_t oh = 0; oh < h.output; ++oh, y += w.output)
        pick(from + od * d.stride * plane.steps[0] + oh * h.stride * plane.steps[1], w.stride,
             w.output, y);
  }

  /// No window reaches along rows: channels that lie side by side, as a volume.
  bool has_lone_columns() const {
    const reference::WindowAxis& w = window_.width();
    return w.kernel == 1 && w.stride == 1 && w.pad_begin == 0 && w.pad_end == 0;
  }

  /// The best of slices behind each other, whole ones at once, then of the rows of that.
  void run_lone_columns(Threads& threads, double cost) const {
    const auto& [d, h, w] = window_.axes;
    const std::int64_t slice = h.input * w.input;
    threads.share(planes_ * d.output, cost / static_cast<double>(d.output),
                  [&](std::int64_t begin, std::int64_t end) {
                    std::vector<T> best(static_cast<std::size_t>(slice));
                    std::vector<const T*> sources;
                    for (std::int64_t i = begin; i < end; ++i) {
                      const T* const x = x_ + i / d.output * window_.input_elements();
                      T* to = values_.as<T>() + i * h.output * w.output;
                      write_best(x, d, i % d.output, slice, sources, best.data());
                      for (std::int64_t oh = 0; oh < h.output; ++oh, to += w.output)
                        write_best(best.data(), h, oh, w.output, sources, to);
                    }
                  });
  }

  /// Of the lines that window `i` of an axis reads, `length` long each.
  static void write_best(const T* lines, const reference::WindowAxis& axis, std::int64_t i,
                         std::int64_t length, std::vector<const T*>& sources, T* to) {
    sources.clear();
    for (std::int64_t k = 0; k < axis.kernel; ++k)
      if (const std::int64_t line = axis.tap(i, k); axis.is_inside(line))
        sources.push_back(lines + line * length);
    if (sources.empty())
      std::fill_n(to, length, kLowest);
    else
      write_largest<std::is_integral_v<T>, T>(sources, length, to);
  }

  /// Windows that begin at so many elements of a row, and beyond them as many as make vectors full.
  std::int64_t begins() const {
    constexpr std::int64_t kFull = 16;
    const reference::WindowAxis& w = window_.width();
    return ((w.output - 1) * w.stride / kFull + 1) * kFull;
  }

  Columns<T> make_columns() const {
    const reference::WindowAxis& w = window_.width();
    const auto size =
        static_cast<std::size_t>(std::max(w.pad_begin + w.input, begins() - 1 + w.reach()));
    return {std::vector<T>(size, kLowest), std::vector<T>(static_cast<std::size_t>(begins()))};
  }

  template <bool kOrdered>
  void run_plane(std::int64_t plane, Columns<T>& columns) const {
    const T* x = x_ + plane * window_.input_elements();
    T* to = values_.as<T>() + plane * window_.output_elements();
    const auto& [d, h, w] = window_.axes;
    for (std::int64_t od = 0; od < d.output; ++od)
      for (std::int64_t oh = 0; oh < h.output; ++oh, to += w.output)
        write_row<kOrdered>(x, od, oh, columns, to);
  }

  void find_plane(std::int64_t plane, BestRow<T>& best) const {
    const auto& [d, h, w] = window_.axes;
    const std::int64_t base = plane * window_.input_elements();
    std::int64_t to = plane * window_.output_elements();
    for (std::int64_t od = 0; od < d.output; ++od)
      for (std::int64_t oh = 0; oh < h.output; ++oh, to += w.output) {
        find_row(x_ + base, od, oh, best);
        if (values_.data != nullptr) write_values(best, values_.as<T>() + to);
        for (std::size_t i = 0; i < best.places.size(); ++i)
          places_.as<std::int64_t>()[to + static_cast<std::int64_t>(i)] = base + best.places[i];
      }
  }

  static void write_values(const BestRow<T>& best, T* to) {
    if constexpr (std::is_integral_v<T>)
      std::ranges::transform(best.values, to, [](std::int32_t value) {
        return static_cast<T>(std::max<std::int32_t>(kLowest, value));
      });
    else
      std::ranges::copy(best.values, to);
  }

  /// f(z, y) of each row of the plane that the windows of a row of the output read.
  template <typename F>
  void each_input_row(std::int64_t od, std::int64_t oh, const F& f) const {
    const auto& [d, h, w] = window_.axes;
    for (std::int64_t kd = 0; kd < d.kernel; ++kd)
      for (std::int64_t kh = 0; kh < h.kernel; ++kh) {
        const std::int64_t z = d.tap(od, kd), y = h.tap(oh, kh);
        if (d.is_inside(z) && h.is_inside(y)) f(z, y);
      }
  }

  /// First down the rows, then along what that leaves, whole vectors of neighbours: windows that begin at every element.
  template <bool kOrdered>
  void write_row(const T* x, std::int64_t od, std::int64_t oh, Columns<T>& columns, T* to) const {
    const auto& [d, h, w] = window_.axes;
    std::vector<const T*>& sources = columns.sources;
    sources.clear();
    each_input_row(od, oh, [&](std::int64_t z, std::int64_t y) {
      sources.push_back(x + (z * h.input + y) * w.input);
    });
    T* rows = columns.rows.data() + w.pad_begin;
    if (sources.empty())
      std::fill_n(rows, w.input, kLowest);
    else
      write_largest<kOrdered, T>(sources, w.input, rows);
    sources.clear();
    for (std::int64_t kw = 0; kw < w.kernel; ++kw)
      sources.push_back(columns.rows.data() + kw * w.dilation);
    if (w.stride == 1) return write_largest<kOrdered, T>(sources, w.output, to);
    write_largest<kOrdered, T>(sources, begins(), columns.taps.data());
    pick(columns.taps.data(), w.stride, w.output, to);
  }

  /// Values and places.
  void find_row(const T* x, std::int64_t od, std::int64_t oh, BestRow<T>& best) const {
    const auto& [d, h, w] = window_.axes;
    constexpr BestOf<T> kNone = std::is_integral_v<T> ? BestOf<T>{kLowest} - 1 : kLowest;
    best.values.assign(static_cast<std::size_t>(w.output), kNone);
    best.places.assign(static_cast<std::size_t>(w.output), 0);
    each_input_row(od, oh, [&](std::int64_t z, std::int64_t y) {
      for (std::int64_t kw = 0; kw < w.kernel; ++kw) {
        const auto [begin, end] = w.outputs_inside(kw);
        if (begin >= end) continue;
        const std::int64_t from = w.tap(begin, kw);
        const T* read = x + (z * h.input + y) * w.input + from;
        if (w.stride != 1) {
          best.picked.resize(static_cast<std::size_t>(w.output));
          pick(read, w.stride, end - begin, best.picked.data());
          read = best.picked.data();
        }
        take_tap(read, end - begin, place_of(z, y, from),
                 static_cast<PlaceOf<T>>(w.stride * place_step()), best.values.data() + begin,
                 best.places.data() + begin);
      }
    });
  }

  bool has_places() const { return places_.data != nullptr; }
  /// From one element of a row to the next.
  std::int64_t place_step() const {
    return is_column_major_ ? window_.height().input * window_.depth().input : 1;
  }
  PlaceOf<T> place_of(std::int64_t z, std::int64_t y, std::int64_t x) const {
    const auto& [d, h, w] = window_.axes;
    return static_cast<PlaceOf<T>>(is_column_major_ ? (x * h.input + y) * d.input + z
                                                    : (z * h.input + y) * w.input + x);
  }

  const T* x_;
  const std::int64_t planes_;
  const Window window_;
  const bool is_column_major_;
  const Tensor values_, places_;
};

Result<void> supports(const Question& question) {
  return takes_types(question, 0,
                     {DataType::kFloat, DataType::kDouble, DataType::kInt8, DataType::kUint8});
}

/// There is generated code for maxima whose places nobody asks for, but of float64.
bool has_generated_code(const Question& question) {
  return question.outputs < 2 && question.inputs[0].dtype != DataType::kDouble;
}

}  // namespace

void register_max_pool(KernelRegistry& registry) {
  registry.add({.type = "MaxPoolV3",
                .supports = supports,
                .run = by_type<reference::TypeList<float, double, std::int8_t, std::uint8_t>>(
                    []<typename T>(const Run& run) { MaxPool<T>(run).run(run.threads); }),
                .is_for_open_sizes = has_generated_code});
}

}  // namespace aoe::native
