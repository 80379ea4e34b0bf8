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
    const std::int64_t channels = weight_shape_[1] * groups_;
    const double cost = static_cast<double>(taps_ * places_ * per_group_) / 20;
    run_.threads.share(x_shape_[0] * channels, cost, [&](std::int64_t begin, std::int64_t end) {
      std::vector<T> factors(static_cast<std::size_t>(taps_ * per_group_)),
          columns(static_cast<std::size_t>(taps_ * places_));
      for (std::int64_t plane = begin; plane < end; ++plane)
        run_plane(plane / channels, plane % channels, factors, columns);
    });
  }

 private:
  void run_plane(std::int64_t image, std::int64_t channel, std::vector<T>& factors,
                 std::vector<T>& columns) const {
    const std::int64_t group = channel / weight_shape_[1], first = group * per_group_;
    // Of each tap the weights of all input channels, which lie one behind the other for each input channel.
    const T* weight = run_.inputs[1].as<T>();
    for (std::int64_t i = 0; i < per_group_; ++i)
      for (std::int64_t k = 0; k < taps_; ++k)
        factors[static_cast<std::size_t>(k * per_group_ + i)] =
            weight[((first + i) * weight_shape_[1] + channel % weight_shape_[1]) * taps_ + k];
    std::ranges::fill(columns, T{0});
    const T* x = run_.inputs[0].as<T>() + (image * x_shape_[1] + first) * places_;
    add_product<T>({factors.data(), per_group_}, taps_, per_group_, {x, places_},
                   {columns.data(), places_}, places_);
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
