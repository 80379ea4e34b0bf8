// DeformConv: what the moved taps of a block of output places read becomes the columns of a product.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/ceil_div.h"
#include "native/by_type.h"
#include "native/products/product.h"
#include "native/sampling/taps.h"
#include "native/wide.h"
#include "reference/windows/window.h"

namespace aoe::native {
namespace {

constexpr std::int64_t kColumns = TapBlock<float>::kPoints;

template <typename T>
class DeformConv {
 public:
  explicit DeformConv(const Run& run)
      : run_(run),
        x_shape_(run.shape(0)),
        weight_shape_(run.shape(1)),
        window_(*reference::window_of("DeformableConv2D", run.attrs, x_shape_, weight_shape_)),
        offset_groups_(run.attrs.get_int("offset_group", 1)),
        groups_(run.attrs.get_int("group", 1)),
        y_(run.output(0)) {
    check_plane(window_.input_elements());
  }

  void run() const {
    if (y_.data == nullptr) return;
    for (std::int64_t image = 0; image < x_shape_[0]; ++image) run_image(image);
  }

 private:
  struct Scratch {
    Scratch(std::int64_t rows, std::int64_t channels)
        : columns(static_cast<std::size_t>(rows * kColumns)),
          sums(static_cast<std::size_t>(channels * kColumns)) {}
    TapBlock<T> taps{8};
    std::vector<T> columns, sums;
  };

  using Beside = std::optional<PlanesBeside<T>>;

  void run_image(std::int64_t image) const {
    const std::int64_t plane = window_.input_elements();
    Beside beside;
    if (PlanesBeside<T>::pays(channels_, plane, places_ * taps_))
      beside.emplace(run_.inputs[0].template as<T>() + image * x_shape_[1] * plane, offset_groups_,
                     channels_, plane, run_.threads);
    const double cost = static_cast<double>(kColumns * taps_ * x_shape_[1]) *
                        (1 + 0.05 * static_cast<double>(weight_shape_[0]));
    run_.threads.share(ceil_div(places_, kColumns), cost,
                       [&](std::int64_t begin, std::int64_t end) {
                         Scratch scratch(x_shape_[1] * taps_, weight_shape_[0]);
                         for (std::int64_t i = begin; i < end; ++i)
                           run_block(image, i * kColumns, beside, scratch);
                       });
  }

  void run_block(std::int64_t image, std::int64_t first, const Beside& beside,
                 Scratch& scratch) const {
    const std::int64_t count = std::min(kColumns, places_ - first);
    for (std::int64_t group = 0; group < offset_groups_; ++group)
      for (std::int64_t k = 0; k < taps_; ++k)
        read_tap(image, group, k, first, count, beside, scratch);
    const std::int64_t channels = weight_shape_[0], per_group = channels / groups_,
                       length = weight_shape_[1] * taps_;
    const T* bias = run_.has_input(3) ? run_.inputs[3].template as<T>() : nullptr;
    for (std::int64_t c = 0; c < channels; ++c)
      std::fill_n(scratch.sums.data() + c * kColumns, kColumns, bias == nullptr ? T{0} : bias[c]);
    for (std::int64_t g = 0; g < groups_; ++g)
      add_product<T>({run_.inputs[1].template as<T>() + g * per_group * length, length}, per_group,
                     length, {scratch.columns.data() + g * length * kColumns, kColumns},
                     {scratch.sums.data() + g * per_group * kColumns, kColumns}, kColumns);
    for (std::int64_t c = 0; c < channels; ++c)
      std::copy_n(scratch.sums.data() + c * kColumns, count,
                  y_.template as<T>() + (image * channels + c) * places_ + first);
  }

  using Place = std::array<std::int64_t, 3>;

  /// Number `i` in a box.
  static Place place_in(std::int64_t i, std::int64_t height, std::int64_t width) {
    return {i / width / height, i / width % height, i % width};
  }

