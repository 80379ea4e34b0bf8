// Transposed convolution of float32 and float64: a product makes the taps of an output channel, which are added up like columns. oneDNN is
// faster where it is asked: for float32 images whose sizes are known when they are compiled.
#include <algorithm>

#include "native/by_type.h"
#include "native/columns.h"
#include "native/product.h"

namespace aoe::native {
namespace {

template <typename T>
class ConvTranspose {
 public:
  explicit ConvTranspose(const Run& run)
      : run_(run),
        x_shape_(run.shape(0)),
        weight_shape_(run.shape(1)),
        blocks_(*reference::window_of("Conv2DTranspose", run.attrs, x_shape_, weight_shape_)),
        groups_(run.attrs.get_int("group", 1)),
        y_(run.output(0)) {}

  void run() const {
    if (y_.data == nullptr) return;
    if (places_ <= kFewPlaces) return run_few_places();
    const std::int64_t channels = weight_shape_[1] * groups_;
    const double cost = static_cast<double>(taps_ * places_ * per_group_) / 20;
    const auto factors = run_.made_of(1, [&] { return turned_weights(); });
    run_.threads.share(x_shape_[0] * channels, cost, [&](std::int64_t begin, std::int64_t end) {
      std::vector<T> columns(static_cast<std::size_t>(taps_ * places_));
      for (std::int64_t plane = begin; plane < end; ++plane)
        run_plane(plane / channels, plane % channels, *factors, columns);
    });
  }

 private:
  static constexpr std::int64_t kFewPlaces = 15;  ///< of an image: less than a vector

  /// Places are rows of the left factor: weights are read as they lie, the taps of channels side by side.
  void run_few_places() const {
    constexpr std::int64_t kColumns = 256;
    const std::int64_t at_once = std::max<std::int64_t>(1, kColumns / taps_),
                       blocks = (weight_shape_[1] + at_once - 1) / at_once;
    const double cost = static_cast<double>(at_once * taps_ * per_group_ * places_) / 10;
    run_.threads.share(
        x_shape_[0] * groups_ * blocks, cost, [&](std::int64_t begin, std::int64_t end) {
          std::vector<T> places(static_cast<std::size_t>(places_ * per_group_)),
              sums(static_cast<std::size_t>(places_ * at_once * taps_)),
              columns(static_cast<std::size_t>(taps_ * places_));
          for (std::int64_t i = begin; i < end; ++i) {
            const std::int64_t group = i / blocks, first = i % blocks * at_once,
                               count = std::min(at_once, weight_shape_[1] - first);
            lay_places(group, places);
            multiply_places(group % groups_ * per_group_, first, count * taps_, places, sums);
            for (std::int64_t c = 0; c < count; ++c) {
              for (std::int64_t k = 0; k < taps_; ++k)
                for (std::int64_t p = 0; p < places_; ++p)
                  columns[static_cast<std::size_t>(k * places_ + p)] =
                      sums[static_cast<std::size_t>((p * count + c) * taps_ + k)];
              add_up(group / groups_, group % groups_ * weight_shape_[1] + first + c, columns);
            }
          }
        });
  }

  /// The inputs of each place of a group of all images.
  void lay_places(std::int64_t group, std::vector<T>& to) const {
    const T* x = run_.inputs[0].as<T>() + group * per_group_ * places_;
    for (std::int64_t i = 0; i < per_group_; ++i)
      for (std::int64_t p = 0; p < places_; ++p)
        to[static_cast<std::size_t>(p * per_group_ + i)] = *x++;
  }

  /// `count` taps from those of output channel `first` of a group on, whose inputs begin with `input`.
  void multiply_places(std::int64_t input, std::int64_t first, std::int64_t count,
                       const std::vector<T>& places, std::vector<T>& sums) const {
    const std::int64_t row = weight_shape_[1] * taps_;
    std::ranges::fill(sums, T{0});
    add_product<T>({places.data(), per_group_}, places_, per_group_,
                   Rows<const T>{run_.inputs[1].as<T>() + input * row + first * taps_, row},
                   {sums.data(), count}, count);
  }

  /// Of each output channel and tap the weights of all input channels, which lie one behind the other for each input channel.
  std::vector<T> turned_weights() const {
    const std::int64_t outputs = weight_shape_[1];
    std::vector<T> turned(static_cast<std::size_t>(weight_shape_[0] * outputs * taps_));
    const T* weight = run_.inputs[1].as<T>();
    const auto turn = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t channel = begin; channel < end; ++channel) {
        T* const to = turned.data() + channel * taps_ * per_group_;
        const std::int64_t first = channel / outputs * per_group_;
        for (std::int64_t i = 0; i < per_group_; ++i)
          for (std::int64_t k = 0; k < taps_; ++k)
            to[k * per_group_ + i] =
                weight[((first + i) * outputs + channel % outputs) * taps_ + k];
      }
    };
    run_.threads.share(outputs * groups_, static_cast<double>(taps_ * per_group_), turn);
    return turned;
  }

  void run_plane(std::int64_t image, std::int64_t channel, const std::vector<T>& factors,
                 std::vector<T>& columns) const {
    const std::int64_t first = channel / weight_shape_[1] * per_group_;
    std::ranges::fill(columns, T{0});
    const T* x = run_.inputs[0].as<T>() + (image * x_shape_[1] + first) * places_;
    add_product<T>({factors.data() + channel * taps_ * per_group_, per_group_}, taps_, per_group_,
                   {x, places_}, {columns.data(), places_}, places_);
    add_up(image, channel, columns);
  }

  /// What the taps of a plane of the output are, for each place.
  void add_up(std::int64_t image, std::int64_t channel, const std::vector<T>& columns) const {
    const std::int64_t size = blocks_.input_elements();
    T* y = y_.as<T>() + (image * weight_shape_[1] * groups_ + channel) * size;
    std::fill_n(y, size, run_.has_input(2) ? run_.inputs[2].as<T>()[channel] : T{0});
    for (std::int64_t k = 0; k < taps_; ++k) add_tap(blocks_, k, columns.data() + k * places_, y);
  }

  const Run& run_;
  const Shape x_shape_, weight_shape_;
  const reference::Window blocks_;  ///< its outputs are the elements of x
  const std::int64_t groups_;
  const Tensor y_;
  const std::int64_t taps_ = blocks_.kernel_elements(), places_ = blocks_.output_elements(),
                     per_group_ = weight_shape_[0] / groups_;
};

}  // namespace

void register_conv_transpose(KernelRegistry& registry) {
  registry.add({.type = "Conv2DTranspose",
                .supports = takes_one_float_type,
                .run = by_type<reference::TypeList<float, double>>(
                    []<typename T>(const Run& run) { ConvTranspose<T>(run).run(); }),
                .is_for_open_sizes = is_flat_float32});
}

}  // namespace aoe::native
