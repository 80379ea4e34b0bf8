// Transposed convolution of float32 and float64: a product makes the taps of an output channel, which are added up like columns. oneDNN is
// faster where it is asked: for float32 images whose sizes are known when they are compiled.
#include <algorithm>

#include "base/ceil_div.h"
#include "native/by_type.h"
#include "native/products/panels.h"
#include "native/products/product.h"
#include "native/scratch.h"
#include "native/windows/columns.h"

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
    if (reads_few_places()) return run_few_places();
    if (has_wide_window()) return run_wide_window();
    const std::int64_t channels = weight_shape_[1] * groups_;
    const double cost = static_cast<double>(taps_ * places_ * per_group_) / 20;
    const auto factors = run_.made_of(1, [&] { return turned_weights(); });
    run_.threads.share(x_shape_[0] * channels, cost, [&](std::int64_t begin, std::int64_t end) {
      std::vector<T> columns(static_cast<std::size_t>(taps_ * places_)),
          loose(static_cast<std::size_t>(has_short_rows() ? loose_.input_elements() : 0));
      for (std::int64_t plane = begin; plane < end; ++plane)
        run_plane(plane / channels, plane % channels, *factors, columns, loose);
    });
  }

 private:
  static constexpr std::int64_t kMostRows = 64;  ///< places at a time

  /// Less than a vector in each image.
  bool reads_few_places() const {
    constexpr std::int64_t kFewPlaces = 15;
    return places_ > 0 && places_ <= kFewPlaces && blocks_.width().dilation == 1;
  }

  /// Taps of a row are added up side by side.
  bool has_wide_window() const {
    constexpr std::int64_t kWide = 32;
    return places_ > 0 && blocks_.width().kernel >= kWide && blocks_.width().dilation == 1;
  }

  /// Places of several images are rows of the left factor: weights are read as they lie, the taps of channels side by side.
  void run_few_places() const {
    constexpr std::int64_t kColumns = 256;
    const std::int64_t at_once = std::max<std::int64_t>(1, kColumns / taps_),
                       blocks = ceil_div(weight_shape_[1], at_once), images = x_shape_[0],
                       images_at_once = std::max<std::int64_t>(1, kMostRows / places_);
    const double cost = static_cast<double>(at_once * taps_ * per_group_ * places_ * images) / 10;
    run_.threads.share(groups_ * blocks, cost, [&](std::int64_t begin, std::int64_t end) {
      const auto rows = static_cast<std::size_t>(std::min(images, images_at_once) * places_);
      std::vector<T> places(rows * static_cast<std::size_t>(per_group_)),
          sums(rows * static_cast<std::size_t>(at_once * taps_));
      for (std::int64_t i = begin; i < end; ++i)
        for (std::int64_t image = 0; image < images; image += images_at_once)
          add_channels(i / blocks, i % blocks * at_once,
                       std::min(at_once, weight_shape_[1] - i % blocks * at_once), image,
                       std::min(images_at_once, images - image), places, sums);
    });
  }

  /// `count` output channels of a group from number `first` on, in some images.
  void add_channels(std::int64_t group, std::int64_t first, std::int64_t count, std::int64_t image,
                    std::int64_t images, std::vector<T>& places, std::vector<T>& sums) const {
    const std::int64_t row = weight_shape_[1] * taps_, columns = count * taps_,
                       channel = group * weight_shape_[1] + first;
    const Rows<const T> weights = {
        run_.inputs[1].as<T>() + group * per_group_ * row + first * taps_, row};
    for (std::int64_t i = 0; i < images; ++i)
      lay_places(image + i, group, places.data() + i * places_ * per_group_);
    const auto multiply = [&](Rows<T> to) {
      add_product<T>({places.data(), per_group_}, images * places_, per_group_, weights, to,
                     columns);
    };
    if (is_product()) {
      for (std::int64_t i = 0; i < images; ++i)
        for (std::int64_t c = 0; c < count; ++c) start_plane(image + i, channel + c);
      return multiply({plane(image, channel), row * groups_});
    }
    std::ranges::fill(sums, T{0});
    multiply({sums.data(), columns});
    for (std::int64_t i = 0; i < images; ++i)
      for (std::int64_t c = 0; c < count; ++c)
        add_blocks(blocks_, sums.data() + i * places_ * columns + c * taps_, columns,
                   start_plane(image + i, channel + c));
  }

  /// Images have one place, and an output is what its taps give.
  bool is_product() const { return places_ == 1 && blocks_.input_elements() == taps_; }

  /// The inputs of each place of a group.
  void lay_places(std::int64_t image, std::int64_t group, T* to) const {
    const T* x = run_.inputs[0].as<T>() + (image * x_shape_[1] + group * per_group_) * places_;
    for (std::int64_t i = 0; i < per_group_; ++i)
      for (std::int64_t p = 0; p < places_; ++p) to[p * per_group_ + i] = *x++;
  }

  /// Places are rows of the left factor, and the taps of a channel columns of the right one.
  void run_wide_window() const {
    const std::int64_t outputs = weight_shape_[1], all = x_shape_[0] * groups_ * outputs;
    const auto panels = run_.made_of(1, [&] { return packed_taps(); });
    std::vector<T> places(static_cast<std::size_t>(places_ * per_group_)),
        sums(static_cast<std::size_t>(places_ * taps_));
    const double cost = static_cast<double>(taps_ * per_group_) / 20;
    for (std::int64_t i = 0; i < all; ++i) {
      const std::int64_t image = i / outputs / groups_, group = i / outputs % groups_;
      if (i % outputs == 0) lay_places(image, group, places.data());
      run_.threads.share(places_, cost, [&](std::int64_t begin, std::int64_t end) {
        std::fill_n(sums.data() + begin * taps_, (end - begin) * taps_, T{0});
        for (std::int64_t p = begin; p < end; p += kMostRows)
          (*panels)[static_cast<std::size_t>(i % (groups_ * outputs))].add_product(
              {places.data() + p * per_group_, per_group_}, std::min(kMostRows, end - p),
              {sums.data() + p * taps_, taps_});
      });
      add_blocks(blocks_, sums.data(), taps_, start_plane(image, i % (groups_ * outputs)));
    }
  }

  /// By output channel: a row for each input of its group.
  std::vector<Panels<T>> packed_taps() const {
    const std::int64_t outputs = weight_shape_[1], row = outputs * taps_;
    std::vector<Panels<T>> all;
    for (std::int64_t channel = 0; channel < groups_ * outputs; ++channel)
      all.emplace_back(Matrix<T>{run_.inputs[1].as<T>() + channel / outputs * per_group_ * row +
                                     channel % outputs * taps_,
                                 row, 1},
                       per_group_, taps_, run_.threads);
    return all;
  }

  /// Of each output channel and tap the weights of all input channels, which lie one behind the other for each input channel.
  Scratch turned_weights() const {
    const std::int64_t outputs = weight_shape_[1];
    Scratch turned(static_cast<std::size_t>(weight_shape_[0] * outputs * taps_) * sizeof(T));
    const T* weight = run_.inputs[1].as<T>();
    const auto turn = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t channel = begin; channel < end; ++channel) {
        T* const to = turned.as<T>() + channel * taps_ * per_group_;
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

  void run_plane(std::int64_t image, std::int64_t channel, const Scratch& factors,
                 std::vector<T>& columns, std::vector<T>& loose) const {
    const std::int64_t first = channel / weight_shape_[1] * per_group_;
    std::ranges::fill(columns, T{0});
    const T* x = run_.inputs[0].as<T>() + (image * x_shape_[1] + first) * places_;
    add_product<T>({factors.as<T>() + channel * taps_ * per_group_, per_group_}, taps_, per_group_,
                   {x, places_}, {columns.data(), places_}, places_);
    add_up(image, channel, columns, loose);
  }

  /// Its taps at both ends are more than a few of all: they are added up where what is cut off has room as well.
  bool has_short_rows() const {
    constexpr std::int64_t kShort = 64;
    return places_ > 0 && blocks_.width().output <= kShort && blocks_.width().stride > 1;
  }

  /// What the taps of a plane of the output are, for each place.
  void add_up(std::int64_t image, std::int64_t channel, const std::vector<T>& columns,
              std::vector<T>& loose) const {
    if (loose.empty()) return add_taps(blocks_, columns.data(), start_plane(image, channel));
    std::ranges::fill(loose, T{0});
    add_taps(loose_, columns.data(), loose.data());
    const auto& [d, h, w] = blocks_.axes;
    const auto& [loose_d, loose_h, loose_w] = loose_.axes;
    T* y = start_plane(image, channel);
    const std::int64_t width = std::min(w.input, loose_w.input - w.pad_begin);
    for (std::int64_t z = d.pad_begin; z < d.pad_begin + d.input; ++z)
      for (std::int64_t row = h.pad_begin; row < h.pad_begin + h.input; ++row, y += w.input)
        if (loose_d.is_inside(z) && loose_h.is_inside(row))
          add_row(loose.data() + (z * loose_h.input + row) * loose_w.input + w.pad_begin, width, 1,
                  y);
  }

  /// Blocks that nothing is cut off.
  static reference::Window loosened(reference::Window blocks) {
    for (reference::WindowAxis& axis : blocks.axes) {
      axis.input = (axis.output - 1) * axis.stride + axis.reach();
      axis.pad_begin = axis.pad_end = 0;
    }
    return blocks;
  }

  T* plane(std::int64_t image, std::int64_t channel) const {
    return y_.as<T>() + (image * weight_shape_[1] * groups_ + channel) * blocks_.input_elements();
  }
  /// With nothing but the bias.
  T* start_plane(std::int64_t image, std::int64_t channel) const {
    T* const y = plane(image, channel);
    std::fill_n(y, blocks_.input_elements(),
                run_.has_input(2) ? run_.inputs[2].as<T>()[channel] : T{0});
    return y;
  }

  const Run& run_;
  const Shape x_shape_, weight_shape_;
  const reference::Window blocks_;  ///< its outputs are the elements of x
  const reference::Window loose_ = loosened(blocks_);
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