  /// Tap `k` of the channels that share their offsets: rows of the columns.
  void read_tap(std::int64_t image, std::int64_t group, std::int64_t k, std::int64_t first,
                std::int64_t count, const Beside& beside, Scratch& scratch) const {
    const auto& [d, h, w] = window_.axes;
    const std::int64_t number = (image * offset_groups_ + group) * taps_ + k;
    const Place tap = place_in(k, h.kernel, w.kernel);
    Place place = place_in(first, h.output, w.output);
    scratch.taps.clear();
    for (std::int64_t p = 0; p < count; ++p) {
      (this->*set_corners_)(number, tap, place, first + p, p, scratch.taps);
      if (++place[2] < w.output) continue;
      place[2] = 0;
      if (++place[1] < h.output) continue;
      place[1] = 0;
      ++place[0];
    }
    const std::int64_t begin = group * channels_;
    const auto column = [&](std::int64_t c) {
      return scratch.columns.data() + ((begin + c) * taps_ + k) * kColumns;
    };
    if (beside) {
      for (std::int64_t c = 0; c < channels_; c += TapBlock<T>::kBeside) {
        typename TapBlock<T>::BesideSums sums;
        scratch.taps.sum(beside->planes(group, c / TapBlock<T>::kBeside), sums);
        for (std::int64_t i = 0; i < std::min(TapBlock<T>::kBeside, channels_ - c); ++i)
          std::ranges::copy(sums[static_cast<std::size_t>(i)], column(c + i));
      }
      return;
    }
    const T* x = run_.inputs[0].template as<T>() + image * x_shape_[1] * window_.input_elements();
    for (std::int64_t c = 0; c < channels_; ++c) {
      typename TapBlock<T>::Sums sums{};
      scratch.taps.add(x + (begin + c) * window_.input_elements(), sums);
      std::ranges::copy(sums, column(c));
    }
  }

  /// An element along one axis, or none.
  struct Neighbour {
    std::int64_t element;
    double weight;
    bool is_inside;
  };

  /// The neighbours of where the tap of output place number `o` has been moved to.
  template <std::size_t kRank>
  AOE_WIDE void set_corners(std::int64_t number, const Place& tap, const Place& place,
                            std::int64_t o, std::int64_t point, TapBlock<T>& taps) const {
    std::array<std::array<Neighbour, 2>, kRank> along;
    for (std::size_t i = 0; i < kRank; ++i) {
      const std::size_t axis = 3 - kRank + i;
      const reference::WindowAxis& each = window_.axes[axis];
      const std::int64_t row =
          number * static_cast<std::int64_t>(kRank) + static_cast<std::int64_t>(i);
      const double at =
          static_cast<double>(each.tap(place[axis], tap[axis])) + offsets_[row * places_ + o];
      const double below = std::floor(at);
      // Compared as numbers: an offset may lie beyond any integer, or be NaN.
      const bool is_near = below >= -1 && below < static_cast<double>(each.input);
      const std::int64_t element = is_near ? static_cast<std::int64_t>(below) : -2;
      along[i] = {{{element, 1 - (at - below), each.is_inside(element)},
                   {element + 1, at - below, each.is_inside(element + 1)}}};
    }
    const double factor = masks_ == nullptr ? 1 : masks_[number * places_ + o];
    std::size_t count = 0;
    for (unsigned corner = 0; corner < 1u << kRank; ++corner) {
      double weight = factor;
      std::int64_t element = 0;
      bool is_inside = true;
      for (std::size_t i = 0; i < kRank; ++i) {
        const Neighbour& each = along[i][corner >> i & 1];
        weight *= each.weight;
        element = element * window_.axes[3 - kRank + i].input + each.element;
        is_inside = is_inside && each.is_inside;
      }
      if (is_inside && weight != 0) taps.set(count++, point, element, weight);
    }
  }

  const Run& run_;
  const Shape x_shape_, weight_shape_;
  const reference::Window window_;
  const std::int64_t offset_groups_, groups_;
  const Tensor y_;
  const std::int64_t taps_ = window_.kernel_elements(), places_ = window_.output_elements(),
                     channels_ = x_shape_[1] / offset_groups_;  ///< that share their offsets
  const T* const offsets_ = run_.inputs[2].template as<T>();
  void (DeformConv::*const set_corners_)(std::int64_t, const Place&, const Place&, std::int64_t,
                                         std::int64_t,
                                         TapBlock<T>&) const = window_.rank == 1
                                                                   ? &DeformConv::set_corners<1>
                                                               : window_.rank == 2
                                                                   ? &DeformConv::set_corners<2>
                                                                   : &DeformConv::set_corners<3>;
  const T* const masks_ = run_.has_input(4) ? run_.inputs[4].template as<T>() : nullptr;
};

}  // namespace

void register_deform_conv(KernelRegistry& registry) {
  registry.add({.type = "DeformableConv2D",
                .supports = takes_one_float_type,
                .run = by_type<reference::TypeList<float, double>>(
                    []<typename T>(const Run& run) { DeformConv<T>(run).run(); })});
}

}  // namespace aoe::native
