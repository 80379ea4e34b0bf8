// Convolution of float64, and of bytes whose weights are computed: what the taps of a block of output places read becomes the
// columns of a product. Generated code has float32, and bytes whose weights are known.
#include <algorithm>

#include "native/kernel.h"
#include "native/product.h"
#include "native/wide.h"
#include "reference/arithmetic.h"
#include "reference/quantize.h"
#include "reference/typed.h"
#include "reference/window.h"

namespace aoe::native {
namespace {

constexpr std::int64_t kColumns = 64;

/// An output place, or a tap: its number along each axis.
struct Place {
  std::int64_t d, h, w;
};

Place place_in(std::int64_t i, std::int64_t height, std::int64_t width) {
  return {i / width / height, i / width % height, i % width};
}

/// A tap, and the columns of outputs [inside, beyond) whose tap lies in the input.
struct Tap {
  Place place;
  std::int64_t inside, beyond;
};

std::vector<Tap> taps_of(const reference::Window& window) {
  const auto& [d, h, w] = window.axes;
  std::vector<Tap> taps;
  for (std::int64_t k = 0; k < window.kernel_elements(); ++k) {
    const Place place = place_in(k, h.kernel, w.kernel);
    const auto [inside, beyond] = w.outputs_inside(place.w);
    taps.push_back({place, inside, beyond});
  }
  return taps;
}

/// y += sums.
template <typename T, typename Y>
AOE_WIDE void add_sums(const T* sums, std::int64_t count, Y* y) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = reference::add(y[i], static_cast<Y>(sums[i]));
}

/// to[i] = row[i * stride] - zero.
template <typename T, typename X>
AOE_WIDE void read_row(const X* row, std::int64_t stride, std::int64_t count, T zero, T* to) {
  if (stride == 1) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(row[i]) - zero;
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(row[i * stride]) - zero;
}

/// to[0, count) = a tap of the output places from `at` on, less `zero`; 0 outside the plane.
template <typename T, typename X>
void read_tap(const X* plane, const reference::Window& window, const Tap& read, Place at,
              std::int64_t count, T zero, T* to) {
  const auto& [d, h, w] = window.axes;
  const auto& [tap, inside, beyond] = read;
  while (count > 0) {
    const std::int64_t begin = at.w, end = std::min(w.output, begin + count);
    const std::int64_t z = d.tap(at.d, tap.d), y = h.tap(at.h, tap.h);
    const bool is_inside = d.is_inside(z) && h.is_inside(y);
    const std::int64_t from = is_inside ? std::clamp(inside, begin, end) : end;
    const std::int64_t until = std::clamp(beyond, from, end);
    std::fill_n(to, from - begin, T{0});
    if (until > from)
      read_row(plane + (z * h.input + y) * w.input + w.tap(from, tap.w), w.stride, until - from,
               zero, to + (from - begin));
    std::fill_n(to + (until - begin), end - until, T{0});
    to += end - begin;
    count -= end - begin;
    at.w = 0;
    if (++at.h < h.output) continue;
    at.h = 0;
    ++at.d;
  }
}

/// Products of elements of x, of type X, with weights are summed up as T, as many as are exact in it, and then as Y.
template <typename T, typename X, typename Y>
class Convolution {
 public:
  Convolution(const Run& run, T x_zero)
      : run_(run),
        x_shape_(run.shape(0)),
        weight_shape_(run.shape(1)),
        window_(reference::window_of(run.attrs, x_shape_,
                                     reference::kernel_of(run.attrs, weight_shape_))),
        x_(run.inputs[0].as<X>()),
        y_(run.output(0).as<Y>()),
        x_zero_(x_zero) {}

  /// weight(i): element i of the weights. They lie panel by panel of as many products as are summed up at once.
  template <typename Weight>
  void pack(const Weight& weight) {
    packed_.reserve(static_cast<std::size_t>(weight_shape_[0] * length_));
    for (std::int64_t group = 0; group < groups_; ++group)
      for (std::int64_t begin = 0; begin < length_; begin += kPanel)
        for (std::int64_t c = group * per_group_; c < (group + 1) * per_group_; ++c)
          for (std::int64_t i = begin; i < std::min(length_, begin + kPanel); ++i)
            packed_.push_back(weight(c * length_ + i));
  }

  /// `bias`: one for each output channel, or null.
  void run(const Y* bias) const {
    const std::int64_t blocks = (places_ + kColumns - 1) / kColumns;
    const double cost =
        static_cast<double>(kColumns * length_) * (0.5 + 0.1 * static_cast<double>(per_group_));
    run_.threads.share(x_shape_[0] * groups_ * blocks, cost,
                       [&](std::int64_t begin, std::int64_t end) {
                         std::vector<T> columns(static_cast<std::size_t>(length_ * kColumns)),
                             sums(static_cast<std::size_t>(per_group_ * kColumns));
                         for (std::int64_t i = begin; i < end; ++i)
                           run_block(i / blocks, i % blocks * kColumns, bias, columns, sums);
                       });
  }

 private:
  /// Of bytes less their zero points so many products are below 2^24 together.
  static constexpr std::int64_t kPanel = 256;

  /// `group`: of all groups of all images.
  void run_block(std::int64_t group, std::int64_t first, const Y* bias, std::vector<T>& columns,
                 std::vector<T>& sums) const {
    const std::int64_t count = std::min(kColumns, places_ - first);
    const std::int64_t in_plane = window_.input_elements();
    const Place at = place_in(first, window_.height().output, window_.width().output);
    T* column = columns.data();
    for (std::int64_t i = 0; i < weight_shape_[1]; ++i) {
      const X* plane = x_ + (group * weight_shape_[1] + i) * in_plane;
      for (const Tap& tap : taps_) {
        read_tap(plane, window_, tap, at, count, x_zero_, column);
        column += kColumns;
      }
    }
    const std::int64_t channel = group % groups_ * per_group_;
    Y* const y = y_ + group * per_group_ * places_ + first;
    for (std::int64_t c = 0; c < per_group_; ++c)
      std::fill_n(y + c * places_, count, bias == nullptr ? Y{0} : bias[channel + c]);
    for (std::int64_t begin = 0; begin < length_; begin += kPanel) {
      const std::int64_t panel = std::min(kPanel, length_ - begin);
      std::ranges::fill(sums, T{0});
      add_product(packed_.data() + channel * length_ + begin * per_group_, per_group_, panel,
                  {columns.data() + begin * kColumns, kColumns}, {sums.data(), kColumns}, kColumns);
      for (std::int64_t c = 0; c < per_group_; ++c)
        add_sums(sums.data() + c * kColumns, count, y + c * places_);
    }
  }

  const Run& run_;
  const Shape x_shape_, weight_shape_;
  const reference::Window window_;
  const std::vector<Tap> taps_ = taps_of(window_);
  const X* x_;
  Y* y_;
  T x_zero_;
  std::vector<T> packed_;
  const std::int64_t groups_ = run_.attrs.get_int("group", 1);
  const std::int64_t per_group_ = weight_shape_[0] / groups_;  ///< output channels
  const std::int64_t length_ = weight_shape_[1] * window_.kernel_elements();
  const std::int64_t places_ = window_.output_elements();
};

void run_float64(const Run& run) {
  if (run.output(0).data == nullptr) return;
  Convolution<double, double, double> convolution(run, 0);
  const double* weight = run.inputs[1].as<double>();
  convolution.pack([&](std::int64_t i) { return weight[i]; });
  convolution.run(run.has_input(2) ? run.inputs[2].as<double>() : nullptr);
}

using Bytes = reference::TypeList<std::int8_t, std::uint8_t>;

void run_integer(const Run& run) {
  if (run.output(0).data == nullptr) return;
  const auto x_zero = static_cast<float>(reference::quant_parameter(run.inputs, 2, 0)[0]);
  const std::vector<double> zeros = reference::quant_parameter(run.inputs, 3, 0);
  const std::int64_t length = run.inputs[1].elements() / std::max<std::int64_t>(1, run.shape(1)[0]);
  reference::visit_type<Bytes>(run.inputs[0].desc.dtype, [&]<typename X>() {
    Convolution<float, X, std::int32_t> convolution(run, x_zero);
    reference::visit_type<Bytes>(run.inputs[1].desc.dtype, [&]<typename W>() {
      const W* weight = run.inputs[1].as<W>();
      convolution.pack([&](std::int64_t i) {
        return static_cast<float>(weight[i]) -
               static_cast<float>(reference::parameter_at(zeros, i / length));
      });
    });
    convolution.run(nullptr);
  });
}

Result<void> supports_float64(const Question& question) {
  for (std::size_t i = 0; i < 3; ++i)
    if (auto taken = takes_types(question, i, {DataType::kDouble}); !taken) return taken;
  if (question.call.attrs.get_int("input_shuffle", 1) != 1) return Unexpected("shuffled channels");
  return {};
}

Result<void> supports_bytes(const Question& question) {
  for (std::size_t i = 0; i < 2; ++i)
    if (auto taken = takes_types(question, i, {DataType::kInt8, DataType::kUint8}); !taken)
      return taken;
  return {};
}

}  // namespace

void register_convolution(KernelRegistry& registry) {
  registry.add({.type = "Conv2D", .supports = supports_float64, .run = run_float64});
  registry.add({.type = "ConvInteger", .supports = supports_bytes, .run = run_integer});
}

}  // namespace aoe::native
